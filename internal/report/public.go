package report

import (
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
)

// Subjects of the tallies of the whole service, which no integrator's name can be. What
// is counted of a time is apart from what is counted of all time, and how long orders
// took, which is many numbers, from the rest, so that nobody reads more than he shows.
const (
	everybody = "*"
	hours     = "/hours" // behind everybody or a chain: of each hour
	days      = "/days"  // and of each day
	times     = "/took"  // behind those: how long orders took
	chains    = everybody + "/chains"
	pairs     = everybody + "/pairs"
	bridges   = everybody + "/bridges"

	completed = "completed" // orders; behind it, if anything, of what
)

// scope is where what concerns a chain is counted: the one that the money came from, so
// that the chains add up to the whole. Without a chain it is everybody's.
func scope(id chain.ID) string {
	if id == "" {
		return everybody
	}
	return everybody + "/chain/" + string(id)
}

// pairOf names a pair in a tally; an asset has no space in it.
func pairOf(give, get chain.Asset) string { return " " + give.String() + " " + get.String() }

// splitPair reads what pairOf wrote behind a name.
func splitPair(name, prefix string) (give, get chain.Asset, ok bool) {
	rest, ok := strings.CutPrefix(name, prefix+" ")
	if !ok {
		return give, get, false
	}
	a, b, ok := strings.Cut(rest, " ")
	if !ok {
		return give, get, false
	}
	give, errA := chain.ParseAsset(a)
	get, errB := chain.ParseAsset(b)
	return give, get, errA == nil && errB == nil
}

// PublicTallies are what a change adds to the numbers of the whole service. Nothing is
// counted before an order ends, and of one that nobody paid nothing at all. An ending
// never changes, so what was counted never is taken back.
func PublicTallies(was order.Order, c order.Change) []Tally {
	if !c.Now.State.Finished() || was.State.Finished() {
		return nil
	}
	return publicOf(c.Now, c.At)
}

// publicOf are what an order that ended then adds.
func publicOf(o order.Order, at time.Time) (ts []Tally) {
	add := func(subject, name string, bucket, n int64) {
		if n != 0 {
			ts = append(ts, Tally{Subject: subject, Name: name, Bucket: bucket, N: n})
		}
	}
	hour, day := Hour(at), Day(at)
	from := scope(o.Quote.Give.Chain)
	if o.State != order.Completed {
		if o.State == order.Expired {
			return nil
		}
		name := ended + string(o.State)
		add(everybody, name, 0, 1)
		for _, s := range []string{everybody, from} {
			add(s+hours, name, hour, 1)
			add(s+days, name, day, 1)
		}
		return ts
	}
	usd, time := int64(o.Quote.USD), took+tookBucket(at.Sub(o.CreatedAt))
	add(everybody, completed, 0, 1)
	add(everybody, volume, 0, usd)
	add(everybody, time, 0, 1)
	for _, s := range []string{everybody, from} {
		add(s+hours, completed, hour, 1)
		add(s+hours, volume, hour, usd)
		add(s+hours+times, time, hour, 1)
		add(s+days, completed, day, 1)
		add(s+days, volume, day, usd)
		add(s+days+times, time, day, 1)
	}
	on := " " + string(o.Quote.Give.Chain)
	add(chains, completed+on, 0, 1)
	add(chains, volume+on, 0, usd)
	if over := o.Origin.Bridge; over != "" {
		add(bridges, completed+" "+over, 0, 1)
		add(bridges, volume+" "+over, 0, usd)
	}
	pair := pairOf(o.Quote.Give, o.Quote.Get)
	add(pairs, completed+pair, 0, 1)
	add(pairs, volume+pair, 0, usd)
	add(pairs+days, completed+pair, day, 1)
	add(pairs+days, volume+pair, day, usd)
	return ts
}
