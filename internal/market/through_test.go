package market_test

import (
	"context"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/testseed"
)

var (
	wif   = chain.Asset{Chain: "eip155:1", Ref: "wif"} // a token that only pools exchange
	base  = chain.ID("eip155:8453")
	usdcB = chain.Asset{Chain: base, Ref: "usdc"}
	farB  = chain.Asset{Chain: base, Ref: "far"}
)

// pond is pools of constant product, one for each pair.
type pond struct {
	pools map[market.Pair][2]*big.Int // what lies on each side
	gas   uint64
	err   error
}

func (p *pond) Name() string { return "uniswap" }

func (p *pond) put(a, b chain.Asset, na, nb string) {
	x, _ := new(big.Int).SetString(na, 10)
	y, _ := new(big.Int).SetString(nb, 10)
	p.pools[market.Pair{Give: a, Get: b}], p.pools[market.Pair{Give: b, Get: a}] = [2]*big.Int{x, y}, [2]*big.Int{y, x}
}

func (p *pond) Best(_ context.Context, a market.PoolAsk) (market.PoolDeal, error) {
	if p.err != nil {
		return market.PoolDeal{}, p.err
	}
	sides, ok := p.pools[market.Pair{Give: a.Give, Get: a.Get}]
	if !ok {
		return market.PoolDeal{}, market.ErrNoPool
	}
	n, _ := new(big.Int).SetString(a.Amount.String(), 10)
	d := market.PoolDeal{In: a.Amount, Out: a.Amount, Plan: []byte("way"), Gas: p.gas, Impact: 7}
	x, y := sides[0], sides[1]
	if a.Side == market.From {
		out := new(big.Int).Mul(y, n)
		d.Out = money.MustParse(out.Div(out, new(big.Int).Add(x, n)).String())
		return d, nil
	}
	left := new(big.Int).Sub(y, n)
	if left.Sign() <= 0 {
		return market.PoolDeal{}, fault.New(fault.Unprocessable, "insufficient_liquidity", "There is not so much in the pools.")
	}
	in := new(big.Int).Mul(x, n)
	in.Div(in, left)
	d.In = money.MustParse(in.Add(in, big.NewInt(1)).String())
	return d, nil
}

type throughRig struct {
	*market.Market
	prices board
	free   vault
	ponds  map[chain.ID]*pond
}

// newThroughRig: wif is worth 5 dollars, far 2; both are exchanged in pools alone.
func newThroughRig(t testing.TB) *throughRig {
	t.Helper()
	e18 := "000000000000000000"
	r := &throughRig{
		prices: board{"BTC": price(t, "100000"), "ETH": price(t, "4000"), "USDC": price(t, "1"), "WIF": price(t, "5"), "FAR": price(t, "2")},
		free:   vault{btc: n(100_0000_0000), eth: money.MustParse("1000" + e18), base.Native(): money.MustParse("1000" + e18), usdc: n(5_000_000_000_000), usdcB: n(5_000_000_000_000), wif: n(0), farB: n(0)},
		ponds:  map[chain.ID]*pond{eth.Chain: {pools: map[market.Pair][2]*big.Int{}, gas: 210_000}, base: {pools: map[market.Pair][2]*big.Int{}, gas: 210_000}},
	}
	r.ponds[eth.Chain].put(wif, usdc, "10000000"+e18, "50000000000000")
	r.ponds[eth.Chain].put(wif, eth, "10000000"+e18, "12500"+e18)
	r.ponds[base].put(farB, usdcB, "25000000"+e18, "50000000000000")
	one := n(1)
	listing, err := market.NewListing(r.prices, []market.Asset{
		{Asset: btc, Symbol: "BTC", Decimals: 8, Dust: n(546)},
		{Asset: eth, Symbol: "ETH", Decimals: 18, Dust: one},
		{Asset: base.Native(), Symbol: "ETH", Decimals: 18, Dust: one},
		{Asset: usdc, Symbol: "USDC", Decimals: 6, Dust: one},
		{Asset: usdcB, Symbol: "USDC", Decimals: 6, Dust: one},
		{Asset: wif, Symbol: "WIF", Decimals: 18, Dust: one},
		{Asset: farB, Symbol: "FAR", Decimals: 18, Dust: one},
	})
	if err != nil {
		t.Fatal(err)
	}
	costs := tolls{btc.Chain: n(1_000), eth.Chain: n(50_000_000_000_000), base: n(1_000_000_000_000)}
	stock, err := market.NewInventory(market.InventoryConfig{
		Account: "hot", Default: market.Terms{Spread: 5_000, Min: 20 * money.Dollar, Max: 150_000 * money.Dollar, Fixed: true},
		Own: map[chain.ID]chain.Address{
			btc.Chain: chain.CanonicalAddress(chain.Bitcoin, "bc1qown"), eth.Chain: chain.CanonicalAddress(chain.EVM, "0xown"), base: chain.CanonicalAddress(chain.EVM, "0xown"),
		},
		Never: map[chain.Asset]bool{wif: true, farB: true},
	}, listing, r.free, costs)
	if err != nil {
		t.Fatal(err)
	}
	through, err := market.NewThrough(market.ThroughConfig{
		Name: "pools", Hubs: map[chain.ID][]chain.Asset{eth.Chain: {usdc, eth}, base: {usdcB}},
		Takes:  map[chain.ID]time.Duration{eth.Chain: time.Minute, base: 4 * time.Second},
		MaxOff: money.Whole / 20,
	}, map[chain.ID]market.Pools{eth.Chain: r.ponds[eth.Chain], base: r.ponds[base]}, stock)
	if err != nil {
		t.Fatal(err)
	}
	cfg := settings()
	cfg.Chains[2].ID, cfg.Chains[2].Family = base, chain.EVM
	if r.Market, err = market.New(cfg, listing, market.Ports{Treasury: r.free, Costs: costs, Venues: []market.Venue{stock, market.NearThrough{Through: through}}}); err != nil {
		t.Fatal(err)
	}
	return r
}

