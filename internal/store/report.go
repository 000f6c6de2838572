package store

import (
	"context"
	"fmt"

	"ferry/internal/integrator"
	"ferry/internal/order"
	"ferry/internal/report"
)

const (
	sqlTallies = `SELECT name, bucket, n FROM tallies WHERE subject = $1 AND bucket >= $2 AND bucket <= $3`
	// The newest first, from one that was looked at last.
	sqlAttributed = `SELECT id, created_at, state, fee_status, key, reference, 1 FROM orders
WHERE integrator = $1 AND integrator <> '' AND (created_at, id) < ($2, $3) AND created_at >= $4
ORDER BY created_at DESC, id DESC LIMIT CAST($5 AS BIGINT)`
	// The last changed first. An order is there with each of its changes, and counts
	// with the newest, which of several at the same time is the first.
	sqlUpdated = `SELECT o.id, t.at, o.state, o.fee_status, o.key, o.reference, CASE WHEN o.seq = t.seq THEN 1 ELSE 0 END
FROM (SELECT seq, order_id, at FROM order_events
  WHERE integrator = $1 AND integrator <> '' AND (at, order_id) < ($2, $3) AND at >= $4
  ORDER BY at DESC, order_id DESC, seq DESC LIMIT CAST($5 AS BIGINT)) t
JOIN orders o ON o.id = t.order_id ORDER BY t.at DESC, t.order_id DESC, t.seq DESC`
)

const (
	// attributedScan is how many orders or changes of them a page looks at for those
	// that it shows.
	attributedScan = 2000
	// eventsOfOrder is about how many changes an order has.
	eventsOfOrder = 4
)

// Tallies implements report.Store.
func (db *DB) Tallies(ctx context.Context, subject string, from, to int64) ([]report.Tally, error) {
	var ts []report.Tally
	err := db.engine.read(ctx, ask(func(r row) error {
		t := report.Tally{Subject: subject}
		err := r.Scan(&t.Name, &t.Bucket, &t.N)
		ts = append(ts, t)
		return err
	}, sqlTallies, subject, from, to))
	if err != nil {
		return nil, fmt.Errorf("tallies of %s: %w", subject, err)
	}
	return ts, nil
}

// Attributed implements report.Store.
func (db *DB) Attributed(ctx context.Context, id integrator.ID, f report.Filter, from order.Place, n int) (page report.Page, err error) {
	l := lookout{filter: f, n: n}
	l.here.at, l.here.id = before(from)
	if !f.To.IsZero() && micro(f.To) < l.here.at {
		l.here = spot{at: micro(f.To)}
	}
	since := int64(0)
	if !f.From.IsZero() {
		since = micro(f.From)
	}
	sql, scan, most := sqlAttributed, n+1, n+1
	switch {
	case f.Updated: // most pages are found among the few events of as many orders
		sql, scan, most = sqlUpdated, eventsOfOrder*scan, max(attributedScan, eventsOfOrder*scan)
	case f.Narrows():
		scan = max(scan, attributedScan)
		most = scan
	}
	for looked := 0; ; scan = min(2*scan, most-looked) {
		l.rows = 0
		if err := db.engine.read(ctx, ask(l.look, sql, string(id), l.here.at, l.here.id, since, int64(scan))); err != nil {
			return page, fmt.Errorf("orders of %s: %w", id, err)
		}
		if looked += l.rows; l.more || l.rows < scan || looked >= most {
			break
		}
	}
	if page.Orders, err = db.orders(ctx, l.ids); err != nil {
		return page, fmt.Errorf("orders of %s: %w", id, err)
	}
	if l.more || l.rows == scan {
		page.Next = order.Place{At: unmicro(l.next.at), ID: order.ID(l.next.id)}
	}
	return page, nil
}

// lookout finds the orders of a page.
type lookout struct {
	filter report.Filter
	n      int
	ids    []order.ID
	here   spot // how far it looked
	next   spot // where the next page begins
	rows   int  // of this statement
	more   bool // there is one that the page has no room for
}

// spot is after a row of the list.
type spot struct {
	at int64
	id string
}

func (l *lookout) look(r row) error {
	var o struct {
		id, state, fee, key, reference string
		at, newest                     int64
	}
	if err := r.Scan(&o.id, &o.at, &o.state, &o.fee, &o.key, &o.reference, &o.newest); err != nil {
		return err
	}
	l.rows++
	f := &l.filter
	fits := o.newest == 1 && (f.State == "" || string(f.State) == o.state) && (f.Fee == "" || string(f.Fee) == o.fee) &&
		(f.Key == "" || string(f.Key) == o.key) && (f.Reference == "" || f.Reference == o.reference)
	l.here = spot{o.at, o.id}
	if len(l.ids) == l.n {
		l.more = l.more || fits
		return nil
	}
	l.next = l.here
	if fits {
		l.ids = append(l.ids, order.ID(o.id))
	}
	return nil
}

// orders reads orders in the order of their ids.
func (db *DB) orders(ctx context.Context, ids []order.ID) ([]order.Order, error) {
	found := make(map[order.ID]order.Order, len(ids))
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = string(id)
	}
	var ss []stmt
	ordersAmong.each(args, func(sql string, args []any) {
		ss = append(ss, ask(func(r row) error {
			o, err := scanOrder(r)
			found[o.ID] = o
			return err
		}, sql, args...))
	})
	if len(ss) == 0 {
		return nil, nil
	}
	if err := db.engine.read(ctx, ss...); err != nil {
		return nil, err
	}
	orders := make([]order.Order, len(ids))
	for i, id := range ids {
		orders[i] = found[id]
	}
	return orders, nil
}
