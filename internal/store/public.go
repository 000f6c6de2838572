package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
	"ferry/internal/report"
)

const (
	sqlPointsOf = `SELECT account, season, board, points, updated_at FROM points_accounts WHERE account = $1`
	// How many have more, at most as many as are asked for.
	sqlPointsAbove = `SELECT COUNT(*) FROM (SELECT 1 FROM points_accounts WHERE board = $1 AND board <> '' AND points > $2 LIMIT CAST($3 AS BIGINT)) t`
	sqlBoard       = `SELECT account, season, board, points, updated_at FROM points_accounts
WHERE board = $1 AND board <> '' AND points > 0 ORDER BY points DESC, account LIMIT CAST($2 AS BIGINT)`
	activityColumns = `id, publish_at, give, get, worth, took, completed_at`
	sqlActivity     = `SELECT ` + activityColumns + ` FROM activity
WHERE publish_at <= $1 AND (publish_at, id) < ($2, $3) ORDER BY publish_at DESC, id DESC LIMIT CAST($4 AS BIGINT)`
	sqlActivityAfter = `SELECT ` + activityColumns + ` FROM activity
WHERE publish_at <= $1 AND (publish_at, id) > ($2, $3) ORDER BY publish_at, id LIMIT CAST($4 AS BIGINT)`
)

var (
	newEntries  = inserts(`INSERT INTO points_entries (order_id, version, account, kind, season, points, at)`, "tntttnn", "")
	addAccounts = inserts(`INSERT INTO points_accounts (account, season, board, points, updated_at)`, "tttnn",
		` ON CONFLICT (account, season) DO UPDATE SET points = points_accounts.points + excluded.points,
  updated_at = CASE WHEN points_accounts.updated_at < excluded.updated_at THEN excluded.updated_at ELSE points_accounts.updated_at END`)
	newActivity = inserts(`INSERT INTO activity (order_id, id, publish_at, give, get, worth, took, completed_at)`, "ttntttnn", "")
)

// season is an account in a season.
type season struct{ account, id string }

// publish queues what a change means for what anybody may see.
func (d *door) publish(t *tx, was *order.Order, c *order.Change) {
	d.tally(report.PublicTallies(*was, *c))
	for _, e := range report.Entries(*was, *c) {
		t.add(newEntries, string(e.Order), e.Version, e.Account, e.Kind, e.Season, e.Points, micro(e.At))
		d.earned(e)
		d.tally([]report.Tally{e.Tally()})
	}
	if a, ok := report.ActivityOf(*was, *c); ok {
		addActivity(t, c.Now.ID, a)
	}
}

// earned adds an entry to the sum of its account.
func (d *door) earned(e report.Entry) {
	if d.points == nil {
		d.points = map[season]*report.Account{}
	}
	of := season{e.Account, e.Season}
	sum := d.points[of]
	if sum == nil {
		sum = &report.Account{Name: e.Account, Season: e.Season, Ranked: e.Ranked}
		d.points[of] = sum
	}
	sum.Points += e.Points
	if e.At.After(sum.UpdatedAt) {
		sum.UpdatedAt = e.At
	}
}

func addActivity(t *tx, id order.ID, a report.Activity) {
	t.add(newActivity, string(id), report.ActivityID(), micro(a.PublishAt), a.Give.String(), a.Get.String(), a.Worth, int64(a.Took/time.Second), micro(a.CompletedAt))
}

// closePublic queues what is added to the sums of accounts, in one order.
func (d *door) closePublic(t *tx) {
	sums := make([]*report.Account, 0, len(d.points))
	for _, a := range d.points {
		sums = append(sums, a)
	}
	slices.SortFunc(sums, func(a, b *report.Account) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Season, b.Season))
	})
	for _, a := range sums {
		t.add(addAccounts, a.Name, a.Season, board(*a), a.Points, micro(a.UpdatedAt))
	}
	t.flush(newEntries, addAccounts, newActivity)
}

// board is where an account is ranked.
func board(a report.Account) string {
	if a.Ranked {
		return a.Season
	}
	return ""
}

func scanAccount(r row) (a report.Account, err error) {
	var on string
	var at int64
	err = r.Scan(&a.Name, &a.Season, &on, &a.Points, &at)
	a.Ranked, a.UpdatedAt = on != "", unmicro(at)
	return a, err
}

// Points implements report.Store.
func (db *DB) Points(ctx context.Context, account string) ([]report.Account, error) {
	var found []report.Account
	if err := db.engine.read(ctx, collect(&found, scanAccount, sqlPointsOf, account)); err != nil {
		return nil, fmt.Errorf("points: %w", err) // whose is not for a log
	}
	return found, nil
}

// Ahead implements report.Store.
func (db *DB) Ahead(ctx context.Context, season string, points int64, most int) (n int64, err error) {
	if err = db.engine.read(ctx, ask(func(r row) error { return r.Scan(&n) }, sqlPointsAbove, season, points, int64(most))); err != nil {
		return 0, fmt.Errorf("ranks of season %s: %w", season, err)
	}
	return n, nil
}

// Board implements report.Store.
func (db *DB) Board(ctx context.Context, season string, n int) ([]report.Account, error) {
	var found []report.Account
	if err := db.engine.read(ctx, collect(&found, scanAccount, sqlBoard, season, int64(n))); err != nil {
		return nil, fmt.Errorf("board of season %s: %w", season, err)
	}
	return found, nil
}

func scanActivity(r row) (a report.Activity, err error) {
	var give, get string
	var publish, took, completed int64
	if err := r.Scan(&a.ID, &publish, &give, &get, &a.Worth, &took, &completed); err != nil {
		return a, err
	}
	a.PublishAt, a.Took, a.CompletedAt = unmicro(publish), time.Duration(took)*time.Second, unmicro(completed)
	if a.Give, err = chain.ParseAsset(give); err == nil {
		a.Get, err = chain.ParseAsset(get)
	}
	return a, err
}

// endOfTime is after every item.
const endOfTime = 1<<63 - 1

// Activity implements report.Store.
func (db *DB) Activity(ctx context.Context, from report.ActivityPlace, now time.Time, n int) ([]report.Activity, error) {
	at := int64(endOfTime)
	if from != (report.ActivityPlace{}) {
		at = micro(from.At)
	}
	return db.activity(ctx, sqlActivity, micro(now), at, from.ID, int64(n))
}

// ActivityAfter implements report.Store.
func (db *DB) ActivityAfter(ctx context.Context, after report.ActivityPlace, now time.Time, n int) ([]report.Activity, error) {
	return db.activity(ctx, sqlActivityAfter, micro(now), micro(after.At), after.ID, int64(n))
}

func (db *DB) activity(ctx context.Context, sql string, args ...any) ([]report.Activity, error) {
	var found []report.Activity
	if err := db.engine.read(ctx, collect(&found, scanActivity, sql, args...)); err != nil {
		return nil, fmt.Errorf("activity: %w", err)
	}
	return found, nil
}
