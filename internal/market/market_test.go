package market_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/testseed"
)

// A thousandth of a bitcoin is 100 dollars: half a percent is ours and sending USDC
// costs 2 dollars, so 97.5 arrive.
func TestAnOfferSaysAllOfItsPrice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o, err := r.Quote(t.Context(), swap(usdc, 100_000), start)
	if err != nil {
		t.Fatal(err)
	}
	q := o.Quote
	q.ID = "quo_x"
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	if q.In != n(100_000) || q.Out != n(97_500_000) || q.USD != 100*money.Dollar || o.GiveUSD != 100*money.Dollar || o.GetUSD != 97_500_000 {
		t.Errorf("got %s for %s, worth %s and %s", q.Out, q.In, o.GiveUSD, o.GetUSD)
	}
	if o.Rate() != "97500" || o.MinOut != n(97_012_500) || o.MaxFrom != n(100_000) || o.Slippage != 5_000 || o.Impact != 0 {
		t.Errorf("got rate %s, least %s, most %s, slippage %s", o.Rate(), o.MinOut, o.MaxFrom, o.Slippage)
	}
	if got := o.Charges(); len(got) != 2 || got[0] != (market.Charge{Kind: market.Network, USD: 2 * money.Dollar}) || got[1] != (market.Charge{Kind: market.Service, USD: 500_000}) {
		t.Errorf("got charges %v", got)
	}
	if q.MinIn != n(20_000) || q.MaxIn != n(10_0000_0000) || q.ExpiresAt != start.Add(time.Minute) || q.Tolerance != r.cfg.Tolerance {
		t.Errorf("got limits %s and %s, until %s", q.MinIn, q.MaxIn, q.ExpiresAt)
	}
	if o.Takes != 26*time.Minute || o.Confirmations != 1 || o.Venue != "inventory" || len(o.Warnings()) != 0 || o.Earning != nil || q.Fee != nil {
		t.Errorf("got %+v", o)
	}
}

func TestAFixedOfferIsAPromise(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := swap(usdc, 100_000)
	a.Mode = quote.Fixed
	o, err := r.Quote(t.Context(), a, start)
	if err != nil || o.MinOut != o.Quote.Out || o.MaxFrom != o.Quote.In || o.Slippage != 0 || o.Quote.ExpiresAt != start.Add(2*time.Minute) {
		t.Fatalf("got %+v, %v", o, err)
	}
	s := percent(t, "1")
	a.Slippage = &s
	_, err = r.Quote(t.Context(), a, start)
	mustFault(t, err, fault.Invalid, "invalid_slippage")
	r = newRig(t, func(r *rig) {
		r.stock.Pairs = map[market.Pair]market.Terms{{Give: btc, Get: usdc}: {Min: money.Dollar, Max: money.Dollar}}
	})
	a.Slippage = nil
	_, err = r.Quote(t.Context(), a, start)
	mustFault(t, err, fault.Unprocessable, "rate_mode_unsupported")
}

func TestConfirmationsFollowTheValue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for sat, want := range map[uint64]uint64{1_000_000: 1, 1_000_001: 3, 50_000_000: 3, 50_000_001: 6} {
		if o, err := r.Quote(t.Context(), swap(usdc, sat), start); err != nil || o.Confirmations != want {
			t.Errorf("%d: got %d, %v, want %d", sat, o.Confirmations, err, want)
		}
	}
}

func TestWhatCannotBeQuotedIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	low, high, none, fee, tooHigh := percent(t, "0.0001"), percent(t, "10.0001"), percent(t, "0"), percent(t, "1"), percent(t, "5.0001")
	ask := func(change func(*market.Ask)) market.Ask {
		a := swap(usdc, 100_000)
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		ask  market.Ask
		rig  func(*rig)
		kind fault.Kind
		code string
	}{
		"the same asset":      {ask(func(a *market.Ask) { a.Get = btc }), nil, fault.Invalid, "same_asset"},
		"an unknown chain":    {ask(func(a *market.Ask) { a.Get.Chain = "eip155:2" }), nil, fault.Invalid, "unsupported_chain"},
		"an unknown token":    {ask(func(a *market.Ask) { a.Get.Ref = "dai" }), nil, fault.Invalid, "unsupported_token"},
		"nothing":             {ask(func(a *market.Ask) { a.Amount = n(0) }), nil, fault.Invalid, "invalid_amount"},
		"no side":             {ask(func(a *market.Ask) { a.Side = "" }), nil, fault.Invalid, "invalid_field"},
		"no mode":             {ask(func(a *market.Ask) { a.Mode = "" }), nil, fault.Invalid, "invalid_field"},
		"slippage of nothing": {ask(func(a *market.Ask) { a.Slippage = &none }), nil, fault.Invalid, "invalid_slippage"},
		"slippage above 10 %": {ask(func(a *market.Ask) { a.Slippage = &high }), nil, fault.Invalid, "invalid_slippage"},
		"a fee without a key": {ask(func(a *market.Ask) { a.Override = &fee }), nil, fault.Invalid, "integrator_key_required"},
		"a fee above 5 %":     {ask(func(a *market.Ask) { a.Override, a.Integrator = &tooHigh, "int_1" }), nil, fault.Invalid, "integrator_fee_too_high"},
		"a fee to nowhere":    {ask(func(a *market.Ask) { a.Override, a.Integrator = &fee, "int_1" }), nil, fault.Invalid, "payout_address_missing"},
		"below the minimum":   {swap(usdc, 19_999), nil, fault.Unprocessable, "amount_too_low"},
		"above the maximum":   {swap(usdc, 10_0000_0001), nil, fault.Unprocessable, "amount_too_high"},
		"more than can be counted": {
			ask(func(a *market.Ask) { a.Amount = money.MustParse("1" + strings.Repeat("0", 77)) }), nil, fault.Unprocessable, "amount_too_high",
		},
		"an output beyond counting": {
			ask(func(a *market.Ask) { a.Side, a.Amount = market.To, money.MustParse("1"+strings.Repeat("0", 77)) }), nil, fault.Unprocessable, "amount_too_high",
		},
		"nothing in the vault":      {swap(usdc, 100_000), func(r *rig) { r.free[usdc] = n(0) }, fault.Unprocessable, "insufficient_liquidity"},
		"too little in the vault":   {swap(usdc, 100_000), func(r *rig) { r.free[usdc] = n(10_000_000) }, fault.Unprocessable, "insufficient_liquidity"},
		"all eaten by costs":        {swap(usdc, 20_000), func(r *rig) { r.costs[eth.Chain] = n(5_000_000_000_000_000) }, fault.Unprocessable, "fees_exceed_amount"},
		"dust is left":              {swap(sol, 20_000), func(r *rig) { r.costs[sol.Chain] = n(98_700_000) }, fault.Unprocessable, "fees_exceed_amount"},
		"dust is wanted":            {ask(func(a *market.Ask) { a.Give, a.Get, a.Side, a.Amount = usdc, btc, market.To, n(545) }), nil, fault.Unprocessable, "fees_exceed_amount"},
		"no price of what is given": {swap(usdc, 100_000), func(r *rig) { delete(r.prices, "BTC") }, fault.Unavailable, "pair_unavailable"},
		"no price of what is got":   {swap(usdc, 100_000), func(r *rig) { delete(r.prices, "USDC") }, fault.Unavailable, "pair_unavailable"},
		"no price of the costs":     {swap(usdc, 100_000), func(r *rig) { delete(r.prices, "ETH") }, fault.Unavailable, "pair_unavailable"},
		"no cost":                   {swap(usdc, 100_000), func(r *rig) { delete(r.costs, eth.Chain) }, fault.Unavailable, "provider_unavailable"},
		"no books":                  {swap(usdc, 100_000), func(r *rig) { delete(r.free, usdc) }, fault.Unavailable, "provider_unavailable"},
		"no cost of the fee":        {withFee(swap(usdc, 100_000), low), func(r *rig) { delete(r.costs, btc.Chain) }, fault.Unavailable, "provider_unavailable"},
		"a pair that is off": {
			swap(usdc, 100_000), func(r *rig) { r.stock.Pairs = map[market.Pair]market.Terms{{Give: btc, Get: usdc}: {Off: true}} }, fault.Unprocessable, "no_route",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if c.rig != nil {
				r = newRig(t, c.rig)
			}
			_, err := r.Quote(t.Context(), c.ask, start)
			f := mustFault(t, err, c.kind, c.code)
			if strings.Contains(f.Text, "books are closed") || strings.Contains(f.Text, "no cost of") {
				t.Errorf("the caller reads our trouble: %s", f.Text)
			}
		})
	}
}