// units is so many whole units of an asset.
func whole(a chain.Asset, v uint64) money.Amount {
	switch a {
	case btc:
		return n(v * 1_0000_0000)
	case usdc, usdcB:
		return n(v * 1_000_000)
	}
	return money.MustParse(strconv.FormatUint(v, 10) + "000000000000000000")
}

func TestRoutesLeadThroughPoolsAndInventory(t *testing.T) {
	t.Parallel()
	type leg struct {
		venue   string
		in, out chain.Asset
	}
	const inv, uni = quote.Inventory, "uniswap"
	for name, c := range map[string]struct {
		give, get chain.Asset
		worth     uint64
		want      []leg
	}{
		"a token for a hub of its chain":         {wif, usdc, 200, []leg{{uni, wif, usdc}}},
		"a hub for a token of its chain":         {usdc, wif, 1000, []leg{{uni, usdc, wif}}},
		"a token for a hub of another chain":     {wif, usdcB, 200, []leg{{uni, wif, usdc}, {inv, usdc, usdcB}}},
		"a hub for a token of another chain":     {usdc, farB, 1000, []leg{{inv, usdc, usdcB}, {uni, usdcB, farB}}},
		"a token for a token of another chain":   {wif, farB, 200, []leg{{uni, wif, usdc}, {inv, usdc, usdcB}, {uni, usdcB, farB}}},
		"bitcoin for a token":                    {btc, farB, 1, []leg{{inv, btc, usdcB}, {uni, usdcB, farB}}},
		"a token for bitcoin":                    {wif, btc, 200, []leg{{uni, wif, usdc}, {inv, usdc, btc}}},
		"what the inventory has needs no pools":  {usdc, usdcB, 1000, nil},
		"nor does one whose pools are no better": {btc, usdc, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newThroughRig(t)
			ask := market.Ask{Give: c.give, Get: c.get, Side: market.From, Amount: whole(c.give, c.worth), Mode: quote.Float}
			o, err := r.Quote(t.Context(), ask, start)
			if err != nil {
				t.Fatal(err)
			}
			q := o.Quote
			q.ID = "quo_1"
			if err := q.Check(); err != nil {
				t.Fatal(err)
			}
			if len(q.Steps) != len(c.want) {
				t.Fatalf("the way is %+v", q.Steps)
			}
			at := q.In
			for i, s := range q.Steps {
				if (leg{s.Venue, s.In, s.Out}) != c.want[i] || s.Give != at || s.Bring.Less(s.MinOut) {
					t.Errorf("step %d is %+v", i, s)
				}
				at = s.Bring
			}
			if len(q.Steps) == 0 {
				return
			}
			if rest, err := q.Toll.Rest(at); err != nil || rest != q.Out {
				t.Errorf("%s is left of %s, %s was said: %v", rest, at, q.Out, err)
			}
			// Steps at their worst leave what was promised at least, which is about what
			// the slippage says.
			least := q.In
			for _, s := range q.Steps {
				if least, err = s.MinOut.MulDiv(least, s.Give, money.Down); err != nil {
					t.Fatal(err)
				}
			}
			slack, err := q.Out.Share(o.Slippage+200, money.Up)
			if rest, bad := q.Toll.Rest(least); bad != nil || err != nil || rest != o.MinOut || o.MinOut.Less(q.Out.Less0(slack)) {
				t.Errorf("steps at their worst leave %s, %s of %s was promised: %v", rest, o.MinOut, q.Out, err)
			}
			// The other way round: asking for what that brings costs no less, and brings it.
			back := ask
			back.Side, back.Amount = market.To, q.Out
			b, err := r.Quote(t.Context(), back, start)
			if err != nil {
				t.Fatal(err)
			}
			if b.Quote.Out != q.Out || b.Quote.In.Less(q.In.Less0(whole(c.give, 1))) {
				t.Errorf("for %s of it %s is asked, %s brought it", b.Quote.Out, b.Quote.In, q.In)
			}
		})
	}
}

