package front

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/chain"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/settle"
)

// Pools are those of one chain: they price routes, carry out their steps, and follow
// their chain while they run.
type Pools interface {
	market.Pools
	settle.Venue
	Run(ctx context.Context) error
	// Fresh reports whether they were read, and so late that they can be quoted from.
	Fresh(now time.Time) bool
}

// Outside is somebody far away who exchanges assets of one chain: it prices routes and
// carries out their steps, and is asked under the market's deadline.
type Outside interface {
	market.Pools
	settle.Venue
}

// Venues are the places beside our own inventory where assets are exchanged.
type Venues struct {
	Pools map[chain.ID]Pools
	// Hubs are the assets of a chain between which the inventory exchanges for a route
	// that begins or ends in a pool.
	Hubs map[chain.ID][]chain.Asset
	// Pooled are assets that are never ours: pools alone exchange them.
	Pooled []chain.Asset
	// MaxOff is how far below what prices say a route through pools may be.
	MaxOff money.Percent
	// Outside is an aggregator on the chains that it is used on, of one name, and
	// OutsideOff how far below what prices say its routes may be.
	Outside    map[chain.ID]Outside
	OutsideOff money.Percent
}

// places are where a venue is: several chains, under one name.
type places map[chain.ID]settle.Venue

// Next implements settle.Venue.
func (b places) Next(ctx context.Context, s quote.Step, known quote.Progress) (quote.Move, error) {
	v, ok := b[s.In.Chain]
	if !ok {
		return nil, fmt.Errorf("venue %s is not at %s", s.Venue, s.In.Chain)
	}
	return v.Next(ctx, s, known)
}

// runners are who carries steps out, by name.
func (v Venues) runners() map[string]settle.Venue {
	all := map[string]settle.Venue{}
	add := func(name string, id chain.ID, one settle.Venue) {
		some, ok := all[name].(places)
		if !ok {
			some = places{}
			all[name] = some
		}
		some[id] = one
	}
	for id, p := range v.Pools {
		add(p.Name(), id, p)
	}
	for id, o := range v.Outside {
		add(o.Name(), id, o)
	}
	return all
}

// through are the venues of routes through pools: those on chain, which are priced out of
// memory, and those of somebody outside.
func (v Venues) through(known *chains, inventory *market.Inventory) (all []market.Venue, err error) {
	near, far := map[chain.ID]market.Pools{}, map[chain.ID]market.Pools{}
	for id, p := range v.Pools {
		near[id] = p
	}
	name := ""
	for id, o := range v.Outside {
		if far[id] = o; name != "" && name != o.Name() {
			return nil, fmt.Errorf("front: one aggregator can be used, and there are %s and %s", name, o.Name())
		}
		name = o.Name()
	}
	if len(near) > 0 {
		one, err := over(known, inventory, market.ThroughConfig{Name: "pools", Hubs: v.Hubs, MaxOff: v.MaxOff}, near)
		if err != nil {
			return nil, err
		}
		all = append(all, market.NearThrough{Through: one})
	}
	if len(far) > 0 {
		one, err := over(known, inventory, market.ThroughConfig{Name: name, Hubs: v.Hubs, MaxOff: v.OutsideOff}, far)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// over makes the venue of routes over pools of chains that are served.
func over(known *chains, inventory *market.Inventory, cfg market.ThroughConfig, pools map[chain.ID]market.Pools) (*market.Through, error) {
	cfg.Takes = map[chain.ID]time.Duration{}
	for _, c := range known.priced(1) {
		if pools[c.ID] != nil {
			cfg.Takes[c.ID] = c.Payout
		}
	}
	if len(cfg.Takes) != len(pools) {
		return nil, fmt.Errorf("front: there are %s of a chain that is not served", cfg.Name)
	}
	return market.NewThrough(cfg, pools, inventory)
}

// never are the assets that are not ours.
func (v Venues) never() map[chain.Asset]bool {
	all := map[chain.Asset]bool{}
	for _, a := range v.Pooled {
		all[a] = true
	}
	return all
}

// fresh reports whether all pools can be quoted from.
func (v Venues) fresh(now time.Time) bool {
	for _, p := range v.Pools {
		if !p.Fresh(now) {
			return false
		}
	}
	return true
}

// run follows the pools until ctx ends.
func (v Venues) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	var ids []chain.ID
	for id := range v.Pools {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		g.Go(func() error { return v.Pools[id].Run(ctx) })
	}
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // the service ends
}
