package store

import (
	"context"
	"fmt"

	"ferry/internal/feed"
	"ferry/internal/integrator"
	"ferry/internal/order"
)

// A moment is an event with the order as it left it: what it was made with is in the
// newest event before it that says so.
const (
	momentColumns = `SELECT e.seq, e.order_id, e.version, e.name, e.from_state, e.to_state, e.at, e.integrator, e.n, o.session,
  (SELECT made.terms FROM order_events made WHERE made.order_id = e.order_id AND made.terms IS NOT NULL AND made.version <= e.version
   ORDER BY made.version DESC LIMIT 1), e.after
FROM order_events e JOIN orders o ON o.id = e.order_id`
	sqlOrderLog       = momentColumns + ` WHERE e.order_id = $1 AND e.version > $2 ORDER BY e.version LIMIT CAST($3 AS BIGINT)`
	sqlIntegratorLog  = momentColumns + ` WHERE e.integrator = $1 AND e.integrator <> '' AND e.n > $2 ORDER BY e.n LIMIT CAST($3 AS BIGINT)`
	sqlIntegratorHead = `SELECT COALESCE(MAX(n), 0) FROM order_events WHERE integrator = $1 AND integrator <> ''`
	sqlSessionLog     = momentColumns + ` WHERE e.order_id IN (SELECT id FROM orders WHERE session = $1 ORDER BY created_at DESC, id DESC LIMIT CAST($2 AS BIGINT))
  AND CASE WHEN e.integrator = '' THEN e.version ELSE e.n END > $3 ORDER BY e.seq LIMIT CAST($4 AS BIGINT)`
	// What orders are now is what their newest events say. The newest events of a log are
	// those of the orders that changed last; so many are looked at that there are enough
	// orders among them for whoever wants to see some.
	sqlIntegratorNewest = momentColumns + ` WHERE e.integrator = $1 AND e.integrator <> '' AND o.seq = e.seq
  AND e.n > (SELECT COALESCE(MAX(n), 0) FROM order_events WHERE integrator = $1 AND integrator <> '') - CAST($2 AS BIGINT) ORDER BY e.n DESC LIMIT CAST($3 AS BIGINT)`
	sqlSessionNewest = momentColumns + ` WHERE e.seq IN (SELECT seq FROM orders WHERE session = $1 ORDER BY created_at DESC, id DESC LIMIT CAST($2 AS BIGINT))
ORDER BY o.created_at DESC, o.id DESC`
	sqlSessionWidth = `SELECT id FROM orders WHERE session = $1 LIMIT CAST($2 AS BIGINT)`
)

var momentsAmong = among(momentColumns + ` WHERE e.seq`)

var _ feed.History = (*DB)(nil)

func scanMoment(r row) (e feed.Entry, err error) {
	var id, from, to, whose, terms, after string
	var at int64
	if err = r.Scan(&e.Seq, &id, &e.Version, &e.Event, &from, &to, &at, &whose, &e.Number, &e.Session, &terms, &after); err != nil {
		return e, err
	}
	e.Order, e.From, e.State, e.At, e.Integrator = order.ID(id), order.State(from), order.State(to), unmicro(at), integrator.ID(whose)
	now, err := orderFromDocs(terms, after)
	e.Now = &now
	return e, err
}

func (db *DB) moments(ctx context.Context, ss ...stmt) (entries []feed.Entry, err error) {
	for i := range ss {
		ss[i].each = func(r row) error {
			e, err := scanMoment(r)
			entries = append(entries, e)
			return err
		}
	}
	return entries, db.engine.read(ctx, ss...)
}

// Moments implements feed.Log.
func (db *DB) Moments(ctx context.Context, seqs []int64) ([]feed.Entry, error) {
	args := make([]any, len(seqs))
	for i, seq := range seqs {
		args[i] = seq
	}
	var ss []stmt
	momentsAmong.each(args, func(sql string, args []any) { ss = append(ss, do(sql, args...)) })
	found, err := db.moments(ctx, ss...)
	if err == nil && len(found) != len(seqs) {
		err = fmt.Errorf("%d of them are not there", len(seqs)-len(found))
	}
	if err != nil {
		return nil, fmt.Errorf("orders at %d entries of the feed: %w", len(seqs), err)
	}
	return found, nil
}

