package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"
)

// liteReaders is how many connections read a SQLite file beside the writer.
const liteReaders = 4

// lite is a connection with its prepared statements. Those without an answer are
// the driver's own: they are many and small, and database/sql takes about as long
// for one as the driver.
type lite struct {
	conn  *sql.Conn
	asks  map[string]*sql.Stmt
	execs map[string]driver.StmtExecContext
	args  []driver.NamedValue
}

// run runs statements one by one. A context that can end makes the driver start
// a goroutine for every statement, so the caller's is not passed on: no statement
// here waits for anything but the disk.
func (l *lite) run(ss []stmt) error {
	ss = spread(ss)
	for len(ss) > 0 {
		n := 0
		for n < len(ss) && ss[n].each == nil {
			n++
		}
		if n > 0 {
			if err := l.conn.Raw(func(dc any) error { return l.exec(dc.(driver.ConnPrepareContext), ss[:n]) }); err != nil {
				return err
			}
			ss = ss[n:]
			continue
		}
		if err := l.ask(ss[0]); err != nil {
			return fmt.Errorf("%.40q: %w", ss[0].sql, err)
		}
		ss = ss[1:]
	}
	return nil
}

func (l *lite) exec(dc driver.ConnPrepareContext, ss []stmt) error {
	ctx := context.Background()
	for _, s := range ss {
		p, ok := l.execs[s.sql]
		if !ok {
			made, err := dc.PrepareContext(ctx, s.sql)
			if err != nil {
				return fmt.Errorf("prepare %.40q: %w", s.sql, err)
			}
			p = made.(driver.StmtExecContext)
			l.execs[s.sql] = p
		}
		l.args = l.args[:0]
		for i, a := range s.args {
			v, err := driver.DefaultParameterConverter.ConvertValue(a)
			if err != nil {
				return fmt.Errorf("%.40q: argument %d: %w", s.sql, i+1, err)
			}
			l.args = append(l.args, driver.NamedValue{Ordinal: i + 1, Value: v})
		}
		if _, err := p.ExecContext(ctx, l.args); err != nil {
			return fmt.Errorf("%.40q: %w", s.sql, err)
		}
	}
	return nil
}

func (l *lite) ask(s stmt) error {
	ctx := context.Background()
	p, ok := l.asks[s.sql]
	if !ok {
		var err error
		if p, err = l.conn.PrepareContext(ctx, s.sql); err != nil {
			return err
		}
		l.asks[s.sql] = p
	}
	rows, err := p.QueryContext(ctx, s.args...)
	if err != nil {
		return err
	}
	return drain(rows, s.each)
}

func drain(rows *sql.Rows, each func(row) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (l *lite) close() error {
	var errs []error
	for _, p := range l.asks {
		errs = append(errs, p.Close())
	}
	for _, p := range l.execs {
		errs = append(errs, p.(driver.Stmt).Close())
	}
	return errors.Join(append(errs, l.conn.Close())...)
}

// liteEngine is SQLite: one process, one writing connection, some readers. A
// database in memory is one connection that writer and readers take in turn.
type liteEngine struct {
	pool    *sql.DB
	lock    *os.File // held while the database is open; nil in memory
	writer  chan *lite
	readers chan *lite // the same channel as writer in memory
}

func (e *liteEngine) connect(ctx context.Context) (*lite, error) {
	conn, err := e.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &lite{conn: conn, asks: map[string]*sql.Stmt{}, execs: map[string]driver.StmtExecContext{}}, nil
}

func (e *liteEngine) session(context.Context) (session, error) {
	l, ok := <-e.writer
	if !ok {
		return nil, ErrClosed
	}
	return &liteSession{e: e, l: l}, nil
}

func (e *liteEngine) read(ctx context.Context, ss ...stmt) error {
	var l *lite
	select {
	case <-ctx.Done():
		return ctx.Err()
	case free, ok := <-e.readers:
		if !ok {
			return ErrClosed
		}
		l = free
	}
	defer func() { e.readers <- l }()
	if len(ss) == 1 {
		return l.run(ss)
	}
	if err := l.run([]stmt{do("BEGIN")}); err != nil {
		return err
	}
	err := l.run(ss)
	return errors.Join(err, l.run([]stmt{do("ROLLBACK")}))
}

func (e *liteEngine) patient() []stmt { return nil }

func (e *liteEngine) now(context.Context) (time.Time, error) { return time.Now().UTC(), nil }

// close takes every connection in, so that it waits for whoever is still at work.
func (e *liteEngine) close() error {
	var errs []error
	shut := func(c chan *lite) {
		for range cap(c) {
			errs = append(errs, (<-c).close())
		}
		close(c)
	}
	if cap(e.writer) > 0 { // one that only reads has none
		shut(e.writer)
	}
	if e.readers != e.writer {
		shut(e.readers)
	}
	errs = append(errs, e.pool.Close())
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	return errors.Join(errs...)
}

type liteSession struct {
	e *liteEngine
	l *lite
}

func (s *liteSession) begin() []stmt { return []stmt{do("BEGIN IMMEDIATE")} }

func (s *liteSession) guards() bool { return false } // asking costs nothing here

func (s *liteSession) send(_ context.Context, ss []stmt) error {
	n := len(ss) - 1
	if n < 0 || ss[n].sql != sqlCommit {
		return s.l.run(ss)
	}
	if err := s.l.run(ss[:n]); err != nil {
		return err
	}
	if err := s.l.run(ss[n:]); err != nil {
		if busy(err) {
			return err
		}
		return doubtful(err)
	}
	return nil
}

func (s *liteSession) release(committed bool) {
	defer func() { s.e.writer <- s.l }()
	if committed {
		return
	}
	// SQLite may have rolled back by itself, on a full disk for example; then
	// this one has nothing to do and says so.
	_, _ = s.l.conn.ExecContext(context.Background(), "ROLLBACK")
}

// follow implements engine. There is one process.
func (e *liteEngine) follow(ctx context.Context, _ follower) error {
	<-ctx.Done()
	return nil
}
