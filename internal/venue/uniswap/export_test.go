package uniswap

import (
	"context"

	"ferry/internal/chain"
	"ferry/internal/venue/contract"
)

// Differences are the pools that are not kept as their contracts say in the same block.
func (v *Venue) Differences(ctx context.Context) (bad []string, at chain.Block, err error) {
	w := v.now.Load()
	for i := range v.pools {
		s, err := v.load(ctx, &v.pools[i], w.block)
		if err != nil {
			return nil, w.block, err
		}
		if !s.same(w.states[i]) {
			bad = append(bad, v.pools[i].at.Hex())
		}
	}
	return bad, w.block, nil
}

// Spoil makes a pool other than it is.
func (v *Venue) Spoil() chain.Address {
	w := *v.now.Load()
	for i, s := range w.states {
		if s.pool != nil {
			p := *s.pool
			p.Liquidity.AddUint64(&p.Liquidity, 1)
			w.states = append([]state(nil), w.states...)
			w.states[i] = state{pool: &p}
			v.turn = i - 1
			v.remember(newWorld(v, w.block, w.states, &w))
			return contract.Address(v.pools[i].at)
		}
	}
	panic("there is no pool of version 3")
}

// Weight is what a number weighs.
var Weight = weight

// Pools is how many are kept.
func (v *Venue) Pools() int { return len(v.pools) }
