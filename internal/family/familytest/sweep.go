package familytest

import (
	"slices"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

var sweepCases = []kase{
	{"A sweep brings home what lies on deposit addresses, to the last unit", sweeps, sweepBringsHome},
	{"A sweep takes what it is asked for and leaves the rest", sweeps, sweepLeavesTheRest},
	{"A sweep of a token brings it home and is paid for by the account", sweepsTokens, sweepOfAToken},
	{"The cost of a sweep is what its draft costs", sweeps, sweepCost},
	{"A sweep of what is not there, not final or not ours is refused", sweeps, sweepRefused},
	{"A sweep and payments of the account get out of each other's way", sweeps, sweepBesidePayments},
	{"Of a sweep and its replacement exactly one lands", func(p Powers) bool { return p.Sweeps && p.Bumps }, sweepReplaced},
	{"A sweep that expired is made anew and lands once", func(p Powers) bool { return p.Sweeps && p.Expires }, sweepExpired},
	{"A sweep that is orphaned comes back by the same bytes", func(p Powers) bool { return p.Sweeps && !p.NoForks }, sweepBackByBytes},
	{"A sweep uses the bytes it was signed with", sweeps, sweepAltered},
}

func sweeps(p Powers) bool       { return p.Sweeps }
func sweepsTokens(p Powers) bool { return p.Sweeps && tokens(p) }

// deposits pays the ordinary amount of an asset to deposit addresses and makes it final.
func (h *hand) deposits(x chain.Asset, indices ...uint32) {
	h.Helper()
	for _, i := range indices {
		h.Pay(Payment{From: "stranger", Outs: []Out{{h.deposit(i), x, h.powers.Amount}}})
		h.Mine(1)
	}
	h.settle()
}

func (h *hand) deposit(i uint32) chain.Address {
	h.Helper()
	k, ok := h.Bench.(Keeper)
	if !ok {
		h.Fatal("a bench with the power to sweep is a Keeper of deposit addresses")
	}
	return k.Deposit(i)
}

// sweep is the call that brings home everything that was found on some addresses.
func (h *hand) sweep(x chain.Asset, indices ...uint32) chain.Call {
	h.Helper()
	c := chain.Call{Chain: h.ID(), From: hot, To: h.ports.Sender.Own(hot), Asset: x}
	for _, i := range indices {
		s := chain.Source{Address: h.deposit(i), Index: i}
		for _, d := range h.scan(s.Address) {
			if d.Asset == x {
				s.Amount, s.Deposits = sum(s.Amount, d.Amount), append(s.Deposits, d.ID)
			}
		}
		c.Amount, c.Sources = sum(c.Amount, s.Amount), append(c.Sources, s)
	}
	return c
}

// home is what our account has.
func (h *hand) home(x chain.Asset) money.Amount { return h.Balance(h.ports.Sender.Own(hot), x) }

func (h *hand) empty(x chain.Asset, indices ...uint32) {
	h.Helper()
	for _, i := range indices {
		if left := h.Balance(h.deposit(i), x); !left.IsZero() {
			h.Fatalf("deposit address %d still has %s", i, left)
		}
	}
}

func sweepBringsHome(h *hand) {
	h.deposits(h.native(), 3, 5, 3, 400_000)
	before := h.home(h.native())
	c := h.sweep(h.native(), 3, 5, 400_000)
	a := h.draft(c)
	h.mustBe(a, chain.Missing)
	h.broadcast(a)
	h.Mine(1)
	h.mustBe(a, chain.Included)
	h.settle()
	s := h.mustBe(a, chain.Final)
	if s.Fee.IsZero() || a.Fee.Less(s.Fee) {
		h.Fatalf("it cost %s of at most %s", s.Fee, a.Fee)
	}
	h.empty(h.native(), 3, 5, 400_000)
	h.has(c.To, sum(before, c.Amount).Less0(s.Fee))
	again, err := h.ports.Sender.Draft(h.ctx(), c, nil, h.powers.Budget)
	if err == nil {
		h.Fatalf("%s would bring home the same again", again.Tx)
	}
	h.is(err, send.ErrRefused)
}

func sweepLeavesTheRest(h *hand) {
	h.deposits(h.native(), 1)
	c := h.sweep(h.native(), 1)
	h.deposits(h.native(), 1, 2)
	a := h.draft(c)
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Final)
	for _, i := range []uint32{1, 2} {
		if got := h.Balance(h.deposit(i), h.native()); got != h.powers.Amount {
			h.Fatalf("%s is left on deposit address %d", got, i)
		}
	}
}

func sweepOfAToken(h *hand) {
	h.deposits(h.powers.Token, 1, 2)
	before, coins := h.home(h.powers.Token), h.home(h.native())
	c := h.sweep(h.powers.Token, 1, 2)
	a := h.draft(c)
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	s := h.mustBe(a, chain.Final)
	h.empty(h.powers.Token, 1, 2)
	if got := h.home(h.powers.Token); got != sum(before, c.Amount) {
		h.Fatalf("there is %s at home, want %s more than %s", got, c.Amount, before)
	}
	h.has(c.To, coins.Less0(s.Fee))
}

func sweepCost(h *hand) {
	h.deposits(h.native(), 1, 2)
	c := h.sweep(h.native(), 1, 2)
	cost, err := h.ports.Sender.Cost(h.ctx(), c)
	h.ok(err)
	a, err := h.ports.Sender.Draft(h.ctx(), c, nil, cost)
	h.ok(err)
	if cost.IsZero() || cost.Less(a.Fee) {
		h.Fatalf("it was to cost %s and costs %s", cost, a.Fee)
	}
	_, err = h.ports.Sender.Draft(h.ctx(), c, nil, money.FromUint64(1))
	h.is(err, send.ErrTooDear)
}

