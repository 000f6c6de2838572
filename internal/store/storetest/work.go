package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
	"ferry/internal/settle"
	"ferry/internal/store"
)

// sending brings an order to where its payout is wished.
func (b *bench) sending() order.Order {
	b.Helper()
	o := b.create()
	d := deposit(o, "d", 1000)
	b.told(o.ID, order.DepositSeen{Deposit: d, Sighting: 1, At: start}, start)
	return b.told(o.ID, order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: start}, start)
}

// paid tells an order that its money was seen.
func (b *bench) paid(o order.Order, at time.Time) order.Order {
	b.Helper()
	return b.told(o.ID, order.DepositSeen{Deposit: deposit(o, "d", 1000), Sighting: 1, At: at}, at)
}

func (b *bench) take(at time.Time, n int) []settle.Work {
	b.Helper()
	return must[[]settle.Work](b.T)(b.db.TakeWork(b.Context(), at, time.Minute, n))
}

func workLease(t *testing.T, b *bench) {
	b.sending()
	b.sending()
	b.sending()
	same(t, len(b.take(start.Add(-time.Second), 10)), 0)
	first := b.take(start, 2)
	same(t, len(first), 2)
	if first[0].ID >= first[1].ID || first[0].Tries != 0 {
		t.Fatalf("%+v", first)
	}
	rest := b.take(start, 10)
	same(t, len(rest), 1)
	same(t, len(b.take(start, 10)), 0)
	// The lease runs out for those who did not come back.
	ok(t, b.db.DoneWork(t.Context(), first[0].ID))
	ok(t, b.db.DoneWork(t.Context(), first[0].ID))
	ok(t, b.db.LaterWork(t.Context(), rest[0].ID, start.Add(time.Hour), "not\x00 \xffnow"))
	ok(t, b.db.LaterWork(t.Context(), "work that is gone", start, ""))
	again := b.take(start.Add(time.Minute), 10)
	same(t, len(again), 1)
	if again[0].ID != first[1].ID || again[0].Tries != 1 {
		t.Fatalf("%+v", again)
	}
	same(t, again[0].Effect, first[1].Effect)
	ok(t, b.db.DoneWork(t.Context(), again[0].ID))
	put := b.take(start.Add(time.Hour), 10)
	same(t, len(put), 1)
	if put[0].ID != rest[0].ID || put[0].Tries != 1 {
		t.Fatalf("%+v", put)
	}
	same(t, must[store.Counts](t)(b.db.Counts(t.Context())).Work, int64(1))
}

func workAgain(t *testing.T, b *bench) {
	o := b.create()
	wish := func() {
		_, err := b.db.Move(t.Context(), o.ID, func(o order.Order) (order.Change, error) {
			n := o
			n.Version++
			return order.Change{
				Was: o.Version, From: o.State, Now: n, At: start, Event: order.RefundAsked{Request: time.Duration(n.Version).String()},
				Effects: []order.Effect{
					order.Price{ID: "p", For: order.ForRecovery, Deposit: "dep", Call: chain.Call{Chain: give, From: "hot", To: addr("x"), Asset: giveAsset, Amount: amount(3)}},
					order.RunStep{Index: 1},
					order.AskHuman{Why: order.StepBroke},
				},
			}, nil
		})
		ok(t, err)
	}
	wish()
	first := b.take(start, 10)
	same(t, len(first), 2)
	same(t, first[0].Effect, order.Effect(order.Price{ID: "p", For: order.ForRecovery, Deposit: "dep", Call: chain.Call{Chain: give, From: "hot", To: addr("x"), Asset: giveAsset, Amount: amount(3)}}))
	same(t, first[1].Effect, order.Effect(order.RunStep{Index: 1}))
	// It is wished again while the first is being finished: it is not lost with it.
	wish()
	for _, w := range first {
		ok(t, b.db.DoneWork(t.Context(), w.ID))
	}
	second := b.take(start, 10)
	same(t, len(second), 2)
	same(t, second[0].Effect, first[0].Effect)
	same(t, len(must[[]store.Question](t)(b.db.Queue(t.Context(), 10))), 2)
}

