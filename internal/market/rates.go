package market

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/money"
)

// Indication is about what a pair pays now. Nothing is promised: that is what offers
// are for.
type Indication struct {
	Give, Get Asset
	// Rate is how many whole units one buys, after the service's fee and before what
	// the networks and an integrator take.
	Rate     string
	Min, Max money.Amount // of what is given
	Most     money.Amount // that can be paid of what is got
	num, den *big.Int     // the rate between smallest units
}

// Indicator is a venue that knows its prices without asking anybody, so that it can
// tell those of all pairs at once. Pairs that it does not serve now are left out.
type Indicator interface {
	Indications(ctx context.Context, assets []chain.Asset, over money.Percent, now time.Time) ([]Indication, error)
}

// Indications are the best indicative prices of every pair of the assets, in their
// order. What has no price or nothing to pay with is left out.
func (m *Market) Indications(ctx context.Context, assets []chain.Asset, now time.Time) ([]Indication, error) {
	best := map[Pair]Indication{}
	for _, v := range m.ports.Venues {
		teller, ok := v.(Indicator)
		if !ok {
			continue
		}
		told, err := teller.Indications(ctx, assets, m.cfg.Tolerance.Over, now)
		if err != nil {
			return nil, fmt.Errorf("rates of venue %s: %w", v.Name(), err)
		}
		for _, i := range told {
			p := Pair{i.Give.Asset, i.Get.Asset}
			if known, there := best[p]; !there || i.better(known) {
				best[p] = i
			}
		}
	}
	all := make([]Indication, 0, len(best))
	for _, give := range assets {
		for _, get := range assets {
			if i, ok := best[Pair{give, get}]; ok {
				all = append(all, i)
			}
		}
	}
	return all, nil
}

func (i Indication) better(than Indication) bool {
	mine, other := new(big.Int).Mul(i.num, than.den), new(big.Int).Mul(than.num, i.den)
	return mine.Cmp(other) > 0
}

// stock is an asset of the inventory at one moment.
type stock struct {
	valued
	free, network money.Amount
	payable       bool // it can be paid out now
}

// Indications implements Indicator. The chains and the books are asked once for each
// asset, not for each pair.
func (v *Inventory) Indications(ctx context.Context, assets []chain.Asset, over money.Percent, now time.Time) ([]Indication, error) {
	shelf := make([]stock, 0, len(assets))
	for _, a := range assets {
		s, err := v.stock(ctx, a, now)
		if f := fault.Of(err); err != nil && f.Kind == fault.Unavailable {
			continue // it has no good price now
		} else if err != nil {
			return nil, err
		}
		shelf = append(shelf, s)
	}
	var all []Indication
	for _, give := range shelf {
		for _, get := range shelf {
			if i, ok := v.indication(give, get, over); ok {
				all = append(all, i)
			}
		}
	}
	return all, nil
}

// stock looks an asset up: its price, what is free of it and what sending it costs.
func (v *Inventory) stock(ctx context.Context, a chain.Asset, now time.Time) (stock, error) {
	value, err := v.listing.value(a, now)
	if err != nil {
		return stock{}, err
	}
	s := stock{valued: value}
	if s.free, err = v.treasury.Free(ctx, a); err != nil {
		return stock{}, fmt.Errorf("free %s: %w", a, err)
	}
	usual, err := value.units(v.cfg.Default.Min, money.Up)
	if err != nil {
		return stock{}, fmt.Errorf("usual amount of %s: %w", a, err)
	}
	call := chain.Call{Chain: a.Chain, From: v.cfg.Account, To: v.cfg.Own[a.Chain], Asset: a, Amount: money.Max(money.Max(usual, value.Dust), one)}
	s.network, err = costIn(ctx, v.listing, v.costs, &call, &value, now)
	if f := fault.Of(err); err != nil && f.Kind == fault.Unavailable && !errors.Is(err, context.Canceled) {
		return s, nil // it can still be given
	}
	s.payable = err == nil
	return s, err
}

func (v *Inventory) indication(give, get stock, over money.Percent) (Indication, bool) {
	a, b := give.Asset.Asset, get.Asset.Asset
	terms := v.terms(a, b)
	if a == b || terms.Off || !get.payable {
		return Indication{}, false
	}
	d := deal{give: give.valued, get: get.valued, keep: money.FromUint64(uint64(money.Whole - terms.Spread)), network: get.network}
	d.num, d.den = d.give.rate(&d.get)
	most := d.payable(get.free, over)
	if err := d.limit(terms, most); err != nil {
		return Indication{}, false
	}
	i := Indication{Give: give.Asset, Get: get.Asset, Min: d.min, Max: d.max, Most: most, num: product(d.num, d.keep), den: product(d.den, whole)}
	i.Rate = rateText(i.den.String(), i.num.String(), i.Give.Decimals-i.Get.Decimals)
	return i, true
}

// product is a·b, which may pass what an amount holds.
func product(a, b money.Amount) *big.Int {
	x, _ := new(big.Int).SetString(a.String(), 10)
	y, _ := new(big.Int).SetString(b.String(), 10)
	return x.Mul(x, y)
}
