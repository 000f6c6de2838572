package store

import (
	"context"
	"fmt"

	"ferry/internal/feed"
	"ferry/internal/order"
)

var _ feed.Log = (*DB)(nil)

const (
	sqlFeedSince = `SELECT seq, order_id, version, name, from_state, to_state, at FROM order_events
WHERE seq > $1 ORDER BY seq LIMIT CAST($2 AS BIGINT)`
	sqlFeedHead = `SELECT COALESCE(MAX(seq), 0) FROM order_events`
)

// Since implements feed.Log.
func (db *DB) Since(ctx context.Context, seq int64, n int) ([]feed.Entry, error) {
	var entries []feed.Entry
	err := db.engine.read(ctx, ask(func(r row) error {
		var e feed.Entry
		var id, from, to string
		var at int64
		err := r.Scan(&e.Seq, &id, &e.Version, &e.Event, &from, &to, &at)
		e.Order, e.From, e.State, e.At = order.ID(id), order.State(from), order.State(to), unmicro(at)
		entries = append(entries, e)
		return err
	}, sqlFeedSince, seq, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("feed since %d: %w", seq, err)
	}
	return entries, nil
}

// Head implements feed.Log.
func (db *DB) Head(ctx context.Context) (seq int64, err error) {
	if err = db.engine.read(ctx, ask(func(r row) error { return r.Scan(&seq) }, sqlFeedHead)); err != nil {
		return 0, fmt.Errorf("feed head: %w", err)
	}
	return seq, nil
}

// Woken implements feed.Log.
func (db *DB) Woken() <-chan struct{} {
	db.wakeMu.Lock()
	defer db.wakeMu.Unlock()
	return db.wake
}

// fed wakes everybody who waits for the feed.
func (db *DB) fed() {
	db.wakeMu.Lock()
	defer db.wakeMu.Unlock()
	close(db.wake)
	db.wake = make(chan struct{})
}
