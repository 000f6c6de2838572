package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"ferry/internal/store"
	"ferry/internal/store/pgtest"
)

// refused fails unless Open refuses the URL with that error.
func refused(t *testing.T, url string, want error) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: url})
	if err == nil {
		db.Close()
		t.Fatalf("%s was opened, want %v", url, want)
	}
	if !errors.Is(err, want) {
		t.Fatalf("%s: got %v, want %v", url, err, want)
	}
	t.Log(err)
}

func TestOpenRefusesWhatIsNoDatabase(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "mysql://x", "sqlite:", "sqlite:x?journal_mode=off", "sqlite:x?synchronous=full&synchronous=off", "postgres://%zz"} {
		refused(t, url, store.ErrBadURL)
	}
	dir := t.TempDir()
	text := filepath.Join(dir, "letter.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("Dear Sir or Madam,\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, "sqlite:"+text, store.ErrNotADatabase)
	refused(t, "sqlite:"+text, store.ErrNotADatabase) // and the refusal lets go of its lock
	refused(t, "sqlite:"+dir, store.ErrFile)
	refused(t, "sqlite:"+filepath.Join(dir, "none", "x.db"), store.ErrFile)
	refused(t, "sqlite:"+filepath.Join(text, "x.db"), store.ErrFile)
	if _, err := store.Open(t.Context(), store.Config{URL: "postgres:///x?host=" + dir}); err == nil {
		t.Fatal("connected to nothing")
	}
}

func TestOpenRefusesWhatForgets(t *testing.T) {
	t.Parallel()
	path := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	refused(t, path+"?synchronous=off", store.ErrUnsafe)
	refused(t, path+"?synchronous=normal", store.ErrUnsafe)
	refused(t, path+"?synchronous=full);DROP", store.ErrBadURL)
	open(t, path+"?synchronous=extra")

	url := pgtest.URL(t)
	refused(t, url+"&synchronous_commit=off", store.ErrUnsafe)
	open(t, url+"&synchronous_commit=local")
}

func TestOpenRefusesAServerThatForgets(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"fsync=off", "full_page_writes=off"} {
		s, err := pgtest.Start(setting)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
		url, _, err := s.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		refused(t, url, store.ErrUnsafe)
	}
}

func TestOneProcessHasTheFile(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
	first, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, url, store.ErrLocked)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, url)
}

func TestAFileHeldByAnotherProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Exec("CREATE TABLE theirs (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	tx, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	if _, err := tx.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	refused(t, "sqlite:"+path, store.ErrLocked)
}

// A database that was migrated by somebody else, or not quite.
func TestOpenRefusesAForeignSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil string
		want  error
	}{
		"newer":      {"INSERT INTO schema_migrations (version, name, sum, finished) VALUES (9999, 'later', 'x', TRUE)", store.ErrNewerSchema},
		"unfinished": {"UPDATE schema_migrations SET finished = FALSE WHERE version = 1", store.ErrHalfMigrated},
		"another":    {"UPDATE schema_migrations SET sum = 'x' WHERE version = 1", store.ErrHalfMigrated},
		"a gap":      {"DELETE FROM schema_migrations WHERE version = 1", store.ErrHalfMigrated},
		"no table":   {"DROP TABLE deposits", store.ErrHalfMigrated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.db")
			for url, source := range map[string][2]string{"sqlite:" + path: {"sqlite", path}, pgtest.URL(t): {"pgx", ""}} {
				db, err := store.Open(t.Context(), store.Config{URL: url})
				if err != nil {
					t.Fatal(err)
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				if source[1] == "" {
					source[1] = url
				}
				exec(t, source[0], source[1], c.spoil)
				refused(t, url, c.want)
			}
		})
	}
}

func exec(t *testing.T, driver, source, statement string) {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasWrittenIsThereAfterReopening(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"sqlite:" + filepath.Join(t.TempDir(), "x.db"), pgtest.URL(t)} {
		db, err := store.Open(t.Context(), store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		if err := wholeOrder(t.Context(), db, 0); err == nil {
			t.Fatal("an order was made without money")
		}
		fund(t, db)
		if err := wholeOrder(t.Context(), db, 1); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		again := open(t, url)
		o, err := again.Order(t.Context(), "ord_00000001")
		if err != nil || o.Version != 4 {
			t.Fatalf("version %d, %v", o.Version, err)
		}
		if err := again.Audit(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
