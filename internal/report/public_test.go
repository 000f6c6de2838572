package report

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/testseed"
)

// shelfStore is a store of tallies alone.
type shelfStore struct {
	slowStore
	tallies map[Tally]int64
}

func (s *shelfStore) Tallies(_ context.Context, subject string, from, to int64) (ts []Tally, _ error) {
	for t, n := range s.tallies {
		if t.Subject == subject && t.Bucket >= from && t.Bucket <= to {
			t.N = n
			ts = append(ts, t)
		}
	}
	return ts, nil
}

func (s *shelfStore) add(ts []Tally) {
	if s.tallies == nil {
		s.tallies = map[Tally]int64{}
	}
	for _, t := range ts {
		n := t.N
		t.N = 0
		s.tallies[t] += n
	}
}

func ending(state order.State, give, get chain.Asset, usd money.USD, made, at time.Time) order.Order {
	return order.Order{State: state, Quote: quote.Quote{Give: give, Get: get, USD: usd}, CreatedAt: made, FinishedAt: at}
}

var (
	btc = chain.Asset{Chain: "bip122:a"}
	eth = chain.Asset{Chain: "eip155:1"}
	usd = chain.Asset{Chain: "eip155:1", Ref: "0xusd"}
)

// Every way of cutting time into buckets adds up to the whole, for the service and for
// its chains.
func TestSeriesAddUpToTheTotals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Of(t), 1))
	s := &shelfStore{}
	now := start.Add(400 * 24 * time.Hour)
	var done, volume [3]int64 // all, of bitcoin, of ethereum
	for range 500 {
		at := start.Add(time.Duration(r.Int64N(int64(300 * 24 * time.Hour))))
		give, get := [][2]chain.Asset{{btc, eth}, {eth, btc}, {usd, btc}}[r.IntN(3)][0], usd
		o := ending([]order.State{order.Completed, order.Completed, order.Refunded, order.Failed, order.Expired}[r.IntN(5)], give, get, money.USD(r.Int64N(1e9)), at.Add(-time.Minute), at)
		s.add(PublicTallies(order.Order{State: order.Sending}, order.Change{Was: 3, Now: o, At: at}))
		s.add(PublicTallies(o, order.Change{Was: 4, Now: o, At: at.Add(time.Hour)})) // it has ended: nothing more
		if o.State == order.Completed {
			of := 1
			if give != btc {
				of = 2
			}
			for _, i := range []int{0, of} {
				done[i]++
				volume[i] += int64(o.Quote.USD)
			}
		}
	}
	rep := New(s, DefaultProgram)
	total, err := rep.Stats(t.Context(), now)
	if err != nil || total.Orders.All != done[0] || int64(total.Volume.All) != volume[0] || total.Orders.Week != 0 || len(total.Chains) != 2 {
		t.Fatalf("%v: %+v, want %d orders of %d", err, total, done[0], volume[0])
	}
	for i, id := range []chain.ID{"", btc.Chain, eth.Chain} {
		for _, c := range []struct {
			interval Interval
			parts    int // so that none is too long
		}{{Hourly, 8}, {Daily, 1}, {Weekly, 1}} {
			sums := map[Metric]int64{}
			for _, m := range []Metric{OrdersDone, VolumeUSD} {
				for part := range c.parts {
					from := start.Add(time.Duration(part) * 300 * 24 * time.Hour / time.Duration(c.parts))
					got, err := rep.Series(t.Context(), SeriesAsk{Metric: m, Interval: c.interval, Chain: id, From: from, To: from.Add(300 * 24 * time.Hour / time.Duration(c.parts))}, now)
					if err != nil {
						t.Fatal(err)
					}
					for _, b := range got.Buckets {
						sums[m] += b.N
					}
				}
			}
			if sums[OrdersDone] != done[i] || sums[VolumeUSD] != volume[i] {
				t.Errorf("%q by the %s: %v, want %d and %d", id, c.interval, sums, done[i], volume[i])
			}
		}
	}
}

