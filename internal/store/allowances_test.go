package store_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/limit"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
)

// TestSeveralProcessesShareOneLimit: limiters with a database handle each are asked at
// once by many for more than there is. All together let in exactly the limit, of a limit
// that is met and of one that is not.
func TestSeveralProcessesShareOneLimit(t *testing.T) {
	t.Parallel()
	const processes, callers, limitOf = 3, 8, 300
	url := pgtest.URL(t)
	claims := []limit.Claim{
		{Subject: limit.Subject{Resource: limit.CompanyRequests, Company: "int_a"}, Limit: 10 * limitOf},
		{Subject: limit.Subject{Resource: limit.KeyRequests, Company: "int_a", Name: "key_a"}, Limit: limitOf},
	}
	began := time.Now()
	var let, refused atomic.Int64
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range processes {
		db, err := store.Open(t.Context(), store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		s := sharing(t, db, fmt.Sprint("process-", i))
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		defer func() { cancel(); <-done }()
		for range callers {
			wg.Go(func() {
				for let.Load() < limitOf && time.Since(began) < 20*time.Second {
					if v := s.Take(time.Now(), claims); v.Allowed() {
						let.Add(1)
					} else if refused.Add(1); limit.Refuse(&v).Code != "rate_limited" {
						t.Errorf("refused with %v", limit.Refuse(&v))
						return
					}
				}
				for range 50 { // and now there is none
					if v := s.Take(time.Now(), claims); v.Allowed() {
						let.Add(1)
					}
				}
			})
		}
	}
	wg.Wait()
	if took := time.Since(began); took > 50*time.Second {
		t.Fatalf("took %s, in which the first may be free again", took)
	}
	if let.Load() != limitOf {
		t.Errorf("%d of %d were let in", let.Load(), limitOf)
	}
	t.Logf("all were let in after %d refusals", refused.Load())
}

// TestWhatAProcessHeldComesBack: one process ends and gives back; another dies, and its
// part is kept until it is old.
func TestWhatAProcessHeldComesBack(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), store.Config{URL: pgtest.URL(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	claims := []limit.Claim{{Subject: limit.Subject{Resource: limit.CompanyRequests, Company: "int_a"}, Limit: 160}}
	take := func(s *limit.Shared) (n int) {
		for {
			if v := s.Take(time.Now(), claims); !v.Allowed() {
				return n
			}
			n++
		}
	}
	polite, dead, heir := sharing(t, db, "polite"), sharing(t, db, "dead"), sharing(t, db, "heir")
	polite.Take(time.Now(), claims)
	dead.Take(time.Now(), claims)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := polite.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := take(heir); got != 160-1-10 {
		t.Errorf("got %d, want all but the one that was spent and the ten of who died", got)
	}
	pool, _ := db.Allowances()
	if err := pool.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	if alive, _, err := pool.Beat(t.Context(), "dead", time.Minute, true); alive || err != nil {
		t.Errorf("a name is fresh twice: %v, %v", alive, err)
	}
	if alive, _, err := pool.Beat(t.Context(), "nobody", time.Minute, false); alive || err != nil {
		t.Errorf("nobody lives: %v, %v", alive, err)
	}
}

func TestSQLiteSharesNothing(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite::memory:"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, shares := db.Allowances(); shares {
		t.Error("a database for one process has a pool")
	}
}

// sharing is a limiter of a process that has its lease.
func sharing(t *testing.T, db *store.DB, name string) *limit.Shared {
	t.Helper()
	pool, shares := db.Allowances()
	m, err := limit.NewMemory(time.Now(), limit.DefaultEntries)
	if err != nil || !shares {
		t.Fatal(err, shares)
	}
	s, err := limit.NewShared(m, limit.SharedConfig{
		Pool: pool, Now: time.Now, Name: func() string { return name }, Trouble: func(error) {},
	})
	if err == nil {
		err = s.Beat(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}
