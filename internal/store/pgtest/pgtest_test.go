package pgtest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"ferry/internal/store/pgtest"
)

func TestEveryTestHasItsOwnDatabase(t *testing.T) {
	a, b := pgtest.URL(t), pgtest.URL(t)
	if a == b {
		t.Fatalf("two databases at %s", a)
	}
	conn, err := pgx.Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var v string
		if err := conn.QueryRow(t.Context(), "SHOW "+setting).Scan(&v); err != nil || v != "on" {
			t.Errorf("%s is %q, %v", setting, v, err)
		}
	}
}

func TestAStoppedServerLeavesNothing(t *testing.T) {
	s, err := pgtest.Start("work_mem=5MB")
	if err != nil {
		t.Fatal(err)
	}
	url, drop, err := s.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := drop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	_, after, _ := strings.Cut(url, "host=")
	dir := strings.ReplaceAll(strings.Split(after, "&")[0], "%2F", "/")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}