func TestPoolsAreRefusedForAReason(t *testing.T) {
	t.Parallel()
	ask := func(give, get chain.Asset, v uint64) market.Ask {
		return market.Ask{Give: give, Get: get, Side: market.From, Amount: whole(give, v), Mode: quote.Float}
	}
	for name, c := range map[string]struct {
		ask  market.Ask
		do   func(r *throughRig)
		kind fault.Kind
		code string
	}{
		"a fixed rate":    {func() market.Ask { a := ask(wif, usdc, 200); a.Mode = quote.Fixed; return a }(), func(*throughRig) {}, fault.Unprocessable, "no_route"},
		"below the terms": {ask(wif, usdc, 1), func(*throughRig) {}, fault.Unprocessable, "no_route"},
		"a pool that was pushed": {ask(wif, usdc, 200), func(r *throughRig) {
			r.ponds[eth.Chain].put(wif, usdc, "20000000000000000000000000", "25000000000000")
		}, fault.Unprocessable, "no_route"},
		"more than the pool bears": {ask(wif, usdc, 19_000), func(r *throughRig) {
			r.ponds[eth.Chain].put(wif, usdc, "10000000000000000000000", "50000000000")
		}, fault.Unprocessable, "no_route"},
		"an empty inventory": {ask(wif, farB, 200), func(r *throughRig) { r.free[usdcB] = n(0) }, fault.Unprocessable, "no_route"},
		"no price":           {ask(wif, usdc, 200), func(r *throughRig) { delete(r.prices, "WIF") }, fault.Unavailable, "pair_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newThroughRig(t)
			c.do(r)
			_, err := r.Quote(t.Context(), c.ask, start)
			f := mustFault(t, err, c.kind, c.code)
			if c.code != "no_route" {
				return
			}
			shown, ok := f.Detail["providers"].([]map[string]string)
			if !ok || len(shown) != 2 || shown[1]["provider"] != "pools" || shown[1]["code"] == "" || shown[1]["message"] == "" {
				t.Errorf("of the providers is said: %v", f.Detail["providers"])
			}
		})
	}
}

// Whatever the pools are, a route through them keeps its word: its steps connect, its
// toll leaves what is quoted, and asking for an amount never promises more than it is.
func TestRandomRoutesThroughPoolsAddUp(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(testseed.Of(t), 3))
	r := newThroughRig(t)
	all := []chain.Asset{btc, eth, usdc, wif, base.Native(), usdcB, farB}
	made := 0
	for range 3000 {
		give, get := all[rnd.IntN(len(all))], all[rnd.IntN(len(all))]
		scale := strconv.Itoa(1 + rnd.IntN(1000))
		r.ponds[base].put(farB, usdcB, scale+"0000000000000000000000", strconv.Itoa(2*rnd.IntN(1000)+1)+"0000000000")
		a := market.Ask{Give: give, Get: get, Side: []market.Side{market.From, market.To}[rnd.IntN(2)], Amount: n(rnd.Uint64N(1 << rnd.IntN(63))), Mode: quote.Float}
		o, err := r.Quote(t.Context(), a, start)
		if err != nil {
			continue
		}
		q := o.Quote
		q.ID = "quo_1"
		if err := q.Check(); err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		if len(q.Steps) == 0 {
			continue
		}
		made++
		last := q.Steps[len(q.Steps)-1]
		rest, err := q.Toll.Rest(last.Bring)
		if err != nil || rest.Less(q.Out) || (a.Side == market.From && rest != q.Out) || (a.Side == market.To && q.Out != a.Amount) {
			t.Fatalf("%+v: %s is left of %s, %s was said: %v", a, rest, last.Bring, q.Out, err)
		}
	}
	if made < 50 {
		t.Errorf("only %d routes went through pools", made)
	}
}
