package familytest

import (
	"bytes"
	"slices"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

var sendCases = []kase{
	{"The cost of a call is what its draft costs", always, costIsDraft},
	{"A call that can never succeed is refused", always, callRefused},
	{"A draft above its budget is too dear", always, draftTooDear},
	{"A draft of more than there is has no funds", always, draftNoFunds},
	{"A draft uses no slot that is held", always, draftAvoidsHeld},
	{"A draft sends nothing", always, draftIsSilent},
	{"Two drafts of equal calls are two transactions", always, draftsDiffer},
	{"Bytes that are broadcast twice land once", always, broadcastTwice},
	{"Altered bytes are refused", always, alteredRefused},
	{"An attempt is missing, pending, included and then final", always, lifeOfAnAttempt},
	{"An included attempt is gone after a reorg and comes back by the same bytes", forks, backByBytes},
	{"An evicted attempt is missing and comes back by the same bytes", always, evictedBack},
	{"A final attempt that is orphaned after all comes back by the same bytes", func(p Powers) bool { return p.DeepReorgs }, backFromTheDeep},
	{"Coins that are not final are not spent", always, finalFundsOnly},
	{"A token is paid to the last unit", tokens, tokenPaid},
	{"A transfer that fails on the chain is reverted with its fee only when final", reverts, revertedWhenFinal},
}

func costIsDraft(h *hand) {
	c := h.call(h.Address("bob"))
	cost, err := h.ports.Sender.Cost(h.ctx(), c)
	h.ok(err)
	if cost.IsZero() {
		h.Fatal("it costs nothing")
	}
	a, err := h.ports.Sender.Draft(h.ctx(), c, nil, cost)
	h.ok(err)
	if cost.Less(a.Fee) {
		h.Fatalf("it was to cost %s and costs %s", cost, a.Fee)
	}
	h.Price(3)
	dearer, err := h.ports.Sender.Cost(h.ctx(), c)
	h.ok(err)
	if dearer.Cmp(cost) <= 0 {
		h.Fatalf("it costs %s at three times the price and cost %s before", dearer, cost)
	}
}

func callRefused(h *hand) {
	good := h.call(h.Address("bob"))
	for name, spoil := range map[string]func(c *chain.Call){
		"nobody":     func(c *chain.Call) { c.To = chain.Address{} },
		"no address": func(c *chain.Call) { c.To = chain.CanonicalAddress(good.To.Family(), "nonsense") },
		// A nought is in no address of a family that has no checksum.
		"bad letters":   func(c *chain.Call) { c.To = chain.CanonicalAddress(good.To.Family(), good.To.Text()[1:]+"0") },
		"nothing":       func(c *chain.Call) { c.Amount = money.Amount{} },
		"another chain": func(c *chain.Call) { c.Chain = "other:1" },
		"unlisted":      func(c *chain.Call) { c.Asset.Ref = "fool's gold" },
		"not ours":      func(c *chain.Call) { c.From = "cold" },
	} {
		c := good
		spoil(&c)
		_, err := h.ports.Sender.Draft(h.ctx(), c, nil, h.powers.Budget)
		h.Log(name)
		h.is(err, send.ErrRefused)
	}
	if own := h.ports.Sender.Own("cold"); !own.IsZero() {
		h.Fatalf("%v is not ours", own)
	}
}

func draftTooDear(h *hand) {
	c := h.call(h.Address("bob"))
	a := h.draft(c)
	h.Price(3)
	_, err := h.ports.Sender.Draft(h.ctx(), c, nil, a.Fee)
	h.is(err, send.ErrTooDear)
	_, err = h.ports.Sender.Draft(h.ctx(), c, nil, money.FromUint64(1)) // not: no funds
	h.is(err, send.ErrTooDear)
	b, err := h.ports.Sender.Draft(h.ctx(), c, nil, h.powers.Budget)
	h.ok(err)
	if h.powers.Budget.Less(b.Fee) {
		h.Fatalf("it may cost %s, its budget is %s", b.Fee, h.powers.Budget)
	}
}

func draftNoFunds(h *hand) {
	c := h.call(h.Address("bob"))
	c.Amount = h.Balance(h.ports.Sender.Own(hot), h.native())
	_, err := h.ports.Sender.Draft(h.ctx(), c, nil, h.powers.Budget)
	h.is(err, send.ErrNoFunds)
	if h.powers.Token.Ref != "" {
		c.Asset = h.powers.Token
		c.Amount = sum(h.Balance(h.ports.Sender.Own(hot), c.Asset), money.FromUint64(1))
		_, err = h.ports.Sender.Draft(h.ctx(), c, nil, h.powers.Budget)
		h.is(err, send.ErrNoFunds)
	}
}

func draftAvoidsHeld(h *hand) {
	var held []chain.Slot
	var all []chain.Attempt
	for range 5 {
		a := h.draft(h.call(h.Address("bob")), held...)
		for _, s := range a.Slots {
			if slices.Contains(held, s) {
				h.Fatalf("slot %s is held", s)
			}
		}
		if h.powers.Bumps && len(a.Slots) == 0 {
			h.Fatal("an attempt that can be replaced has a slot")
		}
		held = append(held, a.Slots...)
		all = append(all, a)
	}
	for _, a := range all {
		h.broadcast(a)
	}
	h.Mine(1)
	h.settle()
	for _, a := range all {
		h.mustBe(a, chain.Final)
	}
	h.has(h.Address("bob"), sum(h.powers.Amount, h.powers.Amount, h.powers.Amount, h.powers.Amount, h.powers.Amount))
}

func draftIsSilent(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	if h.powers.Bumps {
		h.bump(h.call(bob), a)
	}
	h.mustBe(a, chain.Missing)
	h.Mine(2)
	h.mustBe(a, chain.Missing)
	h.has(bob, money.Amount{})
}

func draftsDiffer(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	b := h.draft(h.call(bob), a.Slots...)
	if a.Tx == b.Tx || bytes.Equal(a.Raw, b.Raw) {
		h.Fatal("two transfers would be one")
	}
	h.broadcast(a)
	h.broadcast(b)
	h.Mine(1)
	h.has(bob, sum(h.powers.Amount, h.powers.Amount))
}

func broadcastTwice(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.broadcast(a)
	h.broadcast(a)
	h.Mine(1)
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	h.broadcast(a)
	h.mustBe(a, chain.Final)
	h.has(bob, h.powers.Amount)
}

func alteredRefused(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	for i := range a.Raw {
		raw := bytes.Clone(a.Raw)
		raw[i] ^= 1
		if h.ports.Sender.Broadcast(h.ctx(), raw) == nil {
			h.Fatalf("bytes altered at %d were taken", i)
		}
	}
	for _, raw := range [][]byte{nil, {}, a.Raw[:len(a.Raw)-1], append(bytes.Clone(a.Raw), 0)} {
		if h.ports.Sender.Broadcast(h.ctx(), raw) == nil {
			h.Fatal("cut bytes were taken")
		}
	}
	h.Mine(1)
	h.has(bob, money.Amount{})
	h.mustBe(a, chain.Missing)
}

func lifeOfAnAttempt(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.mustBe(a, chain.Missing)
	h.broadcast(a)
	if s := h.mustBe(a, h.waits()); !s.Block.IsZero() || !s.Fee.IsZero() {
		h.Fatalf("it waits and has %v", s)
	}
	h.Mine(1)
	at := h.head().Tip
	for range h.powers.FinalDepth {
		if s := h.mustBe(a, chain.Included); s.Block != at {
			h.Fatalf("it is in %v, want %v", s.Block, at)
		}
		h.Mine(1)
	}
	s := h.mustBe(a, chain.Final)
	if s.Block != at || s.Fee.IsZero() || a.Fee.Less(s.Fee) {
		h.Fatalf("it ended as %v, and could cost %s", s, a.Fee)
	}
	h.has(bob, h.powers.Amount)
}

func backByBytes(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.broadcast(a)
	h.Mine(2)
	h.mustBe(a, chain.Included)
	h.Reorg(2, true)
	h.mustBe(a, chain.Missing)
	h.has(bob, money.Amount{})
	h.broadcast(a)
	h.mustBe(a, chain.Pending)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Final)
	h.has(bob, h.powers.Amount)
}

