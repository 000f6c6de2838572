package send

import (
	"context"
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Chain builds, signs and sends on one chain.
//
// An error means that nothing is known, never that nothing happened: a failed
// Broadcast may have reached the network.
type Chain interface {
	// Cost is what a call would cost now, in the chain's own coin.
	Cost(ctx context.Context, c chain.Call) (money.Amount, error)
	// Draft signs a first attempt at the going price, at most max, that uses none
	// of the held slots. It sends nothing. ErrTooDear, ErrNoFunds, ErrRefused.
	Draft(ctx context.Context, c chain.Call, held Held, max money.Amount) (chain.Attempt, error)
	// Redraft signs an attempt that can never land beside prev and pays as near
	// to max as the family's rules allow; ErrLive if prev may land beside any
	// other, ErrTooDear if max is not enough to replace it. A call to our own
	// account over nothing is how a slot is used up without paying anybody.
	Redraft(ctx context.Context, c chain.Call, prev chain.Attempt, max money.Amount) (chain.Attempt, error)
	// Broadcast offers the bytes to the network; a network that already has them
	// is no error.
	Broadcast(ctx context.Context, raw []byte) error
	// Fate is what became of an attempt.
	Fate(ctx context.Context, a chain.Attempt) (chain.Status, error)
	// Own is the address of one of our accounts.
	Own(from chain.Account) chain.Address
}

// Held says which slots a draft may not use; nil is none. A family whose attempts use
// slots asks right before it chooses, and has looked at the chain before: from then on,
// until the attempt is kept, no other draft of the sender chooses any.
type Held func(ctx context.Context) ([]chain.Slot, error)

// Slots asks.
func (h Held) Slots(ctx context.Context) ([]chain.Slot, error) {
	if h == nil {
		return nil, nil
	}
	return h(ctx)
}

// Holding are slots that are known.
func Holding(slots ...chain.Slot) Held {
	return func(context.Context) ([]chain.Slot, error) { return slots, nil }
}

// Errors that a Chain may return.
var (
	// ErrLive: the attempt before may still land beside a new one.
	ErrLive = errors.New("send: the attempt before may still land")
	// ErrTooDear: the network asks for more than we may pay.
	ErrTooDear = errors.New("send: the fee is above the budget")
	// ErrNoFunds: the account has not enough that is free.
	ErrNoFunds = errors.New("send: not enough funds")
	// ErrRefused: the call can never succeed, such as one to an invalid recipient.
	ErrRefused = errors.New("send: the chain refuses the call")
)

// Errors that a Store may return.
var (
	// ErrStale: somebody else went on with the transfer, or it is closed.
	ErrStale = errors.New("send: the transfer was moved by another")
	// ErrSlotTaken: another transfer holds a slot of the attempt.
	ErrSlotTaken = errors.New("send: slot is taken")
	// ErrCapped: the wish would pass a cap; it is to be tried later.
	ErrCapped = errors.New("send: above the cap for now")
	// ErrDiffers: a transfer of that name exists and is another one.
	ErrDiffers = errors.New("send: a different transfer has that name")
	// ErrUnknown: there is no transfer of that name.
	ErrUnknown = errors.New("send: no such transfer")
)

// ID names a transfer for ever: "<order>/payout".
type ID string

// Transfer is a wish: a call with its budget and its deadlines.
type Transfer struct {
	ID     ID
	Order  string
	Call   chain.Call
	USD    money.USD
	MaxFee money.Amount // in the chain's own coin
	// Deadline is when the whole budget may be spent on being fast.
	Deadline time.Time
	// GiveUp is when it is cancelled if it has not landed; zero is never.
	GiveUp   time.Time
	WishedAt time.Time
}

// call is what is asked of the chain, with who asks.
func (t Transfer) call() chain.Call {
	c := t.Call
	c.For = string(t.ID)
	return c
}

// Cap bounds what may be wished on a chain within an hour.
type Cap struct{ PerHour money.USD }

// Kept is a stored attempt.
type Kept struct {
	chain.Attempt
	N      int
	Cancel bool // it pays nobody; it only uses up the slot
	Dead   bool // it is proven that it can never land
	At     time.Time
}

// Job is a transfer that is not closed, with all its attempts, oldest first.
type Job struct {
	Transfer Transfer
	Attempts []Kept
	// Vigil: it is closed, but the chain went back behind where it landed. Its
	// bytes are offered again until they are final again.
	Vigil bool
	Tx    chain.TxID // of a vigil: the attempt that landed
}

// Result is how a transfer ended.
type Result struct {
	Fate  chain.Fate // Final, Reverted or Dead
	Tx    chain.TxID
	Cost  money.Amount // what the chain took, in its own coin
	Block chain.Block
	Why   string
}

// Store keeps wishes and attempts. Two keys carry the safety: a transfer has its
// name once, and a slot belongs to one transfer for ever.
type Store interface {
	// Wish records a transfer; the same again is no error, another of that name
	// is ErrDiffers.
	Wish(ctx context.Context, t Transfer, cap Cap, now time.Time) error
	// Live are the open transfers and vigils of an account, oldest first.
	Live(ctx context.Context, id chain.ID, from chain.Account) ([]Job, error)
	// Held are the slots of open transfers.
	Held(ctx context.Context, id chain.ID, from chain.Account) ([]chain.Slot, error)
	// Keep stores an attempt before anybody may broadcast it. ErrStale if the
	// transfer is closed or k.N is not its next attempt; ErrSlotTaken if another
	// transfer has a slot; ErrLive if an attempt that is not dead could land
	// beside it, because they share no slot.
	Keep(ctx context.Context, id ID, k Kept) error
	// Bury notes that an attempt is proven dead.
	Bury(ctx context.Context, id ID, n int) error
	// End closes a transfer, and leaves work for whoever wished it. Closing it
	// again with the same fate is no error; with another it is ErrDiffers. One
	// that ends Dead without a transaction that killed it must have no attempt
	// that is not dead: ErrStale.
	End(ctx context.Context, id ID, r Result, now time.Time) error
	// Rest ends a vigil: it landed again. Where that cost another amount than
	// before, whoever wished it is left work to correct it.
	Rest(ctx context.Context, id ID, again chain.Status, now time.Time) error
	// Halted says why a chain is stopped; empty if it is not.
	Halted(ctx context.Context, id chain.ID) (string, error)
	// Halt stops a chain until an operator resumes it.
	Halt(ctx context.Context, id chain.ID, why string, now time.Time) error
}

// Record is a transfer as it is kept, open or closed.
type Record struct {
	Job
	Open   bool
	Result Result // zero while it is open
}
