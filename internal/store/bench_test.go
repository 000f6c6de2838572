package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
)

// BenchmarkOrder is a whole order: made, seen, final, paid. Each is one write, so
// an order is four. BenchmarkInsert is what the engine does at best: a single row
// in a transaction of its own.
func BenchmarkOrder(b *testing.B) {
	each(b, func(b *testing.B, url string, workers int) {
		db, err := store.Open(b.Context(), store.Config{URL: url})
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		fund(b, db)
		spread(b, workers, func(i int) error { return wholeOrder(b.Context(), db, i) })
		b.ReportMetric(float64(4*b.N)/b.Elapsed().Seconds(), "writes/s")
		b.StopTimer()
		if err := db.Audit(b.Context()); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkInsert(b *testing.B) {
	each(b, func(b *testing.B, url string, workers int) {
		driver, source := "pgx", url
		if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
			driver, source = "sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(10000)"
			if path == ":memory:" {
				source = "file::memory:"
			}
		}
		db, err := sql.Open(driver, source)
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		if driver == "sqlite" {
			db.SetMaxOpenConns(1)
		}
		if _, err := db.Exec("CREATE TABLE bare (id TEXT PRIMARY KEY, n BIGINT)"); err != nil {
			b.Fatal(err)
		}
		spread(b, workers, func(i int) error {
			_, err := db.ExecContext(context.WithoutCancel(b.Context()), "INSERT INTO bare (id, n) VALUES ($1, $2)", fmt.Sprintf("id_%08d", i), i)
			return err
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "writes/s")
	})
}

func each(b *testing.B, run func(b *testing.B, url string, workers int)) {
	for _, workers := range []int{1, 64} {
		for name, url := range map[string]func(*testing.B) string{
			"memory":   func(*testing.B) string { return "sqlite::memory:" },
			"sqlite":   func(b *testing.B) string { return "sqlite:" + filepath.Join(b.TempDir(), "ferry.db") },
			"postgres": func(b *testing.B) string { return pgtest.URL(b) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, workers), func(b *testing.B) { run(b, url(b), workers) })
		}
	}
}

// spread does the work of all iterations in some goroutines.
func spread(b *testing.B, workers int, f func(i int) error) {
	b.ResetTimer()
	next := make(chan int, workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				if err := f(i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range b.N {
		next <- i
	}
	close(next)
	wg.Wait()
	b.StopTimer()
}

func wholeOrder(ctx context.Context, db *store.DB, i int) error {
	now := time.Now()
	addr := func(s string) chain.Address { return chain.CanonicalAddress(chain.Other, fmt.Sprintf("%s-%d", s, i)) }
	give, get := chain.Asset{Chain: "sim:give", Ref: "usdc"}, chain.Asset{Chain: "sim:get"}
	n := money.FromUint64
	c, err := order.New(order.Ask{
		ID: order.ID(fmt.Sprintf("ord_%08d", i)), DepositTo: addr("in"), PayTo: addr("out"), RefundTo: addr("back"), FundingTime: time.Hour,
		Quote: quote.Quote{
			ID: quote.ID(fmt.Sprintf("q%d", i)), Give: give, Get: get, In: n(1000), Out: n(2000), MinIn: n(1), MaxIn: n(5000), Mode: quote.Float,
			Tolerance:  quote.Tolerance{UnderAction: quote.Hold, OverAction: quote.Hold, WrongAsset: quote.Refund},
			Integrator: "acme", Fee: &quote.Fee{Percent: 10_000, PayTo: addr("acme")}, USD: money.Dollar, ExpiresAt: now.Add(time.Minute),
		},
		Patience: order.Patience{Confirming: time.Hour, Executing: time.Hour, Sending: time.Hour, Held: time.Hour, Refunding: time.Hour, Recovery: time.Hour},
	}, now)
	if err != nil {
		return err
	}
	if err := db.Create(ctx, c); err != nil {
		return err
	}
	d := chain.Deposit{ID: chain.DepositID(fmt.Sprintf("d%d", i)), To: addr("in"), Asset: give, Amount: n(1000), Tx: "tx"}
	for _, ev := range []order.Event{
		order.DepositSeen{Deposit: d, Sighting: 1, At: now},
		order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: now},
		order.PayoutFinal{Landed: order.Landed{Tx: "paid"}},
	} {
		if _, err := db.Move(ctx, c.Now.ID, func(o order.Order) (order.Change, error) { return o.Apply(ev, now) }); err != nil {
			return fmt.Errorf("%s: %w", ev.Name(), err)
		}
	}
	return nil
}

func fund(t testing.TB, db *store.DB) {
	t.Helper()
	if err := db.Fund(t.Context(), chain.Asset{Chain: "sim:get"}, money.MustParse("1000000000000000000"), time.Now()); err != nil {
		t.Fatal(err)
	}
}
