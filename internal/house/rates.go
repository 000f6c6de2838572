package house

import (
	"context"
	"fmt"
	"math"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Rates are fixed prices: what one smallest unit of each asset is worth, in
// trillionths of a dollar.
type Rates map[chain.Asset]money.Amount

// perMicro is how many trillionths of a dollar a money.USD unit has.
const perMicro = 1_000_000

// Convert implements settle.Rates.
func (r Rates) Convert(_ context.Context, n money.Amount, from, to chain.Asset, round money.Rounding) (money.Amount, error) {
	a, ok := r[from]
	b, ok2 := r[to]
	if !ok || !ok2 {
		return money.Amount{}, fmt.Errorf("no price for %s or %s", from, to)
	}
	return n.MulDiv(a, b, round)
}

// USD implements settle.Rates and watch.Valuer.
func (r Rates) USD(_ context.Context, a chain.Asset, n money.Amount) (money.USD, error) {
	p, ok := r[a]
	if !ok {
		return 0, fmt.Errorf("no price for %s", a)
	}
	v, err := n.MulDiv(p, money.FromUint64(perMicro), money.Up)
	if err != nil {
		return 0, err
	}
	u, fits := v.Uint64()
	if !fits || u > math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return money.USD(u), nil
}
