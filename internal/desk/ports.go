package desk

import (
	"context"
	"time"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/market"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// Runner is a bridge that owners run: it says what they send.
type Runner interface {
	// Begin is what the bridge wants to know again of a new trip; name is nobody else's.
	Begin(ctx context.Context, name string, t quote.Trip, now time.Time) ([]byte, error)
	// Build makes the transaction of a step as it must be now, after those that must be
	// sent before it; quote.ErrNotReady.
	Build(ctx context.Context, t quote.Trip, leg string, now time.Time) ([]chain.Call, error)
}

// Market makes offers and says whether one still stands.
type Market interface {
	Quote(ctx context.Context, a market.Ask, now time.Time) (market.Offer, error)
	Accept(ctx context.Context, o market.Offer, now time.Time) (market.Offer, error)
}

// Seal makes an offer its own id, and an id an offer again.
type Seal interface {
	Close(o market.Offer) (string, error)
	Open(id string, by integrator.ID, now time.Time) (market.Offer, error)
}

// Settler makes and moves orders.
type Settler interface {
	Create(ctx context.Context, a order.Ask, now time.Time) (order.Order, error)
	Tell(ctx context.Context, id order.ID, ev order.Event, now time.Time) (order.Order, error)
}

// Store is where orders are read.
type Store interface {
	Order(ctx context.Context, id order.ID) (order.Order, error)
	OrderMade(ctx context.Context, id order.ID) (order.Order, error)
	// RequestMade is the order that a request has made before; nil is none.
	RequestMade(ctx context.Context, o order.Once) (*order.Made, error)
	SessionOrders(ctx context.Context, group string, from order.Place, n int) ([]order.Order, error)
	History(ctx context.Context, id order.ID, after int64, n int) ([]Happening, error)
	// Depths are how many blocks stand on and with the payments; those in no block are
	// left out.
	Depths(ctx context.Context, ids []chain.DepositID) (map[chain.DepositID]uint64, error)
}

// Happening is one change in an order's history. Detail is JSON of what was said.
type Happening struct {
	Version  int64
	Name     string
	From, To order.State
	At       time.Time
	Detail   string
}

// Proofs says what a proof is worth.
type Proofs interface {
	RightTo(asked order.ID, o *order.Order, shown access.Proof) access.Right
}

// Funder makes the transactions by which somebody pays straight into our wallet.
type Funder interface {
	Fund(ctx context.Context, due chain.Due) (chain.Funding, error)
}

// Codecs read and derive addresses.
type Codecs interface {
	// Parse gives the canonical form of an address of a chain.
	Parse(id chain.ID, text string) (chain.Address, error)
	// Anyone gives the canonical form of an address of whatever family it is.
	Anyone(text string) (chain.Address, error)
	// DepositAddress is an address of ours that no other order has.
	DepositAddress(ctx context.Context, id chain.ID, o order.ID) (chain.Address, error)
}