func TestLimitsAreToldInWhatTheUserGives(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, ask := range []func(uint64) market.Ask{
		func(sat uint64) market.Ask { return swap(usdc, sat) },
		func(sat uint64) market.Ask { return withFee(swap(usdc, sat), percent(t, "5")) },
		func(sat uint64) market.Ask { return withFee(swap(usdc, sat), percent(t, "0.3")) },
	} {
		for _, sat := range []uint64{1, 100_0000_0000} {
			_, err := r.Quote(t.Context(), ask(sat), start)
			f := fault.Of(err)
			text, _ := f.Detail["limit"].(string)
			limit, perr := money.Parse(text)
			if perr != nil {
				t.Fatalf("%v: the limit is %q", err, text)
			}
			at, _ := limit.Uint64()
			o, err := r.Quote(t.Context(), ask(at), start)
			if err != nil {
				t.Fatalf("the limit of %s itself is refused: %v", limit, err)
			}
			if sat == 1 && o.Quote.MinIn != limit || sat > 1 && o.Quote.MaxIn != limit {
				t.Errorf("the offer says %s to %s, the refusal %s", o.Quote.MinIn, o.Quote.MaxIn, limit)
			}
			beyond := at + 1
			if sat == 1 {
				beyond = at - 1
			}
			if _, err = r.Quote(t.Context(), ask(beyond), start); fault.Of(err).Code != f.Code {
				t.Errorf("%d, one beyond the limit: got %v", beyond, err)
			}
		}
	}
}

// What is offered at the maximum can be reserved, tolerance included, and one unit
// more could not.
func TestTheMaximumIsWhatTheVaultCovers(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.free[usdc], r.free[eth] = n(50_000_000_000), money.MustParse("3000000000000000000") })
	for _, get := range []chain.Asset{usdc, eth} {
		o, err := r.Quote(t.Context(), swap(get, 100_000), start)
		if err != nil {
			t.Fatal(err)
		}
		for _, side := range []market.Side{market.From, market.To} {
			ask := market.Ask{Give: btc, Get: get, Side: side, Amount: o.Quote.MaxIn, Mode: quote.Float}
			if side == market.To {
				top, err := r.Quote(t.Context(), market.Ask{Give: btc, Get: get, Side: market.From, Amount: o.Quote.MaxIn, Mode: quote.Float}, start)
				if err != nil {
					t.Fatal(err)
				}
				ask.Amount = top.Quote.Out
			}
			top, err := r.Quote(t.Context(), ask, start)
			if err != nil {
				t.Fatal(err)
			}
			_, most, err := top.Quote.Reserve()
			if get == eth && err == nil { // which pays for its own way
				most, err = most.Add(r.costs[eth.Chain])
			}
			if err != nil || r.free[get].Less(most) {
				t.Errorf("%s: needs %s of %s, %v", get, most, r.free[get], err)
			}
			slack, _ := r.free[get].MulDiv(n(1), n(1000), money.Up)
			if short, _ := most.Add(slack); short.Less(r.free[get]) && get == usdc {
				t.Errorf("%s: reserves only %s of %s", get, most, r.free[get])
			}
			ask.Amount, _ = ask.Amount.Add(n(1))
			if side == market.From {
				_, err = r.Quote(t.Context(), ask, start)
				mustFault(t, err, fault.Unprocessable, "amount_too_high")
			}
		}
	}
}

