package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"ferry/internal/hooks"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/order"
)

var hookCases = []kase{
	{"a webhook is kept, changed and removed", hookLife},
	{"an integrator has so many webhooks and no more", hooksBounded},
	{"what a webhook is told is taken up once", hookTakenUp},
	{"of an order the events are sent one after the other", hookOrder},
	{"a delivery belongs to one lease", hookLease},
	{"a webhook that fails is switched off", hookOff},
	{"a replay begins anew and nothing stands beside it", hookReplay},
	{"deliveries of a suspended integrator wait", hookSuspended},
	{"old deliveries are forgotten in parts", hookTidy},
	{"racing processes take up and lease everything once", hookRace},
}

// hook adds an endpoint of an integrator.
func (b *bench) hook(whose integrator.ID, name string, events ...string) hooks.Endpoint {
	b.Helper()
	return must[hooks.Endpoint](b.T)(b.db.AddHook(b.Context(), hooks.Endpoint{
		ID: hooks.ID("whk_" + name), Integrator: whose, URL: "https://example.com/" + name, Events: events, Description: "of " + name,
		Secrets: hooks.Secrets{Now: "sealed " + name}, CreatedAt: start,
	}, 10))
}

// takeUp takes news up, numbered as they come, whose orders are named by letters.
func (b *bench) takeUp(id hooks.ID, from int64, orders string) {
	b.Helper()
	t := hooks.Take{Endpoint: id, From: from, To: from + int64(len(orders))}
	for i, o := range orders {
		t.News = append(t.News, hooks.News{Number: from + int64(i) + 1, Order: order.ID("ord_" + string(o)), Event: "order.created"})
	}
	ok(b.T, b.db.TakeUpHook(b.Context(), t, start))
}

// lease leases and says which numbers.
func (b *bench) lease(id hooks.ID, at time.Time, n int) (all []hooks.Delivery, which []int64) {
	b.Helper()
	all = must[[]hooks.Delivery](b.T)(b.db.LeaseHook(b.Context(), id, at, at.Add(time.Minute), n))
	for _, d := range all {
		which = append(which, d.Number)
	}
	return all, which
}

func (b *bench) settle(d hooks.Delivery, at time.Time, o hooks.Outcome) {
	b.Helper()
	o.Delivery = d
	if o.State == "" {
		o.State = hooks.Done
	}
	ok(b.T, b.db.SettleHook(b.Context(), o, at))
}

// deliveries are the states of all, oldest first.
func (b *bench) deliveries(id hooks.ID) (states string) {
	b.Helper()
	all := must[[]hooks.Delivery](b.T)(b.db.HookDeliveries(b.Context(), id, 1<<62, 100))
	for i := len(all) - 1; i >= 0; i-- {
		states += fmt.Sprintf("%d %s ", all[i].Number, all[i].State)
	}
	return states
}

func hookLife(t *testing.T, b *bench) {
	one, other := b.company("one"), b.company("other")
	e := b.hook(one.ID, "a", "order.created", "order.held")
	same(t, e.Cursor, int64(0))
	b.inSession(one.ID, "s")
	later := b.hook(one.ID, "b")
	same(t, later.Cursor, int64(1)) // it hears of what comes
	same(t, must[[]hooks.Endpoint](t)(b.db.Hooks(t.Context(), one.ID)), []hooks.Endpoint{e, later})
	_, err := b.db.Hook(t.Context(), other.ID, e.ID)
	want(t, err, hooks.ErrNone)
	want(t, b.db.RemoveHook(t.Context(), other.ID, e.ID), hooks.ErrNone)

	e.Secrets = hooks.Secrets{Now: "new", Old: "old", OldUntil: start.Add(time.Hour)}
	ok(t, b.db.SetHookSecrets(t.Context(), e.ID, e.Secrets))
	same(t, must[hooks.Endpoint](t)(b.db.Hook(t.Context(), one.ID, e.ID)), e)

	b.takeUp(e.ID, 0, "x")
	ok(t, b.db.RemoveHook(t.Context(), one.ID, e.ID))
	want(t, b.db.RemoveHook(t.Context(), one.ID, e.ID), hooks.ErrNone)
	same(t, must[[]hooks.Endpoint](t)(b.db.Hooks(t.Context(), one.ID)), []hooks.Endpoint{later})
	same(t, len(must[[]hooks.Sight](t)(b.db.HookSights(t.Context()))), 1)
	_, leased := b.lease(e.ID, start, 5)
	same(t, len(leased), 0)
	want(t, b.db.TakeUpHook(t.Context(), hooks.Take{Endpoint: e.ID, From: 1, To: 2}, start), hooks.ErrMoved)
	ok(t, b.db.TidyHooks(t.Context(), start, 10))
	same(t, b.deliveries(e.ID), "")
}

