package store

import (
	"context"
	"fmt"
	"slices"

	"ferry/internal/chain"
	"ferry/internal/send"
)

const (
	attemptColumns = `COALESCE(a.n, 0), COALESCE(a.tx, ''), COALESCE(a.raw, ''), COALESCE(a.slots, ''), COALESCE(a.cancel, FALSE),
  COALESCE(a.dead, FALSE), COALESCE(a.fee, ''), COALESCE(a.expires, ''), COALESCE(a.at, 0)`
	sqlLive = `SELECT t.id, t.vigil, t.tx, t.doc, ` + attemptColumns + `
FROM transfers t LEFT JOIN attempts a ON a.transfer = t.id
WHERE t.chain = $1 AND t.account = $2 AND (t.open OR t.vigil) ORDER BY t.wished_at, t.id, a.n`
	sqlHeld = `SELECT s.slot FROM transfers t JOIN slots s ON s.transfer = t.id
WHERE t.chain = $1 AND t.account = $2 AND (t.open OR t.vigil) ORDER BY s.slot`
	sqlAttempts   = `SELECT n, tx, raw, slots, cancel, dead, fee, expires, at FROM attempts WHERE transfer = $1 ORDER BY n`
	sqlSlotOwner  = `SELECT transfer FROM slots WHERE chain = $1 AND slot = $2`
	sqlTxOwner    = `SELECT transfer FROM attempts WHERE chain = $1 AND tx = $2`
	sqlNewAttempt = `INSERT INTO attempts (transfer, n, chain, tx, raw, slots, cancel, dead, fee, expires, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	sqlNewSlot = `INSERT INTO slots (chain, slot, transfer, account, spent) VALUES ($1, $2, $3, $4, FALSE)`
	sqlBury    = `UPDATE attempts SET dead = TRUE WHERE transfer = $1 AND n = $2`
)

// Live implements send.Store. Transfers and attempts come in one question, so
// that they are of one moment.
func (db *DB) Live(ctx context.Context, id chain.ID, from chain.Account) ([]send.Job, error) {
	var jobs []send.Job
	err := db.engine.read(ctx, ask(func(r row) error {
		var transfer, tx, doc string
		var vigil bool
		k, there, err := scanAttempt(r, &transfer, &vigil, &tx, &doc)
		if err != nil {
			return fmt.Errorf("transfer %s: %w", transfer, err)
		}
		if n := len(jobs); n == 0 || jobs[n-1].Transfer.ID != send.ID(transfer) {
			w, err := transferFromDoc(doc)
			if err != nil {
				return err
			}
			jobs = append(jobs, send.Job{Transfer: w, Vigil: vigil, Tx: chain.TxID(tx)})
		}
		if there {
			job := &jobs[len(jobs)-1]
			job.Attempts = append(job.Attempts, k)
		}
		return nil
	}, sqlLive, string(id), string(from)))
	if err != nil {
		return nil, fmt.Errorf("live transfers of %s on %s: %w", from, id, err)
	}
	return jobs, nil
}

// scanAttempt reads the columns of an attempt; numbers start at 1, so 0 is none.
func scanAttempt(r row, before ...any) (k send.Kept, there bool, err error) {
	var a attemptRow
	if err = r.Scan(append(before, &a.n, &a.tx, &a.raw, &a.slots, &a.cancel, &a.dead, &a.fee, &a.expires, &a.at)...); err != nil || a.n == 0 {
		return k, false, err
	}
	k, err = a.kept()
	return k, true, err
}

// Held implements send.Store. The slots of a vigil are held too: the chain may
// show them free again while its bytes are still to land in them.
func (db *DB) Held(ctx context.Context, id chain.ID, from chain.Account) ([]chain.Slot, error) {
	var slots []chain.Slot
	err := db.engine.read(ctx, ask(func(r row) error {
		var s string
		err := r.Scan(&s)
		slots = append(slots, chain.Slot(s))
		return err
	}, sqlHeld, string(id), string(from)))
	if err != nil {
		return nil, fmt.Errorf("held slots of %s on %s: %w", from, id, err)
	}
	return slots, nil
}

// Keep implements send.Store.
func (db *DB) Keep(ctx context.Context, id send.ID, k send.Kept) error {
	r, err := attemptToRow(k)
	if err != nil {
		return fmt.Errorf("transfer %s: %w", id, err)
	}
	var on string // the transfer's chain never changes, so it may be read ahead
	if err := db.engine.read(ctx, ask(func(r row) error {
		return r.Scan(new(bool), new(bool), &on, new(string), new(string), new(string), new(string))
	}, sqlTransfer, string(id))); err != nil {
		return fmt.Errorf("transfer %s: %w", id, err)
	}
	return db.writer.do(ctx, &op{run: func(t *tx) error { return t.keep(id, on, k, r) }})
}

func (t *tx) keep(id send.ID, on string, k send.Kept, r attemptRow) error {
	var w keptTransfer
	var before []send.Kept
	var rival string // another transfer that signed the very same transaction
	owners := map[chain.Slot]string{}
	ss := []stmt{
		w.question(id),
		ask(func(r row) error {
			a, _, err := scanAttempt(r)
			before = append(before, a)
			return err
		}, sqlAttempts, string(id)),
		ask(func(r row) error { return r.Scan(&rival) }, sqlTxOwner, on, r.tx),
	}
	for _, slot := range k.Slots {
		ss = append(ss, ask(func(r row) error {
			var owner string
			err := r.Scan(&owner)
			owners[slot] = owner
			return err
		}, sqlSlotOwner, on, string(slot)))
	}
	if err := t.read(ss...); err != nil {
		return fmt.Errorf("transfer %s: %w", id, err)
	}
	switch {
	case !w.there || !w.open:
		return fmt.Errorf("transfer %s is not open: %w", id, send.ErrStale)
	case k.N != len(before)+1:
		return fmt.Errorf("transfer %s has %d attempts, this is number %d: %w", id, len(before), k.N, send.ErrStale)
	case rival != "":
		return fmt.Errorf("transfer %s: transaction %s is an attempt of %s: %w", id, k.Tx, rival, send.ErrSlotTaken)
	}
	for slot, owner := range owners {
		if owner != string(id) {
			return fmt.Errorf("transfer %s: slot %s belongs to %s: %w", id, slot, owner, send.ErrSlotTaken)
		}
	}
	for _, a := range before {
		if !a.Dead && !shareSlot(a.Slots, k.Slots) {
			return fmt.Errorf("transfer %s: attempt %d could land beside attempt %d: %w", id, a.N, k.N, send.ErrLive)
		}
	}
	t.write(sqlNewAttempt, string(id), r.n, w.chain, r.tx, r.raw, r.slots, r.cancel, r.dead, r.fee, r.expires, r.at)
	for _, slot := range k.Slots {
		if owners[slot] == "" {
			owners[slot] = string(id)
			t.write(sqlNewSlot, w.chain, string(slot), string(id), w.account)
		}
	}
	return nil
}

// shareSlot reports whether two attempts use up one thing between them, so that
// only one of them can land.
func shareSlot(a, b []chain.Slot) bool {
	return slices.ContainsFunc(a, func(s chain.Slot) bool { return slices.Contains(b, s) })
}

// Bury implements send.Store.
func (db *DB) Bury(ctx context.Context, id send.ID, n int) error {
	return db.writer.do(ctx, &op{run: func(t *tx) error {
		there := false
		err := t.read(ask(func(r row) error {
			a, _, err := scanAttempt(r)
			there = there || a.N == n
			return err
		}, sqlAttempts, string(id)))
		if err != nil {
			return fmt.Errorf("transfer %s: %w", id, err)
		}
		if !there {
			return fmt.Errorf("transfer %s has no attempt %d: %w", id, n, send.ErrStale)
		}
		t.write(sqlBury, string(id), int64(n))
		return nil
	}})
}
