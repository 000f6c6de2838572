package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"ferry/internal/feed"
	"ferry/internal/integrator"
	"ferry/internal/order"
)

// numbers are those of entries in the log of their integrator.
func numbers(all []feed.Entry) (ns []int64) {
	for _, e := range all {
		ns = append(ns, e.Number)
	}
	return ns
}

// inSession makes an order of an integrator, or of nobody, in a session.
func (b *bench) inSession(whose integrator.ID, session string) order.Order {
	b.Helper()
	a := b.ask()
	a.Quote.Integrator, a.Origin.Group = whose, session
	if whose == "" {
		a.Quote.Fee = nil
	}
	c, err := order.New(a, start)
	ok(b.T, err)
	ok(b.T, b.db.Create(b.Context(), c))
	return c.Now
}

// logs: an integrator's log counts its own events only, and every entry has the order
// as it was then.
func logs(t *testing.T, b *bench) {
	one, other := b.inSession("acme", "s1"), b.inSession("umbrella", "s2")
	nobodys, two := b.inSession("", "s3"), b.inSession("acme", "s1")
	b.told(two.ID, order.Cancelled{}, start.Add(time.Second))
	b.told(nobodys.ID, order.Cancelled{}, start.Add(time.Second))
	b.told(one.ID, order.Cancelled{}, start.Add(2*time.Second))

	all := must[[]feed.Entry](t)(b.db.IntegratorLog(t.Context(), "acme", 0, 10))
	same(t, numbers(all), []int64{1, 2, 3, 4})
	same(t, []order.ID{all[0].Order, all[1].Order, all[2].Order, all[3].Order}, []order.ID{one.ID, two.ID, two.ID, one.ID})
	same(t, []order.State{all[0].Now.State, all[1].Now.State, all[2].Now.State, all[3].Now.State},
		[]order.State{order.Awaiting, order.Awaiting, order.Expired, order.Expired})
	same(t, numbers(must[[]feed.Entry](t)(b.db.IntegratorLog(t.Context(), "acme", 1, 2))), []int64{2, 3})
	same(t, numbers(must[[]feed.Entry](t)(b.db.IntegratorLog(t.Context(), "umbrella", 0, 9))), []int64{1})
	same(t, len(must[[]feed.Entry](t)(b.db.IntegratorLog(t.Context(), "", 0, 9))), 0)
	for whose, head := range map[integrator.ID]int64{"acme": 4, "umbrella": 1, "": 0, "none": 0} {
		same(t, must[int64](t)(b.db.IntegratorHead(t.Context(), whose)), head)
	}

	same(t, must[[]feed.Entry](t)(b.db.SessionLog(t.Context(), "s1", 0, 10)), all)
	same(t, must[[]feed.Entry](t)(b.db.SessionLog(t.Context(), "s1", 2, 1)), all[2:3])
	lone := must[[]feed.Entry](t)(b.db.SessionLog(t.Context(), "s3", 1, 10))
	same(t, len(lone), 1)
	same(t, lone[0].InSession(), int64(2))
	same(t, lone[0].Order, nobodys.ID)

	same(t, must[[]feed.Entry](t)(b.db.OrderLog(t.Context(), one.ID, 0, 10)), []feed.Entry{all[0], all[3]})
	same(t, must[[]feed.Entry](t)(b.db.OrderLog(t.Context(), one.ID, 1, 10)), all[3:])
	same(t, len(must[[]feed.Entry](t)(b.db.OrderLog(t.Context(), other.ID, 1, 10))), 0)
	newest := must[[]feed.Entry](t)(b.db.IntegratorNewest(t.Context(), "acme", 10))
	same(t, newest, []feed.Entry{all[3], all[2]})
	same(t, must[[]feed.Entry](t)(b.db.IntegratorNewest(t.Context(), "acme", 1)), newest[:1])
	same(t, len(must[[]feed.Entry](t)(b.db.IntegratorNewest(t.Context(), "none", 1))), 0)
	same(t, must[[]feed.Entry](t)(b.db.SessionNewest(t.Context(), "s1", 10)), []feed.Entry{all[2], all[3]})
	same(t, len(must[[]feed.Entry](t)(b.db.SessionNewest(t.Context(), "s1", 1))), 1)
	if _, err := b.db.Moments(t.Context(), []int64{1, 99}); err == nil {
		t.Error("an entry that is not there is no trouble")
	}
}

// logsRace: numbers have no gap, whoever writes at the same time.
func logsRace(t *testing.T, b *bench) {
	const writers, each = 6, 12
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				whose := integrator.ID(fmt.Sprintf("int_%d", (w+n)%3))
				a := b.ask()
				a.Quote.Integrator = whose
				c, err := order.New(a, start)
				if err == nil {
					err = b.db.Create(t.Context(), c)
				}
				if err == nil {
					_, err = b.tell(c.Now.ID, order.Cancelled{}, start.Add(time.Second))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for i := range 3 {
		last := int64(0)
		for _, e := range must[[]feed.Entry](t)(b.db.IntegratorLog(t.Context(), integrator.ID(fmt.Sprintf("int_%d", i)), 0, 1000)) {
			if e.Number != last+1 {
				t.Fatalf("%d follows %d", e.Number, last)
			}
			last, total = e.Number, total+1
		}
	}
	same(t, total, 2*writers*each)
}