func TestBucketsOfASeries(t *testing.T) {
	t.Parallel()
	day := func(text string) time.Time {
		at, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for _, c := range []struct {
		interval Interval
		from, to string
		n        int
		first    string
	}{
		{Hourly, "2026-01-01 00:59:59", "2026-01-01 01:00:00", 1, "2026-01-01 00:00:00"},
		{Hourly, "2026-01-01 00:59:59", "2026-01-01 01:00:01", 2, "2026-01-01 00:00:00"},
		{Daily, "2026-01-01 23:59:59", "2026-01-02 00:00:00", 1, "2026-01-01 00:00:00"},
		{Daily, "2026-02-27 12:00:00", "2026-03-01 12:00:00", 3, "2026-02-27 00:00:00"},
		{Weekly, "2026-01-04 12:00:00", "2026-01-05 00:00:00", 1, "2025-12-29 00:00:00"}, // a Sunday belongs to the Monday before
		{Weekly, "2026-01-05 00:00:00", "2026-01-05 00:00:01", 1, "2026-01-05 00:00:00"},
		{Weekly, "2026-01-04 12:00:00", "2026-01-05 00:00:01", 2, "2025-12-29 00:00:00"},
		{Weekly, "1969-12-31 12:00:00", "1970-01-01 12:00:00", 1, "1969-12-29 00:00:00"},
		{Daily, "2026-01-02 00:00:00", "2026-01-01 00:00:00", 0, ""},
	} {
		got, err := New(&shelfStore{}, DefaultProgram).Series(t.Context(), SeriesAsk{Metric: SuccessRate, Interval: c.interval, From: day(c.from), To: day(c.to)}, start)
		if err != nil || len(got.Buckets) != c.n {
			t.Errorf("%+v: %d buckets, %v", c, len(got.Buckets), err)
			continue
		}
		if c.n > 0 && (!got.Buckets[0].Start.Equal(day(c.first)) || !got.Buckets[0].None) {
			t.Errorf("%+v: begins %+v", c, got.Buckets[0])
		}
	}
	long := SeriesAsk{Metric: OrdersDone, Interval: Hourly, From: start, To: start.Add((MaxBuckets + 1) * time.Hour)}
	if _, err := New(&shelfStore{}, DefaultProgram).Series(t.Context(), long, start); err == nil {
		t.Error("a series without an end was read")
	}
}

func TestMediansAndRatesOfASeries(t *testing.T) {
	t.Parallel()
	s := &shelfStore{}
	for i, state := range []order.State{order.Completed, order.Completed, order.Completed, order.Refunded, order.Expired} {
		s.add(publicOf(ending(state, btc, eth, money.Dollar, start, start), start.Add(time.Duration(i*10)*time.Second)))
	}
	for metric, want := range map[Metric]string{MedianSeconds: "10", SuccessRate: "75", OrdersDone: "3", VolumeUSD: "3"} {
		got, err := New(s, DefaultProgram).Series(t.Context(), SeriesAsk{Metric: metric, Interval: Hourly, From: start, To: start.Add(time.Hour)}, start)
		if err != nil || len(got.Buckets) != 1 || got.Buckets[0].None || got.Buckets[0].Text(metric) != want {
			t.Errorf("%s: %+v, %v", metric, got.Buckets, err)
		}
	}
}

// Pairs with few orders, and the running day, are told of nobody.
func TestFewOrdersAreNotToldApart(t *testing.T) {
	t.Parallel()
	s := &shelfStore{}
	now := start.Add(40*24*time.Hour + 12*time.Hour)
	for i, p := range []struct {
		give, get chain.Asset
		n         int
		daysAgo   int
	}{{btc, eth, 5, 1}, {eth, btc, 4, 1}, {usd, btc, 4, 2}, {usd, btc, 1, 0}, {btc, usd, 9, 20}, {eth, usd, 1, 5}} {
		for range p.n {
			at := now.Add(-time.Duration(p.daysAgo) * 24 * time.Hour)
			s.add(publicOf(ending(order.Completed, p.give, p.get, money.USD(i+1)*money.Dollar, at, at), at))
		}
	}
	for lastDays, want := range map[int]struct {
		pairs  []string
		other  int64
		merged int
	}{
		7:  {[]string{"bip122:a/native eip155:1/native 5 5"}, 9, 3},
		30: {[]string{"bip122:a/native eip155:1/0xusd 9 45", "bip122:a/native eip155:1/native 5 5"}, 9, 3},
		0:  {[]string{"bip122:a/native eip155:1/0xusd 9 45", "bip122:a/native eip155:1/native 5 5"}, 9, 3},
	} {
		got, err := New(s, DefaultProgram).Pairs(t.Context(), lastDays, now)
		if err != nil {
			t.Fatal(err)
		}
		var pairs []string
		for _, p := range got.Pairs {
			pairs = append(pairs, fmt.Sprintf("%s %s %d %s", p.Give, p.Get, p.Orders, p.Volume))
		}
		if fmt.Sprint(pairs) != fmt.Sprint(want.pairs) || got.Other.Orders != want.other || got.Merged != want.merged {
			t.Errorf("%d days: %q, other %d of %d", lastDays, pairs, got.Other.Orders, got.Merged)
		}
	}
	// Just after midnight the day before may still be added to.
	got, err := New(s, DefaultProgram).Pairs(t.Context(), 7, now.Truncate(24*time.Hour).Add(time.Minute))
	if err != nil || len(got.Pairs) != 0 {
		t.Errorf("%v: a day that is not settled is told: %+v", err, got.Pairs)
	}
}

func TestRangesOfDollars(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"-1": "0-10", "0": "0-10", "9.999999": "0-10", "10": "10-25", "99.99": "50-100", "100": "100-250", "249.999999": "100-250", "250": "250-500",
		"99999.999999": "50000-100000", "100000": "100000+", "9000000000": "100000+",
	} {
		u, err := money.ParseUSD(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := worth(u); got != want {
			t.Errorf("%s is in %s, want %s", text, got, want)
		}
	}
}

func TestActivityIsLateAndCoarse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Of(t), 1))
	for range 2000 {
		at := start.Add(time.Duration(r.Int64N(int64(1000 * time.Hour))))
		took := time.Duration(r.Int64N(int64(10 * time.Hour)))
		a, ok := activityOf(ending(order.Completed, btc, eth, money.USD(r.Int64N(1e12)), at.Add(-took), at), at)
		if late := a.PublishAt.Sub(at); !ok || late < activityDelay || late > activityDelay+activitySlot || a.CompletedAt.Second() != 0 || at.Sub(a.CompletedAt) >= time.Minute || a.Took > took {
			t.Fatalf("%s, %s: %+v", at, took, a)
		}
	}
	ids := map[string]bool{}
	for range 1000 {
		ids[ActivityID()] = true
	}
	if len(ids) != 1000 {
		t.Error("two items have one id")
	}
}
