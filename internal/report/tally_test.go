package report

import (
	"math"
	"strconv"
	"testing"
	"time"

	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/testseed"
)

func TestBucketsOfTime(t *testing.T) {
	t.Parallel()
	for at, want := range map[int64][2]int64{0: {0, 0}, 3599: {0, 0}, 3600: {0, 1}, 86399: {0, 23}, 86400: {1, 24}, -1: {-1, -1}, -86400: {-1, -24}} {
		if got := [2]int64{Day(time.Unix(at, 0)), Hour(time.Unix(at, 0))}; got != want {
			t.Errorf("%d: day and hour %v, want %v", at, got, want)
		}
	}
}

// A time comes back from its bucket as no more than it was, and less by at most
// three percent.
func TestTimesAreKeptWithinThreePercent(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	last := int64(-1)
	check := func(s int64) {
		t.Helper()
		n, err := strconv.ParseUint(tookBucket(time.Duration(s)*time.Second), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		least := tookSeconds(n)
		if least > s || float64(s-least) > 0.032*float64(s) {
			t.Fatalf("%d s came back as %d", s, least)
		}
	}
	for s := range int64(5000) {
		check(s)
		n, _ := strconv.ParseInt(tookBucket(time.Duration(s)*time.Second), 10, 64)
		if n < last {
			t.Fatalf("%d s is in bucket %d, after %d", s, n, last)
		}
		last = n
	}
	for range 20_000 {
		check(r.Int64N(1 << 32))
	}
	check(0)
	if tookBucket(-time.Second) != "0000" {
		t.Error("a time below zero is not nothing")
	}
}

func TestFeeOfAnOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		usd     money.USD
		percent money.Percent
		want    money.USD
	}{
		{1000 * money.Dollar, money.Whole / 100, 10 * money.Dollar},
		{1, money.Whole / 100, 0},
		{math.MaxInt64, money.Whole / 20, math.MaxInt64 / 20},
		{0, money.Whole / 20, 0},
	} {
		o := order.Order{Quote: quote.Quote{USD: c.usd, Fee: &quote.Fee{Percent: c.percent}}}
		if got := FeeUSD(o); got != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.percent, c.usd, got, c.want)
		}
	}
	if FeeUSD(order.Order{Quote: quote.Quote{USD: money.Dollar}}) != 0 {
		t.Error("an order without a fee has one")
	}
}

// However an order goes, the tallies of all its changes add up to what it is.
func TestTalliesAddUp(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	sums := map[Tally]int64{}
	var ends, projected int64
	for range 300 {
		was := order.Order{}
		now := order.Order{
			Integrator: "int_a", State: order.Awaiting, CreatedAt: time.Unix(0, 0), FeeStatus: order.FeeProjected, Version: 1,
			Quote: quote.Quote{USD: money.USD(r.Int64N(1_000_000_000)), Fee: &quote.Fee{Percent: money.Percent(r.IntN(50_000) + 1)}},
		}
		add := func() {
			for _, one := range Tallies(was, order.Change{Was: was.Version, Now: now, At: time.Unix(r.Int64N(1e6), 0)}) {
				n := one.N
				one.N = 0
				sums[one] += n
			}
			was = now
		}
		add()
		for range r.IntN(4) {
			now.Version++
			now.State = order.States()[r.IntN(6)]
			add()
		}
		if r.IntN(3) == 0 {
			projected += int64(FeeUSD(now))
			continue
		}
		now.Version++
		now.State, now.FeeStatus = order.Refunded, order.FeeNone
		add()
		ends++
	}
	if got := sums[Tally{Subject: "int_a", Name: "made"}]; got != 300 {
		t.Errorf("%d made", got)
	}
	if got := sums[Tally{Subject: "int_a", Name: "ended.refunded"}]; got != ends {
		t.Errorf("%d ended, want %d", got, ends)
	}
	if got := sums[Tally{Subject: "int_a", Name: "fee.projected"}]; got != projected {
		t.Errorf("%d projected, want %d", got, projected)
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times map[uint64]int64
		want  time.Duration
	}{
		{nil, 0},
		{map[uint64]int64{5: 1}, 5 * time.Second},
		{map[uint64]int64{5: 1, 9: 1}, 5 * time.Second},
		{map[uint64]int64{5: 1, 9: 2}, 9 * time.Second},
		{map[uint64]int64{1: 10, 60: 9}, time.Second},
	} {
		if got := median(c.times); got != c.want {
			t.Errorf("%v: got %s, want %s", c.times, got, c.want)
		}
	}
}

func TestClientsAreCountedOnTheirLastDay(t *testing.T) {
	t.Parallel()
	days := map[int64]int64{}
	for _, step := range []struct{ before, day int64 }{{-1, 10}, {10, 10}, {10, 12}, {-1, 12}, {12, 15}} {
		for _, one := range ClientTallies("int_a", step.before, step.day) {
			days[one.Bucket] += one.N
		}
	}
	if days[10] != 0 || days[12] != 1 || days[15] != 1 {
		t.Errorf("got %v", days)
	}
}
