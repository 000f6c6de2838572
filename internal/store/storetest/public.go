package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/report"
	"ferry/internal/testseed"
)

var publicCases = []kase{
	{"points are earned, taken back and given again", pointsLife},
	{"the board ranks addresses and leaves integrators out", pointsBoard},
	{"activity is published late, in batches, and never of private orders", activityPages},
	{"stats are of completed orders only", statsKept},
	{"whatever happens, counting again finds the same", recountRandom},
}

// fan is an ask that earns points for somebody: a service fee of dollars.
func (b *bench) fan(who string, by integrator.ID, dollars money.USD) order.Ask {
	a := b.partner(by, "key_0", "")
	if by == "" {
		a.Quote.Fee, a.Origin, a.Ceilings = nil, order.Origin{}, nil
	}
	a.Quote.Shown.ServiceUSD = dollars
	a.Origin.PointsTo, a.Origin.Award = who, report.DefaultProgram.Award(start)
	return a
}

// completed makes an order and completes it.
func (b *bench) completed(a order.Ask, made, done time.Time) order.Order {
	b.Helper()
	o := b.madeBy(a, made)
	d := deposit(o, "d", 1000)
	b.told(o.ID, order.DepositSeen{Deposit: d, Sighting: 1, At: made}, made)
	b.told(o.ID, order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: made}, made)
	return b.told(o.ID, order.PayoutFinal{Landed: order.Landed{Tx: "paid"}}, done)
}

func (b *bench) reporter() *report.Reporter { return report.New(b.db, report.DefaultProgram) }

func (b *bench) standing(who string, at time.Time) report.Standing {
	b.Helper()
	return must[report.Standing](b.T)(b.reporter().PointsOf(b.Context(), who, at))
}

// sound fails unless counting again finds what is kept.
func (b *bench) sound() {
	b.Helper()
	found := must[report.Found](b.T)(b.db.Recount(b.Context()))
	for _, d := range found.Drift {
		b.Errorf("drift: %s", d)
	}
}

func pointsLife(t *testing.T, b *bench) {
	done := start.Add(time.Minute)
	o := b.completed(b.fan("0xfan", "int_a", 3*money.Dollar), start, done)
	want := report.Standing{Account: "0xfan", Season: "season-1", Pending: 300, Lifetime: 300, Rank: 1, UpdatedAt: done}
	same(t, b.standing("0xfan", done), want)
	same(t, b.standing("int_a", done), report.Standing{Account: "int_a", Season: "season-1", Pending: 75, Lifetime: 75, UpdatedAt: done})
	// A day after the end of its hour it is final, and nobody had to say so.
	later := done.Truncate(time.Hour).Add(25 * time.Hour)
	same(t, b.standing("0xfan", later.Add(-time.Second)), want)
	want.Pending, want.Final = 0, 300
	same(t, b.standing("0xfan", later), want)
	// The chain takes the deposit back, and brings it again.
	gone := order.DepositGone{Deposit: deposit(o, "d", 1000), Sighting: 1, SeenAt: start, WasFinal: true}
	b.told(o.ID, gone, later)
	same(t, b.standing("0xfan", later), report.Standing{Account: "0xfan", Season: "season-1", UpdatedAt: later})
	same(t, b.standing("int_a", later).Lifetime, int64(0))
	same(t, len(must[[]report.Rank](t)(b.reporter().Board(t.Context(), 10, later))), 0)
	b.sound()
	b.told(o.ID, order.DepositFinal{Deposit: deposit(o, "d", 1000), Sighting: 2, SeenAt: start}, later)
	want.UpdatedAt = later
	same(t, b.standing("0xfan", later), want)
	// What ended otherwise, has no fee, named nobody or no season earns nothing.
	lost := b.madeBy(b.fan("0xlost", "int_a", money.Dollar), start)
	b.told(lost.ID, order.Cancelled{}, start)
	b.completed(b.fan("0xfree", "int_a", 0), start, done)
	none := b.fan("0xnone", "int_a", money.Dollar)
	none.Origin.Award = order.Award{}
	b.completed(none, start, done)
	nobody := b.fan("", "int_a", money.Dollar)
	b.completed(nobody, start, done)
	for _, who := range []string{"0xlost", "0xfree", "0xnone", "", "0xunheard"} {
		same(t, b.standing(who, done), report.Standing{Account: who, Season: "season-1"})
	}
	same(t, b.standing("int_a", later).Lifetime, int64(75))
	// One without an integrator earns for its owner alone.
	b.completed(b.fan("0xalone", "", money.Dollar), start, done)
	same(t, b.standing("0xalone", done).Pending, int64(100))
	b.sound()
}

