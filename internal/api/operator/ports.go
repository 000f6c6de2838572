package operator

import (
	"context"
	"time"

	"ferry/internal/api/wire"
	"ferry/internal/feed"
	"ferry/internal/integrator"
	"ferry/internal/order"
)

// Hub says when something was written.
type Hub interface {
	Listen(t feed.Topic, who feed.Listener) (after int64, stop func())
}

// Journal is the durable log of what happened to orders.
type Journal interface {
	Since(ctx context.Context, seq int64, n int) ([]feed.Entry, error)
	Moments(ctx context.Context, seqs []int64) ([]feed.Entry, error)
	Head(ctx context.Context) (int64, error)
	OrderLog(ctx context.Context, id order.ID, after int64, n int) ([]feed.Entry, error)
	IntegratorLog(ctx context.Context, id integrator.ID, after int64, n int) ([]feed.Entry, error)
	IntegratorHead(ctx context.Context, id integrator.ID) (int64, error)
}

// Events are what streams are made of. A service that runs has them; whoever works on
// the database itself has not.
type Events struct {
	Hub     Hub
	Journal Journal
	// Show is an order as it was at a time.
	Show func(o *order.Order, at time.Time) wire.Order
	// Stop is closed when the service ends: streams say goodbye then.
	Stop <-chan struct{}
	// Beat is how often a stream gives a sign of life; zero is 15 s.
	Beat time.Duration
	// Patience is how long a reader may take nothing before it is cut: 20 s where it is zero.
	Patience time.Duration
}
