package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/order"
)

// made asks for an order that counts against ceilings.
func (b *bench) made(at time.Time, ceilings ...order.Ceiling) (order.Order, error) {
	b.Helper()
	a := b.ask()
	a.Ceilings = ceilings
	c := must[order.Change](b.T)(order.New(a, at))
	return c.Now, b.db.Create(b.Context(), c)
}

func ceiling(subject string, most int64) order.Ceiling {
	return order.Ceiling{Name: "limit_of_" + subject, Subject: subject, Max: most, Window: time.Hour}
}

// tooMany is the refusal of a ceiling.
func tooMany(t *testing.T, err error) *order.TooMany {
	t.Helper()
	var refused *order.TooMany
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want a ceiling", err)
	}
	return refused
}

func openCeilings(t *testing.T, b *bench) {
	first, err := b.made(start, ceiling("a", 2), ceiling("b", 0))
	ok(t, err)
	_, err = b.made(start.Add(time.Minute), ceiling("a", 2))
	ok(t, err)
	// Refused: it says which ceiling, and what it waits for; nothing is left of it.
	_, err = b.made(start.Add(2*time.Minute), ceiling("b", 5), ceiling("a", 2))
	refused := tooMany(t, err)
	same(t, refused.Ceiling.Subject, "a")
	same(t, refused.Oldest, start)
	same(t, must[int64](t)(b.db.OpenOrders(t.Context(), "b", start.Add(-time.Second))), int64(1))
	// Another subject is another matter, and zero counts without bounding.
	_, err = b.made(start, ceiling("b", 0))
	ok(t, err)
	same(t, must[int64](t)(b.db.OpenOrders(t.Context(), "b", start.Add(-time.Second))), int64(2))
	_, err = b.made(start, ceiling("b", 2))
	same(t, tooMany(t, err).Ceiling.Subject, "b")
	// The window: an order counts for less than an hour, to the microsecond.
	for _, c := range []struct {
		at    time.Duration
		taken bool
	}{{time.Hour - time.Microsecond, true}, {time.Hour, false}} {
		if _, err = b.made(start.Add(c.at), ceiling("a", 2)); (err != nil) != c.taken {
			t.Fatalf("after %s: %v", c.at, err)
		}
	}
	// Lowered below what is there: nothing new, and what is there goes on.
	_, err = b.made(start.Add(time.Hour), ceiling("a", 1))
	_ = tooMany(t, err)
	// An ending frees its place, once.
	b.told(first.ID, order.Cancelled{}, start.Add(time.Hour))
	same(t, must[int64](t)(b.db.OpenOrders(t.Context(), "b", start.Add(-time.Second))), int64(1))
	same(t, must[int64](t)(b.db.OpenOrders(t.Context(), "a", start.Add(-time.Second))), int64(2))
	b.audit()
}

// However many ask at once, no ceiling is overshot.
func openRace(t *testing.T, b *bench) {
	const callers, most = 32, 5
	var made atomic.Int64
	var wg sync.WaitGroup
	asks := make([]order.Change, callers)
	for i := range asks {
		a := b.ask()
		a.Ceilings = []order.Ceiling{ceiling("shared", most), ceiling(fmt.Sprint("own", i), 1)}
		asks[i] = must[order.Change](t)(order.New(a, start))
	}
	for _, c := range asks {
		wg.Go(func() {
			err := b.db.Create(t.Context(), c)
			var refused *order.TooMany
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
	same(t, must[int64](t)(b.db.OpenOrders(t.Context(), "shared", start.Add(-time.Hour))), int64(most))
}

func requests(t *testing.T, b *bench) {
	ask := func(key, body string, at time.Time) (order.Order, error) {
		a := b.ask()
		a.Once = &order.Once{Scope: "int_a", Key: key, Body: body}
		c := must[order.Change](t)(order.New(a, at))
		return c.Now, b.db.Create(t.Context(), c)
	}
	first, err := ask("k", "x", start)
	ok(t, err)
	again := func(key, body string) *order.Made {
		t.Helper()
		_, err := ask(key, body, start)
		var known *order.Made
		if !errors.As(err, &known) {
			t.Fatalf("got %v", err)
		}
		return known
	}
	same(t, *again("k", "x"), order.Made{Order: first.ID, Same: true})
	same(t, *again("k", "y"), order.Made{Order: first.ID})
	_, err = ask("l", "x", start)
	ok(t, err)
	// As it was made, whatever became of it.
	b.told(first.ID, order.Cancelled{}, start)
	same(t, must[order.Order](t)(b.db.OrderMade(t.Context(), first.ID)).Version, int64(1))
	// At once: one order, and the others hear of it.
	var wg sync.WaitGroup
	var made atomic.Int64
	for range 16 {
		wg.Go(func() {
			_, err := ask("race", "x", start)
			var known *order.Made
			switch {
			case err == nil:
				made.Add(1)
			case !errors.As(err, &known) || !known.Same:
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	same(t, made.Load(), int64(1))
	// Forgotten after its time, a request may make an order again.
	ok(t, b.db.ForgetRequests(t.Context(), start, 100))
	_ = again("k", "x")
	ok(t, b.db.ForgetRequests(t.Context(), start.Add(time.Second), 100))
	_, err = ask("k", "y", start)
	ok(t, err)
}

func sessionOrders(t *testing.T, b *bench) {
	const mine, other = "mine", "other"
	var ids []order.ID
	for i := range 7 {
		a := b.ask()
		a.Origin.Group = mine
		c := must[order.Change](t)(order.New(a, start.Add(time.Duration(i/2)*time.Second)))
		ok(t, b.db.Create(t.Context(), c))
		ids = append(ids, a.ID)
	}
	a := b.ask()
	a.Origin.Group = other
	b.create(a)
	var seen []order.ID
	var last order.Order
	for place := (order.Place{}); ; place = (order.Place{At: last.CreatedAt, ID: last.ID}) {
		page := must[[]order.Order](t)(b.db.SessionOrders(t.Context(), mine, place, 3))
		for _, o := range page {
			if len(seen) > 0 && o.CreatedAt.After(last.CreatedAt) {
				t.Fatal("not newest first")
			}
			seen, last = append(seen, o.ID), o
		}
		if len(page) < 3 {
			break
		}
	}
	same(t, len(seen), len(ids))
	unique := map[order.ID]bool{}
	for _, id := range seen {
		unique[id] = true
	}
	same(t, len(unique), len(ids))
	same(t, len(must[[]order.Order](t)(b.db.SessionOrders(t.Context(), "nobody", order.Place{}, 3))), 0)
}
