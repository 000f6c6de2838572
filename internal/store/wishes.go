package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/send"
)

// Wishes reads what a signer in a process of its own must know, beside the service that
// has the database. It never writes.
type Wishes struct{ db *DB }

// OpenWishes opens the database of a service for reading: PostgreSQL as every process
// does, and a file of SQLite without taking it from the service, which must have made it.
func OpenWishes(ctx context.Context, c Config) (*Wishes, error) {
	where, lite := strings.CutPrefix(c.URL, "sqlite:")
	if !lite {
		db, err := Open(ctx, c)
		if err != nil {
			return nil, err
		}
		return &Wishes{db: db}, nil
	}
	path, _, _ := strings.Cut(where, "?")
	if path == ":memory:" || path == "" {
		return nil, fmt.Errorf("%w: a database in memory cannot be read by another process", ErrBadURL)
	}
	e, err := openSQLiteReading(ctx, path)
	if err != nil {
		return nil, err
	}
	db := &DB{engine: e, wake: make(chan struct{})}
	db.writer.engine, db.writer.fed = e, db.fed
	return &Wishes{db: db}, nil
}

// openSQLiteReading has readers only: whoever would write finds the database closed.
// The file must be there; the lock on it stays with the service.
func openSQLiteReading(ctx context.Context, path string) (_ engine, err error) {
	e := &liteEngine{writer: make(chan *lite)}
	close(e.writer)
	defer func() {
		if err != nil {
			err = errors.Join(liteRefusal(path, err), e.abandon())
		}
	}()
	if e.pool, err = sql.Open("sqlite", liteDSN(path, false, "full")+"&mode=rw"); err != nil {
		return nil, err
	}
	return e, e.fillReaders(ctx)
}

// Transfer is one transfer with its attempts, open or closed, as of one moment.
func (w *Wishes) Transfer(ctx context.Context, id send.ID) (send.Record, error) {
	return w.db.Transfer(ctx, id)
}

// Halted says why a chain is stopped; empty if it is not.
func (w *Wishes) Halted(ctx context.Context, id chain.ID) (string, error) {
	return w.db.Halted(ctx, id)
}

// Close closes the database.
func (w *Wishes) Close() error { return w.db.Close() }
