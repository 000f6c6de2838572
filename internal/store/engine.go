package store

import (
	"context"
	"time"
)

// row is a row of a result.
type row interface{ Scan(dest ...any) error }

// stmt is a statement on its way to the database. each gets every row of its
// answer; it is nil where no answer is wanted. With many it is over as many rows as
// args has, and sql is empty.
type stmt struct {
	sql  string
	many *many
	args []any
	each func(row) error
	// columns are the arrays of a statement over many rows, where they are not rows.
	columns []any
}

func do(sql string, args ...any) stmt { return stmt{sql: sql, args: args} }

func ask(each func(row) error, sql string, args ...any) stmt {
	return stmt{sql: sql, args: args, each: each}
}

// engine is what differs between SQLite and PostgreSQL.
type engine interface {
	// session is the writing session, for one transaction at a time.
	session(ctx context.Context) (session, error)
	// read runs questions outside the writer; all of them see the same moment.
	read(ctx context.Context, ss ...stmt) error
	// patient are the statements that let those behind them in a transaction take as
	// long as they need.
	patient() []stmt
	// follow tells other processes on the database what this one wrote and hears of
	// what they wrote, until the context ends. Where there are no others it only waits.
	follow(ctx context.Context, f follower) error
	// now is the database's clock.
	now(ctx context.Context) (time.Time, error)
	close() error
}

// follower is what an engine follows the feed with.
type follower struct {
	written func() int64           // the newest number that this process wrote
	woken   func() <-chan struct{} // closed when it writes another
	heard   func(seq int64)        // another process wrote
	trouble func(error)            // and it goes on
}

// session is a connection with a transaction on it.
type session interface {
	// begin are the statements that open a writing transaction.
	begin() []stmt
	// send runs statements in order, in one round trip where the engine can.
	// It stops at the first that fails.
	send(ctx context.Context, ss []stmt) error
	// guards reports whether a statement can refuse what was not asked but guessed,
	// so that asking, which is a round trip, can be left out.
	guards() bool
	// release gives the session back. If the transaction was not committed it is
	// rolled back, and a connection that can not even do that is thrown away.
	release(committed bool)
}

// sqlCommit ends every transaction; engines look for it to know what is at stake.
const sqlCommit = "COMMIT"
