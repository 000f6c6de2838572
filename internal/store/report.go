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
	sqlAttributed = `SELECT id, created_at, state, fee_status, key, reference FROM orders
WHERE integrator = $1 AND integrator <> '' AND (created_at, id) < ($2, $3) AND created_at >= $4
ORDER BY created_at DESC, id DESC LIMIT CAST($5 AS BIGINT)`
)

// attributedScan is how many orders a page looks at for those that pass a filter.
const attributedScan = 2000

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
	scan := n + 1
	if f.Narrows() {
		scan = max(scan, attributedScan)
	}
	at, last := before(from)
	if !f.To.IsZero() && micro(f.To) < at {
		at, last = micro(f.To), ""
	}
	since := int64(0)
	if !f.From.IsZero() {
		since = micro(f.From)
	}
	var ids []order.ID
	looked := 0
	var next order.Place
	more := false
	err = db.engine.read(ctx, ask(func(r row) error {
		var o struct {
			id, state, fee, key, reference string
			at                             int64
		}
		if err := r.Scan(&o.id, &o.at, &o.state, &o.fee, &o.key, &o.reference); err != nil {
			return err
		}
		if len(ids) == n {
			more = true
			return nil
		}
		looked++
		next = order.Place{At: unmicro(o.at), ID: order.ID(o.id)}
		if (f.State == "" || string(f.State) == o.state) && (f.Fee == "" || string(f.Fee) == o.fee) &&
			(f.Key == "" || string(f.Key) == o.key) && (f.Reference == "" || f.Reference == o.reference) {
			ids = append(ids, order.ID(o.id))
		}
		return nil
	}, sqlAttributed, string(id), at, last, since, int64(scan)))
	if err != nil {
		return page, fmt.Errorf("orders of %s: %w", id, err)
	}
	if page.Orders, err = db.orders(ctx, ids); err != nil {
		return page, fmt.Errorf("orders of %s: %w", id, err)
	}
	if more || looked == scan {
		page.Next = next
	}
	return page, nil
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
