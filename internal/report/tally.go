package report

import (
	"math/bits"
	"time"

	"ferry/internal/money"
	"ferry/internal/order"
)

// Tally is one number that is kept beside the facts it counts.
type Tally struct {
	Subject string // an integrator, or a part of the service
	Name    string
	Bucket  int64 // a UTC day or hour since 1970, or zero for all time
	N       int64 // what is added
}

// Names of tallies. Those of one day or hour are named so.
const (
	made          = "made"           // orders, all time
	madeDay       = "made.day"       // orders of a day
	attributedDay = "attributed.day" // of them those that told for whom they were made
	ended         = "ended."         // orders by how they ended
	volume        = "volume"         // micro-dollars of completed orders
	volumeHour    = "volume.hour"    // the same, of an hour
	took          = "took."          // completed orders by how long they took
	family        = "family."        // the same by the family the money came from
	fee           = "fee."           // micro-dollars of fees by their status
	feeOrders     = "fee.orders."    // orders by the status of their fee
	clientsDay    = "clients.day"    // end users who were last seen on a day
)

// Day and Hour are the buckets of a moment.
func Day(t time.Time) int64 { return floorDiv(t.Unix(), 24*60*60) }

// Hour is the bucket of the hour.
func Hour(t time.Time) int64 { return floorDiv(t.Unix(), 60*60) }

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// Tallies are what a change of an order adds to the numbers of its integrator.
func Tallies(was order.Order, c order.Change) []Tally {
	now := c.Now
	if now.Integrator == "" {
		return nil
	}
	var ts []Tally
	add := func(name string, bucket, n int64) {
		if n != 0 {
			ts = append(ts, Tally{Subject: string(now.Integrator), Name: name, Bucket: bucket, N: n})
		}
	}
	if c.Was == 0 {
		add(made, 0, 1)
		add(madeDay, Day(now.CreatedAt), 1)
		if now.Origin.Client != "" {
			add(attributedDay, Day(now.CreatedAt), 1)
		}
	}
	if now.State.Finished() && (c.Was == 0 || !was.State.Finished()) {
		add(ended+string(now.State), 0, 1)
		if now.State == order.Completed {
			usd := int64(now.Quote.USD)
			from := family + string(now.DepositTo.Family())
			add(volume, 0, usd)
			add(volumeHour, Hour(c.At), usd)
			add(took+tookBucket(c.At.Sub(now.CreatedAt)), 0, 1)
			add(from+".orders", 0, 1)
			add(from+".volume", 0, usd)
		}
	}
	// What was counted is taken out as it was counted: a new price that was accepted
	// meanwhile makes the same share worth another amount.
	if before, usd := int64(FeeUSD(was)), int64(FeeUSD(now)); c.Was == 0 || was.FeeStatus != now.FeeStatus || before != usd {
		if c.Was != 0 && was.FeeStatus != order.FeeNone {
			add(fee+string(was.FeeStatus), 0, -before)
			add(feeOrders+string(was.FeeStatus), 0, -1)
		}
		if now.FeeStatus != order.FeeNone {
			add(fee+string(now.FeeStatus), 0, usd)
			add(feeOrders+string(now.FeeStatus), 0, 1)
		}
	}
	return ts
}

// ClientTallies are what it adds that an end user was seen on a day, who was last
// seen on another or, with before below zero, never.
func ClientTallies(subject string, before, day int64) []Tally {
	if before == day {
		return nil
	}
	ts := []Tally{{Subject: subject, Name: clientsDay, Bucket: day, N: 1}}
	if before >= 0 {
		ts = append(ts, Tally{Subject: subject, Name: clientsDay, Bucket: before, N: -1})
	}
	return ts
}

// FeeUSD is what the integrator's fee of an order is worth at the quoted price,
// zero where there is none.
func FeeUSD(o order.Order) money.USD {
	if o.Quote.Fee == nil {
		return 0
	}
	// Both are millionths; the product of the largest fits into 128 bits.
	hi, lo := bits.Mul64(uint64(o.Quote.USD), uint64(o.Quote.Fee.Percent))
	n, _ := bits.Div64(hi%uint64(money.Whole), lo, uint64(money.Whole))
	return money.USD(n)
}

// Times are counted in buckets of at most three percent: whole seconds below
// tookExact, and tookSteps for each doubling above.
const (
	tookExact = 64
	tookSteps = 32
)

func tookBucket(d time.Duration) string { return number(tookNumber(d)) }

func tookNumber(d time.Duration) uint64 {
	s := uint64(max(0, d/time.Second))
	if s < tookExact {
		return s
	}
	doublings := uint64(bits.Len64(s/tookExact)) - 1
	return tookExact + doublings*tookSteps + (s>>doublings-tookExact)*tookSteps/tookExact
}

// tookSeconds is the least time of a bucket.
func tookSeconds(bucket uint64) int64 {
	if bucket < tookExact {
		return int64(bucket)
	}
	doublings, step := (bucket-tookExact)/tookSteps, (bucket-tookExact)%tookSteps
	return int64((tookExact + step*tookExact/tookSteps) << doublings)
}

// number has a fixed width, so that texts sort as the numbers do.
func number(n uint64) string {
	const width = 4
	var b [width]byte
	for i := width - 1; i >= 0; i-- {
		b[i] = '0' + byte(n%10)
		n /= 10
	}
	return string(b[:])
}