func pointsBoard(t *testing.T, b *bench) {
	for i, dollars := range []money.USD{3, 9, 3, 1} {
		b.completed(b.fan(fmt.Sprintf("0x%d0000000000000000%d", i, i), "int_a", dollars*money.Dollar), start, start)
	}
	other := b.fan("0x90000000000000000000", "int_a", 50*money.Dollar)
	other.Origin.Award.Season = "season-0"
	b.completed(other, start, start)
	same(t, must[[]report.Rank](t)(b.reporter().Board(t.Context(), 10, start)), []report.Rank{
		{Rank: 1, Masked: "0x10…01", Points: 900},
		{Rank: 2, Masked: "0x00…00", Points: 300},
		{Rank: 2, Masked: "0x20…02", Points: 300},
		{Rank: 4, Masked: "0x30…03", Points: 100},
	})
	same(t, len(must[[]report.Rank](t)(b.reporter().Board(t.Context(), 2, start))), 2)
	for i, rank := range []int64{2, 1, 2, 4} {
		same(t, b.standing(fmt.Sprintf("0x%d0000000000000000%d", i, i), start).Rank, rank)
	}
	last := b.standing("0x90000000000000000000", start)
	same(t, last.Lifetime, int64(5000))
	same(t, last.Rank+last.Pending+last.Final, int64(0))
	same(t, b.standing("int_a", start).Rank, int64(0))
}

func activityPages(t *testing.T, b *bench) {
	at := start.Truncate(5 * time.Minute)
	made := map[time.Time]int{}
	for i := range 12 {
		a := b.fan("0xfan", "int_a", money.Dollar)
		a.Origin.Private = i%4 == 3
		done := at.Add(time.Duration(i) * time.Minute)
		b.completed(a, at, done)
		if !a.Origin.Private {
			made[done]++
		}
	}
	b.madeBy(b.fan("0xfan", "int_a", money.Dollar), at) // unfinished
	read := func(now time.Time, n int) (all []report.Activity) {
		t.Helper()
		for place := (report.ActivityPlace{}); ; {
			page := must[[]report.Activity](t)(b.db.Activity(t.Context(), place, now, n))
			all = append(all, page...)
			if len(page) < n {
				return all
			}
			place = page[n-1].Place()
		}
	}
	// Those of minutes 0 to 4 are out when the last of them is at least ten minutes old.
	same(t, len(read(at.Add(15*time.Minute-time.Microsecond), 3)), 0)
	same(t, len(read(at.Add(15*time.Minute), 3)), 4)
	same(t, len(read(at.Add(20*time.Minute), 1)), 8)
	all := read(at.Add(time.Hour), 2)
	same(t, len(all), 9)
	seen := map[string]bool{}
	for i, x := range all {
		if seen[x.ID] || x.PublishAt.Sub(x.CompletedAt) < 10*time.Minute || made[x.CompletedAt] == 0 {
			t.Fatalf("%d: %+v", i, x)
		}
		seen[x.ID] = true
		if i > 0 && x.PublishAt.After(all[i-1].PublishAt) {
			t.Fatal("not newest first")
		}
		same(t, x.Give, giveAsset)
		same(t, x.Worth, "1000-2500")
	}
	// Whoever follows sees the same, the other way round, whenever he looks.
	var followed []report.Activity
	for place, now := (report.ActivityPlace{}), at; !now.After(at.Add(time.Hour)); now = now.Add(time.Minute) {
		for {
			page := must[[]report.Activity](t)(b.db.ActivityAfter(t.Context(), place, now, 2))
			if len(page) == 0 {
				break
			}
			followed, place = append(followed, page...), page[len(page)-1].Place()
		}
	}
	for i := range all {
		same(t, followed[len(followed)-1-i], all[i])
	}
}

