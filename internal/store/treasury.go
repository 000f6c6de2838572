package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/settle"
	"ferry/internal/treasury"
)

var (
	_ treasury.Leases = (*DB)(nil)
	_ treasury.Sweeps = (*DB)(nil)
)

const (
	sqlNextIndex    = `SELECT next FROM wallet_next WHERE chain = $1`
	sqlSetNextIndex = `INSERT INTO wallet_next (chain, next) VALUES ($1, $2) ON CONFLICT (chain) DO UPDATE SET next = excluded.next`
	sqlIndexOf      = `SELECT idx FROM wallet_addresses WHERE chain = $1 AND address = $2`
	sqlFree         = `SELECT d.id, d.address, d.family, w.idx, d.amount, d.first_seen, d.sweep_after
FROM deposits d JOIN wallet_addresses w ON w.chain = d.chain AND w.address = d.address
WHERE d.chain = $1 AND d.asset = $2 AND d.swept_by = '' AND d.stage = 'final' AND NOT d.untold
  AND d.sweep_after <= $3 AND d.height <= (SELECT t.final FROM tracks t WHERE t.chain = d.chain)`
	sqlUnswept   = sqlFree + ` ORDER BY LENGTH(d.amount) DESC, d.amount DESC, d.id DESC LIMIT CAST($4 AS BIGINT)`
	sqlUnsweptAt = sqlFree + ` AND d.height >= 0 AND d.address = $4 ORDER BY d.id`
	sqlAwaited   = `SELECT 1 FROM work WHERE why = $1 AND why <> '' LIMIT 1`
	sqlSweeping  = `SELECT COUNT(*) FROM transfers WHERE chain = $1 AND account = $2 AND (open OR vigil) AND sweep = $3`
	sqlSweepOf   = `SELECT address, asset, amount, swept_by FROM deposits WHERE id = $1 AND stage = 'final' AND NOT untold`
	sqlMark      = `UPDATE deposits SET swept_by = $1 WHERE id = $2`
	sqlUnmark    = `UPDATE deposits SET swept_by = '', sweep_after = $1 WHERE id = $2 AND swept_by = $3`
)

var newWalletAddresses = inserts(`INSERT INTO wallet_addresses (chain, idx, address)`, "tnt", "")

// maxIndex is how far the indices of keys go that are not hardened.
const maxIndex = math.MaxInt32

// LeaseAddresses implements treasury.Leases.
func (db *DB) LeaseAddresses(ctx context.Context, id chain.ID, n uint32) (first uint32, err error) {
	_, err = db.takeIndices(ctx, id, n, &first)
	return first, err
}

// SkipAddresses leaves out the next n deposit addresses of a chain, and says with
// which it goes on. After a restore from an old backup those that follow it may have
// been given out already, to orders that nobody knows any more.
func (db *DB) SkipAddresses(ctx context.Context, id chain.ID, n uint32) (next uint32, err error) {
	return db.takeIndices(ctx, id, n, new(uint32))
}

func (db *DB) takeIndices(ctx context.Context, id chain.ID, n uint32, first *uint32) (next uint32, err error) {
	if id == "" || n == 0 {
		return 0, fmt.Errorf("%d addresses of chain %q can not be leased", n, id)
	}
	err = db.writer.do(ctx, &op{run: func(t *tx) error {
		var from int64
		if err := t.read(ask(func(r row) error { return r.Scan(&from) }, sqlNextIndex, string(id))); err != nil {
			return err
		}
		if from < 0 || from+int64(n) > maxIndex {
			return fmt.Errorf("%d addresses from %d on are more than a wallet has", n, from)
		}
		t.write(sqlSetNextIndex, string(id), from+int64(n))
		*first, next = uint32(from), uint32(from)+n
		return nil
	}})
	if err != nil {
		return 0, fmt.Errorf("addresses of %s: %w", id, err)
	}
	return next, nil
}

// KeepAddresses implements treasury.Leases.
func (db *DB) KeepAddresses(ctx context.Context, id chain.ID, first uint32, all []chain.Address) error {
	var rows []any
	for i, a := range all {
		if a.IsZero() {
			return fmt.Errorf("address %d of %s is none", first+uint32(i), id)
		}
		rows = append(rows, string(id), int64(first)+int64(i), a.Text())
	}
	err := db.writer.do(ctx, &op{run: func(t *tx) error {
		var next int64
		if err := t.read(ask(func(r row) error { return r.Scan(&next) }, sqlNextIndex, string(id))); err != nil {
			return err
		}
		if next < int64(first)+int64(len(all)) {
			return fmt.Errorf("only those before %d were leased", next)
		}
		t.queue, t.wrote = append(t.queue, stmt{many: newWalletAddresses, args: rows}), true
		return nil
	}})
	if err != nil {
		return fmt.Errorf("%d addresses of %s from %d on: %w", len(all), id, first, err)
	}
	return nil
}

