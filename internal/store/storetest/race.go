package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ferry/internal/feed"
	"ferry/internal/ledger"
	"ferry/internal/order"
	"ferry/internal/settle"
	"ferry/internal/store"
)

// racers is how many goroutines race: as many as one batch takes, and some.
const racers = 72

// together runs f in many goroutines at once.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			f(i)
		})
	}
	close(gate)
	wg.Wait()
}

func moveOneOrder(t *testing.T, b *bench) {
	o := b.create()
	var mu sync.Mutex
	took := 0
	together(racers, func(i int) { // three tell each fact, and one of them is first
		d := deposit(o, fmt.Sprintf("d%d", i/3), 1)
		_, err := b.tell(o.ID, order.DepositSeen{Deposit: d, Sighting: 1, At: start}, start)
		if err != nil && !errors.Is(err, order.ErrKnown) {
			t.Error(err)
		}
		if err == nil {
			mu.Lock()
			took++
			mu.Unlock()
		}
	})
	same(t, took, racers/3)
	now := must[order.Order](t)(b.db.Order(t.Context(), o.ID))
	if now.Version != int64(1+racers/3) || len(now.Deposits) != racers/3 {
		t.Fatalf("version %d with %d deposits", now.Version, len(now.Deposits))
	}
	for i, e := range must[[]store.OrderEvent](t)(b.db.OrderEvents(t.Context(), o.ID, 0)) {
		if e.Version != int64(i+1) {
			t.Fatalf("event %d has version %d", i, e.Version)
		}
	}
	b.feedIsWhole(1 + racers/3)
}

func moveManyOrders(t *testing.T, b *bench) {
	var orders []order.Order
	for range racers {
		orders = append(orders, b.create())
	}
	together(racers, func(i int) {
		o, d := orders[i], deposit(orders[i], "d", 1000)
		for _, ev := range []order.Event{
			order.DepositSeen{Deposit: d, Sighting: 1, At: start},
			order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: start},
			order.PayoutFinal{Landed: order.Landed{Tx: "paid", Cost: amount(1)}},
		} {
			if _, err := b.tell(o.ID, ev, start); err != nil {
				t.Errorf("%s: %s: %v", o.ID, ev.Name(), err)
			}
		}
	})
	for _, o := range orders {
		if now := must[order.Order](t)(b.db.Order(t.Context(), o.ID)); now.State != order.Completed {
			t.Errorf("%s is %s", o.ID, now.State)
		}
	}
	hot := b.balance(ledger.Hot(get), getAsset)
	if hot.String() != fmt.Sprint(1_000_000_000-racers*2001) || !hot.Reserved.IsZero() {
		t.Errorf("the wallet has %s with %s reserved", hot, hot.Reserved)
	}
	b.feedIsWhole(4 * racers)
}

func racingCreates(t *testing.T, b *bench) {
	const fit = 10 // the wallet holds a billion
	var changes []order.Change
	for range racers {
		a := b.ask()
		a.Quote.Out = amount(1_000_000_000 / fit)
		changes = append(changes, must[order.Change](t)(order.New(a, start)))
	}
	var mu sync.Mutex
	made := 0
	together(racers, func(i int) {
		err := b.db.Create(t.Context(), changes[i])
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			made++
		case !errors.Is(err, ledger.ErrShort):
			t.Error(err)
		}
	})
	same(t, made, fit)
	hot := b.balance(ledger.Hot(get), getAsset)
	if !hot.Free().IsZero() || hot.Reserved != amount(1_000_000_000) {
		t.Errorf("%s is free, %s reserved", hot.Free(), hot.Reserved)
	}
	b.feedIsWhole(fit)
}

func racingAddresses(t *testing.T, b *bench) {
	const addresses = 8
	var changes []order.Change
	for i := range racers {
		a := b.ask()
		a.DepositTo = addr(fmt.Sprintf("shared-%d", i%addresses))
		changes = append(changes, must[order.Change](t)(order.New(a, start)))
	}
	made := make([]bool, racers)
	together(racers, func(i int) {
		err := b.db.Create(t.Context(), changes[i])
		made[i] = err == nil
		if err != nil && !errors.Is(err, settle.ErrTaken) {
			t.Error(err)
		}
	})
	owners := map[int]int{}
	for i, is := range made {
		if is {
			owners[i%addresses]++
		}
		if _, err := b.db.Order(t.Context(), changes[i].Now.ID); (err == nil) != is {
			t.Errorf("order %d was made: %v, and read: %v", i, is, err)
		}
	}
	for i := range addresses {
		if owners[i] != 1 {
			t.Errorf("address %d has %d owners", i, owners[i])
		}
	}
	b.feedIsWhole(addresses)
}

// feedIsWhole checks that the feed has n entries without a gap, and that each
// order's versions come in order.
func (b *bench) feedIsWhole(n int) {
	b.Helper()
	entries := must[[]feed.Entry](b.T)(b.db.Since(b.Context(), 0, n+10))
	if len(entries) != n {
		b.Fatalf("the feed has %d entries, want %d", len(entries), n)
	}
	versions := map[order.ID]int64{}
	for i, e := range entries {
		if e.Seq != int64(i+1) || e.Version != versions[e.Order]+1 {
			b.Fatalf("entry %d: %+v after version %d", i, e, versions[e.Order])
		}
		versions[e.Order] = e.Version
	}
	if head := must[int64](b.T)(b.db.Head(b.Context())); head != int64(n) {
		b.Fatalf("the head is %d", head)
	}
}

func feedWhole(t *testing.T, b *bench) {
	same(t, must[int64](t)(b.db.Head(t.Context())), int64(0))
	woken := b.db.Woken()
	select {
	case <-woken:
		t.Fatal("woken before anything was written")
	default:
	}
	o := b.create()
	select {
	case <-woken:
	default:
		t.Fatal("not woken")
	}
	later := b.db.Woken()
	if _, err := b.tell(o.ID, order.PayoutFinal{}, start); err == nil {
		t.Fatal("not refused")
	}
	select {
	case <-later:
		t.Fatal("woken by a refusal")
	default:
	}
	b.told(o.ID, order.Cancelled{}, start.Add(time.Second))
	<-later
	want := feed.Entry{
		Seq: 2, Order: o.ID, Version: 2, Event: "cancelled", From: order.Awaiting, State: order.Expired, At: start.Add(time.Second),
		Integrator: o.Integrator, Number: 2, Session: o.Origin.Group,
	}
	now := must[order.Order](t)(b.db.Order(t.Context(), o.ID))
	for _, e := range must[[]feed.Entry](t)(b.db.Since(t.Context(), 1, 5)) {
		e.Now = nil // kept of what this process wrote
		same(t, e, want)
	}
	want.Now = &now
	same(t, must[[]feed.Entry](t)(b.db.Moments(t.Context(), []int64{2})), []feed.Entry{want})
	same(t, len(must[[]feed.Entry](t)(b.db.Since(t.Context(), 0, 1))), 1)
	b.feedIsWhole(2)
}
