package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Config says where the database is.
type Config struct {
	// URL is sqlite:PATH, sqlite::memory: or postgres://…
	URL string
}

// DB is an open database. It serves watch.Store, send.Store, settle.Store,
// feed.Log and office.Store, and is safe for use by any number of goroutines.
type DB struct {
	engine engine
	writer writer

	fresh fresh

	wakeMu sync.Mutex
	wake   chan struct{}
}

// Open opens a database and brings its schema up to date. It refuses one that
// could lose what was written, and says what to do about it.
func Open(ctx context.Context, c Config) (*DB, error) {
	var e engine
	var err error
	switch {
	case strings.HasPrefix(c.URL, "sqlite:"):
		e, err = openSQLite(ctx, strings.TrimPrefix(c.URL, "sqlite:"))
	case strings.HasPrefix(c.URL, "postgres://") || strings.HasPrefix(c.URL, "postgresql://"):
		e, err = openPostgres(ctx, c.URL)
	default:
		scheme, _, _ := strings.Cut(c.URL, ":")
		err = fmt.Errorf("%w: %q is neither sqlite:PATH nor postgres://…; set one of them", ErrBadURL, scheme)
	}
	if err != nil {
		return nil, err
	}
	db := &DB{engine: e, wake: make(chan struct{})}
	db.writer.engine, db.writer.fed = e, db.fed
	return db, nil
}

// Close waits for the batch under way and closes the database.
func (db *DB) Close() error {
	if !db.writer.shut() {
		return nil
	}
	return db.engine.close()
}

// Time is the database's clock: the one that all processes on it share.
func (db *DB) Time(ctx context.Context) (time.Time, error) { return db.engine.now(ctx) }

// micro and unmicro carry time in and out of the database. The zero time is a
// number like any other, so nothing needs to be told apart.
func micro(t time.Time) int64    { return t.UnixMicro() }
func unmicro(us int64) time.Time { return time.UnixMicro(us).UTC() }
