package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

// The goals of reporting: the time of GET /v2/integrator/me with many orders beside
// few, and the server's CPU beside a request that is only admitted and answered with
// as many bytes.
const (
	meTimes = 1.3
	meCPU   = 1.5
	meFew   = 10_000
	meMany  = 10_000_000
	mePath  = "/v2/integrator/me"
	meUsers = 8 // callers at once, where CPU is measured
)

// fillFromEnv is how many orders the integrator of me has.
func fillFromEnv() int {
	if n, err := strconv.Atoi(os.Getenv("FILL")); err == nil && n > meFew {
		return n
	}
	return meMany
}

// runMe measures reporting on PostgreSQL.
func runMe(ctx context.Context, o options) error {
	return apart(func(p *place) error { return errors.Join(p.note(ctx, o.report), meOn(ctx, p, o)) })
}

func meOn(ctx context.Context, p *place, o options) (err error) {
	var both [2]*service
	defer func() {
		for _, s := range both {
			if s != nil {
				err = errors.Join(err, s.stop())
			}
		}
	}()
	for i, n := range []int{o.filled, meFew} {
		if both[i], err = historyOf(ctx, p, n); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("%d orders beside %d", o.filled, meFew)
	d, err := meTime(ctx, both, name, o)
	if err != nil {
		return err
	}
	o.report.add(result{Bench: "me", Name: "median, " + name, Unit: "µs", AtMost: meTimes}.judged(d))
	if d, err = meFirst(ctx, both, name, o); err != nil {
		return err
	}
	o.report.add(result{Bench: "me", Name: "the first in a second, " + name, Unit: "µs"}.judged(d))
	if d, err = meAdmitted(both[0], o); err != nil {
		return err
	}
	o.report.add(result{Bench: "me", Name: fmt.Sprintf("CPU with %d orders beside admission only", o.filled), Unit: "µs", AtMost: meCPU}.judged(d))
	return nil
}

// historyOf is a service whose integrator has made n orders.
func historyOf(ctx context.Context, p *place, n int) (*service, error) {
	address, err := p.fresh(ctx)
	if err != nil {
		return nil, err
	}
	s, err := startOver(ctx, "ferry", address)
	if err != nil {
		return nil, err
	}
	if err = s.admits(ctx); err == nil {
		err = answers(ctx, s.Address, http.StatusCreated, requestTo(http.MethodPost, "/v2/orders", s.Key, []byte(orderBody)))
	}
	if err == nil {
		err = fillHistory(ctx, address, s.Integrator, n)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// asking is a load of GETs on a service.
func (s *service) asking(callers int, path string) (*load, error) {
	return newLoad(s.Address, callers, http.StatusOK, requestTo(http.MethodGet, path, s.Key, nil))
}

// meTime compares the medians of one caller.
func meTime(_ context.Context, both [2]*service, name string, o options) (d duel, err error) {
	var sides [2]side
	for i, s := range both {
		l, err := s.asking(1, mePath)
		if err != nil {
			return d, err
		}
		defer func() { err = errors.Join(err, l.close()) }()
		sides[i] = func(int, int) (int, time.Duration, error) {
			done, _, err := l.slice(o.length / slicesOfRound)
			if err != nil {
				return 0, 0, err
			}
			middle, err := l.middle()
			return done, middle * time.Duration(done), err
		}
		if _, _, err := sides[i](0, 0); err != nil {
			return d, err
		}
	}
	return interleave("me: "+name, o.rounds, cost, sides)
}

// meFirst compares the requests that find no report that is fresh.
func meFirst(ctx context.Context, both [2]*service, name string, o options) (d duel, err error) {
	const stale = 1100 * time.Millisecond
	var sides [2]side
	for i, s := range both {
		l, err := s.asking(1, mePath)
		if err != nil {
			return d, err
		}
		defer func() { err = errors.Join(err, l.close()) }()
		var last time.Time
		sides[i] = func(int, int) (int, time.Duration, error) {
			select { // until what was reported last is too old to be shown
			case <-ctx.Done():
				return 0, 0, ctx.Err()
			case <-time.After(time.Until(last.Add(stale))):
			}
			begun := time.Now()
			err := l.once(l.conns[0], true)
			last = time.Now()
			return 1, last.Sub(begun), err
		}
	}
	return interleave("me, the first in a second: "+name, o.rounds, cost, sides)
}

// meAdmitted compares the CPU of the service with that of a row that does nothing.
func meAdmitted(s *service, o options) (d duel, err error) {
	l, err := s.asking(meUsers, mePath)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	if _, _, err := l.slice(o.length / slicesOfRound); err != nil {
		return d, err
	}
	bare, err := s.asking(meUsers, fmt.Sprintf("%s?bytes=%d", admissionPath, l.size))
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	var sides [2]side
	for i, l := range []*load{l, bare} {
		sides[i] = func(int, int) (int, time.Duration, error) {
			b := billed{of: []meter{{s.cmd.Process.Pid}}}
			_, _, err := b.bill(func() (int, time.Duration, error) { return l.slice(o.length) }) // long, as time is counted in hundredths
			if err != nil {
				return 0, 0, err
			}
			return b.done, b.used[0], nil
		}
	}
	if _, _, err := sides[1](0, 0); err != nil {
		return d, err
	}
	return interleave("me: CPU beside admission only", o.rounds, cost, sides)
}

// historyDays is over how long the orders of a filled history were made.
const historyDays = 28 // less than the window of attribution, which ends with a running day

// stillOpen is how long ago the oldest order was made that is not yet finished: it
// is how long users have to pay.
const stillOpen = 30 * time.Minute

// fillHistory makes an integrator that made one order just now one that made n in the
// last days, nobody of whom paid: those whose time is over have expired. Only what
// reporting reads is made: the copies have the order's own events, and nothing is
// reserved or watched for them.
func fillHistory(ctx context.Context, address, integrator string, n int) (err error) {
	begun := time.Now()
	db, err := raw(address, 1, "off")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	indexes, err := dropIndexes(ctx, db)
	if err != nil {
		return err
	}
	const step = 1_000_000
	apart := (historyDays * 24 * time.Hour).Microseconds() / int64(n)
	for from := 1; from < n; from += step {
		if _, err := db.ExecContext(ctx, sqlCopyHistory, from, min(n, from+step)-1, integrator, apart, stillOpen.Microseconds()); err != nil {
			return fmt.Errorf("copy orders: %w", err)
		}
		if n > meFew {
			progress("fill: %d of %d orders", min(n, from+step), n)
		}
	}
	for _, text := range append(indexes, "ANALYZE orders") {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%.60q: %w", text, err)
		}
	}
	for _, text := range countHistory {
		if _, err := db.ExecContext(ctx, text, integrator); err != nil {
			return fmt.Errorf("%.60q: %w", text, err)
		}
	}
	progress("fill: %d orders in %.1f s", n, time.Since(begun).Seconds())
	return rest(ctx, db, address)
}

const sqlCopyHistory = `INSERT INTO orders (id, version, state, fee_status, seq, terms_seq, alarm_at, due_at, integrator, created_at, session, key, reference)
SELECT 'ord_' || lpad(CAST(s.n AS TEXT), 26, '0'), t.version, CASE WHEN s.n * CAST($4 AS BIGINT) > CAST($5 AS BIGINT) THEN 'expired' ELSE t.state END,
  t.fee_status, t.seq, t.terms_seq, NULL, NULL, t.integrator, t.created_at - s.n * CAST($4 AS BIGINT), md5(CAST(s.n AS TEXT)), t.key, t.reference
FROM generate_series(CAST($1 AS BIGINT), CAST($2 AS BIGINT)) AS s (n),
  (SELECT * FROM orders WHERE integrator = $3 ORDER BY created_at DESC LIMIT 1) t`

// countHistory makes the counts what they would be had each order been counted.
var countHistory = []string{
	`INSERT INTO open_orders (subject, created_at, order_id) SELECT integrator, created_at, id FROM orders
WHERE integrator = $1 AND state <> 'expired' ON CONFLICT DO NOTHING`,
	`UPDATE tallies SET n = n * (SELECT COUNT(*) FROM orders WHERE integrator = $1) WHERE subject = $1 AND bucket = 0`,
	`INSERT INTO tallies (subject, name, bucket, n) SELECT integrator, 'made.day', created_at / 86400000000, COUNT(*) FROM orders
WHERE integrator = $1 GROUP BY 1, 3 ON CONFLICT (subject, bucket, name) DO UPDATE SET n = excluded.n`,
	`INSERT INTO tallies (subject, name, bucket, n) SELECT integrator, 'ended.expired', 0, COUNT(*) FROM orders
WHERE integrator = $1 AND state = 'expired' GROUP BY 1`,
}

// dropIndexes takes the indexes of orders away while many are added, and says how
// they are made again.
func dropIndexes(ctx context.Context, db *sql.DB) (remake []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'orders' AND indexname <> 'orders_pkey'")
	if err != nil {
		return nil, err
	}
	var drop []string
	for rows.Next() {
		var name, def string
		if err := rows.Scan(&name, &def); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		drop, remake = append(drop, "DROP INDEX "+name), append(remake, def)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	for _, text := range drop {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return remake, nil
}
