package front

import (
	"context"
	"errors"
	"time"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/live"
	"ferry/internal/api/routes"
	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/limit"
	"ferry/internal/order"
	"ferry/internal/report"
	"ferry/internal/store"
)

// liveAccess lets the live socket ask who somebody is and spend their allowances.
type liveAccess struct {
	*limiter
	gate *access.Gate
	uses *uses
}

// Admit implements live.Access.
func (a *liveAccess) Admit(key string, at *access.Principal, now time.Time) (access.Principal, error) {
	p, err := a.gate.Admit(&access.Credentials{Header: map[string][]string{"X-Integrator-Key": {key}}, Peer: at.Peer}, now)
	if err == nil {
		a.uses.saw(p.Key, now)
	}
	return p, err
}

// Again implements live.Access.
func (a *liveAccess) Again(p *access.Principal, now time.Time) (access.Principal, error) {
	return a.gate.Again(p, now)
}

// Take implements live.Access.
func (a *liveAccess) Take(p *access.Principal, s api.Spend, now time.Time) error {
	return a.limiter.Take(p, s, now, &api.Fields{})
}

// MayTry implements live.Access.
func (a *liveAccess) MayTry(p *access.Principal, now time.Time) error { return a.mayTry(p, now) }

// Failed implements live.Access.
func (a *liveAccess) Failed(p *access.Principal, now time.Time) { a.failed(p, now) }

// Left implements live.Access.
func (a *liveAccess) Left(p *access.Principal, now time.Time) []wire.LimitUsage {
	var room [limit.MaxClaims]limit.Claim
	v := a.counter.Look(now, limit.Claims(room[:0], p, limit.Request|limit.Quote|limit.Create, a.cfg))
	all := []wire.LimitUsage{}
	for _, s := range v.States() {
		all = append(all, wire.LimitUsage{Resource: s.Resource.String(), Limit: int(s.Limit), Left: int(s.Left)})
	}
	return all
}

// liveShow writes what the live socket tells.
type liveShow struct{ rooms routes.Rooms }

// Order implements live.Show.
func (s liveShow) Order(o *order.Order, right access.Right, at time.Time) wire.Order {
	return wire.OrderOf(*o, wire.View{Atlas: s.rooms.Atlas, Right: right, Now: at, Show: s.rooms.Show, URI: s.rooms.URI})
}

// Attributed implements live.Show.
func (s liveShow) Attributed(o *order.Order) wire.AttributedOrder {
	return wire.AttributedOf(*o, s.rooms.Atlas, s.rooms.ShowOf)
}

// Quote implements live.Show.
func (s liveShow) Quote(ctx context.Context, who *access.Principal, r wire.QuoteRequest) (*wire.Quote, error) {
	return s.rooms.Quote(ctx, who, r)
}

// Status implements live.Show.
func (s liveShow) Status(ctx context.Context) (wire.Status, error) { return s.rooms.Status(ctx) }

// Stats implements live.Show.
func (s liveShow) Stats(ctx context.Context) (wire.PublicStats, error) {
	t, err := s.rooms.Report.Stats(ctx, s.rooms.Now())
	if err != nil {
		return wire.PublicStats{}, err
	}
	return wire.PublicStatsOf(t, s.rooms.Atlas), nil
}

// Activity implements live.Show.
func (s liveShow) Activity(ctx context.Context, n int) ([]wire.ActivityItem, error) {
	found, err := s.rooms.Report.Activity(ctx, report.ActivityPlace{}, s.rooms.Now(), n)
	return s.items(found), err
}

// ActivityAfter implements live.Show.
func (s liveShow) ActivityAfter(ctx context.Context, after *report.ActivityPlace, n int) ([]wire.ActivityItem, report.ActivityPlace, error) {
	if after == nil {
		newest, err := s.rooms.Report.Activity(ctx, report.ActivityPlace{}, s.rooms.Now(), 1)
		if err != nil || len(newest) == 0 {
			return nil, report.ActivityPlace{}, err
		}
		return nil, newest[0].Place(), nil
	}
	found, err := s.rooms.Report.ActivityAfter(ctx, *after, s.rooms.Now(), n)
	next := *after
	if len(found) > 0 {
		next = found[len(found)-1].Place()
	}
	return s.items(found), next, err
}

func (s liveShow) items(found []report.Activity) []wire.ActivityItem {
	all := []wire.ActivityItem{}
	for _, one := range found {
		all = append(all, wire.ActivityItemOf(one, s.rooms.Atlas))
	}
	return all
}

// Points implements live.Show.
func (s liveShow) Points(ctx context.Context, account string) (wire.PointsAccount, error) {
	return s.rooms.Points(ctx, account)
}

// cursor is the newest block of a chain that was read.
func (f *Front) cursor(ctx context.Context, id chain.ID) (chain.Block, error) {
	t, err := f.db.Track(ctx, id)
	return t.Cursor, err
}

// sockets are the live half of the API.
func (f *Front) sockets(rooms routes.Rooms, gate *access.Gate, lim *limiter) *live.Live {
	cfg := f.cfg.Live
	cfg.Log, cfg.Now = f.cfg.Log, time.Now
	l := live.New(cfg, live.Ports{
		Hub: f.daemon.Hub, History: f.db, Desk: f.Desk, Cursor: f.cursor, Down: store.Down,
		Access: &liveAccess{limiter: lim, gate: gate, uses: &f.uses}, Show: liveShow{rooms},
	})
	lim.exhausted = func(p *access.Principal, err error) {
		f, refused := errors.AsType[*fault.Error](err)
		if !refused || p.Integrator == nil || !p.Server() {
			return
		}
		if resource, ok := f.Detail["resource"].(string); ok {
			l.Exhausted(integrator.ID(p.Integrator.ID), resource)
		}
	}
	return l
}
