package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one numbered step forward.
type migration struct {
	version int64
	name    string
	text    string
}

func (m migration) sum() string {
	h := sha256.Sum256([]byte(m.text))
	return hex.EncodeToString(h[:])
}

// Migrations are run by forty lines of our own rather than by goose: goose has no
// mark for a migration that died half way, does not refuse a database that is
// newer than the program, and tells the two engines apart by dialect where one
// text serves both.
//
// Data definition is transactional on both engines, so a crash leaves either the
// old schema or the new one, and starting again goes on from there. The mark is
// for what is not ours: a statement run by hand or a restored part.
const (
	sqlMigrationsTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version BIGINT PRIMARY KEY, name TEXT NOT NULL, sum TEXT NOT NULL, finished BOOLEAN NOT NULL)`
	sqlMigrations      = `SELECT version, name, sum, finished FROM schema_migrations ORDER BY version`
	sqlMigrationBegun  = `INSERT INTO schema_migrations (version, name, sum, finished) VALUES ($1, $2, $3, FALSE)`
	sqlMigrationEnded  = `UPDATE schema_migrations SET finished = TRUE WHERE version = $1`
	sqlTablePresentFmt = `SELECT 1 FROM %s LIMIT 0`
)

var createTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)

// dialect is what the engines do not agree about in a migration.
type dialect struct {
	begin  string // opens its transaction
	number string // the type of a key that is one large number
	only   string // begins lines that are for this engine alone
}

func (d dialect) of(text string) string {
	return strings.NewReplacer("BIGINT PRIMARY KEY", d.number+" PRIMARY KEY", d.only, "").Replace(text)
}

// migrate brings the schema up to what this program knows. The caller holds the
// engine's migration lock on conn.
func migrate(ctx context.Context, conn *sql.Conn, d dialect, files fs.FS) error {
	known, err := migrations(files)
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, sqlMigrationsTable); err != nil {
		return fmt.Errorf("make the table of migrations: %w", err)
	}
	done, err := migrated(ctx, conn, known)
	if err != nil {
		return err
	}
	for _, m := range known[:done] {
		if err := present(ctx, conn, m); err != nil {
			return err
		}
	}
	for _, m := range known[done:] {
		if err := forward(ctx, conn, d, m); err != nil {
			return fmt.Errorf("migration %04d %s: %w", m.version, m.name, err)
		}
	}
	return nil
}

// migrations reads the numbered files; numbers start at 1 and have no gap.
func migrations(files fs.FS) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var ms []migration
	for i, path := range names {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		number, name, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(path, "migrations/"), ".sql"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(i+1) {
			return nil, fmt.Errorf("migration %s: want number %04d", path, i+1)
		}
		ms = append(ms, migration{version: version, name: name, text: string(text)})
	}
	return ms, nil
}

// migrated is how many of the known migrations the database has, if it has
// exactly the first ones, whole.
func migrated(ctx context.Context, conn *sql.Conn, known []migration) (int, error) {
	rows, err := conn.QueryContext(ctx, sqlMigrations)
	if err != nil {
		return 0, fmt.Errorf("read the table of migrations: %w", err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var m migration
		var sum string
		var finished bool
		if err := rows.Scan(&m.version, &m.name, &sum, &finished); err != nil {
			return 0, fmt.Errorf("read the table of migrations: %w", err)
		}
		switch {
		case n >= len(known):
			return 0, fmt.Errorf("%w: it has migration %04d %s, this program knows %d; start the newer program, or restore the backup that was taken before the upgrade",
				ErrNewerSchema, m.version, m.name, len(known))
		case m.version != known[n].version || !finished:
			return 0, fmt.Errorf("%w: migration %04d %s was begun and not finished; restore the last backup and start again",
				ErrHalfMigrated, m.version, m.name)
		case sum != known[n].sum():
			return 0, fmt.Errorf("%w: migration %04d %s was run with another text than this program has; start the program that made the database",
				ErrHalfMigrated, m.version, m.name)
		}
	}
	return n, rows.Err()
}

// present checks that the tables of a finished migration are really there.
func present(ctx context.Context, conn *sql.Conn, m migration) error {
	for _, found := range createTable.FindAllStringSubmatch(m.text, -1) {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf(sqlTablePresentFmt, found[1])); err != nil {
			return fmt.Errorf("%w: table %s of migration %04d is not there (%w); restore the last backup and start again",
				ErrHalfMigrated, found[1], m.version, err)
		}
	}
	return nil
}

// forward runs one migration in one transaction, mark and all.
func forward(ctx context.Context, conn *sql.Conn, d dialect, m migration) (err error) {
	if _, err := conn.ExecContext(ctx, d.begin); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, back := conn.ExecContext(ctx, "ROLLBACK")
			err = errors.Join(err, back)
		}
	}()
	if _, err := conn.ExecContext(ctx, sqlMigrationBegun, m.version, m.name, m.sum()); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, d.of(m.text)); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, sqlMigrationEnded, m.version); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}
