package office

import (
	"context"
	"slices"
)

// Prices are how symbols stand, with what every source said of them.
func (o *Office) Prices() ([]Price, error) {
	if o.prices == nil {
		return nil, errNoPricer
	}
	return o.prices.Prices(), nil
}

// ConfirmPrice believes a price that jumped, by the word of an operator who looked. He
// says which price he saw: if it moved on meanwhile, he looks again.
func (o *Office) ConfirmPrice(ctx context.Context, symbol, seen, by string) error {
	all, err := o.Prices()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(p Price) bool { return p.Symbol == symbol && p.Stopped && p.Next != "" && p.Next == seen }) {
		return notStopped(symbol, seen)
	}
	e, err := o.entry(by, ConfirmedPrice, symbol, nil, map[string]string{"price": seen})
	if err != nil {
		return err
	}
	if err := o.store.Enter(ctx, e); err != nil {
		return refusal(err)
	}
	if err := o.prices.Confirm(symbol, seen); err != nil {
		return notStopped(symbol, seen).Because(err)
	}
	return nil
}
