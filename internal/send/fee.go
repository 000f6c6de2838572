package send

import (
	"time"

	"ferry/internal/money"
)

// Ramp is how the price of a transfer may rise: from what the first attempt
// offered to the whole budget, in a straight line until the deadline.
type Ramp struct {
	First, Max        money.Amount
	Started, Deadline time.Time
}

// At is what may be offered at a time. It never passes the budget.
func (r Ramp) At(now time.Time) money.Amount {
	if !r.First.Less(r.Max) || !now.Before(r.Deadline) {
		return r.Max
	}
	gone, whole := now.Sub(r.Started), r.Deadline.Sub(r.Started)
	if gone <= 0 || whole <= 0 {
		return r.First
	}
	rise, err := r.Max.Less0(r.First).MulDiv(money.FromUint64(uint64(gone)), money.FromUint64(uint64(whole)), money.Down)
	if err != nil {
		return r.Max
	}
	fee, err := r.First.Add(rise)
	if err != nil {
		return r.Max
	}
	return money.Min(fee, r.Max)
}

// worthBump reports whether an offer is enough above the one before to replace it
// everywhere: an eighth more, which is what the strictest nodes ask.
func worthBump(prev, offer money.Amount) bool {
	eighth, err := prev.MulDiv(money.FromUint64(9), money.FromUint64(8), money.Up)
	return err == nil && !offer.Less(eighth) && prev.Less(offer)
}