func sweepRefused(h *hand) {
	h.deposits(h.native(), 1, 2)
	good := h.sweep(h.native(), 1, 2)
	h.Pay(Payment{From: "stranger", Outs: []Out{{h.deposit(3), h.native(), h.powers.Amount}}})
	h.Mine(1)
	young := h.sweep(h.native(), 3)
	for name, spoil := range map[string]func(c *chain.Call){
		"not ours":       func(c *chain.Call) { c.Sources[0].Address = h.Address("bob") },
		"of another key": func(c *chain.Call) { c.Sources[0].Index = 9 },
		"more than there": func(c *chain.Call) {
			c.Sources[1].Amount, c.Amount = sum(c.Sources[1].Amount, h.powers.Amount), sum(c.Amount, h.powers.Amount)
		},
		"another sum": func(c *chain.Call) { c.Amount = sum(c.Amount, money.FromUint64(1)) },
		"twice": func(c *chain.Call) {
			c.Sources, c.Amount = append(c.Sources, c.Sources[0]), sum(c.Amount, c.Sources[0].Amount)
		},
		"to somebody":      func(c *chain.Call) { c.To = h.Address("bob") },
		"from no account":  func(c *chain.Call) { c.From = "cold" },
		"of another chain": func(c *chain.Call) { c.Chain = "other:1" },
		"of what nobody sent": func(c *chain.Call) {
			*c = h.sweep(h.native(), 77)
			c.Sources[0].Amount, c.Amount = h.powers.Amount, h.powers.Amount
		},
		"not final yet": func(c *chain.Call) { *c = young },
	} {
		if name == "not final yet" && h.powers.FinalDepth == 0 {
			continue
		}
		c := good
		c.Sources = slices.Clone(good.Sources)
		spoil(&c)
		_, err := h.ports.Sender.Draft(h.ctx(), c, nil, h.powers.Budget)
		h.Log(name)
		h.is(err, send.ErrRefused)
	}
	h.settle()
	h.draft(young)
	h.draft(good)
}

func sweepBesidePayments(h *hand) {
	bob := h.Address("bob")
	h.deposits(h.native(), 1, 2)
	first := h.draft(h.call(bob))
	a := h.draft(h.sweep(h.native(), 1, 2), first.Slots...)
	held := append(slices.Clone(first.Slots), a.Slots...)
	second := h.draft(h.call(bob), held...)
	for _, x := range []chain.Attempt{first, a, second} {
		h.broadcast(x)
	}
	h.Mine(1)
	h.settle()
	for _, x := range []chain.Attempt{first, a, second} {
		h.mustBe(x, chain.Final)
	}
	h.empty(h.native(), 1, 2)
	h.has(bob, sum(h.powers.Amount, h.powers.Amount))
}

func sweepReplaced(h *hand) {
	h.deposits(h.native(), 1, 2)
	before := h.home(h.native())
	c := h.sweep(h.native(), 1, 2)
	a := h.draft(c)
	b := h.bump(c, a)
	if b.Tx == a.Tx || !slices.ContainsFunc(b.Slots, func(s chain.Slot) bool { return slices.Contains(a.Slots, s) }) {
		h.Fatalf("slots %v and %v have nothing in common", a.Slots, b.Slots)
	}
	h.broadcast(b)
	_ = h.ports.Sender.Broadcast(h.ctx(), a.Raw) // refused or not, it must not matter
	h.Mine(1)
	h.settle()
	s := h.mustBe(b, chain.Final)
	h.mustBe(a, chain.Dead)
	h.empty(h.native(), 1, 2)
	h.has(c.To, sum(before, c.Amount).Less0(s.Fee))
}

func sweepExpired(h *hand) {
	h.deposits(h.native(), 1, 2)
	before := h.home(h.native())
	c := h.sweep(h.native(), 1, 2)
	a := h.draft(c)
	_, err := h.ports.Sender.Redraft(h.ctx(), c, a, h.powers.Budget)
	h.is(err, send.ErrLive)
	h.expire(a)
	b, err := h.ports.Sender.Redraft(h.ctx(), c, a, h.powers.Budget)
	h.ok(err)
	_ = h.ports.Sender.Broadcast(h.ctx(), a.Raw)
	h.broadcast(b)
	h.Mine(1)
	h.settle()
	s := h.mustBe(b, chain.Final)
	h.mustBe(a, chain.Dead)
	h.empty(h.native(), 1, 2)
	h.has(c.To, sum(before, c.Amount).Less0(s.Fee))
}

func sweepBackByBytes(h *hand) {
	h.deposits(h.native(), 1, 2)
	before := h.home(h.native())
	c := h.sweep(h.native(), 1, 2)
	a := h.draft(c)
	h.broadcast(a)
	h.Mine(2)
	h.mustBe(a, chain.Included)
	h.Reorg(2, true)
	h.mustBe(a, chain.Missing)
	h.has(c.To, before)
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	s := h.mustBe(a, chain.Final)
	h.empty(h.native(), 1, 2)
	h.has(c.To, sum(before, c.Amount).Less0(s.Fee))
}

func sweepAltered(h *hand) {
	h.deposits(h.native(), 1)
	before := h.home(h.native())
	a := h.draft(h.sweep(h.native(), 1))
	for i := range a.Raw {
		raw := slices.Clone(a.Raw)
		raw[i] ^= 1
		if h.ports.Sender.Broadcast(h.ctx(), raw) == nil {
			h.Fatalf("bytes altered at %d were taken", i)
		}
	}
	h.Mine(1)
	h.mustBe(a, chain.Missing)
	h.has(h.ports.Sender.Own(hot), before)
}
