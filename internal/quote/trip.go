package quote

import (
	"errors"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Bridge is a native bridge in one direction, as it is offered. Its money passes through
// us where it is paid to a deposit address; where its owner runs it, it never does.
type Bridge struct {
	ID, Kind, Name string
	Direction      string // "deposit" and "withdraw" of a rollup, "transfer" otherwise
	From, To       chain.ID
	Assets         []Lane
	Managed        bool // paid to a deposit address: the service performs it
	Legs           []Leg
	Takes          time.Duration
}

// Lane is an asset and what it becomes on the other side.
type Lane struct{ Give, Get chain.Asset }

// Kinds of bridges.
const (
	Canonical = "canonical"
	BurnMint  = "burn_mint"
)

// Actor is who does a step.
type Actor string

// The actors.
const (
	ByUser    Actor = "user"
	ByService Actor = "service"
	ByNetwork Actor = "network"
)

// Leg is one step of a bridge.
type Leg struct {
	ID, Title string
	Actor     Actor
	Chain     chain.ID
	Claim     bool          // anybody may do it: the service can, where that was bought
	Takes     time.Duration // usually, where the network acts
}

// Trip is one transfer over a bridge that its owner runs.
type Trip struct {
	Bridge    string
	Give, Get chain.Asset
	From, To  chain.Address // From is zero for anybody
	Amount    money.Amount
	Plan      []byte // what the bridge wants to know again
	Told      []Told // by whom and when what was said to be sent, oldest first
	Began     string // the proof by which it began, once that is known
}

// Told is a transaction that is said to do a step.
type Told struct {
	Leg string
	Tx  chain.TxID
	At  time.Time
}

// LegStatus is how far a step is.
type LegStatus string

// The statuses.
const (
	LegPending   LegStatus = "pending"   // a step before it is not done
	LegWaiting   LegStatus = "waiting"   // for time, or for the network
	LegReady     LegStatus = "ready"     // it can be done now
	LegSubmitted LegStatus = "submitted" // its transaction is under way
	LegConfirmed LegStatus = "confirmed" // done for good
	LegFailed    LegStatus = "failed"    // what was submitted did not do it, for good
	LegSkipped   LegStatus = "skipped"   // it is not needed
)

// LegStands is where a step stands, as the chains tell it.
type LegStands struct {
	ID       string
	Status   LegStatus
	ReadyAt  time.Time
	Estimate bool       // ReadyAt is about when
	Tx       chain.TxID // by which it was done, where that is known
	Why      string     // of one that failed
}

// Standing is where a trip stands. Proofs name what began it, on its chain and for good:
// each may begin one trip only, and there is more than one where a transaction did the
// same twice. Brought is what arrived, once the last step is confirmed. Broken says that
// it can not go on by itself.
type Standing struct {
	Legs           []LegStands
	Proofs         []string
	Moved, Brought money.Amount
	Broken         string
	Again          time.Duration // how soon is looked again at the earliest
}

// ErrNotReady: a step can not be done yet, or is done.
var ErrNotReady = errors.New("quote: that step of the bridge is not ready")

// forgotten is how long a transaction may be unknown to every node before it is taken
// for one that was never sent. It may be named again.
const forgotten = 10 * time.Minute

// Judge says where a step stands by the receipt of what was said to do it. Confirmed is
// that it went well for good, and not yet that it did the step.
func Judge(r chain.Receipt, told Told, now time.Time) (s LegStatus, why string) {
	switch r.Fate {
	case chain.Final:
		return LegConfirmed, ""
	case chain.Reverted:
		return LegFailed, "the transaction " + string(told.Tx) + " reverted"
	case chain.Missing:
		if now.Sub(told.At) > forgotten {
			return LegFailed, "no node knows the transaction " + string(told.Tx)
		}
	}
	return LegSubmitted, ""
}

// Last is the transaction that was last said to do a step.
func (t Trip) Last(leg string) (Told, bool) {
	for i := len(t.Told) - 1; i >= 0; i-- {
		if t.Told[i].Leg == leg {
			return t.Told[i], true
		}
	}
	return Told{}, false
}
