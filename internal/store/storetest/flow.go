package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/money"
	"ferry/internal/order"
)

// sold asks for an order that sells of a pair.
func (b *bench) sold(at time.Time, pair string, dollars, most money.USD) error {
	b.Helper()
	a := b.ask()
	a.Flow = &order.Flow{Pair: pair, USD: dollars * money.Dollar, Most: most * money.Dollar}
	return b.db.Create(b.Context(), must[order.Change](b.T)(order.New(a, at)))
}

// tooMuch is the refusal of what is too much of a pair.
func tooMuch(t *testing.T, err error) *order.TooMuch {
	t.Helper()
	var refused *order.TooMuch
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want that it is too much of its pair", err)
	}
	return refused
}

func flows(t *testing.T, b *bench) {
	ok(t, b.sold(start, "BTC/ETH", 60, 100))
	ok(t, b.sold(start.Add(20*time.Second), "BTC/ETH", 30, 100))
	refused := tooMuch(t, b.sold(start.Add(30*time.Second), "BTC/ETH", 11, 100))
	same(t, refused.Sold, 90*money.Dollar)
	same(t, refused.Oldest, start)
	ok(t, b.sold(start.Add(30*time.Second), "BTC/ETH", 10, 100)) // to the last dollar
	_ = tooMuch(t, b.sold(start.Add(30*time.Second), "BTC/ETH", 1, 100))
	// The other way round is another pair, and so is any other.
	ok(t, b.sold(start.Add(30*time.Second), "ETH/BTC", 100, 100))
	// What was refused was not counted, and what is a minute old does not count.
	_ = tooMuch(t, b.sold(start.Add(time.Minute), "BTC/ETH", 60, 100))
	ok(t, b.sold(start.Add(time.Minute+2*time.Second), "BTC/ETH", 60, 100))
	_ = tooMuch(t, b.sold(start.Add(time.Minute+2*time.Second), "BTC/ETH", 1, 100))
	// One order above the bound is never taken, and a lowered bound holds at once.
	alone := tooMuch(t, b.sold(start, "SOL/ETH", 101, 100))
	same(t, alone.Oldest, time.Time{})
	ok(t, b.sold(start, "SOL/ETH", 50, 100))
	_ = tooMuch(t, b.sold(start, "SOL/ETH", 1, 50))
	// Long after, the places of old seconds are taken by new ones.
	for i := range 200 {
		at := start.Add(time.Hour + time.Duration(i)*time.Second)
		if err := b.sold(at, "OLD/NEW", 1, 61); err != nil {
			t.Fatalf("after %d seconds: %v", i, err)
		}
	}
	_ = tooMuch(t, b.sold(start.Add(time.Hour+199*time.Second), "OLD/NEW", 1, 61))
	b.audit()
}

// However many ask at once, no bound is overshot.
func flowRace(t *testing.T, b *bench) {
	const callers, most = 40, 7
	var made atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		a := b.ask()
		a.Flow = &order.Flow{Pair: "A/B", USD: money.Dollar, Most: most * money.Dollar}
		c := must[order.Change](t)(order.New(a, start))
		wg.Go(func() {
			err := b.db.Create(t.Context(), c)
			var refused *order.TooMuch
			switch {
			case err == nil:
				made.Add(1)
			case !errors.As(err, &refused):
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	same(t, made.Load(), int64(most))
}
