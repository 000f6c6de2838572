package familytest

import (
	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// Trader is a bench with a contract that exchanges the token and the chain's own coin.
type Trader interface {
	// Allow are the calls, if the chain needs any, after which the contract may take so
	// much of the token.
	Allow(n money.Amount) []chain.Call
	// Trade is a call that gives so much of an asset and wants at least so much of the
	// other.
	Trade(give chain.Asset, n, least money.Amount) chain.Call
	// Spoil makes the contract give hardly anything from the next block on.
	Spoil()
}

func calls(p Powers) bool { return p.Calls }

var callCases = []kase{
	{"A call takes what it says and brings what its contract gives", calls, callTrades},
	{"A call with coins along leaves them with the contract", calls, callWithCoins},
	{"A call that would fail is refused before it is signed", calls, callWouldFail},
	{"A call that fails on the chain is reverted and takes nothing but its fee", calls, callReverts},
	{"A call that is replaced asks for the same and lands once", calls, callReplaced},
	{"A call that is cancelled takes nothing", calls, callCancelled},
	{"A call that a reorg takes back is done anew by the same bytes", calls, callAgain},
	{"A call of an asset that is not there has no funds", calls, callNoFunds},
	{"A call to nobody is refused", calls, callNobody},
}

func (h *hand) trader() Trader { return h.Bench.(Trader) }

// allowed lets the contract take some of the token and returns how much.
func (h *hand) allowed() money.Amount {
	h.Helper()
	n := money.FromUint64(20_000)
	for _, c := range h.trader().Allow(n) {
		a := h.draft(c)
		h.broadcast(a)
		h.Mine(1)
		h.settle()
		h.mustBe(a, chain.Final)
	}
	return n
}

// purse is what our account has of the token and of the chain's own coin.
func (h *hand) purse() (token, coins money.Amount) {
	own := h.ports.Sender.Own(hot)
	return h.Balance(own, h.powers.Token), h.Balance(own, h.native())
}

// lost fails unless the account has so much less of the token than before, and of the
// chain's own coin nothing less but a fee.
func (h *hand) lost(token, coins, less, fee money.Amount) {
	h.Helper()
	now, left := h.purse()
	if now != token.Less0(less) || left != coins.Less0(fee) {
		h.Fatalf("it has %s of the token and %s coins, and had %s and %s before %s and a fee of %s", now, left, token, coins, less, fee)
	}
}

func callTrades(h *hand) {
	n := h.allowed()
	token, coins := h.purse()
	a := h.draft(h.trader().Trade(h.powers.Token, n, money.FromUint64(1)))
	h.broadcast(a)
	h.Mine(1)
	h.mustBe(a, chain.Included)
	h.settle()
	s := h.mustBe(a, chain.Final)
	now, left := h.purse()
	if now != token.Less0(n) {
		h.Fatalf("it has %s of the token and had %s", now, token)
	}
	if sum(left, s.Fee).Cmp(coins) <= 0 {
		h.Fatalf("it has %s coins after a fee of %s and had %s: the contract gave nothing", left, s.Fee, coins)
	}
}

func callWithCoins(h *hand) {
	token, coins := h.purse()
	n := money.FromUint64(10_000)
	a := h.draft(h.trader().Trade(h.native(), n, money.FromUint64(1)))
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	s := h.mustBe(a, chain.Final)
	now, left := h.purse()
	if left != coins.Less0(n).Less0(s.Fee) || now.Cmp(token) <= 0 {
		h.Fatalf("it has %s coins and %s of the token, and had %s and %s", left, now, coins, token)
	}
}

func callWouldFail(h *hand) {
	n := h.allowed()
	_, err := h.ports.Sender.Draft(h.ctx(), h.trader().Trade(h.powers.Token, n, sum(n, h.powers.Amount, h.powers.Budget)), nil, h.powers.Budget)
	h.is(err, send.ErrRefused)
	cost, err := h.ports.Sender.Cost(h.ctx(), h.trader().Trade(h.powers.Token, n, money.FromUint64(1)))
	h.ok(err)
	if cost.IsZero() {
		h.Fatal("a call costs nothing")
	}
}

func callReverts(h *hand) {
	n := h.allowed()
	a := h.draft(h.trader().Trade(h.powers.Token, n, money.FromUint64(5_000)))
	h.trader().Spoil()
	token, coins := h.purse()
	h.broadcast(a)
	h.Mine(1)
	for range h.powers.FinalDepth {
		h.mustBe(a, chain.Included)
		h.Mine(1)
	}
	s := h.mustBe(a, chain.Reverted)
	if s.Fee.IsZero() {
		h.Fatal("it cost nothing")
	}
	h.lost(token, coins, money.Amount{}, s.Fee)
}

func callReplaced(h *hand) {
	n := h.allowed()
	token, _ := h.purse()
	c := h.trader().Trade(h.powers.Token, n, money.FromUint64(1))
	a := h.draft(c)
	h.broadcast(a)
	b := h.bump(c, a)
	h.broadcast(b)
	h.Mine(1)
	h.settle()
	h.mustBe(b, chain.Final)
	h.mustBe(a, chain.Dead)
	if now, _ := h.purse(); now != token.Less0(n) {
		h.Fatalf("it has %s of the token and had %s: the call was lost on the way", now, token)
	}
}

func callCancelled(h *hand) {
	n := h.allowed()
	token, coins := h.purse()
	a := h.draft(h.trader().Trade(h.powers.Token, n, money.FromUint64(1)))
	h.broadcast(a)
	b := h.bump(h.cancel(), a)
	h.broadcast(b)
	h.Mine(1)
	h.settle()
	s := h.mustBe(b, chain.Final)
	h.mustBe(a, chain.Dead)
	h.lost(token, coins, money.Amount{}, s.Fee)
}

func callAgain(h *hand) {
	n := h.allowed()
	token, _ := h.purse()
	a := h.draft(h.trader().Trade(h.powers.Token, n, money.FromUint64(1)))
	h.broadcast(a)
	h.Mine(1)
	h.mustBe(a, chain.Included)
	h.Reorg(1, true)
	if now, _ := h.purse(); now != token {
		h.Fatalf("it has %s of the token and had %s before what is not on the chain", now, token)
	}
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Final)
	if now, _ := h.purse(); now != token.Less0(n) {
		h.Fatalf("it has %s of the token and had %s", now, token)
	}
}

func callNoFunds(h *hand) {
	h.allowed()
	token, coins := h.purse()
	for _, c := range []chain.Call{
		h.trader().Trade(h.powers.Token, sum(token, money.FromUint64(1)), money.FromUint64(1)),
		h.trader().Trade(h.native(), sum(coins, money.FromUint64(1)), money.FromUint64(1)),
	} {
		_, err := h.ports.Sender.Draft(h.ctx(), c, nil, h.powers.Budget)
		h.is(err, send.ErrNoFunds)
	}
}

func callNobody(h *hand) {
	good := h.trader().Trade(h.native(), money.FromUint64(10_000), money.FromUint64(1))
	for name, to := range map[string]chain.Address{"our own account": h.ports.Sender.Own(hot), "no address": {}} {
		c := good
		c.To = to
		h.Log(name)
		_, err := h.ports.Sender.Draft(h.ctx(), c, nil, h.powers.Budget)
		h.is(err, send.ErrRefused)
	}
}
