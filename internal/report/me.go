package report

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/order"
)

// Me is what an integrator sees of itself. It covers the whole integration, across
// all of its keys.
type Me struct {
	Integrator integrator.Integrator
	Keys       []integrator.Key
	Stats      Stats
	Usage      Usage
	At         time.Time

	made *sync.Map // what Once made of it
}

// Stats are what came of the integrator's orders.
type Stats struct {
	Made, Open  int64
	Ended       map[order.State]int64
	Volume      Volume
	Fees        Fees
	Families    map[chain.Family]FamilyStats
	MedianTook  time.Duration
	LastOrderAt time.Time
}

// Volume is what completed orders were worth, all time and in the last days. Days
// are of 24 whole hours and the running one.
type Volume struct{ All, Day, Week, Month money.USD }

// Fees are what the integrator's fees are worth, by what became of them.
type Fees struct {
	Projected, Paid, Skipped  money.USD
	PaidOrders, SkippedOrders int64
}

// FamilyStats are completed orders by where the money came from.
type FamilyStats struct {
	Orders int64
	Volume money.USD
}

// Usage is what the integrator has in use, and where its orders came from.
type Usage struct {
	OpenOrders         int64
	Orders, Attributed int64 // in the attribution window
	Clients            int64 // distinct end users in it
}

// SuccessRate is the share of orders with money that were completed, and whether
// there were any.
func (s Stats) SuccessRate() (money.Percent, bool) {
	done := s.Ended[order.Completed]
	all := done + s.Ended[order.Failed] + s.Ended[order.Refunded]
	if all == 0 {
		return 0, false
	}
	return money.Percent(done * int64(money.Whole) / all), true
}

// Reporter reads.
type Reporter struct {
	store   Store
	program Program
	mes     shelf[meOf, Me]
	totals  shelf[struct{}, Totals]
	series  shelf[SeriesAsk, Series]
	pairs   shelf[int, Pairs]
	boards  shelf[int, []Rank]
}

// meOf is an integrator as it was set at a time: another version is another report.
type meOf struct {
	id      integrator.ID
	version int64
}

// New makes a reporter.
func New(s Store, p Program) *Reporter { return &Reporter{store: s, program: p} }

// hoursOf30Days is how far back volumes are looked at.
const hoursOf30Days = 30 * 24

// Me is what there is of an integrator, less than a second old. It is shared: whoever
// gets it changes nothing in it.
func (r *Reporter) Me(ctx context.Context, i integrator.Integrator, now time.Time) (Me, error) {
	return r.mes.get(ctx, meOf{i.ID, i.Version}, now, func(ctx context.Context) (Me, error) {
		m, err := r.read(ctx, i, now)
		m.made = &sync.Map{}
		return m, err
	})
}

func (r *Reporter) read(ctx context.Context, i integrator.Integrator, now time.Time) (Me, error) {
	m := Me{Integrator: i, At: now}
	fail := func(err error) (Me, error) { return Me{}, fmt.Errorf("report of %s: %w", i.ID, err) }
	subject := string(i.ID)
	all, err := r.store.Tallies(ctx, subject, 0, 0)
	if err != nil {
		return fail(err)
	}
	days, err := r.store.Tallies(ctx, subject, Day(now)-int64(i.AttributionDays)+1, Day(now))
	if err != nil {
		return fail(err)
	}
	hours, err := r.store.Tallies(ctx, subject, Hour(now)-hoursOf30Days, Hour(now))
	if err != nil {
		return fail(err)
	}
	m.Stats = statsOf(all)
	m.Stats.addHours(hours, Hour(now))
	m.Usage = usageOf(days)
	if m.Usage.OpenOrders, err = r.store.OpenOrders(ctx, subject, now.Add(-i.Window)); err != nil {
		return fail(err)
	}
	if m.Keys, err = r.store.Keys(ctx, i.ID); err != nil {
		return fail(err)
	}
	newest, err := r.store.Attributed(ctx, i.ID, Filter{}, order.Place{}, 1)
	if err != nil {
		return fail(err)
	}
	if len(newest.Orders) > 0 {
		m.Stats.LastOrderAt = newest.Orders[0].CreatedAt
	}
	return m, nil
}

// Orders are a page of an integrator's orders, newest or last changed first.
func (r *Reporter) Orders(ctx context.Context, id integrator.ID, f Filter, from order.Place, n int) (Page, error) {
	p, err := r.store.Attributed(ctx, id, f, from, n)
	if err != nil {
		return Page{}, fmt.Errorf("orders of %s: %w", id, err)
	}
	return p, nil
}

func statsOf(all []Tally) Stats {
	s := Stats{Ended: map[order.State]int64{}, Families: map[chain.Family]FamilyStats{}}
	times := map[uint64]int64{}
	for _, t := range all {
		switch name := t.Name; {
		case name == made:
			s.Made = t.N
		case name == completed:
			s.Ended[order.Completed] = t.N
		case name == volume:
			s.Volume.All = money.USD(t.N)
		case strings.HasPrefix(name, ended):
			s.Ended[order.State(name[len(ended):])] = t.N
		case strings.HasPrefix(name, took):
			if n, err := strconv.ParseUint(name[len(took):], 10, 64); err == nil {
				times[n] = t.N
			}
		case strings.HasPrefix(name, family):
			f, what, _ := strings.Cut(name[len(family):], ".")
			one := s.Families[chain.Family(f)]
			if what == "orders" {
				one.Orders = t.N
			} else {
				one.Volume = money.USD(t.N)
			}
			s.Families[chain.Family(f)] = one
		default:
			s.Fees.add(t)
		}
	}
	s.Open = s.Made
	for _, n := range s.Ended {
		s.Open -= n
	}
	s.MedianTook = median(times)
	return s
}

func (f *Fees) add(t Tally) {
	switch t.Name {
	case fee + string(order.FeeProjected):
		f.Projected = money.USD(t.N)
	case fee + string(order.FeePaidOut):
		f.Paid = money.USD(t.N)
	case fee + string(order.FeeSkip):
		f.Skipped = money.USD(t.N)
	case feeOrders + string(order.FeePaidOut):
		f.PaidOrders = t.N
	case feeOrders + string(order.FeeSkip):
		f.SkippedOrders = t.N
	}
}

func (s *Stats) addHours(hours []Tally, now int64) {
	for _, t := range hours {
		if t.Name != volumeHour {
			continue
		}
		n := money.USD(t.N)
		s.Volume.Month += n
		if t.Bucket >= now-7*24 {
			s.Volume.Week += n
		}
		if t.Bucket >= now-24 {
			s.Volume.Day += n
		}
	}
}

func usageOf(days []Tally) (u Usage) {
	for _, t := range days {
		switch t.Name {
		case madeDay:
			u.Orders += t.N
		case attributedDay:
			u.Attributed += t.N
		case clientsDay:
			u.Clients += t.N
		}
	}
	return u
}

// median is the time that half of all took at most.
func median(times map[uint64]int64) time.Duration {
	var all int64
	buckets := make([]uint64, 0, len(times))
	for b, n := range times {
		all += n
		buckets = append(buckets, b)
	}
	slices.Sort(buckets)
	var below int64
	for _, b := range buckets {
		if below += times[b]; 2*below >= all {
			return time.Duration(tookSeconds(b)) * time.Second
		}
	}
	return 0
}
