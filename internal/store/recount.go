package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/report"
)

const (
	// Every order with what is kept beside it of its own.
	sqlRecountOrders = `SELECT made.terms, e.after, a.id, a.publish_at, a.give, a.get, a.worth, a.took, a.completed_at,
  CAST(COALESCE((SELECT SUM(p.points) FROM points_entries p WHERE p.order_id = o.id), 0) AS BIGINT),
  CAST(COALESCE((SELECT SUM(p.points) FROM points_entries p WHERE p.order_id = o.id AND p.account = o.integrator), 0) AS BIGINT)
FROM orders o JOIN order_events made ON made.seq = o.terms_seq JOIN order_events e ON e.seq = o.seq LEFT JOIN activity a ON a.order_id = o.id`
	sqlRecountTallies  = `SELECT subject, name, bucket, n FROM tallies`
	sqlRecountAccounts = `SELECT account, season, board, points, updated_at FROM points_accounts`
	sqlCountEntries    = `SELECT kind, COUNT(*) FROM points_entries GROUP BY kind`
	sqlStrayEntries    = `SELECT DISTINCT order_id FROM points_entries p WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.id = p.order_id)`
	sqlStrayActivity   = `SELECT order_id FROM activity a WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.id = a.order_id)`
	sqlDropActivity    = `DELETE FROM activity WHERE order_id = $1`
)

// recount is one on its way.
type recount struct {
	count    *report.Recount
	tallies  []report.Tally
	accounts []report.Account
	entries  map[string]int64 // by kind
}

// questions read everything there is. The answers are counted as they come.
func (c *recount) questions() []stmt {
	*c = recount{count: report.NewRecount(), entries: map[string]int64{}}
	stray := func(what string) func(row) error {
		return func(r row) error {
			var id string
			err := r.Scan(&id)
			c.count.Stray(what, id)
			return err
		}
	}
	return []stmt{
		ask(c.order, sqlRecountOrders),
		collect(&c.tallies, func(r row) (t report.Tally, err error) {
			err = r.Scan(&t.Subject, &t.Name, &t.Bucket, &t.N)
			return t, err
		}, sqlRecountTallies),
		collect(&c.accounts, scanAccount, sqlRecountAccounts),
		ask(func(r row) error {
			var kind string
			var n int64
			err := r.Scan(&kind, &n)
			c.entries[kind] = n
			return err
		}, sqlCountEntries),
		ask(stray("entries"), sqlStrayEntries), ask(stray("activity"), sqlStrayActivity),
	}
}

func (c *recount) order(r row) error {
	var terms, after string
	var id, give, get, worth *string
	var publish, took, completed *int64
	var b report.Beside
	if err := r.Scan(&terms, &after, &id, &publish, &give, &get, &worth, &took, &completed, &b.Points, &b.Company); err != nil {
		return err
	}
	o, err := orderFromDocs(terms, after)
	if err != nil {
		return err
	}
	if id != nil {
		b.Activity = &report.Activity{
			ID: *id, PublishAt: unmicro(*publish), Worth: *worth, Took: time.Duration(*took) * time.Second, CompletedAt: unmicro(*completed),
		}
		if b.Activity.Give, err = chain.ParseAsset(*give); err == nil {
			b.Activity.Get, err = chain.ParseAsset(*get)
		}
	}
	c.count.Order(o, b)
	return err
}

// Recount counts everything that is kept beside the orders again and says what differs.
// It sees one moment, and holds nobody up.
func (db *DB) Recount(ctx context.Context) (report.Found, error) {
	var c recount
	if err := db.engine.read(ctx, append(db.engine.patient(), c.questions()...)...); err != nil {
		return report.Found{}, fmt.Errorf("recount: %w", err)
	}
	return c.found(), nil
}

func (c *recount) found() report.Found {
	f := c.count.Compare(c.tallies, c.accounts)
	f.Entries = c.entries
	return f
}

// Mend is Recount that puts right what it finds, in one transaction: what others would
// write waits. The ledger of points is only ever added to, and is left as it is.
func (db *DB) Mend(ctx context.Context) (found report.Found, err error) {
	err = db.writer.do(ctx, &op{run: func(t *tx) error {
		var c recount
		if err := t.read(append(db.engine.patient(), c.questions()...)...); err != nil {
			return err
		}
		found = c.found()
		t.mend(found)
		return nil
	}})
	if err != nil {
		return report.Found{}, fmt.Errorf("recount: %w", err)
	}
	return found, nil
}

func (t *tx) mend(f report.Found) {
	if t.rows == nil {
		t.rows = map[*many][]any{}
	}
	for _, k := range f.Tallies {
		t.add(addTallies, k.Subject, k.Name, k.Bucket, k.N)
	}
	slices.SortFunc(f.Accounts, func(a, b report.Account) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Season, b.Season))
	})
	for _, a := range f.Accounts {
		t.add(addAccounts, a.Name, a.Season, board(a), a.Points, micro(a.UpdatedAt))
	}
	for _, one := range f.Activity {
		t.write(sqlDropActivity, string(one.Order))
		if one.Belong {
			addActivity(t, one.Order, one.Item)
		}
	}
	t.flush(addTallies, addAccounts, newActivity)
}