func dueOrders(t *testing.T, b *bench) {
	a, late := b.create(), b.ask()
	late.FundingTime = 3 * time.Hour
	z := b.create(late)
	due := func(at time.Time, n int) []order.ID {
		t.Helper()
		return must[[]order.ID](t)(b.db.DueOrders(t.Context(), at, time.Minute, n))
	}
	same(t, len(due(start, 10)), 0)
	hour := start.Add(time.Hour)
	same(t, due(hour, 10), []order.ID{a.ID})
	same(t, len(due(hour, 10)), 0)
	same(t, due(hour.Add(time.Minute), 10), []order.ID{a.ID})
	// Moved is due when the order says so.
	b.told(a.ID, order.FundingClosed{}, hour)
	same(t, due(start.Add(24*time.Hour), 10), []order.ID{z.ID})
	same(t, must[store.Counts](t)(b.db.Counts(t.Context())).Orders, map[order.State]int64{order.Expired: 1, order.Awaiting: 1})
	for range 3 {
		b.create()
	}
	same(t, len(due(hour, 2)), 2)
}

// The time of an order moves with it, however often it moved since somebody was to
// look at it.
func dueMoves(t *testing.T, b *bench) {
	due := func(at time.Time, n int) []order.ID {
		t.Helper()
		return must[[]order.ID](t)(b.db.DueOrders(t.Context(), at, time.Minute, n))
	}
	// Later: paid, it waits for confirmations longer than it would have for money.
	paid := b.create()
	for range 5 {
		b.told(b.create().ID, order.Cancelled{}, start) // never again
	}
	hour := start.Add(time.Hour)
	o := b.paid(paid, hour.Add(-time.Minute))
	same(t, o.NextDue().After(hour), true)
	same(t, len(due(hour, 2)), 0)
	same(t, len(due(o.NextDue().Add(-time.Second), 2)), 0)
	same(t, due(o.NextDue(), 2), []order.ID{paid.ID})
	// Leased to nobody who comes back: again after the lease, at its own time.
	same(t, len(due(o.NextDue().Add(time.Second), 2)), 0)
	same(t, due(o.NextDue().Add(time.Minute), 2), []order.ID{paid.ID})
	// Sooner: an order that had days is paid now, and what it waits for is sooner.
	long := b.ask()
	long.FundingTime = 1000 * time.Hour
	patient := b.create(long)
	o = b.paid(patient, start)
	same(t, o.NextDue().Before(start.Add(1000*time.Hour)), true)
	same(t, slices.Contains(due(o.NextDue(), 10), patient.ID), true)
}

func cancelled(t *testing.T, b *bench) {
	o := b.create()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.db.Move(ctx, o.ID, func(o order.Order) (order.Change, error) { return o.Apply(order.Cancelled{}, start) })
	want(t, err, context.Canceled)
	// One that waits behind another leaves when it is cancelled.
	entered, leave := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	enter := sync.OnceFunc(func() { close(entered) }) // a decision may be asked for again
	go func() {
		_, err := b.db.Move(t.Context(), o.ID, func(order.Order) (order.Change, error) {
			enter()
			<-leave
			return order.Change{}, errors.New("no")
		})
		done <- err
	}()
	<-entered
	ctx, cancel = context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() { waiting <- b.db.DoneWork(ctx, "x") }()
	time.AfterFunc(10*time.Millisecond, cancel)
	want(t, <-waiting, context.Canceled)
	close(leave)
	if err := <-done; err == nil {
		t.Fatal("not refused")
	}
	b.told(o.ID, order.Cancelled{}, start)
}

func closed(t *testing.T, b *bench) {
	o := b.create()
	ok(t, b.db.Close())
	ok(t, b.db.Close())
	_, err := b.tell(o.ID, order.Cancelled{}, start)
	want(t, err, store.ErrClosed)
	if _, err := b.db.Order(t.Context(), o.ID); err == nil {
		t.Fatal("a closed database answers")
	}
}
