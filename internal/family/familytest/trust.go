package familytest

import (
	"errors"
	"fmt"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/watch"
)

var trustCases = []kase{
	{"Below the quorum every method is an error and none is an answer", faults, belowQuorum},
	{"With a quorum left everything goes on", faults, atQuorum},
	{"A minority that lies, lags or fails changes nothing", faults, minorityChangesNothing},
	{"A minority that lies, lags or fails stops no transfer", faults, minorityStopsNothing},
	{"Nodes that all say everything twice or in another order change nothing", faults, stutterChangesNothing},
	{"A broadcast that failed after it was done has been done", faults, deafBroadcast},
	{"Nodes that are all behind never make an attempt look dead", faults, behindIsNotDead},
	{"Nodes that fall behind never take back what was final", faults, behindKeepsFinal},
}

var troubles = []Trouble{Down, Deaf, Behind, Forging, Hiding, Forgetting, Hasty, Stuttering, Shuffling}

func (h *hand) breakFirst(n int, t Trouble) {
	for i := range n {
		h.Break(i, t)
	}
}

func belowQuorum(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	tip := h.head().Tip
	for _, trouble := range []Trouble{Down, Deaf} {
		h.breakFirst(h.powers.Nodes-h.powers.Quorum+1, trouble)
		var errs []error
		add := func(_ any, err error) { errs = append(errs, err) }
		add(h.ports.Reader.Head(h.ctx()))
		add(h.ports.Reader.Next(h.ctx(), tip.Height+100))
		add(h.ports.Reader.Next(h.ctx(), 0))
		add(h.ports.Reader.Deposits(h.ctx(), tip, set{bob}))
		if h.ports.Mempool != nil {
			add(h.ports.Mempool.Pending(h.ctx(), set{bob}))
		}
		add(h.ports.Sender.Cost(h.ctx(), h.call(bob)))
		add(h.ports.Sender.Draft(h.ctx(), h.call(bob), nil, h.powers.Budget))
		add(h.ports.Sender.Fate(h.ctx(), a))
		if h.powers.Expires {
			add(h.ports.Sender.Redraft(h.ctx(), h.call(bob), a, h.powers.Budget))
		}
		add(nil, h.ports.Sender.Broadcast(h.ctx(), a.Raw))
		for i, err := range errs {
			if err == nil {
				h.Fatalf("call %d had an answer", i)
			}
			for _, answer := range []error{watch.ErrNoBlock, send.ErrLive, send.ErrNoFunds, send.ErrRefused, send.ErrTooDear} {
				if errors.Is(err, answer) {
					h.Fatalf("call %d answered %v", i, err)
				}
			}
		}
	}
}

func atQuorum(h *hand) {
	h.breakFirst(h.powers.Nodes-h.powers.Quorum, Down)
	lifeOfAnAttempt(h)
	foundOnce(h)
}

// view is everything the ports say at one time.
type view struct {
	Head     chain.Head
	Branch   []chain.Block
	Found    []chain.Deposit
	Pending  []chain.Deposit
	Cost     money.Amount
	Slots    []chain.Slot
	Fee      money.Amount
	Standing []chain.Status
}

func (h *hand) look(attempts []chain.Attempt, to ...chain.Address) view {
	h.Helper()
	var err error
	v := view{Head: h.head(), Branch: h.branch(), Found: h.scan(to...)}
	if h.ports.Mempool != nil {
		v.Pending, err = h.ports.Mempool.Pending(h.ctx(), set(to))
		h.ok(err)
	}
	v.Cost, err = h.ports.Sender.Cost(h.ctx(), h.call(to[0]))
	h.ok(err)
	a := h.draft(h.call(to[0]))
	v.Slots, v.Fee = a.Slots, a.Fee
	for _, a := range attempts {
		v.Standing = append(v.Standing, h.fate(a))
	}
	return v
}

// scene has payments and attempts in every stage.
func (h *hand) scene() (attempts []chain.Attempt, to []chain.Address) {
	h.Helper()
	var held []chain.Slot
	for i := range 4 {
		bob := h.Address(fmt.Sprint("bob", i))
		a := h.draft(h.call(bob), held...)
		held = append(held, a.Slots...)
		attempts, to = append(attempts, a), append(to, bob, h.Address(fmt.Sprint("deposit", i)))
	}
	for i, a := range attempts[:3] { // the last is never sent
		h.broadcast(a)
		h.pay(to[2*i+1])
		if i < 2 { // the third still waits
			h.Mine(1)
		}
		if i == 0 {
			h.settle()
		}
	}
	return attempts, to
}

