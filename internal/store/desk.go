package store

import (
	"context"
	"fmt"
	"time"

	"ferry/internal/desk"
	"ferry/internal/ledger"
	"ferry/internal/order"
)

const (
	// The newest first, from one that was shown last.
	sqlSessionOrders = `SELECT made.terms, e.after FROM orders o
JOIN order_events made ON made.seq = o.terms_seq JOIN order_events e ON e.seq = o.seq
WHERE o.session = $1 AND (o.created_at, o.id) < ($2, $3) ORDER BY o.created_at DESC, o.id DESC LIMIT CAST($4 AS BIGINT)`
	sqlOrderMade     = `SELECT terms, after FROM order_events WHERE order_id = $1 AND key = 'created'`
	sqlForgetRequest = `DELETE FROM requests WHERE (scope, key) IN
  (SELECT scope, key FROM requests WHERE at < $1 ORDER BY at LIMIT CAST($2 AS BIGINT))`
	sqlHistory = `SELECT version, name, from_state, to_state, at, doc FROM order_events
WHERE order_id = $1 AND version > $2 ORDER BY version LIMIT CAST($3 AS BIGINT)`
	sqlCountOpen = `SELECT COUNT(*) FROM open_orders WHERE subject = $1 AND created_at > $2`
)

// before are the two values that everything to be shown comes before.
func before(p order.Place) (at int64, id string) {
	if p.At.IsZero() {
		return int64(^uint64(0) >> 1), ""
	}
	return micro(p.At), string(p.ID)
}

var _ desk.Store = (*DB)(nil)

// SessionOrders are the orders of a session, newest first.
func (db *DB) SessionOrders(ctx context.Context, group string, from order.Place, n int) ([]order.Order, error) {
	var orders []order.Order
	at, id := before(from)
	err := db.engine.read(ctx, ask(func(r row) error {
		o, err := scanOrder(r)
		orders = append(orders, o)
		return err
	}, sqlSessionOrders, group, at, id, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("orders of a session: %w", err)
	}
	return orders, nil
}

// OrderMade is an order as it was made.
func (db *DB) OrderMade(ctx context.Context, id order.ID) (o order.Order, err error) {
	err = db.engine.read(ctx, ask(func(r row) (err error) {
		o, err = scanOrder(r)
		return err
	}, sqlOrderMade, string(id)))
	if err != nil {
		return order.Order{}, fmt.Errorf("order %s: %w", id, err)
	}
	return o, nil
}

// RequestMade is the order that a request has made before; nil is none.
func (db *DB) RequestMade(ctx context.Context, o order.Once) (made *order.Made, err error) {
	err = db.engine.read(ctx, ask(func(r row) error {
		var found once
		err := r.Scan(&found.body, &found.order)
		made = &order.Made{Order: order.ID(found.order), Same: found.body == o.Body}
		return err
	}, sqlRequest, o.Scope, o.Key))
	if err != nil {
		return nil, fmt.Errorf("a request that was made before: %w", err)
	}
	return made, nil
}

// ForgetRequests lets go of requests that were made before a time, and says whether
// there may be more of them.
func (db *DB) ForgetRequests(ctx context.Context, before time.Time, n int) error {
	return db.write(ctx, "forget old requests", do(sqlForgetRequest, micro(before), int64(n)))
}

// OpenOrders is how many unfinished orders of a subject were made after a time.
func (db *DB) OpenOrders(ctx context.Context, subject string, after time.Time) (n int64, err error) {
	err = db.engine.read(ctx, ask(func(r row) error { return r.Scan(&n) }, sqlCountOpen, subject, micro(after)))
	if err != nil {
		return 0, fmt.Errorf("open orders of %s: %w", subject, err)
	}
	return n, nil
}

// History implements desk.Store.
func (db *DB) History(ctx context.Context, id order.ID, after int64, n int) ([]desk.Happening, error) {
	var all []desk.Happening
	err := db.engine.read(ctx, ask(func(r row) error {
		var h desk.Happening
		var at int64
		err := r.Scan(&h.Version, &h.Name, (*string)(&h.From), (*string)(&h.To), &at, &h.Detail)
		h.At = unmicro(at)
		all = append(all, h)
		return err
	}, sqlHistory, string(id), after, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("history of order %s: %w", id, err)
	}
	return all, nil
}

// Balance is the balance of an account as it is kept.
func (db *DB) Balance(ctx context.Context, k ledger.Key) (b ledger.Balance, err error) {
	err = db.engine.read(ctx, ask(func(r row) (err error) {
		var version int64
		b, err = scanBalance(r, &version)
		return err
	}, sqlBalance, string(k.Account), k.Asset.String()))
	if err != nil {
		return ledger.Balance{}, fmt.Errorf("balance of %s: %w", k.Account, err)
	}
	return b, nil
}
