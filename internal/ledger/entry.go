package ledger

import (
	"errors"
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Errors of the books.
var (
	ErrUnbalanced = errors.New("ledger: posting is not whole")
	ErrOverdrawn  = errors.New("ledger: account would pass zero")
	ErrShort      = errors.New("ledger: not enough left to reserve")
)

// Posting moves an amount of one asset: the debited account has more, the
// credited one has less.
type Posting struct {
	Debit, Credit Account
	Asset         chain.Asset
	Amount        money.Amount
}

// Reservation keeps an amount of a wallet for one named transfer until it is
// paid or given up.
type Reservation struct {
	Name   string
	From   Account
	Asset  chain.Asset
	Amount money.Amount
	// Must refuses the reservation with ErrShort when the wallet has not that
	// much left. What we owe already is reserved without asking: it is owed
	// whether the wallet has it today or not.
	Must bool
}

// Entry is what one decision does to the books, all of it or nothing.
type Entry struct {
	Postings []Posting
	Voids    []string // names of reservations that end; one that does not exist is no error
	Reserve  []Reservation
}

// IsZero reports whether the entry does nothing.
func (e Entry) IsZero() bool {
	return len(e.Postings) == 0 && len(e.Voids) == 0 && len(e.Reserve) == 0
}

// Check refuses an entry that could not be part of any sound book.
func (e Entry) Check() error {
	for _, p := range e.Postings {
		switch {
		case p.Amount.IsZero():
			return fmt.Errorf("%w: nothing from %s to %s", ErrUnbalanced, p.Credit, p.Debit)
		case p.Debit == "" || p.Credit == "" || p.Debit == p.Credit:
			return fmt.Errorf("%w: from %q to %q", ErrUnbalanced, p.Credit, p.Debit)
		case p.Asset.Chain == "":
			return fmt.Errorf("%w: no asset from %s to %s", ErrUnbalanced, p.Credit, p.Debit)
		}
	}
	for _, r := range e.Reserve {
		if r.Name == "" || r.From == "" || r.Asset.Chain == "" || r.Amount.IsZero() {
			return fmt.Errorf("%w: reservation %q", ErrUnbalanced, r.Name)
		}
	}
	return nil
}