func minorityChangesNothing(h *hand) {
	attempts, to := h.scene()
	want := h.look(attempts, to...)
	var fates []chain.Fate
	for _, s := range want.Standing {
		fates = append(fates, s.Fate)
	}
	if diff := cmp.Diff([]chain.Fate{chain.Final, chain.Included, h.waits(), chain.Missing}, fates); diff != "" {
		h.Fatal(diff)
	}
	for _, trouble := range troubles {
		for node := range h.powers.Nodes {
			h.Break(node, trouble)
			if diff := cmp.Diff(want, h.look(attempts, to...), plainly...); diff != "" {
				h.Fatalf("node %d with trouble %d: %s", node, trouble, diff)
			}
			h.Break(node, None)
		}
	}
}

// plainly compares values that hide their fields.
var plainly = []cmp.Option{
	cmp.Comparer(func(a, b money.Amount) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
}

func stutterChangesNothing(h *hand) {
	attempts, to := h.scene()
	for range 2 { // several in one block, so that their order could matter
		h.pay(to[1])
		h.pay(to[3])
		h.Mine(1)
	}
	want := h.look(attempts, to...)
	for _, trouble := range []Trouble{Stuttering, Shuffling} {
		h.breakFirst(h.powers.Nodes, trouble)
		if diff := cmp.Diff(want, h.look(attempts, to...), plainly...); diff != "" {
			h.Fatalf("trouble %d: %s", trouble, diff)
		}
		h.broadcast(attempts[3])
		h.broadcast(attempts[3])
		h.Evict(attempts[3].Tx)
	}
}

func minorityStopsNothing(h *hand) {
	for i, trouble := range troubles {
		h.Break(i%h.powers.Nodes, trouble)
		bob, dep := h.Address(fmt.Sprint("bob", i)), h.Address(fmt.Sprint("deposit", i))
		a := h.draft(h.call(bob))
		h.broadcast(a)
		tx := h.pay(dep)
		h.Mine(1)
		h.settle()
		h.mustBe(a, chain.Final)
		h.has(bob, h.powers.Amount)
		if d := h.one(dep); d.Tx != tx {
			h.Fatalf("found %v", d)
		}
		h.Break(i%h.powers.Nodes, None)
	}
}

func deafBroadcast(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.breakFirst(h.powers.Nodes, Deaf)
	if h.ports.Sender.Broadcast(h.ctx(), a.Raw) == nil {
		h.Fatal("no node answered, and it is no error")
	}
	if _, err := h.ports.Sender.Fate(h.ctx(), a); err == nil {
		h.Fatal("no node answered, and there is a fate")
	}
	h.breakFirst(h.powers.Nodes, None)
	h.mustBe(a, h.waits())
	h.broadcast(a)
	h.Mine(1)
	h.settle()
	h.mustBe(a, chain.Final)
	h.has(bob, h.powers.Amount)
}

func behindIsNotDead(h *hand) {
	bob := h.Address("bob")
	a := h.draft(h.call(bob))
	h.broadcast(a)
	h.Mine(1)
	for range h.powers.FinalDepth + 3 {
		for n := range h.powers.Nodes + 1 {
			h.breakFirst(n, Behind)
			s, err := h.ports.Sender.Fate(h.ctx(), a)
			if err == nil && s.Fate == chain.Dead {
				h.Fatalf("with %d nodes behind it is dead", n)
			}
			h.breakFirst(n, None)
		}
		h.Mine(1)
	}
	h.mustBe(a, chain.Final)
}

func behindKeepsFinal(h *hand) {
	h.Mine(2)
	h.settle()
	want := h.head().Final
	for n := range h.powers.Nodes + 1 {
		h.breakFirst(n, Behind)
		head, err := h.ports.Reader.Head(h.ctx())
		if err == nil && head.Final != want {
			h.Fatalf("with %d nodes behind, final went from %v to %v", n, want, head.Final)
		}
		h.breakFirst(n, None)
	}
}
