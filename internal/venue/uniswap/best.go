package uniswap

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/venue/uniswap/route"
)

// What a swap uses of gas, about: the transaction and what is around the pools, each
// pool, each tick that is passed, and each way that is not the first.
const (
	gasBase = 90_000
	gasHop  = 110_000
	gasStep = 22_000
	gasWay  = 30_000
)

// token is the number of an asset's token; the chain's own coin is traded as its wrapped
// token.
func (v *Venue) token(a chain.Asset) (number int, ok bool) {
	switch {
	case a.Chain != v.cfg.Chain:
		return 0, false
	case a.IsNative():
		return v.coin, v.coin >= 0
	}
	number, ok = v.refs[a.Ref]
	return number, ok
}

// Best implements market.Pools: the best way through the pools as they stand, out of
// memory.
func (v *Venue) Best(_ context.Context, a market.PoolAsk) (market.PoolDeal, error) {
	in, known := v.token(a.Give)
	out, listed := v.token(a.Get)
	if !known || !listed || in == out {
		return market.PoolDeal{}, market.ErrNoPool
	}
	w := v.now.Load()
	if w == nil || w.old(a.At, v.cfg.MaxAge) {
		return market.PoolDeal{}, fault.New(fault.Unavailable, "pair_unavailable", "Pools of this chain are not up to date. Try again in a moment.")
	}
	ask := route.Ask{In: in, Out: out, ExactIn: a.Side == market.From, Amount: fromAmount(a.Amount)}
	ask.Hop, ask.Way = w.gasIn(&ask)
	f, err := w.graph.Find(&ask)
	if errors.Is(err, route.ErrNone) {
		if w.graph.Rates(in)[out] == 0 {
			return market.PoolDeal{}, market.ErrNoPool
		}
		return market.PoolDeal{}, fault.New(fault.Unprocessable, "insufficient_liquidity", "Pools have not enough for this amount; ask for less.")
	}
	if err != nil {
		return market.PoolDeal{}, fmt.Errorf("uniswap: %w", err)
	}
	return v.deal(w, in, &f)
}

// deal is what was found, for whoever asked.
func (v *Venue) deal(w *world, in int, f *route.Found) (market.PoolDeal, error) {
	d := market.PoolDeal{In: toAmount(&f.In), Out: toAmount(&f.Out)}
	p := plan{token: v.list[in], legs: make([]leg, 0, len(f.Ways))}
	hops := 0
	for _, way := range f.Ways {
		l := leg{amount: way.In, hops: make([]hop, 0, len(way.Hops))}
		for _, h := range way.Hops {
			pool := &v.pools[w.index[h.Pool]]
			to := pool.zero
			if h.Down {
				to = pool.one
			}
			l.hops = append(l.hops, hop{fee: pool.Fee, to: v.list[to]})
		}
		hops += len(l.hops)
		p.legs = append(p.legs, l)
	}
	d.Plan = p.encode()
	d.Gas = gasBase + gasHop*uint64(hops) + gasStep*uint64(max(f.Steps-hops, 0)) + gasWay*uint64(len(f.Ways)-1) //nolint:gosec // small numbers
	if f.Spot > 0 {
		off := 1 - route.Float(&f.Out)/f.Spot
		d.Impact = money.Percent(math.Round(min(max(off, 0), 1) * float64(money.Whole)))
	}
	return d, nil
}

// gasIn is what a pool and a way more cost in what is not fixed, about: which ways are
// chosen depends on it, and no amount.
func (w *world) gasIn(a *route.Ask) (hop, way uint256.Int) {
	to := a.Out
	if !a.ExactIn {
		to = a.In
	}
	rate := w.coins[to]
	return weight(w.gas * gasHop * rate), weight(w.gas * gasWay * rate)
}

// weight is a number that only weighs, as a whole one. It is never so large that some of
// them are too large together.
func weight(x float64) (n uint256.Int) {
	const digits, most = 53, 200 // bits
	if !(x >= 1) {
		return n
	}
	part, bits := math.Frexp(min(x, 1<<most))
	n.SetUint64(uint64(part * (1 << digits)))
	if bits < digits {
		return *n.Rsh(&n, uint(digits-bits)) //nolint:gosec // above zero
	}
	return *n.Lsh(&n, uint(bits-digits)) //nolint:gosec // above zero
}
