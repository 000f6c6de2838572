package store_test

import (
	"path/filepath"
	"testing"

	"ferry/internal/store"
	"ferry/internal/store/pgtest"
	"ferry/internal/store/storetest"
)

// open opens a database and closes it with the test.
func open(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *store.DB { return open(t, "sqlite::memory:") })
}

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *store.DB { return open(t, "sqlite:"+filepath.Join(t.TempDir(), "a file 100%.db")) })
}

func TestPostgres(t *testing.T) {
	storetest.Run(t, func(t *testing.T) *store.DB { return open(t, pgtest.URL(t)) })
}
