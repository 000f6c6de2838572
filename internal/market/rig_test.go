package market_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

var (
	start = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	btc   = chain.ID("bip122:a").Native()
	eth   = chain.ID("eip155:1").Native()
	usdc  = chain.Asset{Chain: "eip155:1", Ref: "usdc"}
	sol   = chain.ID("solana:a").Native()
	payTo = chain.CanonicalAddress(chain.Bitcoin, "bc1qfee")
)

func n(v uint64) money.Amount { return money.FromUint64(v) }

func percent(t testing.TB, text string) money.Percent {
	t.Helper()
	p, err := money.ParsePercent(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// board is prices that stand until a test changes them.
type board map[string]market.Price

func (b board) Price(symbol string, _ time.Time) (market.Price, error) {
	p, ok := b[symbol]
	if !ok {
		return market.Price{}, fault.New(fault.Unavailable, "pair_unavailable", "There is no trustworthy price of %s now; try again shortly.", symbol).RetryAfter(time.Second)
	}
	return p, nil
}

// vault is what is free.
type vault map[chain.Asset]money.Amount

func (v vault) Free(_ context.Context, a chain.Asset) (money.Amount, error) {
	free, ok := v[a]
	if !ok {
		return money.Amount{}, errors.New("the books are closed")
	}
	return free, nil
}

// tolls are what a call costs on each chain.
type tolls map[chain.ID]money.Amount

func (c tolls) Cost(_ context.Context, call chain.Call) (money.Amount, error) {
	cost, ok := c[call.Chain]
	if !ok || call.To.IsZero() || call.Amount.IsZero() || call.From != "hot" {
		return money.Amount{}, fmt.Errorf("no cost of %+v", call)
	}
	return cost, nil
}

// rig is a market over fakes that a test may change.
type rig struct {
	*market.Market
	listing *market.Listing
	prices  board
	free    vault
	costs   tolls
	cfg     market.Config
	stock   market.InventoryConfig
}

func assets() []market.Asset {
	return []market.Asset{
		{Asset: btc, Symbol: "BTC", Decimals: 8, Dust: n(546)},
		{Asset: eth, Symbol: "ETH", Decimals: 18, Dust: n(1)},
		{Asset: usdc, Symbol: "USDC", Decimals: 6, Dust: n(1)},
		{Asset: sol, Symbol: "SOL", Decimals: 9, Dust: n(890_880)},
	}
}

func settings() market.Config {
	c := market.Defaults()
	c.Account = "hot"
	c.Tolerance = quote.Tolerance{Under: 5_000, Over: 5_000, UnderAction: quote.Hold, OverAction: quote.ProcessAll, WrongAsset: quote.Hold}
	depths := []market.Depth{{UpTo: 1_000 * money.Dollar, Confirmations: 1}, {UpTo: 50_000 * money.Dollar, Confirmations: 3}, {Confirmations: 6}}
	c.Chains = []market.Chain{
		{ID: btc.Chain, Family: chain.Bitcoin, Depths: depths, Deposit: 25 * time.Minute, Payout: 10 * time.Minute, Slippage: 5_000},
		{ID: eth.Chain, Family: chain.EVM, Depths: depths, Deposit: 3 * time.Minute, Payout: time.Minute, Slippage: 10_000},
		{ID: sol.Chain, Family: chain.Solana, Depths: depths, Deposit: 20 * time.Second, Payout: 5 * time.Second, Slippage: 10_000},
	}
	return c
}

// newRig: a bitcoin is 100,000 dollars, an ether 4,000, a sol 200; payouts cost 1,000
// satoshi, 0.0005 ether (2 dollars) and 5,000 lamports; half a percent is ours.
func newRig(t testing.TB, change ...func(*rig)) *rig {
	t.Helper()
	r := &rig{
		prices: board{"BTC": price(t, "100000"), "ETH": price(t, "4000"), "USDC": price(t, "1"), "SOL": price(t, "200")},
		free:   vault{btc: n(100_0000_0000), eth: money.MustParse("1000000000000000000000"), usdc: n(5_000_000_000_000), sol: n(50_000_000_000_000)},
		costs:  tolls{btc.Chain: n(1_000), eth.Chain: n(500_000_000_000_000), sol.Chain: n(5_000)},
		cfg:    settings(),
		stock: market.InventoryConfig{
			Account: "hot", Default: market.Terms{Spread: 5_000, Min: 20 * money.Dollar, Max: 1_000_000 * money.Dollar, Fixed: true},
			Own: map[chain.ID]chain.Address{
				btc.Chain: chain.CanonicalAddress(chain.Bitcoin, "bc1qown"), eth.Chain: chain.CanonicalAddress(chain.EVM, "0xown"),
				sol.Chain: chain.CanonicalAddress(chain.Solana, "own"),
			},
		},
	}
	for _, c := range change {
		c(r)
	}
	var err error
	if r.listing, err = market.NewListing(r.prices, assets()); err != nil {
		t.Fatal(err)
	}
	stock, err := market.NewInventory(r.stock, r.listing, r.free, r.costs)
	if err != nil {
		t.Fatal(err)
	}
	if r.Market, err = market.New(r.cfg, r.listing, market.Ports{Treasury: r.free, Costs: r.costs, Venues: []market.Venue{stock}}); err != nil {
		t.Fatal(err)
	}
	return r
}

// swap asks for a bitcoin's worth of something, in satoshi.
func swap(get chain.Asset, sat uint64) market.Ask {
	return market.Ask{Give: btc, Get: get, Side: market.From, Amount: n(sat), Mode: quote.Float}
}

func withFee(a market.Ask, p money.Percent) market.Ask {
	a.Integrator = "int_1"
	a.Fees = integrator.FeePolicy{Default: p, PayTo: map[chain.Family]chain.Address{
		chain.Bitcoin: payTo, chain.EVM: chain.CanonicalAddress(chain.EVM, "0xfee"), chain.Solana: chain.CanonicalAddress(chain.Solana, "fee"),
	}}
	return a
}

// mustFault: the error is a fault of that code, which tells no more than it may.
func mustFault(t testing.TB, err error, kind fault.Kind, code string) fault.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", code)
	}
	f := fault.Of(err)
	if f.Code != code || f.Kind != kind || f.Text == "" {
		t.Fatalf("got %v (kind %d), want %s", err, f.Kind, code)
	}
	if wait, told := f.Detail["retryAfterSeconds"].(int); (code == "provider_unavailable" || code == "pair_unavailable") && (!told || wait < 1) {
		t.Errorf("%v does not say when to come again", err)
	}
	return *f
}

func toBig(a money.Amount) *big.Int {
	x, ok := new(big.Int).SetString(a.String(), 10)
	if !ok {
		panic("not a number")
	}
	return x
}

// venue is one that says what a test wants.
type venue struct {
	name  string
	calls atomic.Int32
	say   func(context.Context, market.Intent) ([]market.Route, error)
}

func (v *venue) Name() string { return v.name }

func (v *venue) Routes(ctx context.Context, in market.Intent) ([]market.Route, error) {
	v.calls.Add(1)
	return v.say(ctx, in)
}

// hidden is a secret as the room takes it.
type hidden string

func (h hidden) Reveal() string { return string(h) }

func hexSecret(b byte) hidden { return hidden(fmt.Sprintf("%02x%062x", b, 7)) }
