package live

import (
	"context"
	"time"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/feed"
	"ferry/internal/order"
	"ferry/internal/report"
)

// Hub tells of changes as they are committed.
type Hub interface {
	Listen(t feed.Topic, who feed.Listener) (after int64, stop func())
}

// Desk says who may see an order.
type Desk interface {
	Read(ctx context.Context, text string, by desk.Seeker) (order.Order, access.Right, error)
	Right(o *order.Order, by desk.Seeker) access.Right
	Group(session string) string
	// Depths are how many blocks stand on and with the payments of orders that may still
	// vanish, as orders that are read show it.
	Depths(ctx context.Context, orders ...*order.Order) (map[chain.DepositID]uint64, error)
}

// Access says who somebody is, and takes what they do from their allowances.
type Access interface {
	// Admit believes a key that a connection shows in its first message.
	Admit(key string, at *access.Principal, now time.Time) (access.Principal, error)
	// Again says who somebody is now.
	Again(p *access.Principal, now time.Time) (access.Principal, error)
	// Take spends allowances.
	Take(p *access.Principal, s api.Spend, now time.Time) error
	// Left is what is left of them.
	Left(p *access.Principal, now time.Time) []wire.LimitUsage
	// MayTry refuses whoever has shown too many wrong proofs, Failed counts one.
	MayTry(p *access.Principal, now time.Time) error
	Failed(p *access.Principal, now time.Time)
}

// Show writes what is told.
type Show interface {
	// Order is an order as it was at a time, for whoever has a right to it.
	Order(o *order.Order, right access.Right, at time.Time) wire.Order
	// Attributed is an order as its integrator sees it.
	Attributed(o *order.Order) wire.AttributedOrder
	// Quote prices.
	Quote(ctx context.Context, who *access.Principal, r wire.QuoteRequest) (*wire.Quote, error)
	// Status is how the service and its chains are.
	Status(ctx context.Context) (wire.Status, error)
	// Stats are the totals of the service.
	Stats(ctx context.Context) (wire.PublicStats, error)
	// Activity are the newest items that are published, ActivityAfter those after a place,
	// the oldest first, and where they end; nil is the present end, with no items.
	Activity(ctx context.Context, n int) ([]wire.ActivityItem, error)
	ActivityAfter(ctx context.Context, after *report.ActivityPlace, n int) ([]wire.ActivityItem, report.ActivityPlace, error)
	// Points are what an account has.
	Points(ctx context.Context, account string) (wire.PointsAccount, error)
}

// Ports are the rooms behind it.
type Ports struct {
	Hub     Hub
	History feed.History
	Desk    Desk
	Access  Access
	Show    Show
	// Cursor is the newest block of a chain that was read; zero before the first.
	Cursor func(ctx context.Context, id chain.ID) (chain.Block, error)
	// Down reports whether an error is that the database does not answer.
	Down func(error) bool
}
