package dev

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/venue/opbridge"
)

// What the local bridges are offered for.
const (
	claimUSD   = 3 * money.Dollar
	bridgePoll = 500 * time.Millisecond
)

// rollupConfig is where the rollup's contracts are.
func (l *local) rollupConfig() opbridge.Config {
	at, on := l.state.Rollup, func(text string) chain.Address { return chain.CanonicalAddress(chain.EVM, text) }
	return opbridge.Config{
		Below: Ethereum, Above: Base, Portal: on(at.Portal), Messenger: on(at.Messenger), Bridge: on(at.Bridge), Oracle: on(at.Oracle),
	}
}

// trips are those over the rollup's bridge.
func (l *local) trips(below opbridge.Below, above opbridge.Above) (*opbridge.Trips, error) {
	b, err := opbridge.New(l.rollupConfig(), below, above)
	if err != nil {
		return nil, err
	}
	return opbridge.NewTrips(b, []quote.Lane{{Give: Ethereum.Native(), Get: Base.Native()}}, opbridge.TripConfig{
		Poll: bridgePoll, Relay: 20 * time.Second, Told: rollupEvery * 2 * time.Second, Challenge: rollupChallenge * time.Second,
	})
}

// claimed adds the contracts that the service calls to claim for others.
func (l *local) claimed(ctx context.Context, all map[chain.ID][]chain.Contract) error {
	if !l.rollup(Base) {
		return nil
	}
	allow(all, l.rollupConfig().Contracts())
	if !l.state.Dollars {
		return nil
	}
	cfg, err := l.dollars(ctx)
	if err != nil {
		return err
	}
	allow(all, cfg.Contracts())
	return nil
}

// allow adds contracts to those that may be called. Whom a token may be approved for is
// one list, whoever asks for it.
func allow(all, more map[chain.ID][]chain.Contract) {
	for id, list := range more {
		for _, c := range list {
			i := slices.IndexFunc(all[id], func(have chain.Contract) bool { return have.Address == c.Address })
			if i < 0 {
				all[id] = append(all[id], c)
				continue
			}
			for _, m := range c.Methods {
				j := slices.IndexFunc(all[id][i].Methods, func(have chain.Method) bool { return have.Signature == m.Signature })
				if j < 0 {
					all[id][i].Methods = append(all[id][i].Methods, m)
					continue
				}
				for place, few := range m.Only {
					have := all[id][i].Methods[j].Only
					have[place] = append(slices.Clone(have[place]), few...)
				}
			}
		}
	}
}

// bridge offers the native bridges of the network.
func (l *local) bridge(ctx context.Context) error {
	if !l.rollup(Base) {
		return nil
	}
	below, ok := l.eyes(Ethereum)
	above, there := l.eyes(Base)
	if !ok || !there {
		return fmt.Errorf("the chains of the rollup can not be read")
	}
	t, err := l.trips(below, above)
	if err != nil {
		return err
	}
	for _, b := range []struct {
		id, name string
		is       quote.Bridge
	}{{"base_deposit", "Base native bridge, deposits", t.Up()}, {"base_withdraw", "Base native bridge, withdrawals", t.Down()}} {
		b.is.ID, b.is.Name = b.id, b.name
		one := front.Bridge{Bridge: b.is, Run: t, Terms: desk.BridgeTerms{
			Min: money.MustParse("1000000000000"), Max: money.MustParse("100000000000000000000"), Version: 1, EffectiveAt: time.Unix(0, 0).UTC(),
		}}
		if b.is.Direction == "withdraw" {
			usd := money.USD(claimUSD)
			one.Terms.Claim = &usd
		}
		l.net.bridges = append(l.net.bridges, one)
	}
	if !l.state.Dollars {
		return nil
	}
	return l.bridgeDollars(ctx)
}

// eyes is a chain as bridges read it.
func (l *local) eyes(id chain.ID) (opbridge.Above, bool) {
	for _, c := range l.net.chains {
		if c.ID == id {
			on, ok := c.Reader.(opbridge.Above)
			return on, ok
		}
	}
	return nil, false
}