func backFromTheDeep(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Final)
	h.Reorg(h.powers.FinalDepth+1, true)
	h.mustBe(a, chain.Missing)
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Final)
	h.has(bob, h.powers.Amount)
}

func evictedBack(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.broadcast(a)
	h.Evict(a.Tx)
	h.Mine(1)
	h.mustBe(a, chain.Missing)
	h.broadcast(a)
	h.Mine(1)
	h.mustBe(a, chain.Included)
	h.has(bob, h.powers.Amount)
}

func finalFundsOnly(h *hand) {
	own := h.ports.Sender.Own(hot)
	c := h.call(h.Address("bob"))
	c.Amount = sum(h.Balance(own, h.native()), h.powers.Amount)
	h.Pay(Payment{From: "stranger", Outs: []Out{{own, h.native(), sum(h.powers.Amount, h.powers.Amount, h.powers.Budget)}}})
	h.Mine(1)
	if h.powers.FinalDepth > 0 {
		_, err := h.ports.Sender.Draft(h.ctx(), c, nil, h.powers.Budget)
		h.is(err, send.ErrNoFunds)
	}
	h.settle()
	h.draft(c)
}

func tokenPaid(h *hand) {
	bob := h.Address("bob")
	own := h.ports.Sender.Own(hot)
	c := h.call(bob)
	c.Asset = h.powers.Token
	c.Amount = h.Balance(own, c.Asset)
	a := h.draft(c)
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Final)
	if h.Balance(bob, c.Asset) != c.Amount || !h.Balance(own, c.Asset).IsZero() {
		h.Fatalf("bob has %s of %s", h.Balance(bob, c.Asset), c.Amount)
	}
}

func revertedWhenFinal(h *hand) {
	bob := h.Address("bob")
	var a chain.Attempt
	if h.powers.Foresees { // only what was signed before can still fail
		a = h.draft(h.call(bob))
		h.Reject(bob)
		_, err := h.ports.Sender.Draft(h.ctx(), h.call(bob), send.Holding(a.Slots...), h.powers.Budget)
		h.is(err, send.ErrRefused)
	} else {
		h.Reject(bob)
		a = h.draft(h.call(bob))
	}
	h.broadcast(a)
	h.Mine(1)
	for range h.powers.FinalDepth {
		h.mustBe(a, chain.Included)
		h.Mine(1)
	}
	if s := h.mustBe(a, chain.Reverted); s.Fee.IsZero() || a.Fee.Less(s.Fee) || s.Block.IsZero() {
		h.Fatalf("it ended as %v", s)
	}
	h.has(bob, money.Amount{})
	h.none(bob)
}
