package order

import (
	"fmt"
	"strconv"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// Event is a fact. One fact has one key and is applied once; rival outcomes of
// one thing share a key, so that only one of them can ever be applied.
type Event interface {
	Key() string
	Name() string
}

// Landed is how a transfer ended on its chain: the transaction, and what it cost
// us in that chain's own coin.
type Landed struct {
	Tx   chain.TxID
	Cost money.Amount
}

// The events.
type (
	// Created: the order was made.
	Created struct{}
	// DepositSeen: a payment is in sight and may still vanish.
	DepositSeen struct {
		Deposit  chain.Deposit
		Sighting int
		At       time.Time // when it was first seen
	}
	// DepositFinal: a payment is here for good.
	DepositFinal struct {
		Deposit  chain.Deposit
		Sighting int
		SeenAt   time.Time
		Short    bool // the books refused to reserve its payout
	}
	// DepositGone: a payment is no longer on its chain. What that means depends on
	// what the order knew of it: nothing, that it was in sight, or that it was final.
	DepositGone struct {
		Deposit  chain.Deposit
		Sighting int
		SeenAt   time.Time
		// WasFinal: the order was told that it was final, for an order that
		// remembers too many payments to know by itself.
		WasFinal bool
		Short    bool // the books refused to reserve the payout of what is left
	}
	// FundingClosed: the funding deadline passed.
	FundingClosed struct{}
	// Cancelled: the owner gave the order up before paying.
	Cancelled struct{}
	// StepAsked: a venue asks for a transaction, the N-th of its step.
	StepAsked struct {
		Index, N int
		Call     chain.Call
	}
	// StepCalled: a transaction that a step asked for is settled. Failed says why it did
	// nothing; it may have cost something all the same.
	StepCalled struct {
		Index, N int
		On       chain.ID
		Landed   Landed
		Failed   string
	}
	// StepDone: a venue's step took In and brought Out. Calls is how many transactions
	// it had asked for when that was seen: an end that was seen too early is none.
	StepDone struct {
		Index   int
		Calls   int
		In, Out money.Amount
		Short   bool // the books refused to reserve what the inventory is to give for it
	}
	// StepFailed: a venue's step can not be done.
	StepFailed struct {
		Index int
		Calls int
		Why   string
	}
	// PayoutFinal: the recipient has the money.
	PayoutFinal struct{ Landed Landed }
	// PayoutFailed: it is proven that the payout will never land.
	PayoutFailed struct {
		Why    string
		Landed Landed
	}
	// RefundPriced: the refund is worth sending.
	RefundPriced struct{ Cost money.Amount }
	// RefundBelowCost: the refund would cost more than it brings.
	RefundBelowCost struct{ Cost money.Amount }
	// RefundFinal: the refund has arrived.
	RefundFinal struct{ Landed Landed }
	// RefundFailed: it is proven that the refund will never land.
	RefundFailed struct {
		Why    string
		Landed Landed
	}
	// FeePriced: the integrator's fee is worth sending.
	FeePriced struct{}
	// FeeSkipped: the integrator's fee would not cover its transfer.
	FeeSkipped struct{ Cost money.Amount }
	// FeePaid: the integrator has the fee.
	FeePaid struct{ Landed Landed }
	// FeeFailed: it is proven that the fee's transfer will never land.
	FeeFailed struct {
		Why    string
		Landed Landed
	}
	// RecoveryPriced: sending a recovered deposit back is worth it.
	RecoveryPriced struct {
		Deposit chain.DepositID
		Cost    money.Amount
	}
	// RecoveryDust: sending a recovered deposit back would cost more than it brings.
	RecoveryDust struct {
		Deposit chain.DepositID
		Cost    money.Amount
	}
	// RecoveryFinal: a recovered deposit is back with its sender.
	RecoveryFinal struct {
		Deposit chain.DepositID
		Landed  Landed
	}
	// RecoveryFailed: it is proven that sending it back will never land.
	RecoveryFailed struct {
		Deposit chain.DepositID
		Why     string
		Landed  Landed
	}
	// CostCorrected: a transfer that a chain took back has landed again, and the
	// chain took another amount for it.
	CostCorrected struct {
		Transfer string
		Tx       chain.TxID
		Block    string
		Was, Now money.Amount
	}
	// RefundAddressGiven: the owner said where refunds go. Once.
	RefundAddressGiven struct{ To chain.Address }
	// RefundAsked: the owner wants the money back.
	RefundAsked struct{ Request string }
	// RequoteOffered: a new price was made for what is in hand, the first time in a
	// hold. It says that a price can be had, not which: every offer is another.
	RequoteOffered struct{ Hold int64 } // Hold.Since of the order that it was made for
	// RequoteAccepted: the owner took a new quote for what is in hand.
	RequoteAccepted struct{ Quote quote.Quote }
	// DeadlinePassed: the order has been too long in its state.
	DeadlinePassed struct{ Of time.Time }
	// RecoveryDue: a recovered deposit has waited long enough for its owner.
	RecoveryDue struct {
		Deposit chain.DepositID
		Of      time.Time // its deadline: one that vanished and came back has another
	}
	// Stopped: an operator or a screen stops the order's money.
	Stopped struct {
		Request string
		Why     Reason
	}
	// Lifted: the stop is lifted.
	Lifted struct {
		Request string
		Short   bool
	}
)

func sighted(kind string, id chain.DepositID, n int) string {
	return kind + ":" + string(id) + "#" + strconv.Itoa(n)
}

// Key implements Event.
func (Created) Key() string        { return "created" }
func (e DepositSeen) Key() string  { return sighted("seen", e.Deposit.ID, e.Sighting) }
func (e DepositFinal) Key() string { return sighted("final", e.Deposit.ID, e.Sighting) }
func (e DepositGone) Key() string  { return sighted("gone", e.Deposit.ID, e.Sighting) }
func (FundingClosed) Key() string  { return "closed" }
func (Cancelled) Key() string      { return "closed" }
func (e StepAsked) Key() string {
	return "step_ask:" + strconv.Itoa(e.Index) + "/" + strconv.Itoa(e.N)
}

func (e StepCalled) Key() string {
	return "step_call:" + strconv.Itoa(e.Index) + "/" + strconv.Itoa(e.N)
}
func (e StepDone) Key() string         { return "step:" + strconv.Itoa(e.Index) }
func (e StepFailed) Key() string       { return "step:" + strconv.Itoa(e.Index) }
func (PayoutFinal) Key() string        { return "payout" }
func (PayoutFailed) Key() string       { return "payout" }
func (RefundPriced) Key() string       { return "refund_price" }
func (RefundBelowCost) Key() string    { return "refund_price" }
func (RefundFinal) Key() string        { return "refund" }
func (RefundFailed) Key() string       { return "refund" }
func (FeePriced) Key() string          { return "fee_price" }
func (FeeSkipped) Key() string         { return "fee_price" }
func (FeePaid) Key() string            { return "fee" }
func (FeeFailed) Key() string          { return "fee" }
func (e RecoveryPriced) Key() string   { return "recovery_price:" + string(e.Deposit) }
func (e RecoveryDust) Key() string     { return "recovery_price:" + string(e.Deposit) }
func (e RecoveryFinal) Key() string    { return "recovery:" + string(e.Deposit) }
func (e RecoveryFailed) Key() string   { return "recovery:" + string(e.Deposit) }
func (e CostCorrected) Key() string    { return "cost:" + e.Transfer + "@" + e.Block }
func (RefundAddressGiven) Key() string { return "refund_address" }
func (e RefundAsked) Key() string      { return "refund_asked:" + e.Request }
func (e RequoteOffered) Key() string   { return "requote_offered:" + strconv.FormatInt(e.Hold, 10) }
func (e RequoteAccepted) Key() string  { return "requote:" + string(e.Quote.ID) }
func (e DeadlinePassed) Key() string   { return fmt.Sprintf("deadline:%d", e.Of.UnixMicro()) }
func (e RecoveryDue) Key() string {
	return "recovery_due:" + string(e.Deposit) + "@" + strconv.FormatInt(e.Of.UnixMicro(), 10)
}
func (e Stopped) Key() string { return "stop:" + e.Request }
func (e Lifted) Key() string  { return "lift:" + e.Request }

// Name implements Event.
func (Created) Name() string            { return "created" }
func (DepositSeen) Name() string        { return "deposit_seen" }
func (DepositFinal) Name() string       { return "deposit_final" }
func (DepositGone) Name() string        { return "deposit_gone" }
func (FundingClosed) Name() string      { return "funding_closed" }
func (Cancelled) Name() string          { return "cancelled" }
func (StepAsked) Name() string          { return "step_asked" }
func (StepCalled) Name() string         { return "step_called" }
func (StepDone) Name() string           { return "step_done" }
func (StepFailed) Name() string         { return "step_failed" }
func (PayoutFinal) Name() string        { return "payout_final" }
func (PayoutFailed) Name() string       { return "payout_failed" }
func (RefundPriced) Name() string       { return "refund_priced" }
func (RefundBelowCost) Name() string    { return "refund_below_cost" }
func (RefundFinal) Name() string        { return "refund_final" }
func (RefundFailed) Name() string       { return "refund_failed" }
func (FeePriced) Name() string          { return "fee_priced" }
func (FeeSkipped) Name() string         { return "fee_skipped" }
func (FeePaid) Name() string            { return "fee_paid" }
func (FeeFailed) Name() string          { return "fee_failed" }
func (RecoveryPriced) Name() string     { return "recovery_priced" }
func (RecoveryDust) Name() string       { return "recovery_dust" }
func (RecoveryFinal) Name() string      { return "recovery_final" }
func (RecoveryFailed) Name() string     { return "recovery_failed" }
func (CostCorrected) Name() string      { return "cost_corrected" }
func (RefundAddressGiven) Name() string { return "refund_address_given" }
func (RefundAsked) Name() string        { return "refund_asked" }
func (RequoteOffered) Name() string     { return "requote_offered" }
func (RequoteAccepted) Name() string    { return "requote_accepted" }
func (DeadlinePassed) Name() string     { return "deadline_passed" }
func (RecoveryDue) Name() string        { return "recovery_due" }
func (Stopped) Name() string            { return "stopped" }
func (Lifted) Name() string             { return "lifted" }

// WithoutLiquidity is the same fact for an order whose payout the books refused
// to reserve: it is held instead of paid.
func WithoutLiquidity(ev Event) (Event, bool) {
	switch e := ev.(type) {
	case DepositFinal:
		e.Short = true
		return e, true
	case DepositGone:
		e.Short = true
		return e, true
	case Lifted:
		e.Short = true
		return e, true
	case StepDone:
		e.Short = true
		return e, true
	}
	return ev, false
}

// knows reports whether the fact was applied before, or came too late to count.
// Deposits are told apart by their own record, so that an order does not grow with
// every flicker of a mempool: within one sighting a payment is seen, then final,
// then gone, and what is behind that is stale. An offer is remembered by its hold,
// and forgotten with it.
func (o Order) knows(ev Event) bool {
	switch e := ev.(type) {
	case DepositSeen:
		d := o.deposit(e.Deposit.ID)
		return d != nil && d.Sighting >= e.Sighting
	case DepositFinal:
		d := o.deposit(e.Deposit.ID)
		return d != nil && (d.Sighting > e.Sighting || d.Sighting == e.Sighting && d.State != DepositPending)
	case DepositGone:
		d := o.deposit(e.Deposit.ID)
		return d != nil && (d.Sighting > e.Sighting || d.Sighting == e.Sighting && (d.State == DepositDrop || d.Lost))
	case RequoteOffered:
		return o.State == Held && o.Hold.Since == e.Hold && o.Hold.Offered
	case StepSubmitted: // the same again changes nothing
		i, ok := o.submitted(e.Step)
		return ok && o.Bridge.Steps[i].Tx == e.Tx
	}
	key := ev.Key()
	for _, k := range o.Keys {
		if k == key {
			return true
		}
	}
	return false
}

// keeps reports whether the event's key must be remembered in the order.
func keeps(ev Event) bool {
	switch ev.(type) {
	case DepositSeen, DepositFinal, DepositGone, RequoteOffered, StepSubmitted, BridgeSeen:
		return false
	}
	return true
}
