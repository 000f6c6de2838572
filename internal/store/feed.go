package store

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"ferry/internal/feed"
	"ferry/internal/integrator"
	"ferry/internal/order"
)

var _ feed.Log = (*DB)(nil)

const (
	sqlFeedSince = `SELECT e.seq, e.order_id, e.version, e.name, e.from_state, e.to_state, e.at, e.integrator, e.n, o.session
FROM order_events e JOIN orders o ON o.id = e.order_id WHERE e.seq > $1 ORDER BY e.seq LIMIT CAST($2 AS BIGINT)`
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
		var id, from, to, whose string
		var at int64
		err := r.Scan(&e.Seq, &id, &e.Version, &e.Event, &from, &to, &at, &whose, &e.Number, &e.Session)
		e.Order, e.From, e.State, e.At, e.Integrator = order.ID(id), order.State(from), order.State(to), unmicro(at), integrator.ID(whose)
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

// Follow keeps this process and the others on the same database told of each other's
// entries, until the context ends. Without it they are found when somebody looks.
func (db *DB) Follow(ctx context.Context, trouble func(error)) error {
	return db.engine.follow(ctx, follower{
		written: db.fresh.newest, woken: db.Woken, trouble: trouble,
		heard: func(seq int64) {
			if seq > db.fresh.newest() {
				db.nudge()
			}
		},
	})
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
	db.nudge()
}

func (db *DB) nudge() {
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

// newest is the number of the newest entry that this process wrote.
func (f *fresh) newest() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.entries) == 0 {
		return 0
	}
	return f.entries[len(f.entries)-1].Seq
}
