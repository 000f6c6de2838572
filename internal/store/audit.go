package store

import (
	"context"
	"errors"
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
)

const (
	sqlPostings     = `SELECT debit, credit, asset, amount FROM postings ORDER BY seq`
	sqlReservations = `SELECT name, account, asset, amount FROM reservations ORDER BY name`
	sqlBalances     = `SELECT account, asset, debits, credits, reserved FROM balances ORDER BY account, asset`
)

// Books are the books told from scratch: every posting and every reservation is
// read and added up, and the balances that the store keeps are not looked at.
// Accounts of single orders that are empty are left out.
func (db *DB) Books(ctx context.Context) (*ledger.Books, error) {
	s := newSums()
	if err := db.engine.read(ctx, s.postings(), s.reservations()); err != nil {
		return nil, fmt.Errorf("books: %w", err)
	}
	return s.books(), nil
}

// Balances are the balances as the store keeps them. An account of a single order
// forgets what it had when it becomes empty, so only its net is comparable.
func (db *DB) Balances(ctx context.Context) (map[ledger.Key]ledger.Balance, error) {
	kept := map[ledger.Key]ledger.Balance{}
	if err := db.engine.read(ctx, askBalances(kept)); err != nil {
		return nil, fmt.Errorf("balances: %w", err)
	}
	return kept, nil
}

// ErrUnsound: the books do not add up.
var ErrUnsound = errors.New("store: the books do not add up")

// Audit compares the balances that are kept with the books told from scratch, at
// one moment, and says every account that differs.
func (db *DB) Audit(ctx context.Context) error {
	s, kept := newSums(), map[ledger.Key]ledger.Balance{}
	if err := db.engine.read(ctx, s.postings(), s.reservations(), askBalances(kept)); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	told := s.books().Balances
	var errs []error
	for k, b := range told {
		if have := kept[k]; have.String() != b.String() || have.Reserved != b.Reserved {
			errs = append(errs, fmt.Errorf("%w: %s in %s is kept as %s with %s reserved, told as %s with %s",
				ErrUnsound, k.Account, k.Asset, have, have.Reserved, b, b.Reserved))
		}
		if err := b.CheckSide(k.Account); err != nil {
			errs = append(errs, fmt.Errorf("%w: %w", ErrUnsound, err))
		}
	}
	for k, b := range kept {
		if _, ok := told[k]; !ok && !b.IsZero() {
			errs = append(errs, fmt.Errorf("%w: %s in %s is kept as %s, and nothing was ever posted there", ErrUnsound, k.Account, k.Asset, b))
		}
	}
	return errors.Join(errs...)
}

// sums adds up postings and reservations.
type sums struct{ all *ledger.Books }

func newSums() sums { return sums{all: ledger.NewBooks()} }

func (s sums) change(k ledger.Key, f func(*ledger.Balance) error) error {
	b := s.all.Balances[k]
	if err := f(&b); err != nil {
		return fmt.Errorf("%s in %s: %w", k.Account, k.Asset, err)
	}
	s.all.Balances[k] = b
	return nil
}

func (s sums) postings() stmt {
	return ask(func(r row) error {
		var debit, credit, asset, amount string
		if err := r.Scan(&debit, &credit, &asset, &amount); err != nil {
			return err
		}
		a, n, err := parseSum(asset, amount)
		if err != nil {
			return err
		}
		if err := s.change(ledger.Key{Account: ledger.Account(debit), Asset: a}, func(b *ledger.Balance) error { return b.Debit(n) }); err != nil {
			return err
		}
		return s.change(ledger.Key{Account: ledger.Account(credit), Asset: a}, func(b *ledger.Balance) error { return b.Credit(n) })
	}, sqlPostings)
}

func (s sums) reservations() stmt {
	return ask(func(r row) error {
		var held ledger.Reservation
		var account, asset, amount string
		if err := r.Scan(&held.Name, &account, &asset, &amount); err != nil {
			return err
		}
		var err error
		if held.Asset, held.Amount, err = parseSum(asset, amount); err != nil {
			return err
		}
		held.From = ledger.Account(account)
		s.all.Reservations[held.Name] = held
		return s.change(ledger.Key{Account: held.From, Asset: held.Asset}, func(b *ledger.Balance) error { return b.Hold(held.Amount, false) })
	}, sqlReservations)
}

// books are the sums without the empty accounts of single orders.
func (s sums) books() *ledger.Books {
	for k, b := range s.all.Balances {
		if b.IsZero() && perOrder(k.Account) {
			delete(s.all.Balances, k)
		}
	}
	return s.all
}

func askBalances(kept map[ledger.Key]ledger.Balance) stmt {
	return ask(func(r row) error {
		var account, asset string
		b, err := scanBalance(r, &account, &asset)
		if err != nil {
			return err
		}
		a, err := chain.ParseAsset(asset)
		kept[ledger.Key{Account: ledger.Account(account), Asset: a}] = b
		return err
	}, sqlBalances)
}

func parseSum(asset, amount string) (chain.Asset, money.Amount, error) {
	a, err := chain.ParseAsset(asset)
	if err != nil {
		return a, money.Amount{}, err
	}
	n, err := money.Parse(amount)
	return a, n, err
}
