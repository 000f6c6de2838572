package treasury

import (
	"context"
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
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
	// UnsweptAt are all such deposits on some addresses.
	UnsweptAt(ctx context.Context, a chain.Asset, on []chain.Address, now time.Time) ([]Lying, error)
	// Awaited reports whether an order waits for some of an asset to come home.
	Awaited(ctx context.Context, a chain.Asset) (bool, error)
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
	// After is until when it waits because a transfer did not bring it home; zero if
	// none has failed.
	After time.Time
}

// Pause is how long deposits wait that a transfer did not bring home: whatever kept it
// from landing would keep the next one too.
const Pause = 15 * time.Minute

// Books are what is compared with the chains.
type Books interface {
	// Read is the newest block at a height or below that was read of a chain and is
	// remembered; zero if there is none.
	Read(ctx context.Context, id chain.ID, height uint64) (chain.Block, error)
	// Moment is what the books say of a chain at one moment, with everything in which
	// they may differ from the chain as it is at a height that was read.
	Moment(ctx context.Context, id chain.ID, height uint64) (Moment, error)
	// Halt stops a chain until an operator resumes it.
	Halt(ctx context.Context, id chain.ID, why string, now time.Time) error
}

// Moment is a chain in the books.
type Moment struct {
	// Home is what lies in the wallet, less what stands in Back of what the chain took
	// back from there; Lying is what lies on deposit addresses.
	Home, Back, Lying map[chain.Asset]ledger.Balance
	// Moving are the transfers that are not both landed at the height or below and
	// booked.
	Moving []Moving
	// Running are the steps that have asked for transactions and are not booked.
	Running []Running
	// Differing are the deposits that are booked and not on the chain at the height, or
	// the other way round.
	Differing []Differing
	// Spots are all addresses on which something may lie.
	Spots []chain.Spot
}

// Moving is a transfer with what is booked of it.
type Moving struct {
	Transfer send.Transfer
	Booked   Effect
	// Landed is what it did on the chain at the height; nil where only its attempts say.
	Landed   *Effect
	Attempts []send.Kept
}

// Running is a step of an order between its first transaction and its end. What it took
// and brought is booked together when it is done: until then the wallet may have as much
// as Most less of the one asset than the books, and more of the other.
type Running struct {
	In   chain.Asset
	Most money.Amount
	Out  chain.Asset
}

// Effect is what a transfer did: whether what it was to move has moved, and what it cost.
type Effect struct {
	Moved bool
	Cost  money.Amount
}

// Differing is a deposit of which books and chain say another thing.
type Differing struct {
	ID     chain.DepositID
	Asset  chain.Asset
	Amount money.Amount
	Booked bool // else it is on the chain
	Home   bool // it came straight into the wallet
}

// View is a chain as an audit looks at it. An error means that nothing is known.
type View interface {
	// Head is how far the chain is.
	Head(ctx context.Context) (chain.Head, error)
	// Balances are what lies on each spot at a block that is final; an error if that is
	// not on the branch that ends at the head. They are asked for together because some
	// chains look through all coins for it, once for any number of addresses.
	Balances(ctx context.Context, spots []chain.Spot, at chain.Block) ([]money.Amount, error)
	// Fate is what became of an attempt.
	Fate(ctx context.Context, a chain.Attempt) (chain.Status, error)
	// Own is the address of one of our accounts.
	Own(from chain.Account) chain.Address
}

// Coster says what a call would cost now, in its chain's own coin.
type Coster interface {
	Cost(ctx context.Context, c chain.Call) (money.Amount, error)
	// Own is the address of one of our accounts.
	Own(from chain.Account) chain.Address
}

// Wholly is a chain that empties an address whole or not at all, whatever else would be
// left there. Most take any part.
type Wholly interface {
	Whole(a chain.Asset) bool
}

// Valuer says what an amount is worth.
type Valuer interface {
	USD(ctx context.Context, a chain.Asset, n money.Amount) (money.USD, error)
}
