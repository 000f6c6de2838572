package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"ferry/internal/money"
)

// pattern is the order that all others of a filled database are copies of. Its
// number is above theirs, and it goes when they are there.
const pattern = 999_999_999_999

// series is a table of the numbers from $1 below $2, in each engine's words, and
// padded is such a number as orderID writes it.
const (
	seriesSQLite   = `(WITH RECURSIVE s (n) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT n + 1 FROM s WHERE n + 1 < CAST($2 AS BIGINT)) SELECT n FROM s)`
	seriesPostgres = `(SELECT n FROM generate_series(CAST($1 AS BIGINT), CAST($2 AS BIGINT) - 1) AS g (n))`
	paddedSQLite   = `printf('%012d', s.n)`
	paddedPostgres = `lpad(CAST(s.n AS TEXT), 12, '0')`
)

// copies are the statements that copy the pattern's rows. OWN(x) is x with the
// copy's number in the place of the pattern's.
var copies = []string{
	`INSERT INTO orders (id, version, state, fee_status, seq, terms_seq, alarm_at, due_at, integrator, created_at)
SELECT OWN(t.id), t.version, t.state, t.fee_status, t.seq + 1 + s.n, t.terms_seq + 1 + s.n, t.alarm_at + s.n, t.due_at + s.n, t.integrator,
  t.created_at + s.n FROM SERIES s, orders t WHERE t.id = $3`,
	`INSERT INTO order_events (seq, order_id, key, version, at, name, from_state, to_state, doc, after, terms)
SELECT t.seq + 1 + s.n, OWN(t.order_id), t.key, t.version, t.at + s.n, t.name, t.from_state, t.to_state, t.doc, OWN(t.after), OWN(t.terms)
FROM SERIES s, order_events t WHERE t.order_id = $3`,
	`INSERT INTO addresses (chain, address, family, order_id, seq)
SELECT t.chain, OWN(t.address), t.family, OWN(t.order_id), t.seq + 1 + s.n FROM SERIES s, addresses t WHERE t.order_id = $3`,
	`INSERT INTO reservations (name, account, asset, amount)
SELECT OWN(t.name), t.account, t.asset, t.amount FROM SERIES s, reservations t WHERE t.name = $3 || '/payout'`,
}

// fillStep is how many orders one transaction adds.
const fillStep = 50_000

// fill puts n orders into an empty database: one is made as every order is, and
// its rows are copied. The books are those of n orders.
func fill(ctx context.Context, address string, n int, now time.Time) (err error) {
	begun := time.Now()
	reserved, err := makePattern(ctx, address, now)
	if err != nil {
		return err
	}
	db, err := raw(address, 1, "off")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for from := 0; from < n; from += fillStep {
		if err := fillFrom(ctx, db, from, min(n, from+fillStep), strings.HasPrefix(address, "sqlite:")); err != nil {
			return err
		}
		if (from/fillStep)%5 == 4 {
			progress("fill: %d of %d orders", from+fillStep, n)
		}
	}
	if err := settleBooks(ctx, db, n, reserved); err != nil {
		return err
	}
	if err := rest(ctx, db, address); err != nil {
		return err
	}
	if n > fewOrders {
		progress("fill: %d orders in %.1f s", n, time.Since(begun).Seconds())
	}
	return nil
}

// makePattern makes the order to copy, and says what it reserved.
func makePattern(ctx context.Context, address string, now time.Time) (reserved money.Amount, err error) {
	s, err := open(ctx, address)
	if err != nil {
		return reserved, err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	if err := s.stock(ctx, now); err != nil {
		return reserved, err
	}
	o, err := s.settler.Create(ctx, ask(orderID(pattern), now), now)
	if err != nil {
		return reserved, err
	}
	_, reserved, err = o.Quote.Reserve()
	return reserved, err
}

func fillFrom(ctx context.Context, db *sql.DB, from, to int, sqlite bool) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	for _, text := range copies {
		if _, err := tx.ExecContext(ctx, inWordsOf(text, sqlite), from, to, string(orderID(pattern))); err != nil {
			return fmt.Errorf("%.40q: %w", text, err)
		}
	}
	return tx.Commit()
}

// inWordsOf writes a statement of copies in an engine's words.
func inWordsOf(text string, sqlite bool) string {
	series, padded := seriesPostgres, paddedPostgres
	if sqlite {
		series, padded = seriesSQLite, paddedSQLite
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(strings.ReplaceAll(text, "SERIES", series), "OWN(")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		column, rest, _ := strings.Cut(after, ")")
		fmt.Fprintf(&b, "replace(%s, '%012d', %s)", column, pattern, padded)
		text = rest
	}
}

// settleBooks takes the pattern away and makes the balance that of n orders.
func settleBooks(ctx context.Context, db *sql.DB, n int, reserved money.Amount) error {
	all, err := reserved.MulDiv(money.FromUint64(uint64(n)), money.FromUint64(1), money.Down)
	if err != nil {
		return err
	}
	id := string(orderID(pattern))
	for _, s := range []struct {
		text string
		args []any
	}{
		{"DELETE FROM orders WHERE id = $1", []any{id}},
		{"DELETE FROM order_events WHERE order_id = $1", []any{id}},
		{"DELETE FROM addresses WHERE order_id = $1", []any{id}},
		{"DELETE FROM reservations WHERE name = $1", []any{id + "/payout"}},
		{"UPDATE balances SET reserved = $1, version = version + 1 WHERE reserved <> '0'", []any{all.String()}},
	} {
		if _, err := db.ExecContext(ctx, s.text, s.args...); err != nil {
			return fmt.Errorf("%.40q: %w", s.text, err)
		}
	}
	return nil
}

// rest lets the engine learn how large its tables are, and puts everything on the
// disk, so that none of the filling is left to be paid for in a round.
func rest(ctx context.Context, db *sql.DB, address string) error {
	path, sqlite := strings.CutPrefix(address, "sqlite:")
	statements := []string{"VACUUM ANALYZE", "CHECKPOINT"}
	if sqlite {
		statements = []string{"ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"}
	}
	for _, text := range statements {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	if !sqlite {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
