package order

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// ID names an order.
type ID string

// HotWallet is the account that pays on every chain.
const HotWallet chain.Account = "hot"

// MaxDeposits is how many payments one order remembers. Further ones are booked
// as unclaimed, so that a flood of dust cannot make an order grow without end.
const MaxDeposits = 32

// Outflow is money we send for an order.
type Outflow struct {
	Asset  chain.Asset
	Amount money.Amount
	Tx     chain.TxID
	Cost   money.Amount // what the chain took for it, in the chain's own coin
	State  OutState
}

// OutState is how far an outflow is.
type OutState string

// The states of an outflow.
const (
	OutNone   OutState = ""
	OutWished OutState = "wished"
	OutFinal  OutState = "final"
	OutDead   OutState = "dead"
)

// MaxCalls is how many transactions the steps of an order may ask for.
const MaxCalls = 24

// StepCall is a transaction of a step: wished, and then settled one way or the other.
type StepCall struct {
	Step, N int
	Outflow // of what it may take at most
}

// Crossing is what our inventory exchanged for the order between two steps, in the books
// alone: while nothing went on from there, it can be undone.
type Crossing struct {
	Done    bool
	Step    int
	In, Out Sum
}

// Sum is an amount of one asset.
type Sum struct {
	Asset  chain.Asset
	Amount money.Amount
}

// Hold is why an order is held.
type Hold struct {
	Why Reason
	// WantsRefund: the order goes to refunding as soon as a refund address is known.
	WantsRefund bool
	// Since is the version that the order had when it was held: it names the hold.
	Since int64
	// Offered: it was told that a new price can be had. Once for each hold.
	Offered bool
}

// Patience is how long an order may stay in a state before somebody looks at it.
type Patience struct{ Confirming, Executing, Sending, Held, Refunding, Recovery time.Duration }

// Order is one exchange, from its deposit address to its ending.
type Order struct {
	ID         ID
	Version    int64
	State      State
	Session    [32]byte // SHA-256 of the secret; the secret itself is never stored
	Integrator integrator.ID
	Quote      quote.Quote

	// DepositTo is where it is paid: an address of its own, or its reference, where it is
	// paid straight into the wallet by a transaction that was made for PayFrom.
	DepositTo, PayTo, RefundTo chain.Address
	PayFrom                    chain.Address

	Deposits []Deposit
	Received money.Amount // counted deposits in the quoted asset
	InHand   Sum          // what is here for the order now; after a step it is the step's output
	Step     int
	Calls    []StepCall
	Cross    Crossing
	Bridge   *Bridge // of one that its owner runs; nil otherwise

	Payout, Refund, Fee Outflow
	FeeStatus           FeeStatus
	FeeReason           Reason

	Hold    Hold
	Stop    Reason // an operator or a screen stops the order before its money goes on
	Failure Reason
	Delayed bool

	Patience             Patience
	CreatedAt, UpdatedAt time.Time
	ExpiresAt            time.Time // funding deadline
	Deadline             time.Time // of the present state; zero once it has passed or where none is
	FinishedAt           time.Time
	Keys                 []string // facts that were applied, but for deposits and offers, which are known by their own record

	Origin Origin
}

// Open is the one definition of an open order.
func (o Order) Open(now time.Time, window time.Duration) bool {
	return !o.State.Finished() && now.Sub(o.CreatedAt) < window
}

// Requotable reports whether the order waits for a new price that its owner accepts.
func (o Order) Requotable() bool {
	// After a step another asset is in hand than the one that a price is made for.
	return o.State == Held && o.Hold.Why.requotable() && o.Stop == "" && o.Step == 0
}

// Place is where a list of orders, newest first, goes on: after the order of that
// id, made then. The zero place is the beginning.
type Place struct {
	At time.Time
	ID ID
}

// Names of the transfers an order may wish. Each lands at most once.
func (o Order) payoutName() string { return string(o.ID) + "/payout" }
func (o Order) refundName() string { return string(o.ID) + "/refund" }
func (o Order) feeName() string    { return string(o.ID) + "/fee" }
func (o Order) recoveryName(d chain.DepositID) string {
	return string(o.ID) + "/recovery/" + string(d)
}

// stepName is of a step's reservation, and begins the names of its transfers.
func (o Order) stepName(i int) string { return fmt.Sprintf("%s/%s/%d", o.ID, ForStep, i) }

// callName is the name of the transfer that a step's n-th call on a chain is.
func (o Order) callName(i, n int, on chain.ID) string {
	return fmt.Sprintf("%s/%d/%s", o.stepName(i), n, on)
}

// CallName is the name of the transfer that a step's transaction is.
func (o Order) CallName(c StepCall) string { return o.callName(c.Step, c.N, c.Asset.Chain) }

func (o Order) owed() ledger.Account     { return ledger.Owed(string(o.ID)) }
func (o Order) recovery() ledger.Account { return ledger.Recovery(string(o.ID)) }

// deposit finds a payment that the order remembers.
func (o *Order) deposit(id chain.DepositID) *Deposit {
	i := slices.IndexFunc(o.Deposits, func(d Deposit) bool { return d.ID == id })
	if i < 0 {
		return nil
	}
	return &o.Deposits[i]
}

// clone copies what Apply may change.
func (o Order) clone() Order {
	o.Deposits = slices.Clone(o.Deposits)
	o.Keys = slices.Clone(o.Keys)
	o.Calls = slices.Clone(o.Calls)
	o.Bridge = o.Bridge.clone()
	return o
}

// Errors of the machine.
var (
	// ErrKnown: the fact was applied before; nothing is to be done.
	ErrKnown = errors.New("order: fact is known")
	// ErrNoRefundAddress: a refund needs an address, and it is never guessed.
	ErrNoRefundAddress = errors.New("order: no refund address")
	// ErrBadOrder: an order that could never be carried out.
	ErrBadOrder = errors.New("order: incomplete")
)

// OutOfTurn says that an event has no place in the order's state.
type OutOfTurn struct {
	Order ID
	State State
	Event string
	Why   string
}

func (e *OutOfTurn) Error() string {
	s := fmt.Sprintf("order %s: %s has no place in state %s", e.Order, e.Event, e.State)
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// Change is a transition, whole. The store writes all of it or none.
type Change struct {
	Was     int64
	From    State
	Now     Order
	Event   Event
	At      time.Time
	Effects []Effect
	Entry   ledger.Entry

	// What else must hold for a new order to be written.
	Ceilings []Ceiling
	Flow     *Flow
	Once     *Once
	Open     []chain.ID // chains that must not be halted
	Watched  chain.ID   // one that must have been read to its tip; empty is none

	Claim string // what began a bridge: no other order may have it; empty is none
}
