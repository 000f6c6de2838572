package treasury

import (
	"context"
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// Keys say the addresses of our keys. Nothing is signed here.
type Keys interface {
	Address(ctx context.Context, id chain.ID, k chain.Key) (chain.Address, error)
}

// Leases keep which deposit addresses are whose. An index belongs to whoever leased
// it, for ever: those that a process lost are never given out.
type Leases interface {
	// LeaseAddresses takes the next n indices of a chain and returns the first.
	LeaseAddresses(ctx context.Context, id chain.ID, n uint32) (first uint32, err error)
	// KeepAddresses writes down the addresses of leased indices, all or none.
	KeepAddresses(ctx context.Context, id chain.ID, first uint32, all []chain.Address) error
}

// Sweeps keep what lies on deposit addresses and what brings it home.
type Sweeps interface {
	// Unswept are deposits of an asset on our addresses that are credited, that the
	// chain itself calls final and that no transfer brings home, largest first, at
	// most n. Those that a transfer did not bring home are left out for a while.
	Unswept(ctx context.Context, a chain.Asset, n int, now time.Time) ([]Lying, error)
	// Sweeping counts the transfers that bring an asset home to an account and are not final.
	Sweeping(ctx context.Context, a chain.Asset, from chain.Account) (int, error)
	// Sweep wishes a transfer and marks its deposits, in one transaction. ErrStale if
	// one of them is not free any more.
	Sweep(ctx context.Context, t send.Transfer, now time.Time) error
	// Halted says why a chain is stopped; empty if it is not.
	Halted(ctx context.Context, id chain.ID) (string, error)
}

// ErrStale: what a sweep was made for is not so any more.
var ErrStale = errors.New("treasury: the deposits have changed")

// Lying is a deposit that lies on its address.
type Lying struct {
	ID      chain.DepositID
	Address chain.Address
	Index   uint32
	Amount  money.Amount
	Since   time.Time // when it was first seen
}

// Coster says what a call would cost now, in its chain's own coin.
type Coster interface {
	Cost(ctx context.Context, c chain.Call) (money.Amount, error)
	// Own is the address of one of our accounts.
	Own(from chain.Account) chain.Address
}

// Valuer says what an amount is worth.
type Valuer interface {
	USD(ctx context.Context, a chain.Asset, n money.Amount) (money.USD, error)
}
