package watch_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/order"
	"ferry/internal/watch"
)

// gate is told before every call of a watcher to the world outside it.
type gate struct {
	watch.Store
	watch.Reader
	watch.Mempool
	watch.Teller
	h func(call string)
}

func (g gate) ports(v watch.Valuer) watch.Ports {
	return watch.Ports{Reader: gatedReader{g}, Mempool: gatedMempool{g}, Store: gatedStore{g.Store, g.h}, Teller: gatedTeller{g}, Valuer: v}
}

type (
	gatedReader  struct{ gate }
	gatedMempool struct{ gate }
	gatedTeller  struct{ gate }
	gatedStore   struct {
		watch.Store
		h func(call string)
	}
)

func (g gatedReader) Head(ctx context.Context) (chain.Head, error) {
	g.h("Head")
	return g.Reader.Head(ctx)
}

func (g gatedReader) Next(ctx context.Context, from uint64) (chain.Block, error) {
	g.h("Next")
	return g.Reader.Next(ctx, from)
}

func (g gatedReader) Deposits(ctx context.Context, b chain.Block, to watch.Addresses) ([]chain.Deposit, error) {
	g.h("Deposits")
	return g.Reader.Deposits(ctx, b, to)
}

func (g gatedMempool) Pending(ctx context.Context, to watch.Addresses) ([]chain.Deposit, error) {
	g.h("Pending")
	return g.Mempool.Pending(ctx, to)
}

func (g gatedTeller) Tell(ctx context.Context, id order.ID, ev order.Event, now time.Time) (order.Order, error) {
	g.h("Tell")
	return g.Teller.Tell(ctx, id, ev, now)
}

func (g gatedStore) Track(ctx context.Context, id chain.ID) (watch.Track, error) {
	g.h("Track")
	return g.Store.Track(ctx, id)
}

func (g gatedStore) Remembered(ctx context.Context, id chain.ID) ([]chain.Block, error) {
	g.h("Remembered")
	return g.Store.Remembered(ctx, id)
}

func (g gatedStore) Advance(ctx context.Context, id chain.ID, a watch.Advance) error {
	g.h("Advance")
	return g.Store.Advance(ctx, id, a)
}

func (g gatedStore) Rewind(ctx context.Context, id chain.ID, from, to chain.Block, now time.Time) error {
	g.h("Rewind")
	return g.Store.Rewind(ctx, id, from, to, now)
}

func (g gatedStore) Glimpse(ctx context.Context, id chain.ID, pending []chain.Deposit, now time.Time) error {
	g.h("Glimpse")
	return g.Store.Glimpse(ctx, id, pending, now)
}

func (g gatedStore) Unripe(ctx context.Context, id chain.ID) ([]watch.Sight, error) {
	g.h("Unripe")
	return g.Store.Unripe(ctx, id)
}

func (g gatedStore) Ripen(ctx context.Context, id chain.ID, at chain.Block, ripe []watch.Sight) error {
	g.h("Ripen")
	return g.Store.Ripen(ctx, id, at, ripe)
}

func (g gatedStore) Caught(ctx context.Context, id chain.ID, final uint64, now time.Time) error {
	g.h("Caught")
	return g.Store.Caught(ctx, id, final, now)
}

func (g gatedStore) Untold(ctx context.Context, id chain.ID, n int) ([]watch.Sight, error) {
	g.h("Untold")
	return g.Store.Untold(ctx, id, n)
}

func (g gatedStore) Told(ctx context.Context, d chain.DepositID, was, now watch.Point) error {
	g.h("Told")
	return g.Store.Told(ctx, d, was, now)
}

func (g gatedStore) AddressesSince(ctx context.Context, id chain.ID, seq int64, n int) ([]watch.Watched, error) {
	g.h("AddressesSince")
	return g.Store.AddressesSince(ctx, id, seq, n)
}

// happenings are what goes on while one watcher stands still between two calls
// and another one works on the same store.
var happenings = []struct {
	name string
	run  func(*rig)
}{
	{"the other steps", func(r *rig) { r.step() }},
	{"the chain goes on and the other steps", func(r *rig) {
		r.net.Mine(1)
		r.step()
		r.net.Mine(5)
		r.step()
	}},
	{"the chain goes back", func(r *rig) { r.reorg(2, sim.ReorgOptions{}) }},
	{"the chain goes back and the other steps", func(r *rig) {
		r.reorg(2, sim.ReorgOptions{})
		r.step()
	}},
	{"the chain goes back and comes again, and the other steps", func(r *rig) {
		r.reorg(2, sim.ReorgOptions{Empty: true})
		r.step()
		r.net.Mine(1)
		r.step()
	}},
}

// reorg goes back by less than what any payment is believed after.
func (r *rig) reorg(depth int, o sim.ReorgOptions) {
	r.t.Helper()
	if _, err := r.net.Reorg(depth, o); err != nil {
		r.t.Fatal(err)
	}
}

// TestTwoWatchersCreditOnceSweep stops a watcher before every one of its calls,
// lets things happen, and lets it go on with what it knew.
func TestTwoWatchersCreditOnceSweep(t *testing.T) {
	t.Parallel()
	for _, h := range happenings {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			eachShape(t, func(t *testing.T, s sim.Shape) {
				db := openStore(t)
				calls := 1
				for n := 1; n <= calls; n += callStride {
					r := newRig(t, db, sim.Config{ID: chain.ID(fmt.Sprintf("sim:%03d", n)), Shape: s, FinalDepth: 6, Nodes: 1, Quorum: 1}, 3, 4)
					calls = max(calls, r.slept(n, h.run))
					r.net.Mine(10)
					r.quiet()
					r.checkCredited()
					r.checkPending()
					if why := r.halted(); why != "" {
						t.Errorf("halted: %s", why)
					}
					if t.Failed() {
						t.Fatalf("stopped before call %d; told: %q", n, r.told)
					}
				}
				if calls < 30 {
					t.Errorf("the watcher made only %d calls", calls)
				}
			})
		})
	}
}

// slept steps a second watcher over a payment that is seen, mined and believed,
// with something happening before its n-th call. It returns how many it made.
func (r *rig) slept(n int, happens func(*rig)) int {
	r.t.Helper()
	id, calls := r.create(), 0
	c := sim.NewChain(r.net)
	g := gate{Store: r.db, Reader: c, Mempool: c, Teller: r, h: func(string) {
		if calls++; calls == n {
			happens(r)
		}
	}}
	a, err := watch.New(r.cfg, g.ports(r.rates))
	if err != nil {
		r.t.Fatal(err)
	}
	step := func() {
		_ = a.Step(r.t.Context(), r.now.Add(time.Second)) // being overtaken may be an error
	}
	r.pay(id, smallCents)
	step()
	r.net.Mine(1)
	step()
	r.pay(id, smallCents+1)
	r.net.Mine(1)
	step()
	r.net.Mine(2)
	step()
	return calls
}
