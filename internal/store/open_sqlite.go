package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// openSQLite opens PATH or :memory:, with an optional ?synchronous=full|extra.
func openSQLite(ctx context.Context, where string) (_ engine, err error) {
	path, query, _ := strings.Cut(where, "?")
	options, err := url.ParseQuery(query)
	if err != nil || path == "" {
		return nil, fmt.Errorf("%w: want sqlite:PATH, or sqlite::memory: for one that is not kept", ErrBadURL)
	}
	sync := "full"
	for name, values := range options {
		if name != "synchronous" || len(values) != 1 {
			return nil, fmt.Errorf("%w: sqlite has no option %q; remove it", ErrBadURL, name)
		}
		if sync = values[0]; !slices.Contains([]string{"off", "normal", "full", "extra"}, sync) {
			return nil, fmt.Errorf("%w: synchronous is full or extra", ErrBadURL)
		}
	}
	e := &liteEngine{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.abandon())
		}
	}()
	memory := path == ":memory:"
	if !memory {
		if e.lock, err = lockFile(path); err != nil {
			return nil, err
		}
	}
	if e.pool, err = sql.Open("sqlite", liteDSN(path, memory, sync)); err != nil {
		return nil, err
	}
	w, err := e.connect(ctx)
	if err != nil {
		return nil, liteRefusal(path, err)
	}
	if err := liteReady(ctx, w, path); err != nil {
		return nil, errors.Join(liteRefusal(path, err), w.close())
	}
	return e, e.fill(ctx, w, memory)
}

// liteDSN names the file so that nothing in its name is taken for an option.
func liteDSN(path string, memory bool, sync string) string {
	v := url.Values{}
	for _, p := range []string{"busy_timeout(5000)", "foreign_keys(1)", "synchronous(" + sync + ")", "temp_store(memory)", "cache_size(-65536)", "wal_autocheckpoint(8000)"} {
		v.Add("_pragma", p)
	}
	if memory {
		return "file::memory:?" + v.Encode()
	}
	v.Add("_pragma", "journal_mode(wal)")
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + v.Encode()
}

// lockFile keeps every other process away from a database for as long as this one
// has it. The lock goes with the process, however it dies.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; make its folder readable and writable for this user", ErrFile, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s; stop the other ferry, or use PostgreSQL for more than one process", ErrLocked, path), f.Close())
	}
	db, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w; make it readable and writable for this user", ErrFile, err), f.Close())
	}
	if err := db.Close(); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrFile, err), f.Close())
	}
	return f, nil
}

// liteReady checks that what is written stays written, and migrates.
func liteReady(ctx context.Context, w *lite, path string) error {
	var level int
	if err := w.conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level); err != nil {
		return err
	}
	if level < 2 {
		return fmt.Errorf("%w: synchronous is %d on %s; remove the option, or set it to full or extra", ErrUnsafe, level, path)
	}
	return migrate(ctx, w.conn, dialect{begin: "BEGIN IMMEDIATE", number: "INTEGER", only: "--sqlite "}, migrationFiles)
}

// liteRefusal says what to do about what SQLite says of a file.
func liteRefusal(path string, err error) error {
	lite, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch lite.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %s: %w; give another path, or restore the last backup", ErrNotADatabase, path, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: %s: %w; close the program that has it open", ErrLocked, path, err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM, sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %s: %w; look at the disk and at who may write there", ErrFile, path, err)
	}
	return err
}

// fill hands out the connections: the writer's, and the readers' beside it.
func (e *liteEngine) fill(ctx context.Context, w *lite, memory bool) error {
	e.writer = make(chan *lite, 1)
	e.writer <- w
	if memory {
		e.readers = e.writer
		return nil
	}
	return e.fillReaders(ctx)
}

func (e *liteEngine) fillReaders(ctx context.Context) error {
	e.readers = make(chan *lite, liteReaders)
	for range liteReaders {
		r, err := e.connect(ctx)
		if err != nil {
			return err
		}
		if _, err := r.conn.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
			return errors.Join(err, r.close())
		}
		e.readers <- r
	}
	return nil
}

// abandon closes what an Open that failed had opened.
func (e *liteEngine) abandon() error {
	var errs []error
	if e.pool != nil {
		errs = append(errs, e.pool.Close())
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	return errors.Join(errs...)
}
