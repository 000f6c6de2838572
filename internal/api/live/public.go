package live

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"ferry/internal/api/socket"
	"ferry/internal/api/wire"
	"ferry/internal/feed"
	"ferry/internal/report"
)

// public is what anybody may follow: it is looked at by one goroutine each, for all who
// follow it, and only while somebody does.
type public struct {
	stats, activity int // the last numbers
	shown           *report.ActivityPlace
	ended           atomic.Int64 // orders that ended
	points          int64        // how many had when points were looked at last
	hour            int64
}

// Heard implements feed.Listener: points change when orders end.
func (p *public) Heard(e *feed.Entry) {
	if e.State.Finished() {
		p.ended.Add(1)
	}
}

// all tells everybody who follows a channel the same. The event has no subscriptionId.
func (l *Live) all(subs []*sub, event any) {
	body := encode(event)[len(opening):]
	for _, s := range subs {
		s.mu.Lock()
		if !s.over {
			s.conn.sock.Send(socket.Message{Head: s.head(), Body: body})
		}
		s.mu.Unlock()
	}
}

func (l *Live) followStats(c *conn, a *asking) error {
	var m wire.SubscribeStats
	if err := wire.Decode(a.text, &m); err != nil {
		return err
	}
	now, err := l.ports.Show.Stats(l.running)
	if err != nil {
		return err
	}
	s := c.add("stats")
	if s == nil {
		return nil
	}
	s.accepted(a.id, 0, 0)
	c.send(wire.StatsSnapshot{Type: "snapshot", SubscriptionID: s.id, Data: now})
	watch(l, l.topics, "stats", s, nil)
	return nil
}

func (l *Live) tellStats(ctx context.Context) {
	subs := members(l, l.topics, "stats")
	if len(subs) == 0 {
		return
	}
	now, err := l.ports.Show.Stats(ctx)
	if err != nil {
		l.cfg.Log.WarnContext(ctx, "the totals could not be read for those who follow them, will be tried again", "error", err)
		return
	}
	l.public.stats++
	l.all(subs, wire.StatsEvent{
		Type: "event", Seq: l.public.stats, EventID: wire.EventIDOf("stats/" + strconv.FormatInt(time.Now().UnixNano(), 10)),
		Event: "stats.updated", OccurredAt: wire.Time{Time: time.Now()}, Data: now,
	})
}

// activityShown is how many items a snapshot of activity has.
const activityShown = 20

func (l *Live) followActivity(c *conn, a *asking) error {
	var m wire.SubscribeActivity
	if err := wire.Decode(a.text, &m); err != nil {
		return err
	}
	items, err := l.ports.Show.Activity(l.running, activityShown)
	if err != nil {
		return err
	}
	s := c.add("activity")
	if s == nil {
		return nil
	}
	s.accepted(a.id, 0, 0)
	c.send(wire.ActivitySnapshot{Type: "snapshot", SubscriptionID: s.id, Data: wire.ActivityList{Items: items}})
	watch(l, l.topics, "activity", s, nil)
	return nil
}

// activityPage is how many items are told at a time.
const activityPage = 100

// tellActivity tells what was published since it was looked last. It looks even while
// nobody follows, so that whoever begins hears only of what comes.
func (l *Live) tellActivity(ctx context.Context) {
	p := &l.public
	for {
		items, next, err := l.ports.Show.ActivityAfter(ctx, p.shown, activityPage)
		if err != nil {
			l.cfg.Log.WarnContext(ctx, "activity could not be read for those who follow it, will be tried again", "error", err)
			return
		}
		p.shown = &next
		subs := members(l, l.topics, "activity")
		for _, one := range items {
			p.activity++
			if len(subs) > 0 {
				l.all(subs, wire.ActivityEvent{
					Type: "event", Seq: p.activity, EventID: wire.EventIDOf("activity/" + one.ActivityID), Event: "activity.completed",
					OccurredAt: one.CompletedAt, Data: one,
				})
			}
		}
		if len(items) < activityPage {
			return
		}
	}
}

func (l *Live) followPoints(c *conn, a *asking) error {
	var m wire.SubscribePoints
	if err := wire.Decode(a.text, &m); err != nil {
		return err
	}
	now, err := l.ports.Show.Points(l.running, m.Params.Address)
	if err != nil {
		return err
	}
	s := c.add("points")
	if s == nil {
		return nil
	}
	s.accepted(a.id, 0, 0)
	s.account = now
	c.send(wire.PointsSnapshot{Type: "snapshot", SubscriptionID: s.id, Data: now})
	watch(l, l.topics, "points", s, nil)
	return nil
}

// tellPoints looks at the accounts that somebody follows, if an order ended since the
// last time, or an hour: then points become final.
func (l *Live) tellPoints(ctx context.Context) {
	p := &l.public
	ended, hour := p.ended.Load(), report.Hour(time.Now())
	subs := members(l, l.topics, "points")
	if len(subs) == 0 || ended == p.points && hour == p.hour {
		return
	}
	read := map[string]wire.PointsAccount{}
	for _, s := range subs {
		now, known := read[s.account.Address]
		if !known {
			var err error
			if now, err = l.ports.Show.Points(ctx, s.account.Address); err != nil {
				l.cfg.Log.WarnContext(ctx, "points could not be read for those who follow them, will be tried again", "error", err)
				return
			}
			read[s.account.Address] = now
		}
		if same(&s.account, &now) {
			continue
		}
		s.account = now // only this goroutine looks at it
		s.now(func(seq int, id string) any {
			return wire.PointsEvent{Type: "event", SubscriptionID: s.id, Seq: seq, EventID: id, Event: "points.updated", OccurredAt: wire.Time{Time: time.Now()}, Data: now}
		})
	}
	p.points, p.hour = ended, hour
}

func same(a, b *wire.PointsAccount) bool {
	rank := func(p *wire.PointsAccount) int {
		if p.Rank == nil {
			return 0
		}
		return *p.Rank
	}
	return a.Pending == b.Pending && a.Final == b.Final && a.Lifetime == b.Lifetime && rank(a) == rank(b)
}
