package main

import (
	"path/filepath"
	"testing"
	"time"

	"ferry/internal/order"
	"ferry/internal/store/pgtest"
)

func TestAFilledDatabaseIsAsIfItsOrdersHadBeenMade(t *testing.T) {
	t.Parallel()
	const n = 70
	now := time.Now().UTC()
	for name, address := range map[string]string{
		sqliteName:   "sqlite:" + filepath.Join(t.TempDir(), "ferry.db"),
		postgresName: pgtest.URL(t),
	} {
		t.Run(name, func(t *testing.T) {
			if err := fill(t.Context(), address, n, now); err != nil {
				t.Fatal(err)
			}
			s, err := open(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer s.db.Close()
			for i := range n {
				if err := s.tell(t.Context(), orderID(i), now); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.create(t.Context(), n, n+3, now); err != nil {
				t.Fatal(err)
			}
			c, err := s.db.Counts(t.Context())
			if err != nil || c.Orders[order.Confirming] != n || c.Orders[order.Awaiting] != 3 {
				t.Errorf("%v, %v", c.Orders, err)
			}
			if err := s.db.Audit(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
