package settle

import (
	"context"
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/send"
)

// Errors that a Store may return.
var (
	// ErrNotFound: there is no such order.
	ErrNotFound = errors.New("settle: no such order")
	// ErrTaken: the order's id or its deposit address belongs to another order.
	ErrTaken = errors.New("settle: id or address is taken")
)

// Decide says what becomes of an order. It must be pure: it may be run again.
type Decide func(order.Order) (order.Change, error)

// Store has one door into an order: Move.
type Store interface {
	// Create writes a new order with its reservation, its watched address and its
	// feed entry, all or nothing; ledger.ErrShort or ErrTaken, or what else must hold
	// and does not: *order.Closed, *order.Ours, *order.TooMany or *order.Made.
	Create(ctx context.Context, c order.Change) error
	// Order reads one order; ErrNotFound.
	Order(ctx context.Context, id order.ID) (order.Order, error)
	// Move loads an order, decides, and writes the change at its new version with
	// the event's key, its effects as work, its entry in the books and its feed
	// entry, all or nothing. It passes on what decide refuses, order.ErrKnown for
	// a fact that was applied before, *order.Claimed for what began another order's
	// bridge, and ledger.ErrShort.
	Move(ctx context.Context, id order.ID, decide Decide) (order.Order, error)
	// TakeWork leases due work, oldest first; a lease that runs out returns it.
	TakeWork(ctx context.Context, now time.Time, lease time.Duration, n int) ([]Work, error)
	// DoneWork removes work; gone already is no error.
	DoneWork(ctx context.Context, id string) error
	// LaterWork gives work back until a time, and keeps why.
	LaterWork(ctx context.Context, id string, at time.Time, why string) error
	// DueOrders are orders whose time has come; each comes again after the lease
	// unless it was moved.
	DueOrders(ctx context.Context, now time.Time, lease time.Duration, n int) ([]order.ID, error)
	// Synced is up to when a chain was read; zero before the first time.
	Synced(ctx context.Context, id chain.ID) (time.Time, error)
	// Transfer is one transfer with its attempts; send.ErrUnknown.
	Transfer(ctx context.Context, id send.ID) (send.Record, error)
	// Wish is send.Store's.
	Wish(ctx context.Context, t send.Transfer, cap send.Cap, now time.Time) error
	// Halted is send.Store's.
	Halted(ctx context.Context, id chain.ID) (string, error)
}

// Work is a wish on its way: an effect of an order, or a transfer that ended.
type Work struct {
	ID    string
	Order order.ID
	Tries int // how often it was taken before

	Effect order.Effect // nil when Closed is set
	Closed *Closed
}

// Closed is a transfer that ended.
type Closed struct {
	Transfer send.ID
	Result   send.Result
	// Was is what it cost when it landed before a chain went back behind it; nil
	// for one that ended for the first time.
	Was *money.Amount
}

// Venue carries out steps of routes. It plans and judges; it signs nothing and sends
// nothing, and never learns keys or orders.
type Venue interface {
	// Next says what a running step needs now, from what is known of it.
	Next(ctx context.Context, s quote.Step, known quote.Progress) (quote.Move, error)
}

// Bridge follows trips that owners run over a native bridge. It signs nothing, sends
// nothing, and never learns keys or orders.
type Bridge interface {
	// Look says where a trip stands, from what is on the chains.
	Look(ctx context.Context, t quote.Trip, now time.Time) (quote.Standing, error)
	// Build makes the transaction of a step as it must be now, alone where anybody may do
	// it; quote.ErrNotReady.
	Build(ctx context.Context, t quote.Trip, leg string, now time.Time) ([]chain.Call, error)
}

// Coster says what a call would cost now, in its chain's own coin.
type Coster interface {
	Cost(ctx context.Context, c chain.Call) (money.Amount, error)
}

// Rates turns an amount of one asset into what it is worth in another, without
// going through dollars.
type Rates interface {
	Convert(ctx context.Context, n money.Amount, from, to chain.Asset, r money.Rounding) (money.Amount, error)
	USD(ctx context.Context, a chain.Asset, n money.Amount) (money.USD, error)
}
