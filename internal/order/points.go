package order

import (
	"math"
	"math/bits"

	"ferry/internal/money"
)

// Award are the terms by which an order earns points. They are fixed when the order is
// made, like its price: what a season promises later changes nothing, and what was
// earned can be told again from the orders alone.
type Award struct {
	Season string
	PerUSD int64         // points for a dollar of the service's fee
	Times  money.Percent // the season's multiplier; Whole is once
	Share  money.Percent // of those points, for the integrator beside them
}

// Points are what an order has earned: for the address that was named, and for the
// integrator. There are none before it is completed, none without a fee, and none while
// a deposit that paid for it is lost to a chain that took it back.
func (o Order) Points() (address, integrator int64) {
	a := o.Origin.Award
	if o.State != Completed || a.Season == "" || o.Origin.PointsTo == "" || o.unpaid() {
		return 0, 0
	}
	address = share(share(a.PerUSD, int64(o.Quote.Shown.ServiceUSD), int64(money.Dollar)), int64(a.Times), int64(money.Whole))
	if o.Integrator != "" {
		integrator = share(address, int64(a.Share), int64(money.Whole))
	}
	return address, integrator
}

// unpaid reports whether a payment that the order counted is lost.
func (o Order) unpaid() bool {
	for _, d := range o.Deposits {
		if d.State == DepositCounted && d.Lost {
			return true
		}
	}
	return false
}

// share is n·part/whole, rounded down: nobody is given what was not earned.
func share(n, part, whole int64) int64 {
	if n <= 0 || part <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	if hi >= uint64(whole) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(min(q, math.MaxInt64))
}