func hooksBounded(t *testing.T, b *bench) {
	one, other := b.company("one"), b.company("other")
	add := func(whose integrator.ID, name string) error {
		_, err := b.db.AddHook(t.Context(), hooks.Endpoint{ID: hooks.ID(name), Integrator: whose, CreatedAt: start}, 2)
		return err
	}
	ok(t, add(one.ID, "a"))
	ok(t, add(one.ID, "b"))
	want(t, add(one.ID, "c"), hooks.ErrTooMany)
	ok(t, add(other.ID, "d"))
	ok(t, b.db.RemoveHook(t.Context(), one.ID, "a"))
	ok(t, add(one.ID, "c"))
}

func hookTakenUp(t *testing.T, b *bench) {
	one := b.company("one")
	e := b.hook(one.ID, "a")
	sight := func() hooks.Sight {
		t.Helper()
		all := must[[]hooks.Sight](t)(b.db.HookSights(t.Context()))
		same(t, len(all), 1)
		return all[0]
	}
	same(t, sight().Behind, false)
	b.inSession(one.ID, "s")
	same(t, sight().Behind, true)
	b.takeUp(e.ID, 0, "x")
	after := sight()
	same(t, after.Behind, false)
	same(t, after.DueAt, start)
	same(t, after.Cursor, int64(1))
	want(t, b.db.TakeUpHook(t.Context(), hooks.Take{Endpoint: e.ID, From: 0, To: 1}, start), hooks.ErrMoved)
	same(t, b.deliveries(e.ID), "1 due ")
	// What nobody asked for moves the cursor only.
	ok(t, b.db.TakeUpHook(t.Context(), hooks.Take{Endpoint: e.ID, From: 1, To: 9}, start))
	same(t, sight().Cursor, int64(9))
}

func hookOrder(t *testing.T, b *bench) {
	one := b.company("one")
	e, second := b.hook(one.ID, "a"), b.hook(one.ID, "b")
	b.takeUp(e.ID, 0, "xyxxy")
	b.takeUp(second.ID, 0, "x") // has nothing to do with the first
	same(t, b.deliveries(e.ID), "1 due 2 due 3 waiting 4 waiting 5 waiting ")
	leased, which := b.lease(e.ID, start, 9)
	same(t, which, []int64{1, 2})
	b.settle(leased[0], start, hooks.Outcome{})
	same(t, b.deliveries(e.ID), "1 done 2 due 3 due 4 waiting 5 waiting ")
	next, which := b.lease(e.ID, start, 9)
	same(t, which, []int64{3})
	b.settle(next[0], start, hooks.Outcome{State: hooks.Due, Next: start.Add(time.Hour), Status: 500, Trouble: hooks.BadStatus})
	b.settle(leased[1], start, hooks.Outcome{State: hooks.Failed, Status: 404, Trouble: hooks.BadStatus})
	same(t, b.deliveries(e.ID), "1 done 2 failed 3 due 4 waiting 5 due ")
	// Later ones of the order come behind, those that are taken up and those that wait.
	b.takeUp(e.ID, 5, "xz")
	_, which = b.lease(e.ID, start, 9)
	same(t, which, []int64{5, 7})
	_, which = b.lease(e.ID, start.Add(time.Hour), 1)
	same(t, which, []int64{5}) // whose lease is over
	leased, which = b.lease(e.ID, start.Add(time.Hour), 9)
	same(t, which, []int64{3, 7})
	same(t, leased[0].Tries, int64(2))
	same(t, leased[0].FirstAt, start)
	same(t, leased[0].Status, 500)
	b.settle(leased[0], start.Add(time.Hour), hooks.Outcome{Status: 204})
	same(t, b.deliveries(e.ID), "1 done 2 failed 3 done 4 due 5 due 6 waiting 7 due ")
	same(t, b.deliveries(second.ID), "1 due ")
}