func TestLimitsInUnitsAreNeverWiderThanInDollars(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) {
		r.prices["BTC"], r.free[usdc] = price(t, "30000.7"), money.MustParse("100000000000000000")
	})
	o, err := r.Quote(t.Context(), swap(usdc, 1_000_000), start)
	if err != nil || o.Quote.MinIn != n(66_666) || o.Quote.MaxIn != n(3_333_255_557) { // 66,665.11 and 3,333,255,557.37
		t.Errorf("got %s and %s, %v", o.Quote.MinIn, o.Quote.MaxIn, err)
	}
}

func TestTheIntegratorsFee(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	one, half, none := percent(t, "1"), percent(t, "0.5"), percent(t, "0")
	charged := func(a market.Ask) market.Offer {
		t.Helper()
		o, err := r.Quote(t.Context(), a, start)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	// A tenth of a bitcoin: one percent is 100,000 satoshi, its transfer costs 1,000.
	o := charged(withFee(swap(usdc, 10_000_000), one))
	e := o.Earning
	if e == nil || e.Skipped || e.Amount != n(100_000) || e.USD != 100*money.Dollar || e.TransferUSD != money.Dollar || e.PayTo != payTo ||
		e.Origin != market.ByDefault || e.Family != chain.Bitcoin || o.Quote.Fee == nil || *o.Quote.Fee != (quote.Fee{Percent: one, PayTo: payTo}) {
		t.Fatalf("got %+v and %+v", e, o.Quote.Fee)
	}
	if len(o.Charges()) != 3 || o.Charges()[2] != (market.Charge{Kind: market.Integrator, USD: 100 * money.Dollar}) {
		t.Errorf("got %v", o.Charges())
	}
	if o.Quote.Out != n(9_848_500_000) { // 9,900 dollars less half a percent, less 2
		t.Errorf("got %s", o.Quote.Out)
	}
	a := withFee(swap(usdc, 10_000_000), one)
	a.Override = &half
	if o = charged(a); o.Earning.Origin != market.ByOverride || o.Earning.Percent != half {
		t.Errorf("got %+v", o.Earning)
	}
	a.Override = &none
	if o = charged(a); o.Earning != nil || o.Quote.Fee != nil || len(o.Warnings()) != 0 {
		t.Errorf("got %+v", o)
	}
	a.Override, a.Integrator = nil, ""
	if o = charged(a); o.Earning != nil || o.Quote.Fee != nil {
		t.Errorf("a fee for nobody: %+v", o.Earning)
	}
	// 1 % of 100,000 satoshi is exactly what its transfer costs: shown, not charged.
	plain := charged(swap(usdc, 100_000))
	o = charged(withFee(swap(usdc, 100_000), one))
	w := o.Warnings()
	if o.Quote.Out != plain.Quote.Out || !o.Quote.Fee.Skipped || len(o.Charges()) != 2 || len(w) != 1 || w[0].Code != "integrator_fee_skipped" ||
		w[0].Percent != one || w[0].AmountUSD != money.Dollar || w[0].TransferUSD != money.Dollar {
		t.Errorf("got %+v, %+v", o, w)
	}
	if o = charged(withFee(swap(usdc, 100_100), one)); o.Quote.Fee.Skipped {
		t.Error("a fee of 1,001 satoshi covers its transfer")
	}
	// A default without an address for the family is told, not charged.
	a = withFee(swap(usdc, 10_000_000), one)
	a.Fees = integrator.FeePolicy{Default: one, PayTo: map[chain.Family]chain.Address{chain.EVM: payTo}}
	o = charged(a)
	if w = o.Warnings(); o.Earning != nil || o.Quote.Fee != nil || len(w) != 1 || w[0].Code != "payout_address_missing" || w[0].Percent != one {
		t.Errorf("got %+v, %+v", o, w)
	}
}

// A fee below dust cannot be sent, however cheap sending is.
func TestAFeeBelowDustIsSkipped(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.costs[btc.Chain] = n(1) })
	for sat, skipped := range map[uint64]bool{54_500: true, 54_600: false} {
		o, err := r.Quote(t.Context(), withFee(swap(usdc, sat), percent(t, "1")), start)
		if err != nil || o.Quote.Fee.Skipped != skipped {
			t.Errorf("%d: got %+v, %v", sat, o.Quote.Fee, err)
		}
	}
}

