package feed

import (
	"context"
	"time"

	"ferry/internal/order"
)

// Entry is one change of one order. Seq rises by one in commit order, without gaps.
type Entry struct {
	Seq     int64
	Order   order.ID
	Version int64
	Event   string
	From    order.State
	State   order.State
	At      time.Time
}

// Log is the durable event log.
type Log interface {
	// Since are the entries after seq, oldest first, at most n.
	Since(ctx context.Context, seq int64, n int) ([]Entry, error)
	// Head is the newest seq; 0 before the first.
	Head(ctx context.Context) (int64, error)
	// Woken is closed when something was written after the call, by this process.
	Woken() <-chan struct{}
}