// hookLease: what came of a lease that is over changes nothing.
func hookLease(t *testing.T, b *bench) {
	e := b.hook(b.company("one").ID, "a")
	b.takeUp(e.ID, 0, "xx")
	old, _ := b.lease(e.ID, start, 9)
	_, which := b.lease(e.ID, start.Add(59*time.Second), 9)
	same(t, len(which), 0)
	again, which := b.lease(e.ID, start.Add(time.Minute), 9)
	same(t, which, []int64{1})
	b.settle(old[0], start, hooks.Outcome{})
	b.settle(old[0], start, hooks.Outcome{State: hooks.Due, Next: start, Trouble: hooks.TimedOut})
	b.settle(old[0], start, hooks.Outcome{State: hooks.Due, Next: start, Untried: true})
	same(t, b.deliveries(e.ID), "1 due 2 waiting ")
	_, which = b.lease(e.ID, start.Add(time.Minute), 9)
	same(t, len(which), 0)
	// Given back untried it is as it was.
	b.settle(again[0], start, hooks.Outcome{State: hooks.Due, Next: start, Untried: true})
	third, which := b.lease(e.ID, start.Add(time.Minute), 9)
	same(t, which, []int64{1})
	same(t, third[0].Tries, int64(2))
	b.settle(third[0], start, hooks.Outcome{})
	b.settle(third[0], start, hooks.Outcome{}) // told twice
	same(t, b.deliveries(e.ID), "1 done 2 due ")
}

func hookOff(t *testing.T, b *bench) {
	one := b.company("one")
	gone, sick := b.hook(one.ID, "gone"), b.hook(one.ID, "sick")
	b.takeUp(gone.ID, 0, "x")
	b.takeUp(sick.ID, 0, "xy")
	state := func(id hooks.ID) hooks.Endpoint {
		t.Helper()
		return must[hooks.Endpoint](t)(b.db.Hook(t.Context(), one.ID, id))
	}
	leased, _ := b.lease(gone.ID, start, 1)
	b.settle(leased[0], start, hooks.Outcome{State: hooks.Due, Next: start, Status: 410, Trouble: hooks.BadStatus, Off: hooks.Gone})
	same(t, state(gone.ID).Off, hooks.Gone)
	same(t, state(gone.ID).LastStatus, 410)
	_, which := b.lease(gone.ID, start, 1)
	same(t, len(which), 0)

	fail := func(at time.Time) {
		t.Helper()
		leased, _ := b.lease(sick.ID, at, 1)
		b.settle(leased[0], at, hooks.Outcome{State: hooks.Due, Next: at, Trouble: hooks.TimedOut, OffIfBefore: at.Add(-24 * time.Hour)})
	}
	fail(start)
	same(t, state(sick.ID).FailingSince, start)
	fail(start.Add(time.Hour))
	same(t, state(sick.ID).FailingSince, start)
	leased, _ = b.lease(sick.ID, start.Add(time.Hour), 1)
	b.settle(leased[0], start.Add(time.Hour), hooks.Outcome{})
	same(t, state(sick.ID).FailingSince.IsZero(), true)
	for hour := 2; hour <= 26; hour++ {
		fail(start.Add(time.Duration(hour) * time.Hour))
		same(t, state(sick.ID).Off, "")
	}
	fail(start.Add(27 * time.Hour))
	same(t, state(sick.ID).Off, hooks.Failing)
	same(t, state(sick.ID).LastTrouble, hooks.TimedOut)
	same(t, len(must[[]hooks.Sight](t)(b.db.HookSights(t.Context()))), 0)
	ok(t, b.db.RewindHook(t.Context(), sick.ID, 0, start))
	same(t, state(sick.ID).Off, "")
}

