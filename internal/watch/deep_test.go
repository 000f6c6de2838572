package watch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/watch"
)

// deepRig is a rig in which small payments are believed after three blocks, and
// the chain calls final what six lie on, so that a chain of each shape can take
// back what was believed without breaking its own word.
func deepRig(t *testing.T, s sim.Shape) *rig {
	t.Helper()
	return newRig(t, openStore(t), sim.Config{ID: "sim:deep", Shape: s, FinalDepth: 6}, 3, 4)
}

func eachShape(t *testing.T, test func(*testing.T, sim.Shape)) {
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// smallCents is worth ten dollars and orderCents a thousand, which is what the
// orders ask for.
const (
	smallCents = 1_000
	orderCents = 100_000
)

// mustTell fails unless the events that changed orders so far are these, by name.
func (r *rig) mustTell(want ...string) {
	r.t.Helper()
	var got []string
	for _, key := range r.told {
		name, of, _ := strings.Cut(key, ":")
		got = append(got, name+of[strings.LastIndex(of, "#"):])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Fatalf("told: %s", diff)
	}
}

func TestAReorgBelowTheCreditHaltsTheChainAndTakesTheCreditBack(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, s sim.Shape) {
		r := deepRig(t, s)
		id := r.create()
		tx := r.pay(id, smallCents)
		r.step()
		r.net.Mine(3)
		r.step()
		r.mustTell("seen#1", "final#1")
		if o := r.order(id); o.State != order.Held || len(r.credited) != 1 { // too little, and here
			t.Fatalf("order is %s with %d credited", o.State, len(r.credited))
		}
		if _, err := r.net.Reorg(4, sim.ReorgOptions{Drop: []chain.TxID{tx}}); err != nil {
			t.Fatal(err)
		}
		r.step()
		r.mustTell("seen#1", "final#1", "gone#1")
		o := r.order(id)
		if o.State != order.Awaiting || !o.InHand.Amount.IsZero() || !o.Received.IsZero() {
			t.Errorf("order is %s with %s in hand", o.State, o.InHand.Amount)
		}
		if why := r.halted(); !strings.Contains(why, "believed final") {
			t.Errorf("halted because %q", why)
		}
		r.checkCredited()
		// The same payment comes back: a new sighting, credited once more.
		if err := r.net.Resend(tx); err != nil {
			t.Fatal(err)
		}
		r.net.Mine(1)
		r.step()
		r.net.Mine(2)
		r.quiet()
		r.mustTell("seen#1", "final#1", "gone#1", "seen#2", "final#2")
		if o := r.order(id); o.State != order.Held || o.InHand.Amount.String() != "1000" {
			t.Errorf("order is %s with %s in hand", o.State, o.InHand.Amount)
		}
		r.checkCredited()
		if r.halted() == "" {
			t.Error("the chain goes on by itself, without an operator")
		}
	})
}

func TestALossBehindAPayoutIsBookedAndReversedWhenThePaymentIsMinedAgain(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, s sim.Shape) {
		r := deepRig(t, s)
		id := r.create()
		tx := r.pay(id, orderCents)
		r.net.Mine(4)
		r.step()
		if o := r.order(id); o.State != order.Sending {
			t.Fatalf("order is %s", o.State)
		}
		sound := func(wantLost bool, wantLoss string) {
			t.Helper()
			if d := r.order(id).Deposits[0]; d.Lost != wantLost || d.State != order.DepositCounted {
				t.Errorf("deposit is %s, lost %t", d.State, d.Lost)
			}
			books, err := r.db.Books(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for k, b := range books.Balances {
				if k.Account == "reorg_loss" && b.String() != wantLoss {
					t.Errorf("the loss in the books is %s, not %s", b, wantLoss)
				}
			}
			if err := r.db.Audit(t.Context()); err != nil {
				t.Error(err)
			}
		}
		sound(false, "0")
		if _, err := r.net.Reorg(5, sim.ReorgOptions{Drop: []chain.TxID{tx}}); err != nil {
			t.Fatal(err)
		}
		r.step()
		sound(true, "100000")
		if r.halted() == "" {
			t.Error("the chain is not halted")
		}
		if o := r.order(id); o.State != order.Sending { // what was wished is not taken back
			t.Errorf("order is %s", o.State)
		}
		r.restart()
		if err := r.net.Resend(tx); err != nil {
			t.Fatal(err)
		}
		r.net.Mine(4)
		r.quiet()
		sound(false, "0")
		r.mustTell("final#1", "gone#1", "final#2")
		r.checkCredited()
	})
}

func TestAReorgBeyondTheWindowHaltsAndRefusesToRewind(t *testing.T) {
	t.Parallel()
	for _, s := range []sim.Shape{sim.Nonces, sim.Coins} { // the third never goes back so far
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			r := deepRig(t, s)
			r.cfg.Window = 8
			r.restart()
			id := r.create()
			r.pay(id, smallCents)
			r.net.Mine(20)
			r.quiet()
			before, told := r.picture(), len(r.told)
			if _, err := r.net.Reorg(15, sim.ReorgOptions{DropAll: true}); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := r.tryStep(); err == nil || !strings.Contains(err.Error(), "operator") {
					t.Fatalf("got %v", err)
				}
			}
			if why := r.halted(); !strings.Contains(why, "further than") {
				t.Errorf("halted because %q", why)
			}
			if diff := cmp.Diff(before, r.picture(), compare); diff != "" || len(r.told) != told {
				t.Errorf("something was changed: %s", diff)
			}
		})
	}
}

