package store

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Refusals of Open. Each text says what to do next.
var (
	// ErrBadURL: the address of the database can not be understood.
	ErrBadURL = errors.New("store: bad database URL")
	// ErrUnsafe: the database is set up so that it may lose what it has acknowledged.
	ErrUnsafe = errors.New("store: the database may lose what it has written")
	// ErrNewerSchema: a newer ferry has migrated this database.
	ErrNewerSchema = errors.New("store: the database is newer than this program")
	// ErrHalfMigrated: a migration was begun and not finished, or undone by hand.
	ErrHalfMigrated = errors.New("store: the database is half migrated")
	// ErrLocked: another process has the database.
	ErrLocked = errors.New("store: the database is in use by another process")
	// ErrNotADatabase: the file holds something else.
	ErrNotADatabase = errors.New("store: the file is not a database")
	// ErrFile: the file or its folder can not be read and written.
	ErrFile = errors.New("store: the database file can not be used")
)

// Errors of a DB at work.
var (
	// ErrClosed: the DB was closed.
	ErrClosed = errors.New("store: closed")
	// ErrUnknown: the connection broke while the database was committing. What was
	// asked may have happened; telling it again is safe, because every fact has a key.
	ErrUnknown = errors.New("store: it is not known whether the write happened")
)

// taken reports whether a statement broke a primary key or a unique index, or moved
// an order from a version it does not have, which makes a NULL where none may be.
func taken(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "23505" || pg.Code == "23502"
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		switch lite.Code() {
		case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID, sqlite3.SQLITE_CONSTRAINT_NOTNULL:
			return true
		}
	}
	return false
}

// numbers are the keys that another process can take while this one is at work,
// without the two having anything to do with each other.
var numbers = map[string]bool{"order_events_pkey": true, "postings_pkey": true, "addresses_seq": true}

// again reports whether the database itself asks for the transaction to be run
// once more: it was rolled back because of others, not because of what it did.
func again(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "40001" || pg.Code == "40P01" || (pg.Code == "23505" && numbers[pg.ConstraintName])
	}
	return busy(err)
}

// busy reports whether somebody else holds the SQLite file.
func busy(err error) bool {
	lite, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	code := lite.Code() & 0xff
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// answered reports whether the error is the database's own answer: the statement
// was refused and its transaction is over. A server that ends the session answers
// too, but what became of a commit that was under way is then not known.
func answered(err error) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Severity == "ERROR" || pg.SeverityUnlocalized == "ERROR"
	}
	_, ok := errors.AsType[*sqlite.Error](err)
	return ok
}

// broken reports whether the connection is gone, so that another may do better.
func broken(err error) bool {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err) {
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return !answered(err) || pg.Code == "25P03" // idle in transaction for too long
	}
	var network net.Error
	return errors.As(err, &network)
}

// Down reports whether the error is that the database does not answer, or can not
// write, so that the same may go well later.
func Down(err error) bool {
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrUnknown) || broken(err) || again(err) {
		return true
	}
	if lite, ok := errors.AsType[*sqlite.Error](err); ok {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
			return true
		}
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch pg.Code {
	case "25006", "55P03", "57014": // it only reads; a lock or a statement took too long
		return true
	}
	return strings.HasPrefix(pg.Code, "53") // it is out of something
}

// doubtful wraps an error after which the outcome of a commit is open.
func doubtful(err error) error { return fmt.Errorf("%w: %w", ErrUnknown, err) }

// unsent reports whether the error came before any statement was sent.
func unsent(err error) bool {
	_, early := errors.AsType[pgx.ErrPreprocessingBatch](err)
	return early || pgconn.SafeToRetry(err)
}
