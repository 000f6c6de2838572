package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// pgConnections is how many connections one process keeps: the writer and readers.
const pgConnections = 12

// pgMigrationKey names the advisory lock under which one process migrates.
const pgMigrationKey = 7310579

func openPostgres(ctx context.Context, address string) (_ engine, err error) {
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadURL, err)
	}
	limit := func(name string, d time.Duration) {
		c.RuntimeParams[name] = strconv.FormatInt(d.Milliseconds(), 10)
	}
	limit("idle_in_transaction_session_timeout", pgIdle)
	limit("lock_timeout", pgLock)
	limit("statement_timeout", pgStatement)
	if c.ConnectTimeout == 0 { // the writer must not wait for ever for a host that is gone
		c.ConnectTimeout = pgConnect
	}
	// Plans are made once and kept, mostly while the tables are empty, where reading
	// all of a table looks cheapest; when they have grown that would be ruin.
	c.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	c.RuntimeParams["enable_seqscan"], c.RuntimeParams["jit"] = "off", "off"
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "ferry"
	}
	pool := stdlib.OpenDB(*c)
	pool.SetMaxOpenConns(pgConnections)
	pool.SetMaxIdleConns(pgConnections)
	defer func() {
		if err != nil {
			err = errors.Join(err, pool.Close())
		}
	}()
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w; check the URL and that the server runs", err)
	}
	if err := pgReady(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &pgEngine{pool: pool, config: c}, conn.Close()
}

// pgReady checks that what is written stays written, and migrates.
func pgReady(ctx context.Context, conn *sql.Conn) (err error) {
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		var value string
		if err := conn.QueryRowContext(ctx, "SELECT current_setting($1)", setting).Scan(&value); err != nil {
			return fmt.Errorf("ask PostgreSQL for %s: %w", setting, err)
		}
		if value == "off" {
			return fmt.Errorf("%w: PostgreSQL has %s=off; set it to on in postgresql.conf, for the role and the database, and reload", ErrUnsafe, setting)
		}
	}
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", pgMigrationKey); err != nil {
		return fmt.Errorf("%w: another process is migrating (%w); wait for it and start again", ErrLocked, err)
	}
	defer func() {
		_, free := conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", pgMigrationKey)
		err = errors.Join(err, free)
	}()
	// A migration may take as long as it needs; a statement of the service may not.
	return migrate(ctx, conn, dialect{begin: "BEGIN; SET LOCAL statement_timeout = 0", number: "BIGINT", only: "--postgres "}, migrationFiles)
}
