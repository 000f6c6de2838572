package familytest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/watch"
)

// hot is the account that pays.
const hot chain.Account = "hot"

// kase is one case: a sentence, what it needs, and what it does.
type kase struct {
	name  string
	needs func(p Powers) bool
	run   func(h *hand)
}

func always(Powers) bool    { return true }
func bumps(p Powers) bool   { return p.Bumps }
func expires(p Powers) bool { return p.Expires }
func reverts(p Powers) bool { return p.Reverts }
func faults(p Powers) bool  { return p.Faults }
func forks(p Powers) bool   { return !p.NoForks }
func tokens(p Powers) bool  { return p.Token != chain.Asset{} }

// Run runs every case that the chain has the powers for, each on a bench of its own.
func Run(t *testing.T, newBench func(t *testing.T) Bench) {
	for _, k := range slices.Concat(readCases, payCases, sendCases, callCases, bumpCases, deadCases, sweepCases, balanceCases, trustCases, randomCases) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := b.Powers()
			if !k.needs(p) {
				return
			}
			k.run(&hand{Bench: b, T: t, ports: b.Ports(), powers: p})
		})
	}
}

// hand is a bench with the motions that many cases make.
type hand struct {
	Bench
	*testing.T
	ports  Ports
	powers Powers
}

// set is a few addresses.
type set []chain.Address

func (s set) Has(a chain.Address) bool { return slices.Contains(s, a) }

func (h *hand) ctx() context.Context { return h.T.Context() }

func (h *hand) native() chain.Asset { return h.ID().Native() }

func (h *hand) ok(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *hand) is(err, want error) {
	h.Helper()
	if !errors.Is(err, want) {
		h.Fatalf("got error %v, want %v", err, want)
	}
}

func (h *hand) head() chain.Head {
	h.Helper()
	head, err := h.ports.Reader.Head(h.ctx())
	h.ok(err)
	return head
}

// branch is every block from the first to the tip, as Next gives them.
func (h *hand) branch() []chain.Block {
	h.Helper()
	var out []chain.Block
	from := uint64(0)
	for {
		b, err := h.ports.Reader.Next(h.ctx(), from)
		if errors.Is(err, watch.ErrNoBlock) {
			return out
		}
		h.ok(err)
		out = append(out, b)
		from = b.Height + 1
	}
}

// scan is every payment to the addresses on the branch.
func (h *hand) scan(to ...chain.Address) []chain.Deposit {
	h.Helper()
	var out []chain.Deposit
	for _, b := range h.branch() {
		list, err := h.ports.Reader.Deposits(h.ctx(), b, set(to))
		h.ok(err)
		for _, d := range list {
			if d.Block != b {
				h.Fatalf("deposit %v of block %v says it is in %v", d.ID, b, d.Block)
			}
		}
		out = append(out, list...)
	}
	return out
}

// one is the only payment to an address on the branch.
func (h *hand) one(to chain.Address) chain.Deposit {
	h.Helper()
	list := h.scan(to)
	if len(list) != 1 {
		h.Fatalf("found %d payments, want one: %v", len(list), list)
	}
	return list[0]
}

func (h *hand) none(to chain.Address) {
	h.Helper()
	if list := h.scan(to); len(list) != 0 {
		h.Fatalf("found payments that do not count: %v", list)
	}
}

// pay is a plain payment of the ordinary amount.
func (h *hand) pay(to chain.Address) chain.TxID {
	return h.Pay(Payment{From: "stranger", Outs: []Out{{to, h.native(), h.powers.Amount}}})
}

func (h *hand) call(to chain.Address) chain.Call {
	return chain.Call{Chain: h.ID(), From: hot, To: to, Asset: h.native(), Amount: h.powers.Amount}
}

// cancel is the call that uses up a slot and pays nobody.
func (h *hand) cancel() chain.Call {
	return chain.Call{Chain: h.ID(), From: hot, To: h.ports.Sender.Own(hot), Asset: h.native()}
}

func (h *hand) draft(c chain.Call, held ...chain.Slot) chain.Attempt {
	h.Helper()
	a, err := h.ports.Sender.Draft(h.ctx(), c, send.Holding(held...), h.powers.Budget)
	h.ok(err)
	return a
}

// bump replaces an attempt at twice its fee.
func (h *hand) bump(c chain.Call, prev chain.Attempt) chain.Attempt {
	h.Helper()
	a, err := h.ports.Sender.Redraft(h.ctx(), c, prev, sum(prev.Fee, prev.Fee))
	h.ok(err)
	return a
}

func (h *hand) broadcast(a chain.Attempt) {
	h.Helper()
	h.ok(h.ports.Sender.Broadcast(h.ctx(), a.Raw))
}

func (h *hand) fate(a chain.Attempt) chain.Status {
	h.Helper()
	s, err := h.ports.Sender.Fate(h.ctx(), a)
	h.ok(err)
	return s
}

func (h *hand) mustBe(a chain.Attempt, want chain.Fate) chain.Status {
	h.Helper()
	s := h.fate(a)
	if s.Fate != want {
		h.Fatalf("its fate is %v, want %v", s.Fate, want)
	}
	return s
}

// waits is what an attempt is that was sent and is in no block.
func (h *hand) waits() chain.Fate {
	if h.powers.Hidden {
		return chain.Missing
	}
	return chain.Pending
}

// settle makes the present tip final.
func (h *hand) settle() { h.Mine(h.powers.FinalDepth) }

func (h *hand) has(a chain.Address, want money.Amount) {
	h.Helper()
	if got := h.Balance(a, h.native()); got != want {
		h.Fatalf("the recipient has %s, want %s", got, want)
	}
}

func sum(as ...money.Amount) money.Amount {
	v, err := money.Sum(as...)
	if err != nil {
		panic(err)
	}
	return v
}
