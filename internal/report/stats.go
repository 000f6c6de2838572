package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

// Totals are what the whole service has done. Only completed orders count, at the
// dollars of the quote they were completed by, which are never counted anew.
type Totals struct {
	At      time.Time
	Final   time.Time // what is before it does not change any more
	Orders  Periods[int64]
	Volume  Periods[money.USD]
	Pairs   int
	Median  time.Duration
	Rate    money.Percent
	HasRate bool // whether any order with money has ended
	Chains  []ChainTotals
	Bridges []BridgeTotals
}

// Periods are a number of all time and of the last day and week, which are whole hours
// and the running one.
type Periods[T ~int64] struct{ All, Day, Week T }

// ChainTotals are those of the orders whose money came from a chain.
type ChainTotals struct {
	Chain  chain.ID
	Orders int64
	Volume money.USD
}

// settled is how long a fact may take from its time to its place in the tallies.
const settled = 10 * time.Minute

// finalThrough is up to when numbers stand still: endings never change, so it is the
// last whole hour into which nothing can be written any more.
func finalThrough(now time.Time) time.Time { return now.Add(-settled).UTC().Truncate(time.Hour) }

// BridgeTotals are those of the orders over a native bridge that was asked for by name.
type BridgeTotals struct {
	Bridge string
	Orders int64
	Volume money.USD
}

func bridgeTotals(ts []Tally) []BridgeTotals {
	all := []BridgeTotals{}
	for _, c := range chainTotals(ts) { // both are counted under a name
		all = append(all, BridgeTotals{Bridge: string(c.Chain), Orders: c.Orders, Volume: c.Volume})
	}
	return all
}

// Stats are the totals, less than a second old and shared: whoever gets them changes
// nothing in them.
func (r *Reporter) Stats(ctx context.Context, now time.Time) (Totals, error) {
	return r.totals.get(ctx, struct{}{}, now, func(ctx context.Context) (Totals, error) { return r.readTotals(ctx, now) })
}

func (r *Reporter) readTotals(ctx context.Context, now time.Time) (Totals, error) {
	t := Totals{At: now, Final: finalThrough(now), Chains: []ChainTotals{}}
	fail := func(err error) (Totals, error) { return Totals{}, fmt.Errorf("stats: %w", err) }
	all, err := r.store.Tallies(ctx, everybody, 0, 0)
	if err != nil {
		return fail(err)
	}
	s := statsOf(all)
	t.Orders.All, t.Volume.All, t.Median = s.Ended[order.Completed], s.Volume.All, s.MedianTook
	t.Rate, t.HasRate = s.SuccessRate()
	const week = 7 * 24
	recent, err := r.store.Tallies(ctx, everybody+hours, Hour(now)-week, Hour(now))
	if err != nil {
		return fail(err)
	}
	for _, one := range recent {
		lastDay := one.Bucket >= Hour(now)-24
		switch one.Name {
		case completed:
			t.Orders.add(one.N, lastDay)
		case volume:
			t.Volume.add(money.USD(one.N), lastDay)
		}
	}
	on, err := r.store.Tallies(ctx, chains, 0, 0)
	if err != nil {
		return fail(err)
	}
	t.Chains = chainTotals(on)
	over, err := r.store.Tallies(ctx, bridges, 0, 0)
	if err != nil {
		return fail(err)
	}
	t.Bridges = bridgeTotals(over)
	traded, err := r.store.Tallies(ctx, pairs, 0, 0)
	if err != nil {
		return fail(err)
	}
	for _, one := range traded {
		if strings.HasPrefix(one.Name, completed) {
			t.Pairs++
		}
	}
	return t, nil
}

func (p *Periods[T]) add(n T, lastDay bool) {
	p.Week += n
	if lastDay {
		p.Day += n
	}
}

func chainTotals(ts []Tally) []ChainTotals {
	by := map[chain.ID]*ChainTotals{}
	for _, one := range ts {
		what, id, _ := strings.Cut(one.Name, " ")
		c := by[chain.ID(id)]
		if c == nil {
			c = &ChainTotals{Chain: chain.ID(id)}
			by[c.Chain] = c
		}
		if what == completed {
			c.Orders = one.N
		} else {
			c.Volume = money.USD(one.N)
		}
	}
	all := make([]ChainTotals, 0, len(by))
	for _, c := range by {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b ChainTotals) int {
		return cmp.Or(cmp.Compare(b.Volume, a.Volume), cmp.Compare(a.Chain, b.Chain))
	})
	return all
}

// Pairs are what was exchanged for what, the most worth first.
type Pairs struct {
	At, Through time.Time // whole days before Through are counted
	Days        int       // zero is all time
	Pairs       []PairTotals
	Other       PairTotals // all that are too few to be shown apart
	Merged      int        // how many those are
}

// PairTotals are those of one pair.
type PairTotals struct {
	Give, Get chain.Asset
	Orders    int64
	Volume    money.USD
}

// fewest is how many orders a pair must have to be shown apart: fewer could be told to
// be somebody's.
const fewest = 5

// Pairs are the pairs of the last days, or of all time with none. The running day is
// left out: else whoever asks every second sees what each order was worth.
func (r *Reporter) Pairs(ctx context.Context, lastDays int, now time.Time) (Pairs, error) {
	return r.pairs.get(ctx, lastDays, now, func(ctx context.Context) (Pairs, error) {
		today := Day(now.Add(-settled)) // a day may be counted when nothing can be added to it
		p := Pairs{At: now, Through: time.Unix(today*24*60*60, 0).UTC(), Days: lastDays, Pairs: []PairTotals{}}
		sums := map[[2]chain.Asset]*PairTotals{}
		read := func(subject string, from, to, sign int64) error {
			ts, err := r.store.Tallies(ctx, subject, from, to)
			for _, one := range ts {
				addPair(sums, one, sign)
			}
			return err
		}
		var err error
		if lastDays > 0 {
			err = read(pairs+days, today-int64(lastDays), today-1, 1)
		} else if err = read(pairs, 0, 0, 1); err == nil { // in this order a completion in between is left out, never shown alone
			err = read(pairs+days, today, Day(now)+1, -1)
		}
		if err != nil {
			return Pairs{}, fmt.Errorf("pairs: %w", err)
		}
		p.take(sums)
		return p, nil
	})
}

func addPair(sums map[[2]chain.Asset]*PairTotals, one Tally, sign int64) {
	name := completed
	if !strings.HasPrefix(one.Name, completed) {
		name = volume
	}
	give, get, ok := splitPair(one.Name, name)
	if !ok {
		return
	}
	sum := sums[[2]chain.Asset{give, get}]
	if sum == nil {
		sum = &PairTotals{Give: give, Get: get}
		sums[[2]chain.Asset{give, get}] = sum
	}
	if name == completed {
		sum.Orders += sign * one.N
	} else {
		sum.Volume += money.USD(sign * one.N)
	}
}

// take sorts the pairs and merges those with too few orders.
func (p *Pairs) take(sums map[[2]chain.Asset]*PairTotals) {
	for _, s := range sums {
		switch {
		case s.Orders <= 0:
		case s.Orders < fewest:
			p.Merged++
			p.Other.Orders += s.Orders
			p.Other.Volume += s.Volume
		default:
			p.Pairs = append(p.Pairs, *s)
		}
	}
	slices.SortFunc(p.Pairs, func(a, b PairTotals) int {
		return cmp.Or(cmp.Compare(b.Volume, a.Volume), cmp.Compare(a.Give.String(), b.Give.String()), cmp.Compare(a.Get.String(), b.Get.String()))
	})
}