// AddressIndex is the index of a deposit address of ours; false if it is none.
func (db *DB) AddressIndex(ctx context.Context, id chain.ID, a chain.Address) (index uint32, known bool, err error) {
	err = db.engine.read(ctx, ask(func(r row) error {
		var n int64
		err := r.Scan(&n)
		index, known = uint32(n), true
		return err
	}, sqlIndexOf, string(id), a.Text()))
	if err != nil {
		return 0, false, fmt.Errorf("address %s of %s: %w", a.Text(), id, err)
	}
	return index, known, nil
}

// Unswept implements treasury.Sweeps.
func (db *DB) Unswept(ctx context.Context, a chain.Asset, n int, now time.Time) (found []treasury.Lying, err error) {
	err = db.engine.read(ctx, collect(&found, scanLying, sqlUnswept, string(a.Chain), a.String(), micro(now), int64(n)))
	if err != nil {
		return nil, fmt.Errorf("deposits of %s to be swept: %w", a, err)
	}
	return found, nil
}

// UnsweptAt implements treasury.Sweeps.
func (db *DB) UnsweptAt(ctx context.Context, a chain.Asset, on []chain.Address, now time.Time) (found []treasury.Lying, err error) {
	ss := make([]stmt, 0, len(on))
	for _, at := range on {
		ss = append(ss, collect(&found, scanLying, sqlUnsweptAt, string(a.Chain), a.String(), micro(now), at.Text()))
	}
	if err := db.engine.read(ctx, ss...); err != nil {
		return nil, fmt.Errorf("deposits of %s on %d addresses: %w", a, len(on), err)
	}
	return found, nil
}

// Awaited implements treasury.Sweeps.
func (db *DB) Awaited(ctx context.Context, a chain.Asset) (waits bool, err error) {
	err = db.engine.read(ctx, ask(func(row) error { waits = true; return nil }, sqlAwaited, settle.NotHome(a)))
	if err != nil {
		return false, fmt.Errorf("whether %s is waited for: %w", a, err)
	}
	return waits, nil
}

func scanLying(r row) (l treasury.Lying, err error) {
	var address, family, amount string
	var index, since, after int64
	if err := r.Scan((*string)(&l.ID), &address, &family, &index, &amount, &since, &after); err != nil {
		return l, err
	}
	l.Address, l.Index, l.Since = chain.CanonicalAddress(chain.Family(family), address), uint32(index), unmicro(since)
	if after > 0 {
		l.After = unmicro(after)
	}
	l.Amount, err = money.Parse(amount)
	return l, err
}

// Sweeping implements treasury.Sweeps.
func (db *DB) Sweeping(ctx context.Context, a chain.Asset, from chain.Account) (n int, err error) {
	if err = db.engine.read(ctx, ask(func(r row) error { return r.Scan(&n) }, sqlSweeping, string(a.Chain), string(from), a.String())); err != nil {
		return 0, fmt.Errorf("sweeps of %s: %w", a, err)
	}
	return n, nil
}

// Sweep implements treasury.Sweeps. What it brings home stays ours, so no cap counts it.
func (db *DB) Sweep(ctx context.Context, w send.Transfer, now time.Time) error {
	if w.ID == "" || len(w.Call.Sources) == 0 || w.Order != "" || !w.GiveUp.IsZero() {
		// One that is given up could only be cancelled by spending what it was to bring home.
		return fmt.Errorf("transfer %q is no sweep: it has sources, no order, and is never given up", w.ID)
	}
	doc, err := writeDoc(transferToRow(w))
	if err != nil {
		return fmt.Errorf("transfer %s: %w", w.ID, err)
	}
	return db.writer.do(ctx, &op{run: func(t *tx) error {
		var k keptTransfer
		ss, check := free(w)
		if err := t.read(append(ss, k.question(w.ID))...); err != nil {
			return fmt.Errorf("transfer %s: %w", w.ID, err)
		}
		if k.there {
			return fmt.Errorf("transfer %s: %w", w.ID, send.ErrDiffers)
		}
		if err := check(); err != nil {
			return err
		}
		t.write(sqlNewTransfer, string(w.ID), string(w.Call.Chain), string(w.Call.From), "", micro(w.WishedAt), doc, w.Call.Asset.String())
		for _, s := range w.Call.Sources {
			for _, d := range s.Deposits {
				t.write(sqlMark, string(w.ID), string(d))
			}
		}
		return nil
	}})
}

