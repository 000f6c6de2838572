package kyber

import (
	"context"
	"errors"

	"ferry/internal/fault"
	"ferry/internal/market"
)

// gasApprove is what an approval uses, about.
const gasApprove = 60_000

// plan is what a step keeps of its quote: nothing but that it was made here. Ways are
// stale long before a deposit is final.
var plan = []byte{1}

// Best implements market.Pools: the best way that the aggregator knows now. It prices
// only by what is given.
func (v *Venue) Best(ctx context.Context, a market.PoolAsk) (market.PoolDeal, error) {
	src, ok := v.token(a.Give)
	dst, listed := v.token(a.Get)
	if !ok || !listed || src == dst {
		return market.PoolDeal{}, market.ErrNoPool
	}
	if a.Side == market.To {
		return market.PoolDeal{}, fault.New(fault.Unprocessable, "no_route", "The aggregator prices only what is given; ask by the amount to give.")
	}
	if a.Amount.IsZero() {
		return market.PoolDeal{}, market.ErrNoPool
	}
	w, err := v.api.route(ctx, forQuote, ask{v.cfg.Slug, src, dst, a.Amount, known(v.cfg.Router)})
	switch {
	case errors.Is(err, errNoWay):
		return market.PoolDeal{}, market.ErrNoPool
	case errors.Is(err, errBusy):
		return market.PoolDeal{}, fault.New(fault.Unavailable, "provider_unavailable", "The aggregator takes no questions for now. Try again in a moment.").Because(err)
	case errors.Is(err, errCall):
		v.notice(err)
		return market.PoolDeal{}, err
	case err != nil:
		return market.PoolDeal{}, err
	}
	d := market.PoolDeal{In: a.Amount, Out: w.out, Plan: plan, Impact: w.impact, Gas: w.gas}
	if !a.Give.IsNative() {
		d.Gas += gasApprove
	}
	return d, nil
}
