package market

import (
	"context"
	"fmt"
	"math"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/money"
)

// Asset is what is known of an asset that is traded here.
type Asset struct {
	Asset    chain.Asset
	Symbol   string
	Decimals int
	// Dust is the least that can be sent of it: 1 where its chain knows no dust.
	Dust money.Amount
}

// Listing is what is traded, and what it is worth.
type Listing struct {
	assets map[chain.Asset]*Asset
	chains map[chain.ID]bool
	prices Prices
}

// NewListing checks the assets. The own coin of each chain must be among them: costs
// are paid in it.
func NewListing(prices Prices, assets []Asset) (*Listing, error) {
	l := &Listing{assets: make(map[chain.Asset]*Asset, len(assets)), chains: map[chain.ID]bool{}, prices: prices}
	if prices == nil || len(assets) == 0 {
		return nil, fmt.Errorf("market: no prices or no assets; an empty list never means all of them")
	}
	for _, a := range assets {
		_, twice := l.assets[a.Asset]
		switch {
		case a.Asset.Chain == "" || a.Symbol == "":
			return nil, fmt.Errorf("market: asset %s: has no chain or no symbol", a.Asset)
		case twice:
			return nil, fmt.Errorf("market: asset %s: stands there twice", a.Asset)
		case a.Decimals < 0 || a.Decimals > maxDecimals:
			return nil, fmt.Errorf("market: asset %s: decimals must be from 0 to %d", a.Asset, maxDecimals)
		case a.Dust.IsZero():
			return nil, fmt.Errorf("market: asset %s: has no dust; write 1 where its chain knows none", a.Asset)
		}
		l.assets[a.Asset], l.chains[a.Asset.Chain] = &a, true
	}
	for id := range l.chains {
		if _, ok := l.assets[id.Native()]; !ok {
			return nil, fmt.Errorf("market: chain %s: its own coin is not listed; costs are paid in it", id)
		}
	}
	return l, nil
}

// Asset is what is known of an asset, if it is listed.
func (l *Listing) Asset(a chain.Asset) (Asset, bool) {
	known, ok := l.assets[a]
	if !ok {
		return Asset{}, false
	}
	return *known, true
}

// shortly is after what time trouble with those who know prices and costs may be over.
const shortly = 5 * time.Second

// valued is an asset with its price at one moment.
type valued struct {
	Asset
	price Price
}

// value looks an asset and its price up.
func (l *Listing) value(a chain.Asset, now time.Time) (valued, error) {
	known, ok := l.assets[a]
	if !ok {
		return valued{}, l.unlisted(a)
	}
	p, err := l.prices.Price(known.Symbol, now)
	if err != nil {
		return valued{}, fmt.Errorf("price of %s: %w", known.Symbol, err)
	}
	if p.IsZero() {
		return valued{}, fault.New(fault.Unavailable, "pair_unavailable", "There is no price of %s now; try again shortly.", known.Symbol).RetryAfter(shortly)
	}
	return valued{*known, p}, nil
}

func (l *Listing) unlisted(a chain.Asset) *fault.Error {
	if !l.chains[a.Chain] {
		return fault.New(fault.Invalid, "unsupported_chain", "That chain is not served here; see GET /v2/chains for those that are.")
	}
	return fault.New(fault.Invalid, "unsupported_token", "That token is not served here; see GET /v2/tokens for those that are.")
}

// in turns an amount of a into what it is worth in b. The rate is exact: only the
// result is rounded.
func (a *valued) in(b *valued, n money.Amount, r money.Rounding) (money.Amount, error) {
	num, den := a.rate(b)
	return n.MulDiv(num, den, r)
}

// rate is how many smallest units of b one smallest unit of a is worth, as a
// fraction. Neither side passes 256 bits: prices have 24 digits, assets 24 decimals.
func (a *valued) rate(b *valued) (num, den money.Amount) {
	num, den = a.price.num, b.price.num
	e := b.Decimals + int(b.price.scale) - a.Decimals - int(a.price.scale)
	if e >= 0 {
		return times(num, tens[e]), den
	}
	return num, times(den, tens[-e])
}

// usd is what an amount is worth, at most what dollars can hold.
func (a *valued) usd(n money.Amount, r money.Rounding) money.USD {
	num, den := a.micros()
	v, err := n.MulDiv(num, den, r)
	if err != nil {
		return math.MaxInt64
	}
	u, fits := v.Uint64()
	if !fits || u > math.MaxInt64 {
		return math.MaxInt64
	}
	return money.USD(u)
}

// units is how much of the asset so many dollars are.
func (a *valued) units(u money.USD, r money.Rounding) (money.Amount, error) {
	num, den := a.micros()
	return money.FromUint64(uint64(max(u, 0))).MulDiv(den, num, r)
}

// micros is what one smallest unit is worth in millionths of a dollar, as a fraction.
func (a *valued) micros() (num, den money.Amount) {
	const usdPlaces = 6
	e := a.Decimals + int(a.price.scale) - usdPlaces
	if e >= 0 {
		return a.price.num, tens[e]
	}
	return times(a.price.num, tens[-e]), one
}

// Rates are a listing with a clock, for rooms that value amounts without saying when.
type Rates struct {
	Listing *Listing
	Now     func() time.Time
}

// Convert turns an amount of one asset into what it is worth in another.
func (r Rates) Convert(_ context.Context, n money.Amount, from, to chain.Asset, round money.Rounding) (money.Amount, error) {
	now := r.Now()
	a, err := r.Listing.value(from, now)
	if err != nil {
		return money.Amount{}, err
	}
	b, err := r.Listing.value(to, now)
	if err != nil {
		return money.Amount{}, err
	}
	return a.in(&b, n, round)
}

// USD is what an amount is worth, rounded up: it is compared with limits.
func (r Rates) USD(_ context.Context, a chain.Asset, n money.Amount) (money.USD, error) {
	v, err := r.Listing.value(a, r.Now())
	if err != nil {
		return 0, err
	}
	return v.usd(n, money.Up), nil
}
