package store

import (
	"cmp"
	"slices"
	"time"

	"ferry/internal/order"
	"ferry/internal/report"
)

const (
	sqlOpenOrders = `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM (SELECT created_at FROM open_orders
WHERE subject = $1 AND created_at > $2 ORDER BY created_at LIMIT CAST($3 AS BIGINT)) t`
	sqlNoLongerOpen = `DELETE FROM open_orders WHERE subject = $1 AND created_at = $2 AND order_id = $3`
	sqlRequest      = `SELECT body, order_id FROM requests WHERE scope = $1 AND key = $2`
	sqlClientDay    = `SELECT day FROM clients WHERE integrator = $1 AND digest = $2`
	sqlSetClientDay = `INSERT INTO clients (integrator, digest, day) VALUES ($1, $2, $3)
ON CONFLICT (integrator, digest) DO UPDATE SET day = excluded.day`
)

var (
	newOpen     = inserts(`INSERT INTO open_orders (subject, created_at, order_id)`, "tnt", "")
	newRequests = inserts(`INSERT INTO requests (scope, key, body, order_id, at)`, "ttttn", "")
	addTallies  = inserts(`INSERT INTO tallies (subject, name, bucket, n)`, "ttnn",
		` ON CONFLICT (subject, bucket, name) DO UPDATE SET n = tallies.n + excluded.n`)
)

// door is what a transaction knows of the counts beside orders.
type door struct {
	house   house
	news    bool // there are new orders
	asks    []stmt
	open    map[countOf]*openCount // for the ceilings of new orders
	flows   map[string]*flow       // of the pairs of new orders
	added   map[string]int64       // open orders that this transaction makes, by subject
	once    map[[2]string]once     // requests that were looked for
	clients map[client]int64       // the day each was last seen; below zero is never
	tallies map[report.Tally]int64 // what is added, by a tally whose own number is zero
	points  map[season]*report.Account
}

// countOf is what open orders are counted for: those of one company and one limit
// are counted once for all that the transaction makes.
type countOf struct {
	subject string
	max     int64
	window  time.Duration
}

type openCount struct{ after, n, oldest int64 }

type once struct{ body, order string }

type client struct{ integrator, digest string }

func newDoor() door {
	return door{
		house: newHouse(), open: map[countOf]*openCount{}, flows: map[string]*flow{}, added: map[string]int64{}, once: map[[2]string]once{},
		clients: map[client]int64{}, tallies: map[report.Tally]int64{},
	}
}

func clientOf(o order.Order) (client, bool) {
	c := client{string(o.Integrator), o.Origin.Client}
	return c, c.integrator != "" && c.digest != ""
}

// count notes that open orders are to be counted that were made after a moment. Of
// several moments it is the earliest: at most it counts one that has just gone.
func (d *door) count(l order.Ceiling, after int64) {
	of := countOf{l.Subject, l.Max, l.Window}
	if have := d.open[of]; have != nil {
		have.after = min(have.after, after)
		return
	}
	d.open[of] = &openCount{after: after}
}

// askAll are the other questions about the new orders of the transaction.
func (d *door) askAll() []stmt {
	ss := d.asks
	for of, have := range d.open {
		ss = append(ss, ask(func(r row) error { return r.Scan(&have.n, &have.oldest) }, sqlOpenOrders, of.subject, have.after, of.max))
	}
	return append(append(ss, d.askFlows()...), d.house.ask()...)
}

// meet notes what must be known before a new order may be written.
func (d *door) meet(b *booking) {
	if b.made == nil {
		return
	}
	c := b.made
	d.news = true
	d.house.meet(c)
	for _, l := range c.Ceilings {
		if l.Max > 0 {
			d.count(l, micro(c.At.Add(-l.Window)))
		}
	}
	d.meetFlow(c)
	if o := c.Once; o != nil {
		d.asks = append(d.asks, ask(func(r row) error {
			var found once
			err := r.Scan(&found.body, &found.order)
			d.once[[2]string{o.Scope, o.Key}] = found
			return err
		}, sqlRequest, o.Scope, o.Key))
	}
	if who, ok := clientOf(c.Now); ok {
		d.clients[who] = -1
	}
}

// askClients are the questions when end users were last seen, which nothing guards.
func (d *door) askClients() (ss []stmt) {
	for who := range d.clients {
		ss = append(ss, ask(func(r row) error {
			var day int64
			err := r.Scan(&day)
			d.clients[who] = day
			return err
		}, sqlClientDay, who.integrator, who.digest))
	}
	return ss
}

// admits says why a new order may not be written: a request that made one before,
// or a ceiling that is reached. Blind means that guards say the rest.
func (d *door) admits(b *booking, blind bool) error {
	if b.made == nil {
		return nil
	}
	if err := d.serves(b.made); err != nil && !blind {
		return err
	}
	if o := b.made.Once; o != nil {
		if found, was := d.once[[2]string{o.Scope, o.Key}]; was {
			return &order.Made{Order: order.ID(found.order), Same: found.body == o.Body}
		}
	}
	for _, l := range b.made.Ceilings {
		if l.Max == 0 {
			continue
		}
		have := d.open[countOf{l.Subject, l.Max, l.Window}]
		if have.n+d.added[l.Subject] >= l.Max {
			oldest := b.made.At // where only this transaction has made some
			if have.n > 0 {
				oldest = unmicro(have.oldest)
			}
			return &order.TooMany{Ceiling: l, Oldest: oldest}
		}
	}
	return d.flowing(b.made)
}

// write queues what a change means for the counts.
func (d *door) write(t *tx, was *order.Order, c *order.Change) {
	o, id := &c.Now, string(c.Now.ID)
	if was == nil {
		was = &order.Order{}
	}
	if c.Was == 0 {
		for _, subject := range o.Origin.Counts {
			d.added[subject]++
			t.add(newOpen, subject, micro(o.CreatedAt), id)
		}
		d.flowed(c)
		if r := c.Once; r != nil {
			d.once[[2]string{r.Scope, r.Key}] = once{r.Body, id}
			t.add(newRequests, r.Scope, r.Key, r.Body, id, micro(c.At))
		}
		d.seen(t, c)
	} else if o.State.Finished() && !was.State.Finished() {
		for _, subject := range o.Origin.Counts {
			t.write(sqlNoLongerOpen, subject, micro(o.CreatedAt), id)
		}
	}
	d.tally(report.Tallies(*was, *c))
	d.publish(t, was, c)
}

// seen notes the end user of a new order.
func (d *door) seen(t *tx, c *order.Change) {
	who, ok := clientOf(c.Now)
	if !ok {
		return
	}
	day := report.Day(c.At)
	before := d.clients[who]
	if before >= day {
		return
	}
	d.clients[who] = day
	t.write(sqlSetClientDay, who.integrator, who.digest, day)
	d.tally(report.ClientTallies(who.integrator, before, day))
}

func (d *door) tally(ts []report.Tally) {
	for _, one := range ts {
		n := one.N
		one.N = 0
		d.tallies[one] += n
	}
}

// close queues what is added to the tallies, in one order.
func (d *door) close(t *tx) {
	keys := make([]report.Tally, 0, len(d.tallies))
	for k, n := range d.tallies {
		if n != 0 {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b report.Tally) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Name, b.Name))
	})
	for _, k := range keys {
		t.add(addTallies, k.Subject, k.Name, k.Bucket, d.tallies[k])
	}
	d.closePublic(t)
	d.closeFlows(t)
	t.flush(newOpen, newRequests, addTallies, addFlows)
}
