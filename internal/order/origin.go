package order

import (
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
)

// Origin is who made an order and what they noted on it. Nothing that happens to
// the money is decided by it.
type Origin struct {
	Key       integrator.KeyID
	Kind      integrator.Kind // of the key
	Client    string          // digest of the end user's address; empty where none was told
	Counts    []string        // whose open orders it is one of
	Group     string          // digest of the session, by which its orders are listed
	Reference string
	Metadata  map[string]string
	PointsTo  string // who earns points, as the codec of its family writes it; empty is nobody
	Award     Award  // by which terms; zero is none
	Private   bool   // kept out of public activity
	Bridge    string // the native bridge that was asked for by name; empty is a swap
}

// Ceiling bounds how many open orders one subject may have. It is counted where
// the order is written, so that it can not be overshot.
type Ceiling struct {
	Name    string // of the limit, for whoever is refused
	Subject string // whose orders count: an integrator, one of its clients, an address
	Max     int64  // zero: counted, not bounded
	Window  time.Duration
}

// TooMany says that a ceiling refused a new order.
type TooMany struct {
	Ceiling Ceiling
	Oldest  time.Time // of the orders that count
}

func (e *TooMany) Error() string {
	return fmt.Sprintf("order: %s has %d open orders within %s already", e.Ceiling.Subject, e.Ceiling.Max, e.Ceiling.Window)
}

// FlowWindow is the time within which what is sold of a pair is bounded.
const FlowWindow = time.Minute

// Flow bounds what is sold of a pair within FlowWindow, by whoever and in all processes
// together: what is lost by a price that all sources are wrong about. It is counted where
// the order is written, so that it can not be overshot.
type Flow struct {
	Pair string
	USD  money.USD // what this order is worth
	Most money.USD
}

// TooMuch says that a new order would be more of its pair than may be sold.
type TooMuch struct {
	Flow   Flow
	Sold   money.USD // within the window, before it
	Oldest time.Time // of what counts; zero where nothing does
}

func (e *TooMuch) Error() string {
	return fmt.Sprintf("order: %s of %s were sold within %s, and %s more are above %s", e.Sold, e.Flow.Pair, FlowWindow, e.Flow.USD, e.Flow.Most)
}

// Once names a request that may make one order only. Scope and Key are whose it is
// and how they call it, Body is a digest of what was asked.
type Once struct{ Scope, Key, Body string }

// Made says that the request was carried out before.
type Made struct {
	Order ID
	Same  bool // it asked for the same
}

func (e *Made) Error() string {
	return fmt.Sprintf("order: the request has made order %s before", e.Order)
}

// Closed says that a chain takes no new orders: it is halted, or nobody would see
// what is paid there.
type Closed struct{ Chain chain.ID }

func (e *Closed) Error() string { return fmt.Sprintf("order: chain %s takes no new orders", e.Chain) }

// Ours says that money would go to a deposit address of an order.
type Ours struct{ Refund bool } // not the payout but the refund

func (e *Ours) Error() string {
	if e.Refund {
		return "order: the refund would go to a deposit address of ours"
	}
	return "order: the payout would go to a deposit address of ours"
}
