package serve

import (
	"fmt"
	"log/slog"
	"time"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/front"
	"ferry/internal/venue/kyber"
)

// aggregatorPoll is how soon is looked again at a step that waits for the aggregator.
const aggregatorPoll = 3 * time.Second

// aggregated are the aggregator's settings on every chain that it is used on, without
// our own addresses: the signer's list is made of them before there are any.
func aggregated(a config.Aggregator) (all []kyber.Config) {
	for _, c := range a.Chains {
		k := kyber.Config{
			Chain: c.ID, Slug: c.Slug, Router: chain.CanonicalAddress(chain.EVM, c.Router), Assets: c.Assets, Slippage: a.Slippage,
			Approve: uint64(a.Approve), Patience: a.Patience, Poll: aggregatorPoll, //nolint:gosec // the configuration bounds it
		}
		for _, x := range c.Executors {
			k.Executors = append(k.Executors, chain.CanonicalAddress(chain.EVM, x))
		}
		all = append(all, k)
	}
	return all
}

// outside adds the aggregator to the venues, where it is asked for.
func outside(v *front.Venues, c config.Config, chains []front.Chain, log *slog.Logger) error {
	a := c.Aggregator
	if !a.On {
		return nil
	}
	client, err := kyber.NewClient(kyber.ClientConfig{URL: a.URL, ID: a.ClientID, PerSecond: int(a.PerSecond), Now: time.Now})
	if err != nil {
		return err
	}
	v.OutsideOff, v.Outside = a.MaxOff, map[chain.ID]front.Outside{}
	for _, one := range a.Chains {
		hubs(v, one.ID, one.Hubs)
	}
	for _, k := range aggregated(a) {
		var on kyber.Chain
		for _, f := range chains {
			if f.ID == k.Chain {
				k.Own = f.Own
				on, _ = f.Reader.(kyber.Chain)
			}
		}
		if on == nil {
			return fmt.Errorf("aggregator on %s: the chain cannot be asked about contracts", k.Chain)
		}
		k.Noticed = func(n kyber.Notice) {
			log.Warn("the aggregator answers what was not asked for", "chain", string(n.Chain), "error", n.Err)
		}
		if v.Outside[k.Chain], err = kyber.New(k, on, client); err != nil {
			return err
		}
	}
	return nil
}
