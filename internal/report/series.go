package report

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

// Metric is what a series is about.
type Metric string

// The metrics.
const (
	VolumeUSD     Metric = "volumeUsd"
	OrdersDone    Metric = "orders"
	MedianSeconds Metric = "medianCompletionSeconds"
	SuccessRate   Metric = "successRatePercent"
)

// Interval is how long each bucket of a series is. Days and weeks are of UTC, and a week
// begins on Monday.
type Interval string

// The intervals.
const (
	Hourly Interval = "hour"
	Daily  Interval = "day"
	Weekly Interval = "week"
)

// MaxBuckets is how many buckets a series has at most.
const MaxBuckets = 1000

const daysOfWeek = 7

// SeriesAsk is what a series is asked for: the buckets from the one of From to the one
// before To, or with To. Without a chain it is about all of them.
type SeriesAsk struct {
	Metric   Metric
	Interval Interval
	Chain    chain.ID
	From, To time.Time
}

// unit is a bucket of an interval, in the hours or days that are kept.
func (i Interval) unit(t time.Time) int64 {
	if i == Hourly {
		return Hour(t)
	}
	return i.first(Day(t))
}

// first is the first hour or day of the bucket that one is in.
func (i Interval) first(unit int64) int64 {
	if i != Weekly {
		return unit
	}
	const mondayAfterZero = 3 // the first day of all was a Thursday
	return unit - ((unit+mondayAfterZero)%daysOfWeek+daysOfWeek)%daysOfWeek
}

func (i Interval) width() int64 {
	if i == Weekly {
		return daysOfWeek
	}
	return 1
}

// start is when a bucket begins.
func (i Interval) start(unit int64) time.Time {
	if i == Hourly {
		return time.Unix(unit*60*60, 0).UTC()
	}
	return time.Unix(unit*24*60*60, 0).UTC()
}

// Buckets is how many buckets are asked for.
func (a SeriesAsk) Buckets() int64 {
	if !a.From.Before(a.To) {
		return 0
	}
	first, last := a.Interval.unit(a.From), a.Interval.unit(a.To.Add(-1))
	return (last-first)/a.Interval.width() + 1
}

// Series is one number after another, oldest first.
type Series struct {
	At, Final time.Time
	Buckets   []Bucket
}

// Bucket is one of them. None says that there was nothing to take a rate or a median of.
type Bucket struct {
	Start time.Time
	N     int64 // orders, millionths of a dollar, seconds or millionths, by the metric
	None  bool
}

// Series reads one. Whoever asks has looked that it is not too long.
func (r *Reporter) Series(ctx context.Context, a SeriesAsk, now time.Time) (Series, error) {
	first, n := a.Interval.unit(a.From), a.Buckets()
	if n > MaxBuckets {
		return Series{}, fmt.Errorf("series of %d buckets: at most %d", n, MaxBuckets)
	}
	// One sheet serves all that mean the same buckets.
	a.From, a.To = a.Interval.start(first), a.Interval.start(first+n*a.Interval.width())
	return r.series.get(ctx, a, now, func(ctx context.Context) (Series, error) {
		s := Series{At: now, Final: finalThrough(now), Buckets: make([]Bucket, 0, n)}
		if n == 0 {
			return s, nil
		}
		subject := scope(a.Chain) + days
		if a.Interval == Hourly {
			subject = scope(a.Chain) + hours
		}
		if a.Metric == MedianSeconds {
			subject += times
		}
		ts, err := r.store.Tallies(ctx, subject, first, first+n*a.Interval.width()-1)
		if err != nil {
			return Series{}, fmt.Errorf("series: %w", err)
		}
		by := map[int64]*sums{}
		for _, one := range ts {
			unit := a.Interval.first(one.Bucket)
			if by[unit] == nil {
				by[unit] = &sums{times: map[uint64]int64{}, ended: map[order.State]int64{}}
			}
			by[unit].add(one)
		}
		for i := range n {
			unit := first + i*a.Interval.width()
			b := Bucket{Start: a.Interval.start(unit)}
			b.N, b.None = by[unit].value(a.Metric)
			s.Buckets = append(s.Buckets, b)
		}
		return s, nil
	})
}

// sums are the tallies of one bucket.
type sums struct {
	volume int64
	ended  map[order.State]int64
	times  map[uint64]int64
}

func (s *sums) add(t Tally) {
	switch {
	case t.Name == completed:
		s.ended[order.Completed] += t.N
	case t.Name == volume:
		s.volume += t.N
	case strings.HasPrefix(t.Name, ended):
		s.ended[order.State(t.Name[len(ended):])] += t.N
	case strings.HasPrefix(t.Name, took):
		if n, err := strconv.ParseUint(t.Name[len(took):], 10, 64); err == nil {
			s.times[n] += t.N
		}
	}
}

// value is the number of a bucket, or that there is none.
func (s *sums) value(m Metric) (n int64, none bool) {
	if s == nil {
		return 0, m == MedianSeconds || m == SuccessRate
	}
	switch m {
	case VolumeUSD:
		return s.volume, false
	case OrdersDone:
		return s.ended[order.Completed], false
	case MedianSeconds:
		return int64(median(s.times) / time.Second), len(s.times) == 0
	}
	rate, any := Stats{Ended: s.ended}.SuccessRate()
	return int64(rate), !any
}

// Text is the number as it is read: dollars and percents with their decimals.
func (b Bucket) Text(m Metric) string {
	switch m {
	case VolumeUSD:
		return money.USD(b.N).String()
	case SuccessRate:
		return money.Percent(b.N).String()
	}
	return strconv.FormatInt(b.N, 10)
}
