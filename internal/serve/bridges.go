package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/desk"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/venue/cctp"
	"ferry/internal/venue/opbridge"
)

// limitsFresh is how long the bridge's own limit of one transfer is believed.
const limitsFresh = time.Minute

// rates say what an amount of one asset is in another.
type rates interface {
	Convert(ctx context.Context, n money.Amount, from, to chain.Asset, round money.Rounding) (money.Amount, error)
}

// gas prices gas by what the plainest payment costs now. On a rollup that is a little too
// much: what its data costs does not grow with the gas.
type gas struct {
	chains map[chain.ID]front.Chain
	rates  rates // set when there are prices, before anybody asks
}

// plainGas is what the plainest payment takes.
const plainGas = 21_000

// Gas implements cctp.Gas.
func (g *gas) Gas(ctx context.Context, on chain.ID, units uint64, in chain.Asset, _ time.Time) (money.Amount, error) {
	c, ok := g.chains[on]
	if !ok || c.Sender == nil {
		return money.Amount{}, fmt.Errorf("gas of %s: it is not served", on)
	}
	cost, err := c.Sender.Cost(ctx, chain.Call{Chain: on, From: order.HotWallet, To: c.Own, Asset: on.Native(), Amount: money.FromUint64(1)})
	if err != nil {
		return money.Amount{}, fmt.Errorf("gas of %s: %w", on, err)
	}
	if cost, err = cost.MulDiv(money.FromUint64(units), money.FromUint64(plainGas), money.Up); err != nil {
		return money.Amount{}, fmt.Errorf("gas of %s: %w", on, err)
	}
	return g.rates.Convert(ctx, cost, on.Native(), in, money.Up)
}

// dollarsOf are the settings of the bridge of dollars; without domains it is off.
func dollarsOf(c config.Config, own owner) (cctp.Config, error) {
	b := c.CCTP
	cfg := cctp.Config{Service: b.Fee, MaxFee: b.MaxFee, Min: b.Min, Max: b.Max, Poll: b.Poll, Fresh: limitsFresh}
	for _, one := range c.Chains {
		s := one.CCTP
		if s == nil {
			continue
		}
		hot, err := own(one.ID)
		if err != nil {
			return cfg, fmt.Errorf("our own address on %s: %w", one.ID, err)
		}
		cfg.Domains = append(cfg.Domains, cctp.Domain{
			Chain: one.ID, Number: s.Domain, Token: s.Token, Messenger: at(s.Messenger), Transmitter: at(s.Transmitter), Own: hot, Attested: s.Attested,
		})
	}
	return cfg, nil
}

// dollarCalls adds what is called for the bridge of dollars: all of it where the service
// performs transfers, what mints where it only claims for others, and else nothing.
func dollarCalls(c config.Config, own owner, all map[chain.ID][]chain.Contract) error {
	cfg, err := dollarsOf(c, own)
	if err != nil || len(cfg.Domains) == 0 {
		return err
	}
	if err := cfg.Check(); err != nil {
		return fmt.Errorf("cctp: %w", err)
	}
	lists := cfg.Contracts()
	for _, d := range cfg.Domains {
		for _, k := range lists[d.Chain] {
			if c.CCTP.Perform || c.CCTP.Claim != nil && k.Address == d.Transmitter {
				all[d.Chain] = append(all[d.Chain], k)
			}
		}
	}
	return nil
}

// dollars offers the bridge of dollars between every two chains that have it.
func (b *builder) dollars(ctx context.Context, into *front.Config) error {
	cfg, err := dollarsOf(b.cfg, func(id chain.ID) (chain.Address, error) { return b.chains[id].Own, nil })
	if err != nil || len(cfg.Domains) == 0 {
		return err
	}
	read := map[chain.ID]cctp.Chain{}
	for _, d := range cfg.Domains {
		if on, ok := b.chains[d.Chain].Reader.(cctp.Chain); ok {
			read[d.Chain] = on
		}
	}
	iris, err := cctp.NewIris(b.cfg.CCTP.Attester, time.Now)
	if err != nil {
		return err
	}
	v, err := cctp.New(cfg, read, iris, b.gas)
	if err != nil {
		return err
	}
	if err := v.Check(ctx); err != nil {
		return err
	}
	for _, from := range cfg.Domains {
		for _, to := range cfg.Domains {
			if from.Chain == to.Chain {
				continue
			}
			if err := b.transfer(into, v, from.Chain, to.Chain); err != nil {
				return err
			}
		}
	}
	return nil
}