// free asks for the deposits of a sweep; check, after the answers, says treasury.ErrStale
// unless all of them are free and are what the sweep says.
func free(w send.Transfer) (ss []stmt, check func() error) {
	left := map[chain.DepositID]money.Amount{}
	for _, s := range w.Call.Sources {
		for _, d := range s.Deposits {
			ss = append(ss, ask(func(r row) error {
				var address, asset, amount, by string
				if err := r.Scan(&address, &asset, &amount, &by); err != nil {
					return err
				}
				n, err := money.Parse(amount)
				if by == "" && address == s.Address.Text() && asset == w.Call.Asset.String() {
					left[d] = n
				}
				return err
			}, sqlSweepOf, string(d)))
		}
	}
	return ss, func() error {
		var all money.Amount
		for _, s := range w.Call.Sources {
			var sum money.Amount
			for _, d := range s.Deposits {
				n, ok := left[d]
				if !ok {
					return fmt.Errorf("transfer %s: deposit %s: %w", w.ID, d, treasury.ErrStale)
				}
				delete(left, d) // named twice it would be brought home twice
				var err error
				if sum, err = sum.Add(n); err != nil {
					return err
				}
			}
			if sum != s.Amount || sum.IsZero() {
				return fmt.Errorf("transfer %s: %s lies on address %d, not %s: %w", w.ID, sum, s.Index, s.Amount, treasury.ErrStale)
			}
			var err error
			if all, err = all.Add(sum); err != nil {
				return err
			}
		}
		if all != w.Call.Amount {
			return fmt.Errorf("transfer %s of %s has sources of %s", w.ID, w.Call.Amount, all)
		}
		return nil
	}
}

// swept books a sweep that ended, and lets its deposits go where it did not bring
// them home.
func (t *tx) swept(w send.Transfer, r send.Result, now time.Time) error {
	var e ledger.Entry
	e.Postings = cost(e.Postings, w.Call.Chain, money.Amount{}, r.Cost)
	if r.Fate == chain.Final {
		e.Postings = append([]ledger.Posting{homecoming(w)}, e.Postings...)
	}
	if err := t.enter(e, string(w.ID), now); err != nil {
		return err
	}
	if r.Fate != chain.Final {
		t.unmark(w, now)
	}
	return nil
}

// resweep books a sweep anew that landed again.
func (t *tx) resweep(a rested, now time.Time) error {
	var e ledger.Entry
	home := homecoming(a.wish)
	switch was, is := a.was.Fate == chain.Final, a.now.Fate == chain.Final; {
	case is && !was:
		e.Postings = append(e.Postings, home)
	case was && !is:
		home.Debit, home.Credit = home.Credit, home.Debit
		e.Postings = append(e.Postings, home)
	}
	e.Postings = cost(e.Postings, a.wish.Call.Chain, a.was.Cost, a.now.Cost)
	if err := t.enter(e, string(a.wish.ID), now); err != nil {
		return err
	}
	switch a.now.Fate {
	case a.was.Fate:
	case chain.Final:
		for _, s := range a.wish.Call.Sources {
			for _, d := range s.Deposits {
				t.write(sqlMark, string(a.wish.ID), string(d))
			}
		}
	default:
		t.unmark(a.wish, now)
	}
	return nil
}

// unmark lets the deposits of a sweep go, but for those that another brings home.
func (t *tx) unmark(w send.Transfer, now time.Time) {
	for _, s := range w.Call.Sources {
		for _, d := range s.Deposits {
			t.write(sqlUnmark, micro(now.Add(treasury.Pause)), string(d), string(w.ID))
		}
	}
}

// homecoming is what a sweep does to the books. Where the fee comes out of what is
// brought, it is the same: all of it comes home, and the fee goes.
func homecoming(w send.Transfer) ledger.Posting {
	id := w.Call.Chain
	return ledger.Posting{Debit: ledger.Hot(id), Credit: ledger.Deposits(id), Asset: w.Call.Asset, Amount: w.Call.Amount}
}

// cost adds what a chain took for a transaction, where another amount was booked before.
func cost(ps []ledger.Posting, id chain.ID, was, is money.Amount) []ledger.Posting {
	switch {
	case was.Less(is):
		return append(ps, ledger.Posting{Debit: ledger.NetworkFee, Credit: ledger.Hot(id), Asset: id.Native(), Amount: is.Less0(was)})
	case is.Less(was):
		return append(ps, ledger.Posting{Debit: ledger.Hot(id), Credit: ledger.NetworkFee, Asset: id.Native(), Amount: was.Less0(is)})
	}
	return ps
}
