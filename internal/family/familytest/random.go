package familytest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

var randomCases = []kase{
	{"Whatever happens the deposits found are those that are there and no transfer lands twice", always, randomly},
}

// Sizes of the random case.
const (
	worlds    = 12
	turns     = 120
	transfers = 12
)

func randomly(h *hand) {
	n := worlds
	if h.powers.Worlds > 0 {
		n = min(n, h.powers.Worlds)
	}
	for seed := range uint64(n) { //nolint:gosec // a small number
		h.Logf("seed %d", seed)
		w := &story{hand: h, rng: rand.New(rand.NewPCG(seed, 0xfe22)), seed: seed}
		for range turns {
			w.turn()
			w.checkOnce()
		}
		w.end()
	}
}

// story is one random world on a bench; the worlds follow one another on it.
type story struct {
	*hand
	rng       *rand.Rand
	seed      uint64
	transfers []*transfer
	deposits  []chain.Address
	payments  []chain.TxID
}

// transfer is what send's store would keep of one.
type transfer struct {
	call     chain.Call
	attempts []chain.Attempt
	dead     []bool
	closed   bool
}

func (w *story) turn() {
	p := w.powers
	switch w.rng.IntN(15) {
	case 0, 1, 2:
		w.Mine(1 + w.rng.IntN(2))
	case 3:
		w.MineEmpty(1)
	case 4:
		if p.NoForks {
			return
		}
		w.Reorg(1+w.rng.IntN(max(1, p.FinalDepth)), w.rng.IntN(2) == 0)
	case 5, 6:
		to := w.Address(fmt.Sprintf("deposit %d/%d", w.seed, len(w.deposits)))
		w.deposits = append(w.deposits, to)
		w.payments = append(w.payments, w.Pay(Payment{
			From: fmt.Sprintf("user %d/%d", w.seed, len(w.deposits)),
			Outs: []Out{{to, w.native(), p.Amount}, {to, w.native(), sum(p.Amount, p.Amount)}},
		}))
	case 7:
		if len(w.payments) > 0 {
			w.Evict(w.payments[w.rng.IntN(len(w.payments))])
		}
	case 8:
		w.Price(1 + w.rng.Uint64N(2))
	case 9, 10:
		w.begin()
	case 11:
		w.retry()
	case 12:
		w.offerAll()
	case 13:
		if p.Gaps {
			w.Skip(1 + w.rng.IntN(3))
		}
		w.judge()
	case 14:
		w.trouble()
	}
}

// trouble breaks one node and heals the others.
func (w *story) trouble() {
	if !w.powers.Faults {
		return
	}
	for i := range w.powers.Nodes {
		w.Break(i, None)
	}
	w.Break(w.rng.IntN(w.powers.Nodes), troubles[w.rng.IntN(len(troubles))])
}

func (w *story) held() []chain.Slot {
	var out []chain.Slot
	for _, t := range w.transfers {
		if t.closed {
			continue
		}
		for _, a := range t.attempts {
			out = append(out, a.Slots...)
		}
	}
	return out
}

// begin drafts a first attempt of a new transfer.
func (w *story) begin() {
	if len(w.transfers) >= transfers {
		return
	}
	t := &transfer{call: w.call(w.Address(fmt.Sprintf("payee %d/%d", w.seed, len(w.transfers))))}
	a, err := w.ports.Sender.Draft(w.ctx(), t.call, send.Holding(w.held()...), w.powers.Budget)
	if err != nil {
		return // the coins are all out, or the price is up
	}
	t.attempts, t.dead = []chain.Attempt{a}, []bool{false}
	w.transfers = append(w.transfers, t)
}

func (w *story) open() []*transfer {
	return slices.DeleteFunc(slices.Clone(w.transfers), func(t *transfer) bool { return t.closed })
}

// retry redrafts the newest attempt, sometimes as a cancel.
func (w *story) retry() {
	open := w.open()
	if len(open) == 0 {
		return
	}
	t := open[w.rng.IntN(len(open))]
	call := t.call
	if w.powers.Bumps && w.rng.IntN(4) == 0 {
		call = w.cancel()
	}
	prev := t.attempts[len(t.attempts)-1]
	a, err := w.ports.Sender.Redraft(w.ctx(), call, prev, sum(prev.Fee, prev.Fee))
	if err != nil {
		return
	}
	t.attempts, t.dead = append(t.attempts, a), append(t.dead, false)
	_ = w.ports.Sender.Broadcast(w.ctx(), a.Raw)
}

// offerAll broadcasts attempts in any order; the network may refuse what lost.
func (w *story) offerAll() {
	for _, i := range w.rng.Perm(len(w.transfers)) {
		t := w.transfers[i]
		for _, j := range w.rng.Perm(len(t.attempts)) {
			_ = w.ports.Sender.Broadcast(w.ctx(), t.attempts[j].Raw)
		}
	}
}

// judge asks for fates, as send's loop does.
func (w *story) judge() {
	w.Helper()
	for _, t := range w.open() {
		for i, a := range t.attempts {
			s := w.fate(a)
			if t.dead[i] && s.Fate != chain.Dead {
				w.Fatalf("seed %d: a dead attempt is %v", w.seed, s.Fate)
			}
			t.dead[i] = s.Fate == chain.Dead
			t.closed = t.closed || s.Fate == chain.Final
		}
	}
}

// checkOnce: of the attempts of one transfer at most one is on the chain.
func (w *story) checkOnce() {
	w.Helper()
	for i, t := range w.transfers {
		landed := 0
		for j, a := range t.attempts {
			if !w.Landed(a.Tx) {
				continue
			}
			landed++
			if t.dead[j] {
				w.Fatalf("seed %d: transfer %d landed by attempt %d, which was dead", w.seed, i, j)
			}
		}
		if landed > 1 {
			w.Fatalf("seed %d: transfer %d landed %d times", w.seed, i, landed)
		}
		if got := w.Balance(t.call.To, w.native()); got != (money.Amount{}) && got != t.call.Amount {
			w.Fatalf("seed %d: payee %d has %s", w.seed, i, got)
		}
	}
}

// end lets everything come to rest, and compares what was found with the truth.
func (w *story) end() {
	w.Helper()
	w.Price(1)
	w.trouble() // it goes on to the end: one broken node must stop nothing
	for range 200 {
		w.judge()
		if len(w.open()) == 0 {
			break
		}
		for _, t := range w.open() {
			if !slices.Contains(t.dead, false) {
				t.closed = true
			}
			for _, a := range t.attempts {
				_ = w.ports.Sender.Broadcast(w.ctx(), a.Raw)
			}
		}
		w.Mine(1)
	}
	if n := len(w.open()); n > 0 {
		w.Fatalf("seed %d: %d transfers never came to rest", w.seed, n)
	}
	w.checkOnce()
	var truth []chain.Deposit
	for _, to := range w.deposits {
		truth = append(truth, w.Received(to)...)
	}
	found := w.scan(w.deposits...)
	byID := func(a, b chain.Deposit) int { return compare(a.ID, b.ID) }
	slices.SortFunc(truth, byID)
	slices.SortFunc(found, byID)
	if diff := cmp.Diff(truth, found, plainly...); diff != "" {
		w.Fatalf("seed %d: found is not what is there: %s", w.seed, diff)
	}
}

func compare(a, b chain.DepositID) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
