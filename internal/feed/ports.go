package feed

import (
	"context"
	"errors"
	"time"

	"ferry/internal/integrator"
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
	// Integrator is whose order it is; empty for nobody's. Number is the entry's own in
	// the log of that integrator, which begins with one and has no gap either.
	Integrator integrator.ID
	Number     int64
	Session    string // digest of the session the order belongs to
	// Now is the order as the change left it. Listeners to anything but everything
	// always get it; it is shared, and nobody changes it.
	Now *order.Order
}

// InSession is the number of an entry among those of its session: its number in the
// log of its integrator. A session of nobody has one order only, whose version it is.
func (e *Entry) InSession() int64 {
	if e.Integrator == "" {
		return e.Version
	}
	return e.Number
}

// Log is the durable event log.
type Log interface {
	// Since are the entries after seq, oldest first, at most n. Now may be nil.
	Since(ctx context.Context, seq int64, n int) ([]Entry, error)
	// Moments are the entries with these numbers, each with its order, in any order.
	Moments(ctx context.Context, seqs []int64) ([]Entry, error)
	// Head is the newest seq; 0 before the first.
	Head(ctx context.Context) (int64, error)
	// Woken is closed when something was written after the call: by this process, or by
	// another that is heard of.
	Woken() <-chan struct{}
}

// SessionWidth is how many orders a session may have for its log to be read.
const SessionWidth = 1000

// ErrTooWide says that a session has too many orders for its log to be read.
var ErrTooWide = errors.New("feed: a session of too many orders")

// History is the log by what it is about, oldest first, at most n entries at a time,
// each with its order.
type History interface {
	// OrderLog are the changes of an order after a version.
	OrderLog(ctx context.Context, id order.ID, after int64, n int) ([]Entry, error)
	// SessionLog are the changes of a session's orders after a number (Entry.InSession).
	SessionLog(ctx context.Context, group string, after int64, n int) ([]Entry, error)
	// IntegratorLog are the changes of an integrator's orders after a number (Entry.Number).
	IntegratorLog(ctx context.Context, id integrator.ID, after int64, n int) ([]Entry, error)
	// IntegratorNewest are the newest entries of orders of an integrator that changed
	// last, and SessionNewest those of the newest orders of a session: each order as it
	// is, all at the same moment, the last first. The newest entry of an integrator's log
	// is always the first.
	IntegratorNewest(ctx context.Context, id integrator.ID, n int) ([]Entry, error)
	SessionNewest(ctx context.Context, group string, n int) ([]Entry, error)
	// IntegratorHead is the newest number of an integrator's log.
	IntegratorHead(ctx context.Context, id integrator.ID) (int64, error)
}
