package world

import (
	"errors"
	"fmt"
	"time"

	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/report"
)

// sums are what the orders of a world came to, added up here and nowhere else.
type sums struct {
	all       sum
	companies map[integrator.ID]*sum
	points    map[string]int64 // of all seasons, by account
}

type sum struct {
	made, completed, refunded int64
	volume, projected, paid   money.USD
}

func newSums() *sums {
	return &sums{companies: map[integrator.ID]*sum{}, points: map[string]int64{}}
}

func (s *sums) add(o order.Order) {
	s.all.add(o)
	if o.Integrator != "" {
		if s.companies[o.Integrator] == nil {
			s.companies[o.Integrator] = &sum{}
		}
		s.companies[o.Integrator].add(o)
	}
	address, company := o.Points()
	if o.Origin.PointsTo != "" {
		s.points[o.Origin.PointsTo] += address
	}
	if o.Integrator != "" {
		s.points[string(o.Integrator)] += company
	}
}

func (s *sum) add(o order.Order) {
	s.made++
	switch o.State {
	case order.Completed:
		s.completed++
		s.volume += o.Quote.USD
	case order.Refunded:
		s.refunded++
	}
	switch o.FeeStatus {
	case order.FeeProjected:
		s.projected += report.FeeUSD(o)
	case order.FeePaidOut:
		s.paid += report.FeeUSD(o)
	}
}

// told compares what integrators and the public are told with what became of the orders.
// That every number behind it is right the audit has seen; here they are read as callers
// read them.
func (w *world) told(want *sums) error {
	r := report.New(w.h.DB, report.DefaultProgram)
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	stats, err := r.Stats(w.ctx, w.now)
	if err != nil {
		return err
	}
	var chains sum
	for _, c := range stats.Chains {
		chains.completed, chains.volume = chains.completed+c.Orders, chains.volume+c.Volume
	}
	for what, got := range map[string]sum{
		"all": {completed: stats.Orders.All, volume: stats.Volume.All}, "the week": {completed: stats.Orders.Week, volume: stats.Volume.Week}, "chains": chains,
	} {
		if got.completed != want.all.completed || got.volume != want.all.volume {
			wrong("the stats of %s are %d orders worth %s, and there are %d worth %s", what, got.completed, got.volume, want.all.completed, want.all.volume)
		}
	}
	for id, one := range want.companies {
		me, err := r.Me(w.ctx, integrator.Integrator{ID: id, AttributionDays: 1, Window: time.Hour}, w.now)
		if err != nil {
			return err
		}
		s := me.Stats
		got := sum{s.Made, s.Ended[order.Completed], s.Ended[order.Refunded], s.Volume.All, s.Fees.Projected, s.Fees.Paid}
		if got != *one {
			wrong("%s is told %+v, and it is %+v", id, got, *one)
		}
	}
	for account, n := range want.points {
		got, err := r.PointsOf(w.ctx, account, w.now)
		if err != nil {
			return err
		}
		if got.Lifetime != n {
			wrong("%s is told to have %d points, and has earned %d", account, got.Lifetime, n)
		}
	}
	return errors.Join(errs...)
}
