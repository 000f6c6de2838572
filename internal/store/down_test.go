package store_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"ferry/internal/settle"
	"ferry/internal/store"
)

func TestDownIsWhatMayGoWellLater(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		down bool
	}{
		{store.ErrClosed, true},
		{store.ErrUnknown, true},
		{io.ErrUnexpectedEOF, true},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		{&pgconn.PgError{Severity: "FATAL", Code: "57P01"}, true},
		{&pgconn.PgError{Severity: "ERROR", Code: "53100"}, true},
		{&pgconn.PgError{Severity: "ERROR", Code: "55P03"}, true},
		{&pgconn.PgError{Severity: "ERROR", Code: "57014"}, true},
		{&pgconn.PgError{Severity: "ERROR", Code: "40001"}, true},
		{&pgconn.PgError{Severity: "ERROR", Code: "25006"}, true},
		{&pgconn.PgError{Severity: "ERROR", Code: "42601"}, false},
		{&pgconn.PgError{Severity: "ERROR", Code: "23514"}, false},
		{settle.ErrNotFound, false},
		{errors.New("a mistake of ours"), false},
		{nil, false},
	} {
		if got := store.Down(fmt.Errorf("read: %w", c.err)); got != c.down {
			t.Errorf("%v: down is %v", c.err, got)
		}
	}
}

func TestAClosedDatabaseIsDown(t *testing.T) {
	t.Parallel()
	db := open(t, "sqlite::memory:")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Order(t.Context(), "ord_1"); !store.Down(err) {
		t.Errorf("it is not down: %v", err)
	}
}
