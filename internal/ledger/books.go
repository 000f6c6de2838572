package ledger

import (
	"fmt"
	"maps"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Key names one account in one asset.
type Key struct {
	Account Account
	Asset   chain.Asset
}

// Books are accounts in memory: what the store's rows must add up to.
type Books struct {
	Balances     map[Key]Balance
	Reservations map[string]Reservation
}

// NewBooks opens empty books.
func NewBooks() *Books {
	return &Books{Balances: map[Key]Balance{}, Reservations: map[string]Reservation{}}
}

// Apply books an entry, all of it or nothing.
func (b *Books) Apply(e Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	d := draft{books: b, balances: map[Key]Balance{}, reservations: map[string]*Reservation{}}
	if err := d.entry(e); err != nil {
		return err
	}
	maps.Copy(b.Balances, d.balances)
	for name, r := range d.reservations {
		if r == nil {
			delete(b.Reservations, name)
			continue
		}
		b.Reservations[name] = *r
	}
	return nil
}

// Sum is the net of all accounts of an asset; sound books give exactly zero.
func (b *Books) Sum(asset chain.Asset) (Balance, error) {
	var total Balance
	for k, bal := range b.Balances {
		if k.Asset != asset {
			continue
		}
		if err := total.Debit(bal.Debits); err != nil {
			return Balance{}, err
		}
		if err := total.Credit(bal.Credits); err != nil {
			return Balance{}, err
		}
	}
	return total, nil
}

// draft is an entry on its way: what it changed, beside the books it may yet leave alone.
type draft struct {
	books        *Books
	balances     map[Key]Balance
	reservations map[string]*Reservation
}

func (d *draft) entry(e Entry) error {
	for _, p := range e.Postings {
		if err := d.change(Key{p.Debit, p.Asset}, func(b *Balance) error { return b.Debit(p.Amount) }); err != nil {
			return err
		}
		if err := d.change(Key{p.Credit, p.Asset}, func(b *Balance) error { return b.Credit(p.Amount) }); err != nil {
			return err
		}
	}
	for _, name := range e.Voids {
		r, ok := d.books.Reservations[name]
		if _, voided := d.reservations[name]; !ok || voided {
			continue
		}
		d.reservations[name] = nil
		if err := d.change(Key{r.From, r.Asset}, func(b *Balance) error { return b.Unhold(r.Amount) }); err != nil {
			return err
		}
	}
	for _, r := range e.Reserve {
		if old, ok := d.reservations[r.Name]; (ok && old != nil) || (!ok && d.known(r.Name)) {
			return fmt.Errorf("%w: %s is reserved already", ErrUnbalanced, r.Name)
		}
		d.reservations[r.Name] = &r
		if err := d.change(Key{r.From, r.Asset}, func(b *Balance) error { return b.Hold(r.Amount, r.Must) }); err != nil {
			return fmt.Errorf("reserve %s: %w", r.Name, err)
		}
	}
	for k, b := range d.balances {
		if err := b.CheckSide(k.Account); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) known(name string) bool {
	_, ok := d.books.Reservations[name]
	return ok
}

func (d *draft) change(k Key, f func(*Balance) error) error {
	b, ok := d.balances[k]
	if !ok {
		b = d.books.Balances[k]
	}
	if err := f(&b); err != nil {
		return fmt.Errorf("%s in %s: %w", k.Account, k.Asset, err)
	}
	d.balances[k] = b
	return nil
}

// Reserved is the sum of the reservations on an account, told from the
// reservations themselves.
func (b *Books) Reserved(k Key) (total money.Amount, err error) {
	for _, r := range b.Reservations {
		if (Key{r.From, r.Asset}) == k {
			if total, err = total.Add(r.Amount); err != nil {
				return money.Amount{}, err
			}
		}
	}
	return total, nil
}
