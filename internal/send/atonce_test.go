package send_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/send"
)

// meeting is a chain whose drafts wait for one another, so that many are under way.
type meeting struct {
	send.Chain
	at      *sync.WaitGroup // how many must meet before any goes on
	most    *atomic.Int64   // that chose at one time
	chooses *atomic.Int64
}

func (m meeting) Draft(ctx context.Context, c chain.Call, held send.Held, most money.Amount) (chain.Attempt, error) {
	m.at.Done()
	m.at.Wait()
	return m.Chain.Draft(ctx, c, func(ctx context.Context) ([]chain.Slot, error) {
		slots, err := held(ctx)
		if n := m.chooses.Add(1); n > m.most.Load() {
			m.most.Store(n)
		}
		return slots, err
	}, most)
}

// chosen is a store that knows when a choice is over.
type chosen struct {
	send.Store
	chooses *atomic.Int64
}

func (c chosen) Keep(ctx context.Context, id send.ID, k send.Kept) error {
	if len(k.Slots) > 0 {
		defer c.chooses.Add(-1)
	}
	return c.Store.Keep(ctx, id, k)
}

// TestTransfersAtOnceNeverShareASlot: many drafts are under way at the same time, one of
// them at a time chooses, and each wish lands once.
func TestTransfersAtOnceNeverShareASlot(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, s sim.Shape) {
		const many = 6 // as many as the rig has coins
		r := newRig(t, openStore(t), "sim:once", s)
		for range many {
			r.wish(false)
		}
		m := meeting{Chain: sim.NewChain(r.net), at: &sync.WaitGroup{}, most: &atomic.Int64{}, chooses: &atomic.Int64{}}
		m.at.Add(many)
		w := send.New(r.net.ID(), sim.Hot, m, chosen{r.db, m.chooses})
		if err := w.StepAtOnce(t.Context(), start, many); err != nil {
			t.Fatal(err)
		}
		if n := m.most.Load(); s != sim.Expiring && n != 1 {
			t.Errorf("%d drafts chose slots at the same time", n)
		}
		slots := map[chain.Slot]send.ID{}
		for _, wish := range r.wishes {
			got := r.record(wish.ID)
			if len(got.Attempts) != 1 {
				t.Fatalf("%s has %d attempts after one step", wish.ID, len(got.Attempts))
			}
			for _, slot := range got.Attempts[0].Slots {
				if other := slots[slot]; other != "" {
					t.Errorf("%s and %s share %s", wish.ID, other, slot)
				}
				slots[slot] = wish.ID
			}
		}
		r.net.Mine(1) // in which they land
		r.net.MineFinal()
		if err := w.StepAtOnce(t.Context(), start.Add(time.Minute), many); err != nil {
			t.Fatal(err)
		}
		for _, wish := range r.wishes {
			if got := r.record(wish.ID); got.Open || got.Result.Fate != chain.Final {
				t.Errorf("%s ended as %v (open: %t)", wish.ID, got.Result.Fate, got.Open)
			}
			if got := r.net.Received(wish.Call.To); len(got) != 1 || got[0].Amount != wish.Call.Amount {
				t.Errorf("%s was paid by %v", wish.ID, got)
			}
		}
	})
}
