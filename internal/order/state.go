package order

// State is where an order stands.
type State string

// The states. The last four are endings: an order never leaves one.
const (
	Awaiting   State = "awaiting_deposit"
	Confirming State = "confirming"
	Executing  State = "executing"
	Sending    State = "sending"
	Held       State = "held"
	Refunding  State = "refunding"
	Completed  State = "completed"
	Failed     State = "failed"
	Expired    State = "expired"
	Refunded   State = "refunded"
)

// States lists them all, in the order a reader would tell them.
func States() []State {
	return []State{Awaiting, Confirming, Executing, Sending, Held, Refunding, Completed, Failed, Expired, Refunded}
}

// Finished reports whether the state is an ending.
func (s State) Finished() bool {
	return s == Completed || s == Failed || s == Expired || s == Refunded
}

// FeeStatus is what became of the integrator's fee.
type FeeStatus string

// The fee statuses.
const (
	FeeNone      FeeStatus = "none"
	FeeProjected FeeStatus = "projected"
	FeePaidOut   FeeStatus = "paid"
	FeeSkip      FeeStatus = "skipped"
)

// Reason is a stable code for why an order is held, failed or looked at.
type Reason string

// The reasons.
const (
	BelowMinimum     Reason = "deposit_below_minimum"
	AboveMaximum     Reason = "deposit_above_maximum"
	WrongToken       Reason = "wrong_token"
	DuplicateDeposit Reason = "duplicate_deposit"
	LateDeposit      Reason = "late_deposit"
	DepositReorged   Reason = "deposit_reorged"
	TooManyDeposits  Reason = "too_many_deposits"
	NoLiquidity      Reason = "no_liquidity"
	StepBroke        Reason = "step_failed"
	PayoutRejected   Reason = "payout_rejected"
	RefundRejected   Reason = "refund_rejected"
	FeeRejected      Reason = "fee_rejected"
	RefundBelow      Reason = "refund_below_cost"
	ScreeningHold    Reason = "screening_hold"
	DeadlineExceeded Reason = "deadline_exceeded"
	FeeBelowCost     Reason = "fee_below_cost"
	OrderNotPaid     Reason = "order_not_paid"
	BridgeBroke      Reason = "bridge_failed"
	ClaimUnearned    Reason = "claim_fee_returned"
	ClaimMismatch    Reason = "claim_fee_mismatch"
)

// requotable are the holds that a new quote can end: the amount or the price was
// the trouble. A payout that was refused once is never tried again.
func (r Reason) requotable() bool {
	return r == BelowMinimum || r == AboveMaximum || r == NoLiquidity
}

// toppable are the holds that another deposit can end.
func (r Reason) toppable() bool { return r == BelowMinimum || r == WrongToken }
