package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/feed"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/settle"
	"ferry/internal/store/pgtest"
)

// pair opens two DBs on one database, as two processes would.
func pair(t *testing.T) (a, b *DB) {
	t.Helper()
	url := pgtest.URL(t)
	var dbs [2]*DB
	var wg sync.WaitGroup
	for i := range dbs { // both at once: one of them migrates
		wg.Go(func() {
			db, err := Open(t.Context(), Config{URL: url})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { db.Close() })
			dbs[i] = db
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if err := dbs[0].Fund(t.Context(), chain.Asset{Chain: "sim:get"}, money.FromUint64(1_000_000), noon); err != nil {
		t.Fatal(err)
	}
	return dbs[0], dbs[1]
}

func TestTwoProcessesOnOneDatabase(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	dbs := [2]*DB{a, b}
	const orders, told = 24, 2
	var applied, worked sync.Map
	var wg sync.WaitGroup
	for i := range orders {
		if err := dbs[i%2].Create(t.Context(), newOrder(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range orders * told { // each fact is told through both
		wg.Go(func() {
			id := order.ID(fmt.Sprintf("ord_%03d", i/told))
			_, err := tell(t.Context(), dbs[i%2], id, paid(id))
			if err == nil {
				if _, twice := applied.LoadOrStore(id, true); twice {
					t.Errorf("%s was applied twice", id)
				}
			} else if !errors.Is(err, order.ErrKnown) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 8 {
		wg.Go(func() {
			work, err := dbs[i%2].TakeWork(t.Context(), noon, time.Minute, 5)
			if err != nil {
				t.Error(err)
			}
			for _, w := range work {
				if _, twice := worked.LoadOrStore(w.ID, true); twice {
					t.Errorf("%s was taken twice", w.ID)
				}
			}
		})
	}
	wg.Wait()
	entries, err := b.Since(t.Context(), 0, 1000)
	if err != nil || len(entries) != 2*orders {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	checkWhole(t, entries)
	if err := a.Audit(t.Context()); err != nil {
		t.Error(err)
	}
}

func checkWhole(t *testing.T, entries []feed.Entry) {
	t.Helper()
	for i, e := range entries {
		if e.Seq != int64(i+1) {
			t.Fatalf("entry %d has seq %d", i, e.Seq)
		}
	}
}

// A process that is stopped in the middle of a transaction holds the others up
// only until the server ends its session.
func TestAStoppedProcessIsPassedBy(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	s, err := a.engine.session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.send(t.Context(), s.begin()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := b.Create(t.Context(), newOrder(t, 1)); err != nil {
		t.Fatalf("after %s: %v", time.Since(began), err)
	}
	if took := time.Since(began); took < pgIdle/2 {
		t.Fatalf("it did not wait for the lock: %s", took)
	}
	if err := s.send(t.Context(), []stmt{do(sqlDoneWork, "x"), do(sqlCommit)}); err == nil {
		t.Fatal("the stopped one went on as if nothing had been")
	}
	s.release(false)
	if err := a.Create(t.Context(), newOrder(t, 2)); err != nil {
		t.Fatal(err)
	}
}

func TestAServerThatCutsUsOff(t *testing.T) {
	t.Parallel()
	a, b := pair(t)
	c := newOrder(t, 1)
	if err := a.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	kick := do(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err := b.engine.read(t.Context(), kick); err != nil {
		t.Fatal(err)
	}
	if _, err := tell(t.Context(), a, c.Now.ID, paid(c.Now.ID)); err != nil {
		t.Fatal(err)
	}
	if err := b.engine.read(t.Context(), kick); err != nil {
		t.Fatal(err)
	}
	// A write of one round trip was sent with its commit, so it may have happened.
	if err := a.DoneWork(t.Context(), "x"); err != nil && !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
	if err := a.DoneWork(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := tell(t.Context(), a, "ord_none", order.Cancelled{}); !errors.Is(err, settle.ErrNotFound) {
		t.Fatal(err)
	}
}
