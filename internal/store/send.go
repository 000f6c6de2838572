package store

import (
	"context"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

var _ send.Store = (*DB)(nil)

const (
	sqlTransfer    = `SELECT open, vigil, chain, account, fate, tx, doc FROM transfers WHERE id = $1`
	sqlNewTransfer = `INSERT INTO transfers (id, chain, account, order_id, open, vigil, landed_height, fate, tx, wished_at, doc, result, sweep)
VALUES ($1, $2, $3, $4, TRUE, FALSE, -1, '', '', $5, $6, '', $7)`
	sqlOutflows   = `SELECT minute, usd FROM outflows WHERE chain = $1 AND minute >= $2`
	sqlSetOutflow = `INSERT INTO outflows (chain, minute, usd) VALUES ($1, $2, $3)
ON CONFLICT (chain, minute) DO UPDATE SET usd = excluded.usd`
	sqlForgetOutflows = `DELETE FROM outflows WHERE chain = $1 AND minute < $2`
	sqlCloseTransfer  = `UPDATE transfers SET open = FALSE, fate = $1, tx = $2, landed_height = $3, result = $4 WHERE id = $5`
	sqlNewClosed      = `INSERT INTO work (id, order_id, kind, due_at, leased_until, tries, why, doc, transfer) VALUES ($1, $2, $3, $4, 0, 0, '', $5, $6)`
	sqlSpendSlots     = `UPDATE slots SET spent = TRUE WHERE transfer = $1`
	sqlRest           = `UPDATE transfers SET vigil = FALSE, landed_height = $1 WHERE id = $2`
	sqlResult         = `SELECT result FROM transfers WHERE id = $1`
	sqlSetResult      = `UPDATE transfers SET result = $1, fate = $2 WHERE id = $3`
	sqlHalted         = `SELECT why FROM halts WHERE chain = $1`
)

// capMinutes is the hour that a cap speaks of.
const capMinutes = 60

// keptTransfer is a transfer as its row has it.
type keptTransfer struct {
	there, open, vigil bool
	chain, account     string
	fate, tx, doc      string
}

func (k *keptTransfer) question(id send.ID) stmt {
	return ask(func(r row) error {
		k.there = true
		return r.Scan(&k.open, &k.vigil, &k.chain, &k.account, &k.fate, &k.tx, &k.doc)
	}, sqlTransfer, string(id))
}

// Wish implements send.Store and settle.Store.
func (db *DB) Wish(ctx context.Context, w send.Transfer, cap send.Cap, now time.Time) error {
	doc, err := writeDoc(transferToRow(w))
	if err != nil {
		return fmt.Errorf("transfer %s: %w", w.ID, err)
	}
	if w.ID == "" || w.Call.Chain == "" || w.USD < 0 {
		return fmt.Errorf("transfer %q on %q of %s dollars can not be kept", w.ID, w.Call.Chain, w.USD)
	}
	if len(w.Call.Sources) > 0 {
		return fmt.Errorf("transfer %s: deposits are brought home by Sweep, which marks them", w.ID)
	}
	return db.writer.do(ctx, &op{run: func(t *tx) error {
		var k keptTransfer
		minute := now.Unix() / 60
		var sum, current money.USD
		err := t.read(k.question(w.ID), ask(func(r row) error {
			var m, usd int64
			err := r.Scan(&m, &usd)
			sum = sum.PlusCapped(money.USD(usd))
			if m == minute {
				current = money.USD(usd)
			}
			return err
		}, sqlOutflows, string(w.Call.Chain), minute-capMinutes))
		if err != nil {
			return fmt.Errorf("transfer %s: %w", w.ID, err)
		}
		if k.there {
			return sameWish(k, w)
		}
		// No cap is no leave to send, not leave without end.
		if cap.PerHour <= 0 || sum.PlusCapped(w.USD) > cap.PerHour {
			return fmt.Errorf("transfer %s of %s dollars on top of %s this hour, %s allowed: %w", w.ID, w.USD, sum, cap.PerHour, send.ErrCapped)
		}
		t.write(sqlNewTransfer, string(w.ID), string(w.Call.Chain), string(w.Call.From), w.Order, micro(w.WishedAt), doc, "")
		t.write(sqlSetOutflow, string(w.Call.Chain), minute, int64(current.PlusCapped(w.USD)))
		t.write(sqlForgetOutflows, string(w.Call.Chain), minute-2*capMinutes)
		return nil
	}})
}

func sameWish(k keptTransfer, w send.Transfer) error {
	old, err := transferFromDoc(k.doc)
	if err != nil {
		return err
	}
	if !old.Call.Same(w.Call) || old.Order != w.Order {
		return fmt.Errorf("transfer %s: %w", w.ID, send.ErrDiffers)
	}
	return nil
}

// countLive counts the attempts of a transfer that are not proven dead.
func countLive(id send.ID, n *int) stmt {
	return ask(func(r row) error {
		a, _, err := scanAttempt(r)
		if !a.Dead {
			*n++
		}
		return err
	}, sqlAttempts, string(id))
}

// End implements send.Store.
func (db *DB) End(ctx context.Context, id send.ID, r send.Result, now time.Time) error {
	row := resultToRow(r)
	doc, err := writeDoc(workRow{V: docVersion, Transfer: string(id), Result: &row})
	if err != nil {
		return fmt.Errorf("transfer %s: %w", id, err)
	}
	if !r.Fate.Settled() {
		return fmt.Errorf("transfer %s can not end as %s", id, r.Fate)
	}
	landed, err := height(r.Block.Height)
	if err != nil {
		return fmt.Errorf("transfer %s: %w", id, err)
	}
	if r.Block.IsZero() {
		landed = noBlock
	}
	return db.writer.do(ctx, &op{run: func(t *tx) error {
		var k keptTransfer
		mayLand := 0
		if err := t.read(k.question(id), countLive(id, &mayLand)); err != nil {
			return fmt.Errorf("transfer %s: %w", id, err)
		}
		if !k.there {
			return fmt.Errorf("transfer %s is not known: %w", id, send.ErrStale)
		}
		if k.open && r.Fate == chain.Dead && r.Tx == "" && mayLand > 0 {
			// Whoever gave it up did not know of an attempt that another worker kept.
			return fmt.Errorf("transfer %s has %d attempts that may land: %w", id, mayLand, send.ErrStale)
		}
		if !k.open {
			// Paid by another transaction is another ending: it would be paid twice.
			if k.fate != r.Fate.String() || (r.Fate == chain.Final && k.tx != string(r.Tx)) {
				return fmt.Errorf("transfer %s ended as %s by %s, not as %s by %s: %w", id, k.fate, k.tx, r.Fate, r.Tx, send.ErrDiffers)
			}
			return nil
		}
		w, err := transferFromDoc(k.doc)
		if err != nil {
			return err
		}
		if len(w.Call.Sources) > 0 {
			if err := t.swept(w, r, now); err != nil {
				return err
			}
		}
		t.write(sqlCloseTransfer, r.Fate.String(), string(r.Tx), landed, doc, string(id))
		t.write(sqlSpendSlots, string(id))
		if len(w.Call.Sources) > 0 {
			return nil // nobody waits for it
		}
		t.write(sqlNewClosed, workClosed+"/"+string(id), w.Order, workClosed, micro(now), doc, string(id))
		return nil
	}})
}

// Rest implements send.Store.
func (db *DB) Rest(ctx context.Context, id send.ID, again chain.Status, now time.Time) error {
	landed, err := height(again.Block.Height)
	if err != nil {
		return fmt.Errorf("transfer %s: %w", id, err)
	}
	if again.Block.IsZero() {
		return fmt.Errorf("transfer %s can not rest in no block", id)
	}
	return db.writer.do(ctx, &op{run: func(t *tx) error {
		var k keptTransfer
		var ended string
		result := ask(func(r row) error { return r.Scan(&ended) }, sqlResult, string(id))
		if err := t.read(k.question(id), result); err != nil {
			return fmt.Errorf("transfer %s: %w", id, err)
		}
		if !k.there || k.open {
			return fmt.Errorf("transfer %s has not ended: %w", id, send.ErrStale)
		}
		if !k.vigil {
			return nil
		}
		return t.landedAgain(id, k, ended, landed, again, now)
	}})
}

// Halted implements send.Store and settle.Store.
func (db *DB) Halted(ctx context.Context, id chain.ID) (why string, err error) {
	if err = db.engine.read(ctx, ask(func(r row) error { return r.Scan(&why) }, sqlHalted, string(id))); err != nil {
		return "", fmt.Errorf("chain %s: %w", id, err)
	}
	return why, nil
}