// draw makes a rig and an ask of random prices, costs, fees and amounts.
func draw(t *testing.T, r *rand.Rand) (*rig, market.Ask) {
	all := []chain.Asset{btc, eth, usdc, sol}
	give := all[r.IntN(4)]
	get := all[r.IntN(4)]
	for get == give {
		get = all[r.IntN(4)]
	}
	g := newRig(t, func(g *rig) {
		for s, base := range map[string]int64{"BTC": 100_000, "ETH": 4_000, "USDC": 1, "SOL": 200} {
			p := new(big.Rat).Mul(big.NewRat(base, 1), big.NewRat(500+r.Int64N(1_000), 1_000))
			p.Add(p, big.NewRat(r.Int64N(1_000_000_007), 1_000_000_000_000))
			g.prices[s] = price(t, p.FloatString(12))
		}
		g.stock.Default.Spread = money.Percent(r.Int32N(50_000))
		g.costs[btc.Chain], g.costs[sol.Chain] = n(r.Uint64N(5_000)), n(r.Uint64N(10_000_000))
		g.costs[eth.Chain] = n(r.Uint64N(3_000_000_000_000_000))
	})
	dollars, err := market.Rates{Listing: g.listing, Now: func() time.Time { return start }}.Convert(
		t.Context(), n(1_000_000*(60+r.Uint64N(1<<r.IntN(17)))+r.Uint64N(1_000_000)), usdc, give, money.Up)
	if err != nil {
		t.Fatal(err)
	}
	a := market.Ask{Give: give, Get: get, Side: market.From, Amount: dollars, Mode: quote.Float}
	if r.IntN(3) > 0 {
		a = withFee(a, money.Percent(r.Int32N(int32(integrator.MaxFee)+1)))
	}
	return g, a
}

// The value of what is paid, at the prices of the offer, is never above the value of
// what stays here, and nothing is lost but whole units in rounding.
func TestNoOfferPaysMoreThanItTakes(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	skipped, charged := 0, 0
	for range 1_500 {
		g, a := draw(t, r)
		o, err := g.Quote(t.Context(), a, start)
		if fault.Of(err).Code == "fees_exceed_amount" && err != nil {
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		q := o.Quote
		q.ID = "quo_x"
		if err := q.Check(); err != nil {
			t.Fatal(err)
		}
		onward, fee, err := q.Split(q.In)
		if err != nil {
			t.Fatal(err)
		}
		if q.Fee != nil && q.Fee.Skipped {
			skipped++
		} else if q.Fee != nil {
			charged++
			if o.Earning.Amount != fee {
				t.Fatalf("the offer says a fee of %s, the order takes %s", o.Earning.Amount, fee)
			}
		}
		worth := func(x money.Amount, asset market.Asset) *big.Rat {
			v := new(big.Rat).SetInt(toBig(x))
			v.Mul(v, rat(t, g.prices[asset.Symbol]))
			return v.Quo(v, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(asset.Decimals)), nil)))
		}
		in, out := worth(onward, o.Give), worth(q.Out, o.Get)
		cost := worth(g.costs[a.Get.Chain], assetOf(a.Get.Chain.Native()))
		left := new(big.Rat).Sub(in, out)
		left.Sub(left, cost)
		spread := new(big.Rat).Mul(in, big.NewRat(int64(g.stock.Default.Spread), int64(money.Whole)))
		if left.Cmp(spread) < 0 {
			t.Fatalf("%+v: takes %s, pays %s and %s to send it", a, in.FloatString(12), out.FloatString(12), cost.FloatString(12))
		}
		// Rounding costs the user less than three smallest units.
		most := new(big.Rat).Add(spread, worth(n(3), o.Get))
		if left.Cmp(most) > 0 {
			t.Fatalf("%+v: keeps %s, of which %s is our fee", a, left.FloatString(12), spread.FloatString(12))
		}
	}
	if skipped < 10 || charged < 250 {
		t.Errorf("only %d fees were skipped and %d charged", skipped, charged)
	}
}