func hookReplay(t *testing.T, b *bench) {
	one := b.company("one")
	e := b.hook(one.ID, "a")
	b.takeUp(e.ID, 0, "xyxyx")
	leased, which := b.lease(e.ID, start, 9)
	same(t, which, []int64{1, 2})
	b.settle(leased[0], start, hooks.Outcome{})
	leased, which = b.lease(e.ID, start.Add(time.Second), 9)
	same(t, which, []int64{3}) // is on its way
	ok(t, b.db.RewindHook(t.Context(), e.ID, 2, start.Add(2*time.Second)))
	same(t, b.deliveries(e.ID), "1 done 2 due ") // which was not asked for again, and still is to be sent
	same(t, must[hooks.Endpoint](t)(b.db.Hook(t.Context(), one.ID, e.ID)).Cursor, int64(2))
	b.takeUp(e.ID, 2, "xyx")
	same(t, b.deliveries(e.ID), "1 done 2 due 3 due 4 waiting 5 waiting ")
	b.settle(leased[0], start, hooks.Outcome{}) // of before
	same(t, b.deliveries(e.ID), "1 done 2 due 3 due 4 waiting 5 waiting ")
	_, which = b.lease(e.ID, start.Add(60*time.Second), 9)
	same(t, which, []int64{2}) // the other may still be on its way
	_, which = b.lease(e.ID, start.Add(61*time.Second), 9)
	same(t, which, []int64{3})
	// What was delivered is delivered again.
	ok(t, b.db.RewindHook(t.Context(), e.ID, 0, start.Add(time.Hour)))
	same(t, b.deliveries(e.ID), "1 done ")
	b.takeUp(e.ID, 0, "xyxyx")
	same(t, b.deliveries(e.ID), "1 due 2 due 3 waiting 4 waiting 5 waiting ")
	again, _ := b.lease(e.ID, start.Add(2*time.Hour), 1)
	same(t, again[0].Tries, int64(1))
}

func hookSuspended(t *testing.T, b *bench) {
	one := b.company("one")
	e := b.hook(one.ID, "a")
	b.takeUp(e.ID, 0, "xy")
	status := func(s integrator.Status) {
		t.Helper()
		i := b.integrator(one.ID)
		i.Status = s
		ok(t, b.db.ChangeIntegrator(t.Context(), i, did(office.ChangedIntegrator, i.ID)))
	}
	status(integrator.Suspended)
	_, which := b.lease(e.ID, start, 9)
	same(t, len(which), 0)
	same(t, len(must[[]hooks.Sight](t)(b.db.HookSights(t.Context()))), 0)
	status(integrator.Active)
	_, which = b.lease(e.ID, start, 9)
	same(t, which, []int64{1, 2})
}

func hookTidy(t *testing.T, b *bench) {
	e := b.hook(b.company("one").ID, "a")
	b.takeUp(e.ID, 0, "abcde")
	leased, _ := b.lease(e.ID, start, 4)
	for i, d := range leased {
		b.settle(d, start.Add(time.Duration(i)*time.Hour), hooks.Outcome{})
	}
	ok(t, b.db.TidyHooks(t.Context(), start.Add(150*time.Minute), 2))
	same(t, b.deliveries(e.ID), "3 done 4 done 5 due ")
	ok(t, b.db.TidyHooks(t.Context(), start.Add(150*time.Minute), 2))
	same(t, b.deliveries(e.ID), "4 done 5 due ")
	ok(t, b.db.TidyHooks(t.Context(), start.Add(1000*time.Hour), 2))
	same(t, b.deliveries(e.ID), "5 due ") // what was not sent stays
}

// hookRace: several take up, lease and settle at the same time; every number is settled
// once, and those of an order one after the other.
func hookRace(t *testing.T, b *bench) {
	const workers, n, orders = 6, 60, 7
	e := b.hook(b.company("one").ID, "a")
	var mu sync.Mutex
	last, done := map[order.ID]int64{}, 0
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for from := int64(0); from < n; from += 10 {
				take := hooks.Take{Endpoint: e.ID, From: from, To: from + 10}
				for i := from + 1; i <= take.To; i++ {
					take.News = append(take.News, hooks.News{Number: i, Order: order.ID(fmt.Sprintf("ord_%d", i%orders))})
				}
				_ = b.db.TakeUpHook(t.Context(), take, start) // somebody else may have been first
				for {
					all, err := b.db.LeaseHook(t.Context(), e.ID, start, start.Add(time.Hour), 3)
					if err != nil {
						t.Error(err)
					}
					if len(all) == 0 {
						break
					}
					for _, d := range all {
						mu.Lock()
						if d.Number <= last[d.Order] {
							t.Errorf("%d of %s follows %d", d.Number, d.Order, last[d.Order])
						}
						last[d.Order] = d.Number
						done++
						mu.Unlock()
						if err := b.db.SettleHook(t.Context(), hooks.Outcome{Delivery: d, State: hooks.Done}, start); err != nil {
							t.Error(err)
						}
					}
				}
			}
		})
	}
	wg.Wait()
	same(t, done, n)
}
