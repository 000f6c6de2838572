package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
	"ferry/internal/settle"
)

const (
	sqlTakeWork = `UPDATE work SET leased_until = $1, tries = tries + 1
WHERE id IN (SELECT id FROM work WHERE due_at <= $2 AND leased_until <= $2 ORDER BY due_at, id LIMIT CAST($3 AS BIGINT))
RETURNING id, order_id, kind, due_at, tries, doc`
	sqlDoneWork  = `DELETE FROM work WHERE id = $1`
	sqlLaterWork = `UPDATE work SET due_at = $1, leased_until = 0, why = $2 WHERE id = $3`
	sqlDueOrders = `UPDATE orders SET due_at = CASE WHEN alarm_at <= $2 THEN CAST($1 AS BIGINT) ELSE alarm_at END
WHERE id IN (SELECT id FROM orders WHERE due_at <= $2 ORDER BY due_at, id LIMIT CAST($3 AS BIGINT))
RETURNING id, CASE WHEN alarm_at <= $2 THEN 1 ELSE 0 END`
	sqlSynced = `SELECT synced_at FROM tracks WHERE chain = $1`
)

// TakeWork implements settle.Store.
func (db *DB) TakeWork(ctx context.Context, now time.Time, lease time.Duration, n int) ([]settle.Work, error) {
	type due struct {
		work settle.Work
		at   int64
	}
	var taken []due
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		taken = nil
		return t.claim(ask(func(r row) error {
			var d due
			var kind, doc string
			if err := r.Scan(&d.work.ID, (*string)(&d.work.Order), &kind, &d.at, &d.work.Tries, &doc); err != nil {
				return err
			}
			d.work.Tries-- // it counts the times before this one
			w, err := workFromRow(d.work, kind, doc)
			d.work = w
			taken = append(taken, d)
			return err
		}, sqlTakeWork, micro(now.Add(lease)), micro(now), int64(n)))
	}})
	if err != nil {
		return nil, fmt.Errorf("take work: %w", err)
	}
	slices.SortFunc(taken, func(a, b due) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.work.ID, b.work.ID)) })
	work := make([]settle.Work, len(taken))
	for i, d := range taken {
		work[i] = d.work
	}
	return work, nil
}

// DoneWork implements settle.Store.
func (db *DB) DoneWork(ctx context.Context, id string) error {
	return db.write(ctx, "done with work "+id, do(sqlDoneWork, id))
}

// LaterWork implements settle.Store.
func (db *DB) LaterWork(ctx context.Context, id string, at time.Time, why string) error {
	return db.write(ctx, "put off work "+id, do(sqlLaterWork, micro(at), plain(why), id))
}

// maxWhy bounds a reason, which may come from anywhere.
const maxWhy = 1000

// plain makes a text that both engines take: PostgreSQL refuses what is not UTF-8
// and the zero byte, and a reason must never be why something is not written.
func plain(why string) string {
	if len(why) > maxWhy {
		why = why[:maxWhy]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(why, "?"), "\x00", "?")
}

// write is an operation of one statement that asks nothing.
func (db *DB) write(ctx context.Context, what string, s stmt) error {
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		t.write(s.sql, s.args...)
		return nil
	}})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// DueOrders implements settle.Store. Orders whose time has moved on since it was
// set are put off on the way.
func (db *DB) DueOrders(ctx context.Context, now time.Time, lease time.Duration, n int) ([]order.ID, error) {
	var ids []order.ID
	for looked := n; looked == n && len(ids) == 0; {
		err := db.writer.do(ctx, &op{run: func(t *tx) error {
			ids, looked = nil, 0
			return t.claim(ask(func(r row) error {
				var id string
				var due int
				err := r.Scan(&id, &due)
				looked++
				if due == 1 {
					ids = append(ids, order.ID(id))
				}
				return err
			}, sqlDueOrders, micro(now.Add(lease)), micro(now), int64(n)))
		}})
		if err != nil {
			return nil, fmt.Errorf("due orders: %w", err)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Synced implements settle.Store; it is the zero time for a chain that was never
// followed to its tip.
func (db *DB) Synced(ctx context.Context, id chain.ID) (at time.Time, err error) {
	err = db.engine.read(ctx, ask(func(r row) error {
		var us int64
		err := r.Scan(&us)
		at = unmicro(us)
		return err
	}, sqlSynced, string(id)))
	if err != nil {
		return time.Time{}, fmt.Errorf("chain %s: %w", id, err)
	}
	return at, nil
}
