package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// How long PostgreSQL may keep us, and we it. A process that is stopped in the
// middle of a transaction loses it after pgIdle, before anybody who waits for the
// lock gives up after pgLock.
const (
	pgIdle      = 5 * time.Second
	pgLock      = 15 * time.Second
	pgStatement = 30 * time.Second
	pgConnect   = 10 * time.Second
	pgTimeout   = 40 * time.Second // of one round trip, for a network that went silent
)

// The writing transaction is serializable. The lock comes before the first question,
// so that what is read is read after whoever had the lock before has committed:
// writers of several processes do not fail each other. It is a courtesy: numbers of
// the feed are unique and each follows one that was committed, so the feed is in
// commit order and has no gap with or without it.
const (
	pgBegin = "BEGIN"
	pgLocks = "LOCK TABLE writers IN EXCLUSIVE MODE"
	pgWaits = "SELECT 1 FROM writers LIMIT 0 FOR SHARE" // until nobody has it
	pgRead  = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	pgNow   = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT"
)

// pgSettings are those of the writing session. Every statement is planned once, not
// for each batch: what there is to choose is an index. It may be planned while tables
// are still small, so reading a whole table is no plan for anything that has one. A
// plan without an index looks so dear then that it would be compiled, which costs
// more than it ever takes.
var pgSettings = []string{
	"SET default_transaction_isolation = 'serializable'",
	"SET plan_cache_mode = force_generic_plan",
	"SET enable_seqscan = off",
	"SET jit = off",
}

// pgEngine is PostgreSQL: any number of processes, one of which writes at a time.
type pgEngine struct {
	pool   *sql.DB
	config *pgx.ConnConfig // for connections beside the pool

	closed atomic.Bool

	mu   sync.Mutex // held by whoever has the session
	conn *sql.Conn  // the writing connection; nil until it is needed
}

func (e *pgEngine) session(ctx context.Context) (session, error) {
	e.mu.Lock()
	if e.conn == nil {
		conn, err := e.pool.Conn(ctx)
		if err != nil {
			e.mu.Unlock()
			return nil, fmt.Errorf("connect to the database: %w", err)
		}
		for _, set := range pgSettings {
			if _, err := conn.ExecContext(ctx, set); err != nil {
				e.mu.Unlock()
				return nil, errors.Join(err, conn.Close())
			}
		}
		e.conn = conn
	}
	return &pgSession{e: e}, nil
}

// pgSend runs statements in one round trip.
func pgSend(ctx context.Context, conn *sql.Conn, ss []stmt) error {
	ss = arrays(ss)
	return conn.Raw(func(dc any) error {
		c := dc.(*stdlib.Conn).Conn()
		b := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(ss))}
		for _, s := range ss {
			b.Queue(s.sql, s.args...)
		}
		results := c.SendBatch(ctx, b)
		for _, s := range ss {
			if err := pgNext(results, s); err != nil {
				return errors.Join(fmt.Errorf("%.40q: %w", s.sql, err), results.Close())
			}
		}
		return results.Close()
	})
}

func pgNext(results pgx.BatchResults, s stmt) error {
	if s.each == nil {
		tag, err := results.Exec()
		if err == nil && s.sql == sqlCommit && tag.String() != sqlCommit {
			return fmt.Errorf("commit was answered with %s", tag)
		}
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := s.each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (e *pgEngine) read(ctx context.Context, ss ...stmt) error {
	if e.closed.Load() {
		return ErrClosed
	}
	conn, err := e.pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close()
	if len(ss) > 1 {
		all := make([]stmt, 0, len(ss)+2)
		all = append(all, do(pgRead))
		all = append(all, ss...)
		ss = append(all, do(sqlCommit))
	}
	return pgSend(ctx, conn, ss)
}

func (e *pgEngine) patient() []stmt { return []stmt{do("SET LOCAL statement_timeout = 0")} }

func (e *pgEngine) now(ctx context.Context) (time.Time, error) {
	var us int64
	err := e.read(ctx, ask(func(r row) error { return r.Scan(&us) }, pgNow))
	return unmicro(us), err
}

func (e *pgEngine) close() error {
	e.closed.Store(true)
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.conn != nil {
		err = e.conn.Close()
		e.conn = nil
	}
	return errors.Join(err, e.pool.Close())
}

type pgSession struct{ e *pgEngine }

func (s *pgSession) begin() []stmt { return []stmt{do(pgBegin), do(pgLocks)} }

func (s *pgSession) guards() bool { return true }

// send is not for the caller's context: a batch holds what others wait for too, so
// only the time limit may end it. The limit is the connection's own, because pgx
// starts a goroutine to watch a context that can end.
func (s *pgSession) send(_ context.Context, ss []stmt) error {
	n := len(ss) - 1
	commits := ss[n].sql == sqlCommit
	if commits && ss[0].sql == pgBegin {
		// Nothing was asked. Statements that are sent together are one transaction
		// without saying so, and it needs no lock of its own: what it goes by is not
		// read but remembered, and that breaks a key where it is wrong. So whoever
		// reads and has the lock is first, and whoever remembers finds out.
		ss = append([]stmt{do(pgWaits)}, ss[len(s.begin()):n]...)
	}
	err := s.e.conn.Raw(func(dc any) error {
		wire := dc.(*stdlib.Conn).Conn().PgConn().Conn()
		if err := wire.SetDeadline(time.Now().Add(pgTimeout)); err != nil {
			return fmt.Errorf("%w: %w", driver.ErrBadConn, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = pgSend(context.Background(), s.e.conn, ss)
	if err == nil || !commits || answered(err) || unsent(err) {
		return err
	}
	return doubtful(err)
}

func (s *pgSession) release(committed bool) {
	defer s.e.mu.Unlock()
	if committed {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), pgIdle)
	defer cancel()
	// An error here means that the connection is no good; the server rolls back
	// what it held, and the next session takes a new one.
	err := s.e.conn.Raw(func(dc any) error {
		c := dc.(*stdlib.Conn).Conn()
		if c.IsClosed() {
			return driver.ErrBadConn
		}
		if c.PgConn().TxStatus() == 'I' {
			return nil
		}
		if _, err := c.Exec(ctx, "ROLLBACK"); err != nil {
			_ = c.Close(ctx)
			return driver.ErrBadConn
		}
		return nil
	})
	if err != nil {
		_ = s.e.conn.Close()
		s.e.conn = nil
	}
}
