package order

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Deposit is a payment to the order's address, as the order remembers it.
type Deposit struct {
	ID       chain.DepositID
	Asset    chain.Asset
	Amount   money.Amount
	Tx       chain.TxID
	Sighting int // how many times it was seen to appear
	SeenAt   time.Time
	State    DepositState
	Why      Reason // why it is in recovery
	Refund   Outflow
	Deadline time.Time // when recovery goes on by itself, if it can
	// Lost: it was believed final, money went out for it, and the chain took it back.
	Lost bool
}

// InSight are the payments that may still vanish.
func (o *Order) InSight() (ids []chain.DepositID) {
	for i := range o.Deposits {
		if d := &o.Deposits[i]; d.State == DepositPending {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// DepositState is what a payment is to its order.
type DepositState string

// The deposit states. From Detected on a payment is in recovery: it came late,
// second or in the wrong asset, and goes back to its sender when he asks.
const (
	DepositPending  DepositState = "pending"
	DepositDrop     DepositState = "dropped"
	DepositCounted  DepositState = "counted"
	Detected        DepositState = "detected"
	AwaitingAddress DepositState = "awaiting_refund_address"
	Returning       DepositState = "refunding"
	Returned        DepositState = "refunded"
	Dust            DepositState = "dust"
	Manual          DepositState = "manual"
)

// final reports whether the payment was booked.
func (s DepositState) final() bool { return s != DepositPending && s != DepositDrop }

// Recovering reports whether the payment is in recovery.
func (s DepositState) Recovering() bool { return s.final() && s != DepositCounted }

// recoveryRank orders recovery states by how much they ask of somebody.
var recoveryRank = map[DepositState]int{Returned: 1, Dust: 2, Returning: 3, Detected: 4, AwaitingAddress: 5, Manual: 6}

// RecoveryStatus is the state of the order's recovery as a whole: that of the
// deposit that asks the most of somebody, or empty when there is none.
func (o Order) RecoveryStatus() DepositState {
	var worst DepositState
	for _, d := range o.Deposits {
		if recoveryRank[d.State] > recoveryRank[worst] {
			worst = d.State
		}
	}
	return worst
}
