package watch

import (
	"context"
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
)

// Reader is a chain that is read block by block.
//
// An error means that nothing is known, never that something is not there.
type Reader interface {
	// Head is how far the chain is. Final never moves back unless the chain broke its word.
	Head(ctx context.Context) (chain.Head, error)
	// Next is the block with the lowest height at or above from, on the branch
	// that ends at the head; ErrNoBlock if there is none yet. Heights may have gaps.
	Next(ctx context.Context, from uint64) (chain.Block, error)
	// Deposits returns every payment in b, by its hash, to one of the addresses.
	Deposits(ctx context.Context, b chain.Block, to Addresses) ([]chain.Deposit, error)
}

// Mempool is a chain that also shows payments before they are in a block. What it
// shows is never believed, only told.
type Mempool interface {
	Pending(ctx context.Context, to Addresses) ([]chain.Deposit, error)
}

// Addresses says which addresses are ours.
type Addresses interface {
	Has(a chain.Address) bool
}

// Errors that a Reader and a Store may return.
var (
	// ErrNoBlock: the chain has no such block yet.
	ErrNoBlock = errors.New("watch: no such block yet")
	// ErrStale: somebody else moved the cursor.
	ErrStale = errors.New("watch: the cursor was moved by another")
)

// Track is how far a chain was followed.
type Track struct {
	Cursor chain.Block // the newest remembered block; zero before the first
	Final  uint64      // the highest height that was believed final
	Synced time.Time   // up to when the chain was read
}

// Stage is how far a deposit is, as the chain shows it now.
type Stage string

// The stages.
const (
	Seen  Stage = "seen"  // in a mempool or in a block that may be orphaned
	Final Stage = "final" // believed for good
	Gone  Stage = "gone"  // no longer on the chain
)

// Point is a stage of one sighting: a payment that vanishes and comes back is a
// new sighting of the same deposit.
type Point struct {
	Sighting int
	Stage    Stage
}

// Sight is a deposit as it was found, for one order.
type Sight struct {
	Deposit   chain.Deposit
	Order     order.ID
	Now, Told Point // Told is zero when nothing was told yet
	FirstSeen time.Time
	Depth     uint64 // how many remembered blocks stand on and with its own; only Unripe says it
}

// Watched is a deposit address of an order.
type Watched struct {
	Address chain.Address
	Seq     int64 // rises with every address of any chain, in commit order
}

// Store keeps the cursor and the deposits. The cursor moves only in the
// transaction that stores what was found.
type Store interface {
	Track(ctx context.Context, id chain.ID) (Track, error)
	// Remembered are all remembered blocks, newest first, beginning at the cursor.
	Remembered(ctx context.Context, id chain.ID) ([]chain.Block, error)
	// Advance makes b the cursor and records its deposits; ErrStale unless the
	// cursor still is after. It forgets blocks below keepFrom.
	Advance(ctx context.Context, id chain.ID, a Advance) error
	// Rewind makes `to` the cursor: what stood above it is gone. If a deposit or a
	// transfer believed final falls, or a height believed final, it halts the chain
	// and has every transfer that landed above `to` watched again, all in one
	// transaction. ErrStale unless the cursor still is from.
	Rewind(ctx context.Context, id chain.ID, from, to chain.Block, now time.Time) error
	// Glimpse records what the mempool shows: new payments are seen, and those
	// that were only ever in the mempool and are not there now are gone.
	Glimpse(ctx context.Context, id chain.ID, pending []chain.Deposit, now time.Time) error
	// Unripe are the seen deposits that are in a block.
	Unripe(ctx context.Context, id chain.ID) ([]Sight, error)
	// Ripen makes deposits final; ErrStale unless the cursor still is at. A
	// deposit that changed since it was read is passed over.
	Ripen(ctx context.Context, id chain.ID, at chain.Block, ripe []Sight) error
	// Caught notes up to when the chain was read, and how far it is final. Neither
	// ever goes back.
	Caught(ctx context.Context, id chain.ID, final uint64, read time.Time) error
	// Untold are deposits whose order does not know their present stage yet.
	Untold(ctx context.Context, id chain.ID, n int) ([]Sight, error)
	// Told notes what an order knows of a deposit now, if it still knew was. It
	// is no error if it did not: a worker that slept must not turn back what
	// another has told since.
	Told(ctx context.Context, d chain.DepositID, was, now Point) error
	// AddressesSince are the watched addresses of a chain with a higher Seq, oldest first.
	AddressesSince(ctx context.Context, id chain.ID, seq int64, n int) ([]Watched, error)
	// Halt stops a chain until an operator resumes it.
	Halt(ctx context.Context, id chain.ID, why string, now time.Time) error
}

// Advance is one step of the cursor.
type Advance struct {
	After    chain.Block // the cursor it follows; zero for the first block
	Block    chain.Block
	Deposits []chain.Deposit
	KeepFrom uint64
	Now      time.Time
}

// Teller is the room that moves orders.
type Teller interface {
	Tell(ctx context.Context, id order.ID, ev order.Event, now time.Time) (order.Order, error)
}

// Valuer says what a deposit is worth, for how deep it must be buried.
type Valuer interface {
	USD(ctx context.Context, a chain.Asset, n money.Amount) (money.USD, error)
}
