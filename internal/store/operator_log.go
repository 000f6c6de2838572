package store

import (
	"context"
	"fmt"

	"ferry/internal/office"
)

const (
	sqlLogHead  = `SELECT seq, sum FROM operator_heads WHERE id = 1`
	sqlLogEntry = `INSERT INTO operator_log (` + entryColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	sqlLogMoved = `UPDATE operator_heads SET seq = $1, sum = $2 WHERE id = 1`
	sqlLogAfter = `SELECT ` + entryColumns + ` FROM operator_log WHERE seq > $1 ORDER BY seq LIMIT CAST($2 AS BIGINT)`
	sqlLogOfAll = `SELECT ` + entryColumns + ` FROM operator_log ORDER BY seq`
)

// logHead is where the operators' log ends.
type logHead struct{ office.Verdict }

func (h *logHead) question() stmt {
	return ask(func(r row) error {
		var sum string
		if err := r.Scan(&h.Entries, &sum); err != nil {
			return err
		}
		head, err := parseDigest(sum)
		if err != nil {
			return fmt.Errorf("%w: its end: %w", office.ErrBroken, err)
		}
		h.Head = head
		return nil
	}, sqlLogHead)
}

// logged puts an entry at the end of the operators' log.
func (t *tx) logged(h logHead, e office.Entry) {
	e = e.Seal(h.Entries+1, h.Head)
	t.write(sqlLogEntry, e.Seq, micro(e.At), e.By, e.Action, e.Target, e.Before, e.After, e.Prev.String(), e.Sum.String())
	t.write(sqlLogMoved, e.Seq, e.Sum.String())
}

// Log implements office.Store.
func (db *DB) Log(ctx context.Context, after int64, n int) ([]office.Entry, error) {
	var found []office.Entry
	if err := db.engine.read(ctx, collect(&found, scanEntry, sqlLogAfter, after, int64(n))); err != nil {
		return nil, fmt.Errorf("operators' log after %d: %w", after, err)
	}
	return found, nil
}

// VerifyAudit implements office.Store. It reads the whole log at one moment, row by
// row, and is not for the way of an order.
func (db *DB) VerifyAudit(ctx context.Context) (office.Verdict, error) {
	var v office.Verifier
	var head logHead
	err := db.engine.read(ctx, head.question(), ask(func(r row) error {
		e, err := scanEntry(r)
		if err != nil {
			return err
		}
		return v.Next(e)
	}, sqlLogOfAll))
	if err != nil {
		return office.Verdict{}, fmt.Errorf("operators' log: %w", err)
	}
	return v.End(head.Verdict)
}