func assetOf(a chain.Asset) market.Asset {
	for _, known := range assets() {
		if known.Asset == a {
			return known
		}
	}
	panic("not listed")
}

// The input of an exact output buys it, and one unit less does not.
func TestAnExactOutputCostsTheLeastInputThatBuysIt(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	priced, skipped, charged := 0, 0, 0
	for range 1_500 {
		g, a := draw(t, r)
		first, err := g.Quote(t.Context(), a, start)
		if err != nil {
			continue
		}
		want := first.Quote.Out.Less0(n(r.Uint64N(3)))
		to := a
		to.Side, to.Amount = market.To, want
		o, err := g.Quote(t.Context(), to, start)
		if err != nil {
			t.Fatalf("%+v: %v", to, err)
		}
		if o.Quote.Out != want || a.Amount.Less(o.Quote.In) {
			t.Fatalf("%+v: %s for %s, and %s buys %s", to, o.Quote.In, o.Quote.Out, a.Amount, first.Quote.Out)
		}
		from := a
		from.Amount = o.Quote.In
		back, err := g.Quote(t.Context(), from, start)
		if err != nil || back.Quote.Out.Less(want) {
			t.Fatalf("%+v: %s does not buy %s but %s, %v", to, o.Quote.In, want, back.Quote.Out, err)
		}
		if (back.Quote.Fee == nil) != (o.Quote.Fee == nil) || back.Quote.Fee != nil && *back.Quote.Fee != *o.Quote.Fee {
			t.Fatalf("%+v: a fee of %+v one way and %+v the other", to, o.Quote.Fee, back.Quote.Fee)
		}
		from.Amount = o.Quote.In.Less0(n(1))
		if less, err := g.Quote(t.Context(), from, start); err == nil && !less.Quote.Out.Less(want) {
			t.Fatalf("%+v: %s is asked for %s, and one less buys it too", to, o.Quote.In, want)
		}
		priced++
		if o.Quote.Fee != nil && o.Quote.Fee.Skipped {
			skipped++
		} else if o.Quote.Fee != nil {
			charged++
		}
	}
	if priced < 1_000 || skipped < 10 || charged < 250 {
		t.Errorf("only %d were priced, %d with a skipped fee and %d with a charged one", priced, skipped, charged)
	}
}

func TestRatesAreDecimalText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, out  string
		from, to int
		want     string
	}{
		{"100000", "97500000", 8, 6, "97500"},
		{"1", "1", 0, 0, "1"},
		{"3", "1", 0, 0, "0.333333333333333333"},
		{"3", "2", 0, 0, "0.666666666666666666"},
		{"1000000000000000000", "4000123456", 18, 6, "4000.123456"},
		{"97500000", "100000", 6, 8, "0.0000102564102564102564"},
		{"1", "1000000000000000000000000000000", 24, 0, "1000000000000000000000000000000000000000000000000000000"},
		{"1000000000000000000000000000000", "1", 0, 24, "0.000000000000000000000000000000000000000000000000000001"},
		{"7", "22", 0, 0, "3.14285714285714285"},
	} {
		o := market.Offer{Give: market.Asset{Decimals: c.from}, Get: market.Asset{Decimals: c.to}}
		o.Quote.In, o.Quote.Out = money.MustParse(c.in), money.MustParse(c.out)
		if got := o.Rate(); !strings.HasPrefix(got, c.want) || len(got) > len(c.want)+2 {
			t.Errorf("%s for %s: got %s, want %s", c.out, c.in, got, c.want)
		}
	}
}
