package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/report"
	"ferry/internal/store/pgtest"
)

// counted is a database with some orders that were completed.
func counted(t *testing.T, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	give, get := chain.Asset{Chain: "sim:give"}, chain.Asset{Chain: "sim:get"}
	if err := db.Fund(t.Context(), get, money.FromUint64(1_000_000), at); err != nil {
		t.Fatal(err)
	}
	address := func(name string, i int) chain.Address { return chain.CanonicalAddress(chain.EVM, fmt.Sprint(name, i)) }
	for i := range 7 {
		q := quote.Quote{
			ID: quote.ID(fmt.Sprint("q", i)), Give: give, Get: get, In: money.FromUint64(100), Out: money.FromUint64(100), MinIn: money.FromUint64(1), MaxIn: money.FromUint64(100),
			Mode: quote.Float, Tolerance: quote.Tolerance{UnderAction: quote.Hold, OverAction: quote.Hold, WrongAsset: quote.Hold}, Integrator: "int_a",
			USD: 100 * money.Dollar, ExpiresAt: at.Add(time.Minute), Shown: quote.Shown{ServiceUSD: money.Dollar},
		}
		p := order.Patience{Confirming: time.Hour, Executing: time.Hour, Sending: time.Hour, Held: time.Hour, Refunding: time.Hour, Recovery: time.Hour}
		c, err := order.New(order.Ask{
			ID: order.ID(fmt.Sprint("ord_", i)), Quote: q, DepositTo: address("in", i), PayTo: address("out", i), FundingTime: time.Hour, Patience: p,
			Origin: order.Origin{PointsTo: "0xfan", Award: report.DefaultProgram.Award(at), Client: "x", Private: i == 6},
		}, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Create(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		d := chain.Deposit{ID: chain.DepositID(fmt.Sprint("d", i)), To: c.Now.DepositTo, Asset: give, Amount: money.FromUint64(100), Tx: "tx"}
		for _, ev := range []order.Event{order.DepositFinal{Deposit: d, Sighting: 1, SeenAt: at}, order.PayoutFinal{Landed: order.Landed{Tx: "tx"}}} {
			if _, err := db.Move(t.Context(), c.Now.ID, func(o order.Order) (order.Change, error) { return o.Apply(ev, at.Add(time.Minute)) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	return db
}

// kinds are what drifted.
func kinds(f report.Found) (all []string) {
	for _, d := range f.Drift {
		all = append(all, d.What)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tampering is a change behind the program's back, and what of it is found.
type tampering struct {
	name, change string
	want         []string
}

// Whatever is changed behind the program's back is found, and all but the ledger of
// points, which nobody may change, is put right.
func TestARecountFindsAndMendsWhatWasChanged(t *testing.T) {
	t.Parallel()
	for engine, url := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "x.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			db := counted(t, url(t))
			for _, c := range []tampering{
				{"nothing", "", nil},
				{"a sum of an integrator", "UPDATE tallies SET n = n + 1 WHERE subject = 'int_a' AND name = 'volume'", []string{"tally"}},
				{"a sum that is gone", "DELETE FROM tallies WHERE subject = '*' AND name = 'completed'", []string{"tally"}},
				{"a sum of nothing", "INSERT INTO tallies (subject, name, bucket, n) VALUES ('int_z', 'made', 0, 3)", []string{"tally"}},
				{"all sums", "DELETE FROM tallies", []string{"tally"}},
				{"an account", "UPDATE points_accounts SET points = points + 1 WHERE account = '0xfan'", []string{"account"}},
				{"all accounts", "DELETE FROM points_accounts", []string{"account"}},
				{"activity that is gone", "DELETE FROM activity WHERE order_id = 'ord_1'", []string{"activity"}},
				{"activity of something else", "UPDATE activity SET worth = '0-10' WHERE order_id = 'ord_1'", []string{"activity"}},
				{
					"activity of a private order",
					"INSERT INTO activity SELECT 'ord_6', 'act_x', publish_at, give, get, worth, took, completed_at FROM activity WHERE order_id = 'ord_1'",
					[]string{"activity"},
				},
			} {
				c.hold(t, db)
				if left, err := db.Recount(t.Context()); err != nil || len(left.Drift) > 0 {
					t.Fatalf("%s: %v: left %v", c.name, err, left.Drift)
				}
			}
			// These stay: who made points out of nothing must be found by a person.
			const entry = "INSERT INTO points_entries (order_id, version, account, kind, season, points, at) VALUES "
			for i, c := range []tampering{
				{"points out of nothing", entry + "('ord_1', 99, '0xfan', 'bonus', 's', 5, 0)", []string{"entries"}},
				{"points of no order", entry + "('ord_x', 1, '0xfan', 'earn', 's', 5, 0)", []string{"entries"}},
			} {
				c.hold(t, db)
				if left, err := db.Recount(t.Context()); err != nil || len(left.Drift) != i+1 {
					t.Fatalf("%s: %v: left %v", c.name, err, left.Drift)
				}
			}
		})
	}
}

// hold makes the change and fails unless both ways of counting find it.
func (c tampering) hold(t *testing.T, db *DB) {
	t.Helper()
	if c.change != "" {
		if err := behind(db, c.change); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
	}
	for _, count := range []func(context.Context) (report.Found, error){db.Recount, db.Mend} {
		found, err := count(t.Context())
		if err != nil || found.Orders != 7 || !slices.Equal(kinds(found), c.want) {
			t.Fatalf("%s: %v: %d orders, %v", c.name, err, found.Orders, found.Drift)
		}
	}
}

func TestTheLedgerOfPointsIsOnlyAddedTo(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"sqlite::memory:", pgtest.URL(t)} {
		db := counted(t, url)
		for _, text := range []string{"UPDATE points_entries SET points = 1", "DELETE FROM points_entries"} {
			if err := behind(db, text); err == nil {
				t.Errorf("%s was done", text)
			}
		}
	}
}