// transfer offers the bridge of dollars from one chain to another: for owners to run, and
// where it is asked for performed by the service.
func (b *builder) transfer(into *front.Config, v *cctp.Venue, from, to chain.ID) error {
	is, err := v.Offered(from, to)
	if err != nil {
		return err
	}
	a, z := b.chains[from], b.chains[to]
	is.ID, is.Name = "cctp_"+a.Slug+"_"+z.Slug, "CCTP from "+a.Name+" to "+z.Name
	t := terms(b.cfg.CCTP.Terms, b.cfg.CCTP.Min, b.cfg.CCTP.Max)
	into.Bridges = append(into.Bridges, front.Bridge{Bridge: is, Run: v, Terms: t})
	if !b.cfg.CCTP.Perform {
		return nil
	}
	done, err := v.Performed(from, to)
	if err != nil {
		return err
	}
	done.ID, done.Name = is.ID+"_managed", is.Name+", performed by the service"
	t.Claim, t.FeePercent = nil, b.cfg.CCTP.Fee
	into.Bridges = append(into.Bridges, front.Bridge{Bridge: done, Perform: v, Terms: t})
	return nil
}

func terms(t config.Terms, least, most money.Amount) desk.BridgeTerms {
	return desk.BridgeTerms{Min: least, Max: most, Claim: t.Claim, EffectiveAt: t.Since, Version: t.Version}
}

// canonical is where the contracts of a rollup's bridge stand.
func canonical(one config.Chain) opbridge.Config {
	o := one.Rollup
	cfg := opbridge.Config{Below: o.Of, Above: one.ID, Portal: at(o.Portal), Messenger: at(o.Messenger), Bridge: at(o.Bridge), Gas: o.Gas}
	for _, c := range []struct {
		text string
		into *chain.Address
	}{{o.Oracle, &cfg.Oracle}, {o.Games, &cfg.Games}, {o.Registry, &cfg.Registry}} {
		if c.text != "" {
			*c.into = at(c.text)
		}
	}
	return cfg
}

// way is what a rollup's bridge carries under one name.
type way struct {
	suffix      string
	pairs       []quote.Lane
	least, most money.Amount
}

// ways are the coin, and each token by itself: what one transfer may be is not the same
// for them.
func ways(c config.Config, one config.Chain) []way {
	all := []way{{pairs: []quote.Lane{{Give: one.Rollup.Of.Native(), Get: one.ID.Native()}}, least: c.Rollups.Min, most: c.Rollups.Max}}
	for _, k := range one.Rollup.Tokens {
		symbol := k.Below.Ref
		for _, t := range c.Tokens {
			if t.Asset == k.Below {
				symbol = strings.ToLower(t.Symbol)
			}
		}
		all = append(all, way{suffix: "_" + symbol, pairs: []quote.Lane{{Give: k.Below, Get: k.Above}}, least: k.Min, most: k.Max})
	}
	return all
}

// tripConfig is how transfers over a rollup's bridge are followed.
func tripConfig(c config.Config, one config.Chain) opbridge.TripConfig {
	o := one.Rollup
	return opbridge.TripConfig{Poll: c.Rollups.Poll, Relay: o.Relay, Told: o.Told, Challenge: o.Challenge}
}

// rollup offers the canonical bridge of a rollup.
func (b *builder) rollup(ctx context.Context, into *front.Config, one config.Chain) error {
	o := one.Rollup
	below, ok := b.chains[o.Of].Reader.(opbridge.Below)
	above, there := b.chains[one.ID].Reader.(opbridge.Above)
	if !ok || !there {
		return errors.New("its chains cannot be asked about contracts")
	}
	bridge, err := opbridge.New(canonical(one), below, above)
	if err != nil {
		return err
	}
	if err := bridge.Check(ctx); err != nil {
		return err
	}
	if o.Withdrawals {
		if err := bridge.CheckGames(ctx); err != nil {
			return fmt.Errorf("%w; write withdrawals = false, and deposits alone are offered", err)
		}
	}
	c := b.chains[one.ID]
	for _, w := range ways(b.cfg, one) {
		t, err := opbridge.NewTrips(bridge, w.pairs, tripConfig(b.cfg, one))
		if err != nil {
			return err
		}
		up := front.Bridge{Bridge: t.Up(), Run: t, Terms: terms(b.cfg.Rollups.Terms, w.least, w.most)}
		up.ID, up.Name, up.Terms.Claim = c.Slug+"_deposit"+w.suffix, c.Name+" native bridge, deposits", nil
		offered := []front.Bridge{up}
		if o.Withdrawals {
			down := front.Bridge{Bridge: t.Down(), Run: t, Terms: terms(b.cfg.Rollups.Terms, w.least, w.most)}
			down.ID, down.Name = c.Slug+"_withdraw"+w.suffix, c.Name+" native bridge, withdrawals"
			offered = append(offered, down)
		}
		for _, f := range offered {
			if slices.ContainsFunc(into.Bridges, func(x front.Bridge) bool { return x.ID == f.ID }) {
				return fmt.Errorf("two of its tokens are called %s; give each a symbol of its own", strings.TrimPrefix(w.suffix, "_"))
			}
			into.Bridges = append(into.Bridges, f)
		}
	}
	return nil
}
