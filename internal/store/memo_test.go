package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

// TestWhatIsRememberedIsNeverBelievedOverWhatIsThere: one process remembers an
// order and the end of the feed, another moves both on.
func TestWhatIsRememberedIsNeverBelievedOverWhatIsThere(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	for i := range 3 {
		if err := a.Create(t.Context(), newOrder(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	id := func(i int) order.ID { return order.ID(fmt.Sprintf("ord_%03d", i)) }
	say := func(db *DB, i int, ev order.Event) (order.Order, error) { return tell(t.Context(), db, id(i), ev) }
	must := func(db *DB, i int, ev order.Event, version int64) {
		t.Helper()
		if o, err := say(db, i, ev); err != nil || o.Version != version {
			t.Fatalf("%s: version %d, %v", ev.Name(), o.Version, err)
		}
	}
	stop := func(n int) order.Event { return order.Stopped{Request: fmt.Sprint(n), Why: order.ScreeningHold} }

	must(b, 0, stop(1), 2) // a remembers version 1
	must(a, 0, stop(2), 3) // its write breaks the key of version 2, and it reads again
	must(b, 0, order.Lifted{Request: "l"}, 4)

	// A refusal of what is remembered is not the answer: only after b's stop is
	// there something to lift.
	must(b, 1, stop(3), 2)
	must(a, 1, order.Lifted{Request: "m"}, 3)
	var turn *order.OutOfTurn
	if _, err := say(b, 1, order.Lifted{Request: "n"}); !errors.As(err, &turn) {
		t.Fatalf("lifted twice: %v", err)
	}
	if _, err := say(b, 1, order.Lifted{Request: "m"}); !errors.Is(err, order.ErrKnown) {
		t.Fatalf("what the other process applied is not known: %v", err)
	}
	// Turn by turn, each with what the other does not know.
	for i := range 20 {
		must([]*DB{a, b}[i%2], 2, stop(100+i), int64(i+2))
	}
	entries, err := a.Since(t.Context(), 0, 1000)
	if err != nil || len(entries) != 3+3+2+20 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	checkWhole(t, entries)
	if err := b.Audit(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestARefusalByTheBooksOfAnOrderThatIsRemembered: the other process has told the fact
// and booked it, so the books refuse it here. The answer is that the fact is known.
func TestARefusalByTheBooksOfAnOrderThatIsRemembered(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	c := newOrder(t, 0)
	if err := b.Fund(t.Context(), c.Now.Quote.Give, money.FromUint64(100), noon); err != nil {
		t.Fatal(err)
	}
	if err := b.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	refunding := []order.Event{
		order.RefundAddressGiven{To: chain.CanonicalAddress(chain.Other, "back")},
		paid(c.Now.ID),
		order.PayoutFailed{Why: "reverted"},
		order.RefundPriced{Cost: money.FromUint64(1)},
	}
	for _, ev := range refunding {
		if _, err := tell(t.Context(), b, c.Now.ID, ev); err != nil {
			t.Fatalf("%s: %v", ev.Name(), err)
		}
	}
	// Told again what it knows, a remembers the order, and nothing of the books.
	if _, err := tell(t.Context(), a, c.Now.ID, paid(c.Now.ID)); !errors.Is(err, order.ErrKnown) {
		t.Fatal(err)
	}
	back := order.RefundFinal{Landed: order.Landed{Tx: "back", Cost: money.FromUint64(1)}}
	if _, err := tell(t.Context(), b, c.Now.ID, back); err != nil {
		t.Fatal(err)
	}
	if o, err := tell(t.Context(), a, c.Now.ID, back); !errors.Is(err, order.ErrKnown) || o.State != order.Refunded {
		t.Fatalf("%s, %v", o.State, err)
	}
}

// TestTwoProcessesThatRemember: each moves its own orders as fast as it can, with
// what it remembers, so that they take each other's numbers all the time.
func TestTwoProcessesThatRemember(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	const movers, moves = 6, 40
	var wg sync.WaitGroup
	for i, db := range []*DB{a, b} {
		for m := range movers {
			n := i*movers + m
			if err := db.Create(t.Context(), newOrder(t, n)); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				for k := range moves {
					ev := order.Stopped{Request: fmt.Sprint(k), Why: order.ScreeningHold}
					if o, err := tell(t.Context(), db, order.ID(fmt.Sprintf("ord_%03d", n)), ev); err != nil || o.Version != int64(k+2) {
						t.Errorf("order %d: version %d, %v", n, o.Version, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	entries, err := a.Since(t.Context(), 0, 10000)
	if err != nil || len(entries) != 2*movers*(moves+1) {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	checkWhole(t, entries)
}

// TestTheMemoIsBounded: a writer does not remember every order there ever was.
func TestTheMemoIsBounded(t *testing.T) {
	t.Parallel()
	var m memo
	for i := range 5 * memoOrders {
		o := order.Order{ID: order.ID(fmt.Sprint(i)), CreatedAt: time.Time{}}
		m.learn(&tx{orders: map[order.ID]*order.Order{o.ID: &o}})
	}
	if n := len(m.young) + len(m.old); n > 2*memoOrders {
		t.Errorf("%d orders are remembered", n)
	}
	last := order.ID(fmt.Sprint(5*memoOrders - 1))
	if m.order(last) == nil || m.order("0") != nil {
		t.Error("the last is not remembered, or the first is")
	}
}
