package watch_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/watch"
)

// counted is a watcher of which every call is noted.
type counted struct {
	*rig
	w     *watch.Watcher
	calls []string
}

func newCounted(t *testing.T, mempool bool) *counted {
	t.Helper()
	r := newRig(t, openStore(t), sim.Config{ID: "sim:still", Shape: sim.Nonces, FinalDepth: 6, Nodes: 1, Quorum: 1}, 3, 4)
	c := &counted{rig: r}
	node := sim.NewChain(r.net)
	g := gate{Store: r.db, Reader: node, Mempool: node, Teller: r, h: func(call string) { c.calls = append(c.calls, call) }}
	p := g.ports(r.rates)
	if !mempool {
		p.Mempool = nil
	}
	w, err := watch.New(r.cfg, p)
	if err != nil {
		t.Fatal(err)
	}
	c.w, c.now = w, r.net.Tip().Time.Add(time.Minute) // its blocks are not of the future
	return c
}

// look steps once after a while, and gives what was asked for it.
func (c *counted) look(after time.Duration) []string {
	c.t.Helper()
	c.now, c.calls = c.now.Add(after), nil
	if err := c.w.Step(c.t.Context(), c.now); err != nil {
		c.t.Fatal(err)
	}
	return c.calls
}

// settled looks until the watcher has nothing more to do.
func (c *counted) settled() {
	c.t.Helper()
	for range 4 {
		c.look(time.Second)
	}
}

const moment = 100 * time.Millisecond

// TestALookAtAnUnchangedChainAsksForNothingElse: a watcher looks many times for each
// block, and the looks between two blocks must cost next to nothing.
func TestALookAtAnUnchangedChainAsksForNothingElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mempool bool
		waiting uint64 // cents that wait in the mempool
		want    []string
	}{
		"no mempool":                 {false, 0, []string{"Head"}},
		"an empty mempool":           {true, 0, []string{"Head", "AddressesSince", "Pending"}},
		"the same payment unmined":   {true, smallCents, []string{"Head", "AddressesSince", "Pending"}},
		"unseen by what has no pool": {false, smallCents, []string{"Head"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCounted(t, c.mempool)
			id := w.create()
			if c.waiting > 0 {
				w.pay(id, c.waiting)
			}
			w.settled()
			for range 5 {
				if diff := cmp.Diff(c.want, w.look(moment)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestAStillWatcherNoticesWhateverChanges: each of these is met by a look that comes a
// moment after looks at which there was nothing to do.
func TestAStillWatcherNoticesWhateverChanges(t *testing.T) {
	t.Parallel()
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		happens func(*counted, *testing.T)
		after   time.Duration
		want    string // a call that must be made
	}{
		"a block": {func(w *counted, _ *testing.T) { w.net.Mine(1) }, moment, "Advance"},
		"another branch": {func(w *counted, t *testing.T) {
			_, err := w.net.Reorg(1, sim.ReorgOptions{Empty: true})
			must(t, err)
		}, moment, "Rewind"},
		"a payment that waits":                 {func(w *counted, _ *testing.T) { w.pay(w.orders[0], smallCents) }, moment, "Glimpse"},
		"a payment to an order of this moment": {func(w *counted, _ *testing.T) { w.pay(w.create(), smallCents) }, moment, "Told"},
		"what another worker left": {func(w *counted, t *testing.T) {
			d := chain.Deposit{ID: "left", To: w.address(w.orders[0]), Asset: w.net.ID().Native(), Amount: money.FromUint64(smallCents), Tx: "left"}
			must(t, w.db.Glimpse(t.Context(), w.net.ID(), []chain.Deposit{d}, w.now))
		}, time.Second, "Told"},
		"nothing for a while":    {func(*counted, *testing.T) {}, time.Second, "Track"},
		"a clock that went back": {func(*counted, *testing.T) {}, -time.Minute, "Track"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCounted(t, true)
			w.create()
			w.settled()
			w.look(moment)
			c.happens(w, t)
			if calls := w.look(c.after); !slices.Contains(calls, c.want) {
				t.Errorf("%s was not called: %q", c.want, calls)
			}
		})
	}
}

// TestAStillWatcherHasSaidHowFarItRead: orders expire and chains count as read by it.
// It is never ahead of the tip or of the clock, and behind both by a second at most.
func TestAStillWatcherHasSaidHowFarItRead(t *testing.T) {
	t.Parallel()
	w := newCounted(t, true)
	w.net.Mine(1)
	tip := w.net.Tip()
	w.now = tip.Time.Add(-3 * time.Second) // of a chain whose clock goes before ours
	for range 50 {
		w.look(moment)
		track, err := w.db.Track(t.Context(), w.net.ID())
		if err != nil {
			t.Fatal(err)
		}
		read := w.now
		if tip.Time.Before(read) {
			read = tip.Time
		}
		if late := read.Sub(track.Synced); late < 0 || late > time.Second || track.Final != w.net.Final().Height {
			t.Fatalf("at %s the track is %+v, want it read up to %s", w.now, track, read)
		}
	}
	if track, err := w.db.Track(t.Context(), w.net.ID()); err != nil || !track.Synced.Equal(tip.Time) {
		t.Errorf("the track is %+v at the end, want it read up to the tip at %s: %v", track, tip.Time, err)
	}
}

// TestTroubleIsNotTakenForStillness: after a look that failed, or that another worker
// overtook, the next one does all its work.
func TestTroubleIsNotTakenForStillness(t *testing.T) {
	t.Parallel()
	w := newCounted(t, true)
	id := w.create()
	w.settled()
	w.refuse = func(order.Event) error { return errDeaf }
	w.pay(id, smallCents)
	w.now = w.now.Add(moment)
	if err := w.w.Step(t.Context(), w.now); !errors.Is(err, errDeaf) {
		t.Fatalf("got %v", err)
	}
	w.refuse = nil
	if calls := w.look(moment); !slices.Contains(calls, "Told") {
		t.Errorf("what could not be told was not told again: %q", calls)
	}
}
