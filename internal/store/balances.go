package store

import (
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
)

const (
	sqlBalance     = `SELECT version, debits, credits, reserved FROM balances WHERE account = $1 AND asset = $2`
	sqlReservation = `SELECT r.name, r.account, r.asset, r.amount, b.version, b.debits, b.credits, b.reserved
FROM reservations r JOIN balances b ON b.account = r.account AND b.asset = r.asset WHERE r.name`
)

var reservationsAmong = among(sqlReservation)

// entry is one in the books. What a fresh order reserves has its own name, so that
// nobody needs to ask whether it is there.
type entry struct {
	ledger.Entry
	fresh bool
}

// missing are the questions for the balances and reservations that the entries
// touch and that nobody has read yet.
func (t *tx) missing(entries []entry) []stmt {
	var ss []stmt
	var names []any
	key := func(k ledger.Key) {
		if t.loaded[k] {
			return
		}
		t.loaded[k] = true
		if kept, ok := t.memo.balances[k]; ok {
			t.books.Balances[k], t.versions[k] = kept.balance, kept.version
			t.assumed, t.memo.used = true, true
			return
		}
		ss = append(ss, ask(func(r row) error {
			var version int64
			b, err := scanBalance(r, &version)
			t.books.Balances[k], t.versions[k] = b, version
			return err
		}, sqlBalance, string(k.Account), k.Asset.String()))
	}
	name := func(n string) {
		if t.asked[n] {
			return
		}
		t.asked[n] = true
		names = append(names, n)
	}
	for _, e := range entries {
		for _, p := range e.Postings {
			key(ledger.Key{Account: p.Debit, Asset: p.Asset})
			key(ledger.Key{Account: p.Credit, Asset: p.Asset})
		}
		for _, n := range e.Voids {
			name(n)
		}
		for _, r := range e.Reserve {
			if !e.fresh {
				name(r.Name)
			}
			key(ledger.Key{Account: r.From, Asset: r.Asset})
		}
	}
	reservationsAmong.each(names, func(sql string, args []any) { ss = append(ss, t.askReservations(sql, args)) })
	return ss
}

// askReservations reads reservations with the balances they stand on, so that
// giving one back needs no second question.
func (t *tx) askReservations(sql string, args []any) stmt {
	return ask(func(r row) error {
		var name, account, asset, amount string
		var version int64
		b, err := scanBalance(r, &name, &account, &asset, &amount, &version)
		if err != nil {
			return err
		}
		held := ledger.Reservation{Name: name, From: ledger.Account(account)}
		if held.Asset, err = chain.ParseAsset(asset); err != nil {
			return fmt.Errorf("reservation %s: %w", name, err)
		}
		if held.Amount, err = money.Parse(amount); err != nil {
			return fmt.Errorf("reservation %s: %w", name, err)
		}
		t.books.Reservations[name] = held
		if k := (ledger.Key{Account: held.From, Asset: held.Asset}); !t.loaded[k] {
			t.loaded[k] = true
			t.books.Balances[k], t.versions[k] = b, version
		}
		return nil
	}, sql, args...)
}

func scanBalance(r row, before ...any) (b ledger.Balance, err error) {
	var debits, credits, reserved string
	if err = r.Scan(append(before, &debits, &credits, &reserved)...); err != nil {
		return b, err
	}
	if b.Debits, err = money.Parse(debits); err != nil {
		return b, err
	}
	if b.Credits, err = money.Parse(credits); err != nil {
		return b, err
	}
	b.Reserved, err = money.Parse(reserved)
	return b, err
}
