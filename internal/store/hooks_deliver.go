package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"ferry/internal/hooks"
)

const (
	deliveryColumns = `endpoint, n, order_id, event, state, tries, due_at, taken_at, first_at, ended_at, status, why`
	sqlDeliveries   = `SELECT ` + deliveryColumns + ` FROM webhook_deliveries WHERE endpoint = $1 AND n < $2 ORDER BY n DESC LIMIT CAST($3 AS BIGINT)`
	sqlHookCursor   = `SELECT cursor, not_before FROM webhook_endpoints WHERE id = $1 AND off = ''`
	sqlMoveHook     = `UPDATE webhook_endpoints SET cursor = $1 WHERE id = $2`
	// Of an order the first that is not ended is due. One that was there before, and
	// ended, begins anew: it is replayed.
	sqlNewDelivery = `INSERT INTO webhook_deliveries (endpoint, n, order_id, event, state, due_at, leased_until, tries, taken_at, first_at, ended_at, status, why)
VALUES ($1, $2, $3, $4, CASE WHEN EXISTS
  (SELECT 1 FROM webhook_deliveries u WHERE u.endpoint = $1 AND u.order_id = $3 AND u.ended_at = 0) THEN 'waiting' ELSE 'due' END, $5, 0, 0, $6, 0, 0, 0, '')
ON CONFLICT (endpoint, n) DO UPDATE SET state = excluded.state, due_at = excluded.due_at, leased_until = 0, tries = 0, taken_at = excluded.taken_at,
  first_at = 0, ended_at = 0, status = 0, why = ''`
	sqlLeaseDeliveries = `UPDATE webhook_deliveries SET due_at = $1, leased_until = $1, tries = tries + 1, first_at = CASE WHEN first_at = 0 THEN $2 ELSE first_at END
WHERE endpoint = $3 AND n IN (SELECT n FROM webhook_deliveries WHERE endpoint = $3 AND state = 'due' AND due_at <= $2
  AND EXISTS (SELECT 1 FROM webhook_endpoints e JOIN integrators i ON i.id = e.integrator WHERE e.id = $3 AND e.off = '' AND i.status = 'active')
  ORDER BY due_at, n LIMIT CAST($4 AS BIGINT))
RETURNING ` + deliveryColumns
	// Each says of which lease it is: one that was replayed or leased anew meanwhile is
	// another's.
	sqlEndDelivery = `UPDATE webhook_deliveries SET state = $1, ended_at = $2, leased_until = 0, status = $3, why = $4
WHERE endpoint = $5 AND n = $6 AND tries = $7 AND leased_until > 0 AND state = 'due'`
	sqlLaterDelivery = `UPDATE webhook_deliveries SET due_at = $1, leased_until = 0, status = $2, why = $3
WHERE endpoint = $4 AND n = $5 AND tries = $6 AND leased_until > 0 AND state = 'due'`
	sqlUntriedDelivery = `UPDATE webhook_deliveries SET due_at = $1, leased_until = 0, tries = tries - 1, first_at = CASE WHEN tries = 1 THEN 0 ELSE first_at END
WHERE endpoint = $2 AND n = $3 AND tries = $4 AND leased_until > 0 AND state = 'due'`
	// The next of the order is due, unless one still is.
	sqlNextDelivery = `UPDATE webhook_deliveries SET state = 'due', due_at = $1
WHERE endpoint = $2 AND n = (SELECT MIN(w.n) FROM webhook_deliveries w WHERE w.endpoint = $2 AND w.order_id = $3 AND w.ended_at = 0) AND state = 'waiting'`
	sqlHookWorks = `UPDATE webhook_endpoints SET failing_since = 0 WHERE id = $1 AND failing_since > 0`
	sqlHookFails = `UPDATE webhook_endpoints SET failing_since = CASE WHEN failing_since = 0 THEN CAST($1 AS BIGINT) ELSE failing_since END, last_status = $2, last_why = $3,
  off = CASE WHEN off <> '' THEN off WHEN CAST($4 AS TEXT) <> '' THEN CAST($4 AS TEXT) WHEN failing_since > 0 AND failing_since < $5 THEN 'failing' ELSE '' END WHERE id = $6`
	sqlForgetDeliveries = `DELETE FROM webhook_deliveries WHERE (endpoint, n) IN
  (SELECT endpoint, n FROM webhook_deliveries WHERE ended_at > 0 AND ended_at < $1 ORDER BY ended_at LIMIT CAST($2 AS BIGINT))`
	sqlForgetRemoved = `DELETE FROM webhook_deliveries WHERE (endpoint, n) IN
  (SELECT d.endpoint, d.n FROM webhook_endpoints t JOIN webhook_deliveries d ON d.endpoint = t.id WHERE t.off = 'removed' LIMIT CAST($1 AS BIGINT))`
	sqlForgetHooks = `DELETE FROM webhook_endpoints WHERE off = 'removed' AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.endpoint = webhook_endpoints.id)`
)