func statsKept(t *testing.T, b *bench) {
	now := start.Add(10 * 24 * time.Hour)
	for i, ago := range []time.Duration{0, time.Hour, 30 * time.Hour, 9 * 24 * time.Hour} {
		at := now.Add(-ago)
		b.completed(b.fan("0xfan", []integrator.ID{"int_a", ""}[i%2], money.Dollar), at.Add(-10*time.Minute), at)
	}
	lost := b.madeBy(b.fan("0xfan", "int_a", money.Dollar), now)
	b.told(lost.ID, order.Cancelled{}, now)
	got := must[report.Totals](t)(b.reporter().Stats(t.Context(), now))
	same(t, got.Orders, report.Periods[int64]{All: 4, Day: 2, Week: 3})
	same(t, got.Volume, report.Periods[money.USD]{All: 4000 * money.Dollar, Day: 2000 * money.Dollar, Week: 3000 * money.Dollar})
	same(t, got.Pairs, 1)
	same(t, got.Rate, money.Whole)
	same(t, got.Chains, []report.ChainTotals{{Chain: give, Orders: 4, Volume: 4000 * money.Dollar}})
	if got.Median < 582*time.Second || got.Median > 600*time.Second {
		t.Errorf("median %s", got.Median)
	}
	ask := report.SeriesAsk{Metric: report.OrdersDone, Interval: report.Daily, Chain: give, From: now.Add(-10 * 24 * time.Hour), To: now.Add(time.Second)}
	var sum int64
	s := must[report.Series](t)(b.reporter().Series(t.Context(), ask, now))
	for _, bucket := range s.Buckets {
		sum += bucket.N
	}
	same(t, sum, int64(4))
	same(t, len(s.Buckets), 11)
	ask.Chain = chain.ID("sim:other")
	for _, bucket := range must[report.Series](t)(b.reporter().Series(t.Context(), ask, now)).Buckets {
		same(t, bucket.N, int64(0))
	}
}

// recountRandom: orders of all kinds go random ways, some again and again, in batches
// and alone; what was counted on the way is what they came to.
func recountRandom(t *testing.T, b *bench) {
	r := rand.New(rand.NewPCG(testseed.Of(t), 1))
	at := start
	var ids []order.ID
	for range 60 {
		at = at.Add(time.Duration(r.IntN(40)) * time.Minute)
		a := b.fan([]string{"", "0xa", "0xb", "0xc"}[r.IntN(4)], []integrator.ID{"", "int_a", "int_b"}[r.IntN(3)], money.USD(r.Int64N(5_000_000)))
		a.Quote.USD = money.USD(r.Int64N(1_000_000_000))
		a.Origin.Private = r.IntN(3) == 0
		if a.Quote.Integrator != "" {
			a.Origin.Client = []string{"", "x", "y"}[r.IntN(3)]
		}
		if a.Quote.Integrator != "" && r.IntN(3) == 0 {
			a.Quote.Fee = nil
		}
		if r.IntN(5) == 0 {
			a.Origin.Award.Season = "season-2"
		}
		ids = append(ids, b.madeBy(a, at).ID)
		for range 10 + r.IntN(20) {
			at = at.Add(time.Duration(r.IntN(60)) * time.Second)
			b.shove(r, ids[max(0, len(ids)-1-r.IntN(4))], at)
		}
	}
	ends := map[order.State]int{}
	for _, id := range ids {
		ends[must[order.Order](t)(b.db.Order(t.Context(), id)).State]++
	}
	if ends[order.Completed] < 3 || ends[order.Expired] == 0 {
		t.Fatalf("too little happened: %v", ends)
	}
	b.sound()
	same(t, len(must[report.Found](t)(b.db.Mend(t.Context())).Drift), 0)
	b.sound()
}

// shove tells an order something that may have a place in its state.
func (b *bench) shove(r *rand.Rand, id order.ID, at time.Time) {
	o := must[order.Order](b.T)(b.db.Order(b.Context(), id))
	n := []uint64{1000, 1000, 1000, 1000, 400}[r.IntN(5)]
	d := deposit(o, "d", n)
	sighting := 1 + r.IntN(3)
	landed := order.Landed{Tx: "tx", Cost: amount(1)}
	requote := o.Quote
	requote.ID, requote.In, requote.USD, requote.ExpiresAt = requote.ID+"+", o.InHand.Amount, o.Quote.USD/2+1, at
	events := []order.Event{
		order.DepositFinal{Deposit: d, Sighting: sighting, SeenAt: at},
		order.DepositFinal{Deposit: d, Sighting: sighting, SeenAt: at},
		order.DepositSeen{Deposit: d, Sighting: sighting, At: at},
		order.DepositGone{Deposit: d, Sighting: sighting, SeenAt: at},
		order.PayoutFinal{Landed: landed},
		order.PayoutFinal{Landed: landed},
		order.PayoutFailed{Landed: landed},
		order.RefundPriced{Cost: amount(1)},
		order.RefundFinal{Landed: landed},
		order.RefundFailed{Landed: landed},
		order.FeePriced{},
		order.FeePaid{Landed: landed},
		order.FeeSkipped{},
		order.RefundAsked{Request: "r"},
		order.RequoteOffered{Hold: o.Hold.Since},
		order.RequoteAccepted{Quote: requote},
		order.DeadlinePassed{Of: o.Deadline},
	}
	if r.IntN(60) == 0 {
		events = []order.Event{order.Cancelled{}}
	}
	_, _ = b.tell(id, events[r.IntN(len(events))], at) // most have no place there
}
