package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// bare is the floor of every durable write: one row in a transaction of its own.
type bare struct {
	db     *sql.DB
	insert *sql.Stmt
	body   string
	made   int
}

// bareBytes is how long the text of a row is, about as long as an order.
const bareBytes = 1024

func openBare(ctx context.Context, p *place, connections int) (*bare, error) {
	address, err := p.fresh(ctx)
	if err != nil {
		return nil, err
	}
	db, err := raw(address, connections, "full")
	if err != nil {
		return nil, err
	}
	b := &bare{db: db, body: strings.Repeat("x", bareBytes)}
	if _, err := db.ExecContext(ctx, "CREATE TABLE bare (id TEXT PRIMARY KEY, body TEXT NOT NULL)"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	b.insert, err = db.PrepareContext(ctx, "INSERT INTO bare (id, body) VALUES ($1, $2)")
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return b, nil
}

// add inserts the row of a number. It takes no context that could end: the driver
// of SQLite would start a goroutine for each, which a floor does not pay.
func (b *bare) add(n int) error {
	_, err := b.insert.ExecContext(context.Background(), fmt.Sprintf("row_%012d", n), b.body)
	return err
}

// slice inserts rows for a while.
func (b *bare) slice(callers int, length time.Duration) (int, time.Duration, error) {
	from := b.made
	done, took, err := together(callers, math.MaxInt, length, func(i int) error { return b.add(from + i) })
	b.made += done
	return done, took, err
}

// check makes sure that every row is there.
func (b *bare) check(ctx context.Context) error {
	var n int
	if err := b.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM bare").Scan(&n); err != nil {
		return err
	}
	if n != b.made {
		return fmt.Errorf("the floor has %d rows of %d", n, b.made)
	}
	return nil
}

func (b *bare) close() error { return errors.Join(b.insert.Close(), b.db.Close()) }
