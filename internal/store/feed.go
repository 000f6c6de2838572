package store

import (
	"context"
	"fmt"
	"slices"
	"sync"

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
	if entries := db.fresh.since(seq, n); len(entries) > 0 {
		return entries, nil
	}
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
func (db *DB) fed(entries []feed.Entry) {
	db.fresh.add(entries)
	db.wakeMu.Lock()
	defer db.wakeMu.Unlock()
	close(db.wake)
	db.wake = make(chan struct{})
}

// freshEntries is how many of the newest entries are kept at least.
const freshEntries = 1024

// fresh are the newest entries of the feed that this process wrote, without a gap.
// They are committed and never change, so whoever follows the feed need not read
// them again.
type fresh struct {
	mu      sync.Mutex
	entries []feed.Entry
}

// add keeps what a transaction wrote; after a gap, which another process filled, it
// begins anew.
func (f *fresh) add(entries []feed.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.entries); n > 0 && f.entries[n-1].Seq+1 != entries[0].Seq {
		f.entries = nil
	}
	if n := len(f.entries); n >= 2*freshEntries {
		f.entries = append(make([]feed.Entry, 0, 3*freshEntries), f.entries[n-freshEntries:]...)
	}
	f.entries = append(f.entries, entries...)
}

// since are at most n entries after a number, or none if they are not kept.
func (f *fresh) since(seq int64, n int) []feed.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.entries) == 0 || f.entries[0].Seq > seq+1 || f.entries[len(f.entries)-1].Seq <= seq {
		return nil
	}
	rest := f.entries[seq+1-f.entries[0].Seq:]
	return slices.Clone(rest[:min(n, len(rest))])
}
