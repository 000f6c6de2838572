package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/settle"
	"ferry/internal/store/pgtest"
)

// flaky is an engine whose sessions fail where it is told to.
type flaky struct {
	engine
	mu    sync.Mutex
	sends int
	fail  func(n int, commits bool) (before, after error)
}

func (f *flaky) session(ctx context.Context) (session, error) {
	s, err := f.engine.session(ctx)
	return &flakySession{session: s, f: f}, err
}

type flakySession struct {
	session
	f *flaky
}

func (s *flakySession) send(ctx context.Context, ss []stmt) error {
	s.f.mu.Lock()
	s.f.sends++
	before, after := s.f.fail(s.f.sends, ss[len(ss)-1].sql == sqlCommit)
	s.f.mu.Unlock()
	if before != nil {
		return before
	}
	if err := s.session.send(ctx, ss); err != nil {
		return err
	}
	return after
}

// shaky opens both engines with a flaky one in front.
func shaky(t *testing.T, test func(t *testing.T, db *DB, f *flaky)) {
	for name, url := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "postgres": pgtest.URL(t)} {
		t.Run(name, func(t *testing.T) {
			db, err := Open(t.Context(), Config{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := db.Fund(t.Context(), chain.Asset{Chain: "sim:get"}, money.FromUint64(1_000_000), time.Now()); err != nil {
				t.Fatal(err)
			}
			f := &flaky{engine: db.engine, fail: func(int, bool) (error, error) { return nil, nil }}
			db.writer.engine = f
			test(t, db, f)
			f.fail = func(int, bool) (error, error) { return nil, nil }
			if err := db.Audit(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

var noon = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

func newOrder(t *testing.T, i int) order.Change {
	t.Helper()
	n := money.FromUint64
	to := func(s string) chain.Address { return chain.CanonicalAddress(chain.Other, fmt.Sprintf("%s-%d", s, i)) }
	c, err := order.New(order.Ask{
		ID: order.ID(fmt.Sprintf("ord_%03d", i)), DepositTo: to("in"), PayTo: to("out"), FundingTime: time.Hour,
		Quote: quote.Quote{
			ID: "q", Give: chain.Asset{Chain: "sim:give"}, Get: chain.Asset{Chain: "sim:get"}, In: n(10), Out: n(20), MinIn: n(1), MaxIn: n(50),
			Mode: quote.Float, Tolerance: quote.Tolerance{UnderAction: quote.Hold, OverAction: quote.Hold, WrongAsset: quote.Hold},
		},
		Patience: order.Patience{Confirming: 1, Executing: 1, Sending: 1, Held: 1, Refunding: 1, Recovery: 1},
	}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func paid(o order.ID) order.Event {
	d := chain.Deposit{ID: chain.DepositID("d of " + o), Asset: chain.Asset{Chain: "sim:give"}, Amount: money.FromUint64(10), Tx: "tx"}
	return order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: noon}
}

func tell(ctx context.Context, db *DB, id order.ID, ev order.Event) (order.Order, error) {
	return db.Move(ctx, id, func(o order.Order) (order.Change, error) { return o.Apply(ev, noon) })
}

func TestABrokenConnectionBeforeTheCommitIsTriedAgain(t *testing.T) {
	t.Parallel()
	shaky(t, func(t *testing.T, db *DB, f *flaky) {
		c := newOrder(t, 1)
		f.fail = failFirst(3, io.ErrUnexpectedEOF)
		if err := db.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		f.sends, f.fail = 0, failFirst(2, io.ErrUnexpectedEOF)
		if o, err := tell(t.Context(), db, c.Now.ID, paid(c.Now.ID)); err != nil || o.State != order.Sending {
			t.Fatalf("%s, %v", o.State, err)
		}
		// It does not try for ever, and what it gave up left nothing behind.
		f.sends, f.fail = 0, failFirst(1000, io.ErrUnexpectedEOF)
		if _, err := tell(t.Context(), db, c.Now.ID, order.PayoutFinal{}); !errors.Is(err, io.ErrUnexpectedEOF) || f.sends != batchTries {
			t.Fatalf("%v after %d", err, f.sends)
		}
	})
}

func failFirst(k int, err error) func(int, bool) (error, error) {
	return func(n int, _ bool) (error, error) {
		if n <= k {
			return err, nil
		}
		return nil, nil
	}
}

func TestACommitOfUnknownOutcomeIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	shaky(t, func(t *testing.T, db *DB, f *flaky) {
		c := newOrder(t, 1)
		if err := db.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		commits := 0
		f.fail = func(_ int, commit bool) (error, error) {
			if !commit {
				return nil, nil
			}
			commits++
			return nil, doubtful(io.ErrUnexpectedEOF) // it was done, and the answer was lost
		}
		if _, err := tell(t.Context(), db, c.Now.ID, paid(c.Now.ID)); !errors.Is(err, ErrUnknown) || commits != 1 {
			t.Fatalf("%v after %d commits", err, commits)
		}
		f.fail = failFirst(0, nil)
		o, err := tell(t.Context(), db, c.Now.ID, paid(c.Now.ID))
		if !errors.Is(err, order.ErrKnown) || o.State != order.Sending || o.Version != 2 {
			t.Fatalf("%s at version %d, %v", o.State, o.Version, err)
		}
	})
}

// The connection is cut at every point of every write in turn, before and after
// it went out; what is told again until it is known ends the same each time.
func TestACutAnywhereLeavesAllOrNothing(t *testing.T) {
	t.Parallel()
	shaky(t, func(t *testing.T, db *DB, f *flaky) {
		dead := errors.New("cut")
		for cut := 1; cut <= 12; cut++ {
			for _, late := range []bool{false, true} {
				f.sends = 0
				f.fail = func(n int, commit bool) (error, error) {
					switch {
					case n != cut:
						return nil, nil
					case late && commit:
						return nil, doubtful(dead)
					case late:
						return nil, dead
					}
					return dead, nil
				}
				c := newOrder(t, 2*cut+boolInt(late))
				untilDone(t, func() error { return db.Create(t.Context(), c) }, settle.ErrTaken)
				for _, ev := range []order.Event{paid(c.Now.ID), order.PayoutFinal{Landed: order.Landed{Tx: "p", Cost: money.FromUint64(1)}}} {
					untilDone(t, func() error { _, err := tell(t.Context(), db, c.Now.ID, ev); return err }, order.ErrKnown)
				}
				if o, err := db.Order(t.Context(), c.Now.ID); err != nil || o.State != order.Completed || o.Version != 3 {
					t.Fatalf("cut %d: %s at version %d, %v", cut, o.State, o.Version, err)
				}
				if err := db.Audit(t.Context()); err != nil {
					t.Fatalf("cut %d: %v", cut, err)
				}
			}
		}
		balances, err := db.Balances(t.Context())
		if b := balances[ledger.Key{Account: ledger.Hot("sim:get"), Asset: chain.Asset{Chain: "sim:get"}}]; err != nil || b.String() != fmt.Sprint(1_000_000-24*21) {
			t.Errorf("the wallet has %s, %v", b, err)
		}
		if seq, err := db.Head(t.Context()); err != nil || seq != 24*3 {
			t.Errorf("the feed is at %d, %v", seq, err)
		}
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func untilDone(t *testing.T, try func() error, known error) {
	t.Helper()
	for range 5 {
		err := try()
		if err == nil || errors.Is(err, known) {
			return
		}
	}
	t.Fatal("it is never done")
}

// A migration that dies leaves the schema as it was, and goes on the next time.
func TestAMigrationThatDiesLeavesTheOldSchema(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	files := fstest.MapFS{"migrations/0001_a.sql": {Data: []byte("CREATE TABLE a (n BIGINT);\nCREATE TABLE b (n BIGINT);")}}
	pool, err := sql.Open("sqlite", liteDSN(path, false, "full"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	run := func() error {
		return migrate(t.Context(), conn, dialect{begin: "BEGIN IMMEDIATE", number: "INTEGER", only: "--sqlite "}, files)
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	files["migrations/0002_b.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE c (n BIGINT);\nINSERT INTO nowhere VALUES (1);")}
	if err := run(); err == nil {
		t.Fatal("a broken migration ran")
	}
	if _, err := conn.ExecContext(t.Context(), "SELECT 1 FROM c"); err == nil {
		t.Fatal("half of it is there")
	}
	files["migrations/0002_b.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE c (n BIGINT);")}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	files["migrations/0004_d.sql"] = &fstest.MapFile{}
	if err := run(); err == nil {
		t.Fatal("a gap in the numbers")
	}
}
