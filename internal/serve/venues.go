package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/front"
	"ferry/internal/venue/uniswap"
)

// owner says which address is our hot one on a chain.
type owner func(id chain.ID) (chain.Address, error)

// callable are the contracts that the configuration lets our accounts call. It is made
// from the configuration alone, so that a signer in a process of its own has the same.
func callable(c config.Config, own owner) (map[chain.ID][]chain.Contract, error) {
	all := map[chain.ID][]chain.Contract{}
	for _, k := range aggregated(c.Aggregator) {
		if err := k.Check(); err != nil {
			return nil, fmt.Errorf("aggregator on %s: %w", k.Chain, err)
		}
		all[k.Chain] = append(all[k.Chain], k.Contracts()...)
	}
	for _, one := range c.Chains {
		if one.Uniswap != nil {
			all[one.ID] = append(all[one.ID], exchange(one, chain.Address{}).Contracts()...)
		}
		if one.Rollup != nil && one.Rollup.Withdrawals && c.Rollups.Claim != nil {
			for id, list := range canonical(one).Contracts() {
				all[id] = append(all[id], list...)
			}
		}
	}
	return all, dollarCalls(c, own, all)
}

// at is the address of a contract.
func at(text string) chain.Address { return chain.CanonicalAddress(chain.EVM, text) }

// exchange is how the pools of a chain are followed.
func exchange(one config.Chain, own chain.Address) uniswap.Config {
	u := one.Uniswap
	k := uniswap.Config{
		Chain: one.ID, Own: own, Router: at(u.Router), Wrapped: at(u.Wrapped), MaxAge: u.MaxAge, Poll: u.Poll, Check: u.Check, Patience: u.Patience,
	}
	if u.Multicall != "" {
		k.Multicall = at(u.Multicall)
	}
	for _, t := range u.Tokens {
		k.Tokens = append(k.Tokens, at(t))
	}
	for _, p := range u.Only {
		k.Pools = append(k.Pools, uniswap.Pool{Version: p.Version, Zero: at(p.Zero), One: at(p.One), Fee: p.Fee})
	}
	return k
}

// hubs adds hubs to those of a chain.
func hubs(v *front.Venues, id chain.ID, more []chain.Asset) {
	if v.Hubs == nil {
		v.Hubs = map[chain.ID][]chain.Asset{}
	}
	for _, a := range more {
		if !slices.Contains(v.Hubs[id], a) {
			v.Hubs[id] = append(v.Hubs[id], a)
		}
	}
}

// builder makes the pools and the native bridges of a configuration.
type builder struct {
	cfg    config.Config
	chains map[chain.ID]front.Chain
	gas    *gas
	log    *slog.Logger
}

// build makes them all, and asks the contracts whether they are what was configured.
func (b *builder) build(ctx context.Context, into *front.Config, chains []front.Chain) error {
	for _, c := range chains {
		b.chains[c.ID] = c
	}
	b.gas.chains = b.chains
	ctx, cancel := context.WithTimeout(ctx, openingTime)
	defer cancel()
	for _, one := range b.cfg.Chains {
		if one.Uniswap == nil {
			continue
		}
		if err := b.pools(ctx, &into.Venues, one); err != nil {
			return fmt.Errorf("pools on %s: %w", one.ID, err)
		}
	}
	if err := b.dollars(ctx, into); err != nil {
		return err
	}
	for _, one := range b.cfg.Chains {
		if one.Rollup == nil {
			continue
		}
		if err := b.rollup(ctx, into, one); err != nil {
			return fmt.Errorf("rollup %s: %w", one.ID, err)
		}
	}
	return nil
}

// pools adds the pools of a chain to the venues.
func (b *builder) pools(ctx context.Context, v *front.Venues, one config.Chain) error {
	on, ok := b.chains[one.ID].Sender.(uniswap.Chain)
	if !ok {
		return errors.New("the chain cannot be asked about contracts")
	}
	k := exchange(one, b.chains[one.ID].Own)
	k.Noticed = func(n uniswap.Notice) {
		b.log.Warn("pools: "+n.Text, "chain", string(n.Chain), "pool", n.Pool.Text(), "error", n.Err)
	}
	p, err := uniswap.New(k, on)
	if err != nil {
		return err
	}
	if err := p.Check(ctx); err != nil {
		return err
	}
	if v.Pools == nil {
		v.Pools = map[chain.ID]front.Pools{}
	}
	v.Pools[one.ID], v.MaxOff = p, b.cfg.Pools.MaxOff
	v.Pooled = append(v.Pooled, one.Uniswap.Pooled...)
	hubs(v, one.ID, one.Uniswap.Hubs)
	return nil
}