// OrderLog implements feed.History.
func (db *DB) OrderLog(ctx context.Context, id order.ID, after int64, n int) ([]feed.Entry, error) {
	found, err := db.moments(ctx, do(sqlOrderLog, string(id), after, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("log of order %s after %d: %w", id, after, err)
	}
	return found, nil
}

// IntegratorLog implements feed.History.
func (db *DB) IntegratorLog(ctx context.Context, id integrator.ID, after int64, n int) ([]feed.Entry, error) {
	found, err := db.moments(ctx, do(sqlIntegratorLog, string(id), after, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("log of %s after %d: %w", id, after, err)
	}
	return found, nil
}

// IntegratorHead implements feed.History.
func (db *DB) IntegratorHead(ctx context.Context, id integrator.ID) (n int64, err error) {
	if err = db.engine.read(ctx, ask(func(r row) error { return r.Scan(&n) }, sqlIntegratorHead, string(id))); err != nil {
		return 0, fmt.Errorf("end of the log of %s: %w", id, err)
	}
	return n, nil
}

// newestAmong is how many events of a log are looked at for each order that is wanted.
const newestAmong = 10

// IntegratorNewest implements feed.History.
func (db *DB) IntegratorNewest(ctx context.Context, id integrator.ID, n int) ([]feed.Entry, error) {
	found, err := db.moments(ctx, do(sqlIntegratorNewest, string(id), int64(newestAmong*n), int64(n)))
	if err != nil {
		return nil, fmt.Errorf("newest orders of %s: %w", id, err)
	}
	return found, nil
}

// SessionNewest implements feed.History.
func (db *DB) SessionNewest(ctx context.Context, group string, n int) ([]feed.Entry, error) {
	found, err := db.moments(ctx, do(sqlSessionNewest, group, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("newest orders of a session: %w", err)
	}
	return found, nil
}

// SessionLog implements feed.History.
func (db *DB) SessionLog(ctx context.Context, group string, after int64, n int) ([]feed.Entry, error) {
	width := 0
	err := db.engine.read(ctx, ask(func(row) error { width++; return nil }, sqlSessionWidth, group, int64(feed.SessionWidth+1)))
	if err == nil && width > feed.SessionWidth {
		err = feed.ErrTooWide
	}
	var found []feed.Entry
	if err == nil {
		found, err = db.moments(ctx, do(sqlSessionLog, group, int64(feed.SessionWidth), after, int64(n)))
	}
	if err != nil {
		return nil, fmt.Errorf("log of a session after %d: %w", after, err)
	}
	return found, nil
}

// askLogs are the questions for the numbers at which the logs of integrators end that
// the changes of a round are added to, where they are not remembered.
func (t *tx) askLogs(round []*op) (ss []stmt) {
	for _, o := range round {
		whose := string(o.booking.change.Now.Integrator)
		if o.err != nil || o.booking.change.Event == nil || whose == "" {
			continue
		}
		if _, known := t.logs[whose]; known {
			continue
		}
		if n, kept := t.memo.logs[whose]; kept {
			t.logs[whose], t.memo.used = n, true
			continue
		}
		t.logs[whose] = 0
		ss = append(ss, ask(func(r row) error {
			var n int64
			err := r.Scan(&n)
			t.logs[whose] = n
			return err
		}, sqlIntegratorHead, whose))
	}
	return ss
}

// number is the next one in the log of an integrator; nobody's events have none.
func (t *tx) number(whose integrator.ID) int64 {
	if whose == "" {
		return 0
	}
	t.logs[string(whose)]++
	return t.logs[string(whose)]
}