// picture is everything that the watcher keeps of its chain, but for when it last
// looked.
type picture struct {
	Blocks []chain.Block
	Final  uint64
	Unripe []watch.Sight
	Untold []watch.Sight
	Orders []order.Order
	Feed   int64
}

func (r *rig) picture() (p picture) {
	r.t.Helper()
	ctx, id := r.t.Context(), r.net.ID()
	keep := func(err error) {
		r.t.Helper()
		if err != nil {
			r.t.Fatal(err)
		}
	}
	var err error
	p.Blocks, err = r.db.Remembered(ctx, id)
	keep(err)
	track, err := r.db.Track(ctx, id)
	keep(err)
	p.Final = track.Final
	p.Unripe, err = r.db.Unripe(ctx, id)
	keep(err)
	p.Untold, err = r.db.Untold(ctx, id, 100)
	keep(err)
	p.Orders, err = r.db.Orders(ctx, "", 100)
	keep(err)
	p.Feed, err = r.db.Head(ctx)
	keep(err)
	return p
}

// compare lets go-cmp look at amounts and addresses, which hide their insides.
var compare = cmpopts.EquateComparable(chain.Address{}, money.Amount{})

// TestNodesThatCannotBeBelievedChangeNothing: a payment waits for its last
// confirmation, which the chain has and the nodes do not show.
func TestNodesThatCannotBeBelievedChangeNothing(t *testing.T) {
	t.Parallel()
	all := func(f sim.Fault) []sim.Fault { return []sim.Fault{f, f, f} }
	ok := sim.Fault{}
	for _, c := range []struct {
		name   string
		faults []sim.Fault
	}{
		{"all are behind", all(sim.Fault{Kind: sim.Stale, Blocks: 2})},
		{"all are far behind", all(sim.Fault{Kind: sim.Stale, Blocks: 9})},
		{"two are behind", []sim.Fault{{Kind: sim.Stale, Blocks: 2}, {Kind: sim.Stale, Blocks: 2}, ok}},
		{"they are behind by different measures", []sim.Fault{{Kind: sim.Stale, Blocks: 2}, {Kind: sim.Stale, Blocks: 4}, ok}},
		{"none can be reached", all(sim.Fault{Kind: sim.Partition})},
		{"two can not be reached", []sim.Fault{{Kind: sim.Partition}, ok, {Kind: sim.Partition}}},
		{"two do not answer in time", []sim.Fault{{Kind: sim.Timeout}, {Kind: sim.Timeout}, ok}},
		{"two fail", []sim.Fault{ok, {Kind: sim.FailBefore}, {Kind: sim.FailAfter}}},
		{"one lies and one is away", []sim.Fault{{Kind: sim.Lying, Lie: sim.AllLies}, {Kind: sim.Partition}, ok}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			eachShape(t, func(t *testing.T, s sim.Shape) {
				r := deepRig(t, s)
				id := r.create()
				r.pay(id, smallCents)
				r.net.Mine(1)
				r.quiet()
				before := r.picture()
				r.net.Mine(2) // deep enough now, if anybody could see it
				for i, f := range c.faults {
					r.net.Node(i).Set(f)
				}
				for range 3 {
					_ = r.tryStep() // not knowing is an error, or nothing new
					r.restart()
				}
				if diff := cmp.Diff(before, r.picture(), compare); diff != "" {
					t.Errorf("something was changed: %s", diff)
				}
				for i := range c.faults {
					r.net.Node(i).Heal()
				}
				r.quiet()
				r.mustTell("seen#1", "final#1")
				r.checkCredited()
				if why := r.halted(); why != "" {
					t.Errorf("halted: %s", why)
				}
			})
		})
	}
}

func TestALyingMinorityCreditsNothing(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]sim.Lie{
		"forges": sim.Forge, "hides": sim.Hide, "calls new blocks final": sim.FakeFinal, "lies in every way": sim.AllLies,
	} {
		t.Run("a node "+name, func(t *testing.T) {
			t.Parallel()
			eachShape(t, func(t *testing.T, s sim.Shape) {
				r := deepRig(t, s)
				empty, paid := r.create(), r.create()
				for liar := range 3 {
					r.net.Node(liar).Set(sim.Fault{Kind: sim.Lying, Lie: lie})
					tx := r.pay(paid, smallCents)
					for range 8 {
						r.net.Mine(1)
						r.step()
						if len(r.order(empty).Deposits) > 0 {
							t.Fatalf("an order that nobody paid was told %q", r.told)
						}
					}
					if !r.net.Canonical(tx) {
						t.Fatal("the payment has not landed")
					}
					r.net.Node(liar).Heal()
				}
				r.quiet()
				if len(r.credited) != 3 {
					t.Errorf("%d of 3 payments are credited", len(r.credited))
				}
				r.checkCredited()
				if why := r.halted(); why != "" {
					t.Errorf("halted: %s", why)
				}
			})
		})
	}
}
