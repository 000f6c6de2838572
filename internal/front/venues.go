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
	for id, p := range v.Pools {
		some, ok := all[p.Name()].(places)
		if !ok {
			some = places{}
			all[p.Name()] = some
		}
		some[id] = p
	}
	return all
}

// through is the venue of routes through pools; nil where there are none.
func (v Venues) through(known *chains, inventory *market.Inventory) (market.Venue, error) {
	if len(v.Pools) == 0 {
		return nil, nil
	}
	cfg := market.ThroughConfig{Name: "pools", Hubs: v.Hubs, MaxOff: v.MaxOff, Takes: map[chain.ID]time.Duration{}}
	pools := map[chain.ID]market.Pools{}
	for _, c := range known.priced(1) {
		if p, ok := v.Pools[c.ID]; ok {
			pools[c.ID], cfg.Takes[c.ID] = p, c.Payout
		}
	}
	if len(pools) != len(v.Pools) {
		return nil, fmt.Errorf("front: there are pools of a chain that is not served")
	}
	through, err := market.NewThrough(cfg, pools, inventory)
	if err != nil {
		return nil, err
	}
	return market.NearThrough{Through: through}, nil
}

// never are the assets that are not ours.
func (v Venues) never() map[chain.Asset]bool {
	all := map[chain.Asset]bool{}
	for _, a := range v.Pooled {
		all[a] = true
	}
	return all
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