// HookDeliveries implements hooks.Store.
func (db *DB) HookDeliveries(ctx context.Context, id hooks.ID, before int64, n int) (found []hooks.Delivery, err error) {
	if err := db.engine.read(ctx, collect(&found, scanDelivery, sqlDeliveries, string(id), before, int64(n))); err != nil {
		return nil, fmt.Errorf("deliveries of webhook %s: %w", id, err)
	}
	return found, nil
}

// TakeUpHook implements hooks.Store.
func (db *DB) TakeUpHook(ctx context.Context, take hooks.Take, now time.Time) error {
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		cursor, before := int64(-1), int64(0)
		if err := t.read(ask(func(r row) error { return r.Scan(&cursor, &before) }, sqlHookCursor, string(take.Endpoint))); err != nil {
			return err
		}
		if cursor != take.From {
			return hooks.ErrMoved
		}
		for _, n := range take.News {
			t.write(sqlNewDelivery, string(take.Endpoint), n.Number, string(n.Order), n.Event, max(micro(now), before), micro(now))
		}
		t.write(sqlMoveHook, take.To, string(take.Endpoint))
		return nil
	}})
	if err != nil {
		return fmt.Errorf("take up %d to %d for webhook %s: %w", take.From, take.To, take.Endpoint, err)
	}
	return nil
}

// LeaseHook implements hooks.Store.
func (db *DB) LeaseHook(ctx context.Context, id hooks.ID, now, until time.Time, n int) (leased []hooks.Delivery, err error) {
	err = db.writer.do(ctx, &op{run: func(t *tx) error {
		leased = nil
		return t.claim(collect(&leased, scanDelivery, sqlLeaseDeliveries, micro(until), micro(now), string(id), int64(n)))
	}})
	if err != nil {
		return nil, fmt.Errorf("lease for webhook %s: %w", id, err)
	}
	slices.SortFunc(leased, func(a, b hooks.Delivery) int { return cmp.Compare(a.Number, b.Number) })
	return leased, nil
}

// SettleHook implements hooks.Store.
func (db *DB) SettleHook(ctx context.Context, o hooks.Outcome, now time.Time) error {
	id, status, why := string(o.Endpoint), int64(o.Status), string(o.Trouble)
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		switch {
		case o.Untried:
			t.write(sqlUntriedDelivery, micro(o.Next), id, o.Number, o.Tries)
			return nil
		case o.State == hooks.Due:
			t.write(sqlLaterDelivery, micro(o.Next), status, why, id, o.Number, o.Tries)
		default:
			t.write(sqlEndDelivery, string(o.State), micro(now), status, why, id, o.Number, o.Tries)
			t.write(sqlNextDelivery, micro(now), id, string(o.Order))
		}
		if o.Trouble == "" {
			t.write(sqlHookWorks, id)
		} else {
			t.write(sqlHookFails, micro(now), status, why, o.Off, micro(o.OffIfBefore), id)
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("number %d of webhook %s: %w", o.Number, o.Endpoint, err)
	}
	return nil
}

// TidyHooks implements hooks.Store.
func (db *DB) TidyHooks(ctx context.Context, before time.Time, n int) error {
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		t.write(sqlForgetDeliveries, micro(before), int64(n))
		t.write(sqlForgetRemoved, int64(n))
		t.write(sqlForgetHooks)
		return nil
	}})
	if err != nil {
		return fmt.Errorf("forget old deliveries: %w", err)
	}
	return nil
}
