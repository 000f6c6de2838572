package store

import (
	"maps"
	"slices"
	"time"

	"ferry/internal/money"
	"ferry/internal/order"
)

// flowSlots is how many seconds of a pair are kept: more than a window has.
const flowSlots = 64

const sqlFlow = `SELECT COALESCE(SUM(usd), 0), COALESCE(MIN(second), 0) FROM flows WHERE pair = $1 AND second > $2`

var addFlows = inserts(`INSERT INTO flows (pair, slot, second, usd)`, "tnnn",
	` ON CONFLICT (pair, slot) DO UPDATE SET usd = excluded.usd + CASE WHEN flows.second >= excluded.second THEN flows.usd ELSE 0 END,
second = CASE WHEN flows.second > excluded.second THEN flows.second ELSE excluded.second END`)

// flow is what a transaction knows of a pair.
type flow struct {
	most   money.USD
	since  int64 // the second after which it counts
	sold   int64 // before this transaction
	oldest int64 // the first second of that
	added  map[int64]int64
}

// more is what this transaction adds.
func (f *flow) more() (sum int64) {
	for _, n := range f.added {
		sum += n
	}
	return sum
}

// meetFlow notes that it must be known what was sold of a pair. Whole seconds count, so
// that a window is rather a second too long.
func (d *door) meetFlow(c *order.Change) {
	if c.Flow == nil {
		return
	}
	since := c.At.Unix() - int64(order.FlowWindow/time.Second) - 1
	if have := d.flows[c.Flow.Pair]; have != nil {
		have.since, have.most = min(have.since, since), min(have.most, c.Flow.Most)
		return
	}
	d.flows[c.Flow.Pair] = &flow{most: c.Flow.Most, since: since, added: map[int64]int64{}}
}

func (d *door) askFlows() (ss []stmt) {
	for pair, f := range d.flows {
		ss = append(ss, ask(func(r row) error { return r.Scan(&f.sold, &f.oldest) }, sqlFlow, pair, f.since))
	}
	return ss
}

// flowing refuses a new order that is more of its pair than may be sold.
func (d *door) flowing(c *order.Change) error {
	if c.Flow == nil {
		return nil
	}
	f := d.flows[c.Flow.Pair]
	sold := f.sold + f.more()
	if money.USD(sold).PlusCapped(c.Flow.USD) <= c.Flow.Most {
		return nil
	}
	e := &order.TooMuch{Flow: *c.Flow, Sold: money.USD(sold)}
	switch {
	case f.oldest > 0:
		e.Oldest = time.Unix(f.oldest, 0).UTC()
	case sold > 0: // by this transaction alone
		e.Oldest = c.At
	}
	return e
}

// flowed notes a new order that is written.
func (d *door) flowed(c *order.Change) {
	if c.Flow != nil {
		d.flows[c.Flow.Pair].added[c.At.Unix()] += int64(c.Flow.USD)
	}
}

// closeFlows queues what is added, in one order.
func (d *door) closeFlows(t *tx) {
	for _, pair := range slices.Sorted(maps.Keys(d.flows)) {
		f := d.flows[pair]
		for _, second := range slices.Sorted(maps.Keys(f.added)) {
			t.add(addFlows, pair, second%flowSlots, second, f.added[second])
		}
	}
}
