package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	_ "modernc.org/sqlite"             // the driver sqlite

	"ferry/internal/store/pgtest"
)

// The engines.
const (
	sqliteName   = "SQLite"
	postgresName = "PostgreSQL"
)

// place is where databases of one engine are made. Both engines keep their files
// in the same file system.
type place struct {
	name   string
	dir    string         // of SQLite
	server *pgtest.Server // of PostgreSQL
	count  int
}

// places runs f on each engine, with a fresh place that is cleared away after.
func places(ctx context.Context, o options, f func(*place) error) error {
	for _, e := range []struct {
		name string
		make func() (*place, error)
	}{{sqliteName, sqlitePlace}, {postgresName, postgresPlace}} {
		if o.engine != "" && o.engine != e.name {
			continue
		}
		p, err := e.make()
		if err != nil {
			return err
		}
		err = p.note(ctx, o.report)
		if err == nil {
			err = f(p)
		}
		if err := errors.Join(err, p.clear()); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func sqlitePlace() (*place, error) {
	dir, err := os.MkdirTemp("", "ferry-bench-")
	return &place{name: sqliteName, dir: dir}, err
}

func postgresPlace() (*place, error) {
	// As much write-ahead log as a server of this kind would be given: the large
	// table is filled without a checkpoint in every other round after.
	s, err := pgtest.Start("max_wal_size=4GB")
	return &place{name: postgresName, server: s}, err
}

func (p *place) clear() error {
	if p.server != nil {
		return p.server.Stop()
	}
	return os.RemoveAll(p.dir)
}

// note asks the engine for its version.
func (p *place) note(ctx context.Context, r *report) error {
	address, err := p.fresh(ctx)
	if err != nil {
		return err
	}
	db, err := raw(address, 1, "full")
	if err != nil {
		return err
	}
	question := "SELECT sqlite_version()"
	if p.server != nil {
		question = "SHOW server_version"
	}
	var v string
	err = db.QueryRowContext(ctx, question).Scan(&v)
	r.version(p.name, v)
	return errors.Join(err, db.Close())
}

// fresh is the address of an empty database.
func (p *place) fresh(ctx context.Context) (string, error) {
	if p.server != nil {
		address, _, err := p.server.Database(ctx) // it goes with the server
		return address, err
	}
	p.count++
	return "sqlite:" + filepath.Join(p.dir, fmt.Sprintf("%d.db", p.count)), nil
}

// raw opens a database without the store: with the store's own settings, but for
// how carefully SQLite writes.
func raw(address string, connections int, synchronous string) (*sql.DB, error) {
	driver, source := "pgx", address
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		v := url.Values{}
		for _, pragma := range []string{"busy_timeout(5000)", "foreign_keys(1)", "synchronous(" + synchronous + ")", "temp_store(memory)", "cache_size(-65536)", "journal_mode(wal)"} {
			v.Add("_pragma", pragma)
		}
		driver, source, connections = "sqlite", "file:"+path+"?"+v.Encode(), 1
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}
