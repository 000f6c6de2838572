package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// ThroughConfig is how routes are made of pools and our inventory.
type ThroughConfig struct {
	Name string // of the venue, as callers know it
	// Hubs are the assets of a chain between which the inventory exchanges for a route
	// that begins or ends in a pool.
	Hubs map[chain.ID][]chain.Asset
	// Takes is how long a step on a chain takes until it is believed.
	Takes map[chain.ID]time.Duration
	// MaxOff is how far below what prices say a route may be worth: a pool that was
	// pushed is not traded in.
	MaxOff money.Percent
}

// Through is the venue of routes that go through pools: on one chain alone, or before
// and after our inventory carries the value to another chain.
type Through struct {
	cfg       ThroughConfig
	pools     map[chain.ID]Pools
	inventory *Inventory
}

// NewThrough checks the settings.
func NewThrough(cfg ThroughConfig, pools map[chain.ID]Pools, inv *Inventory) (*Through, error) {
	if inv == nil || len(pools) == 0 {
		return nil, fmt.Errorf("market: routes through pools need pools and an inventory")
	}
	if cfg.Name == "" {
		return nil, fmt.Errorf("market: routes through pools need a name")
	}
	if cfg.MaxOff <= 0 || cfg.MaxOff >= money.Whole {
		return nil, fmt.Errorf("market: routes through pools: say how far below what prices say they may be, above 0 and below 100 percent")
	}
	for id := range pools {
		if cfg.Takes[id] <= 0 {
			return nil, fmt.Errorf("market: routes through pools: chain %s: say how long a step takes", id)
		}
	}
	for id, hubs := range cfg.Hubs {
		for _, h := range hubs {
			if _, listed := inv.listing.Asset(h); !listed || h.Chain != id || inv.cfg.Never[h] {
				return nil, fmt.Errorf("market: hub %s of %s is not listed, of another chain, or never ours", h, id)
			}
		}
	}
	return &Through{cfg: cfg, pools: pools, inventory: inv}, nil
}

// Name implements Venue.
func (v *Through) Name() string { return v.cfg.Name }

// NearThrough is Through whose pools are priced out of memory.
type NearThrough struct{ *Through }

// Near implements Near.
func (NearThrough) Near() {}

// Routes implements Venue: the best of all ways.
func (v *Through) Routes(ctx context.Context, in Intent) ([]Route, error) {
	ways := v.ways(in)
	if len(ways) == 0 {
		return nil, nil
	}
	if in.Mode == quote.Fixed {
		return nil, fault.New(fault.Unprocessable, "rate_mode_unsupported", "A route through pools has no fixed rate; ask for a float rate.")
	}
	var best Route
	var errs []error
	for _, w := range ways {
		r, err := v.price(ctx, in, w)
		switch {
		case errors.Is(err, ErrNoPool):
		case err != nil:
			errs = append(errs, err)
		case best.In.IsZero() || r.better(&best, in.Side):
			best = r
		}
	}
	if !best.In.IsZero() {
		return []Route{best}, nil
	}
	if len(errs) == 0 {
		return nil, nil
	}
	return nil, errs[0] // of the most direct way
}

// way is the assets from what is given to what is got: two neighbours on one chain
// are a pool's, and a change of chains is the inventory's.
type way struct{ a, b, c, d chain.Asset }

func (w way) crosses() bool { return w.b != w.c }

// ways are all that could be, the shortest first.
func (v *Through) ways(in Intent) (all []way) {
	add := func(w way) {
		poolsA, poolsD := v.pools[w.a.Chain] != nil, v.pools[w.d.Chain] != nil
		if (w.a != w.b && !poolsA) || (w.c != w.d && !poolsD) || (w.a == w.b && w.c == w.d) {
			return
		}
		if w.crosses() && v.inventory.terms(w.b, w.c).Off {
			return
		}
		all = append(all, w)
	}
	if in.Give.Chain == in.Get.Chain {
		if v.pools[in.Give.Chain] != nil {
			all = append(all, way{in.Give, in.Get, in.Get, in.Get})
		}
		return all
	}
	ins := append([]chain.Asset{in.Give}, v.cfg.Hubs[in.Give.Chain]...)
	outs := append([]chain.Asset{in.Get}, v.cfg.Hubs[in.Get.Chain]...)
	for i, b := range ins {
		for j, c := range outs {
			if (i > 0 && b == in.Give) || (j > 0 && c == in.Get) {
				continue
			}
			add(way{in.Give, b, c, in.Get})
		}
	}
	return all
}
