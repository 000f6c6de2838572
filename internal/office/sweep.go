package office

import (
	"context"
	"errors"
	"fmt"

	"ferry/internal/chain"
	"ferry/internal/treasury"
)

// Unswept is what lies on deposit addresses, of one chain or of all where none is named,
// and what a sweep would bring home now.
func (o *Office) Unswept(ctx context.Context, id chain.ID) ([]treasury.Waiting, error) {
	if o.sweeps == nil {
		return nil, errNoSweeper
	}
	all, err := o.sweeps.Waiting(ctx, id, o.clock())
	if errors.Is(err, treasury.ErrNoChain) {
		return nil, noSweeps(id).Because(err)
	}
	return all, err
}

// Sweep has deposits brought home now that pay for their own way, and says what was
// waiting when it was asked. Asked twice it brings them home once: what is on its way is
// not free any more.
func (o *Office) Sweep(ctx context.Context, id chain.ID, by string) ([]treasury.Waiting, error) {
	all, err := o.Unswept(ctx, id)
	if err != nil {
		return nil, err
	}
	after := map[string]string{}
	for _, w := range all {
		if n := w.Home.Addresses + w.Failed.Addresses; n > 0 {
			sum, err := w.Home.Amount.Add(w.Failed.Amount)
			if err != nil {
				return nil, err
			}
			after[w.Asset.String()] = fmt.Sprintf("%s on %d addresses", sum, n)
		}
	}
	target := string(id)
	if id == "" {
		target = "all chains"
	}
	e, err := o.entry(by, HurriedSweep, target, nil, after)
	if err != nil {
		return nil, err
	}
	if err := o.store.Enter(ctx, e); err != nil {
		return nil, refusal(err)
	}
	o.sweeps.Hurry(id, e.At)
	return all, nil
}
