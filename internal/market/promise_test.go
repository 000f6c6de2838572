package market_test

import (
	"math/big"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// Who accepts an offer through pools was told what he gets at least. The order is made at
// a new price, and its steps must not take the slippage from that once more.
func TestAnAcceptedOfferThroughPoolsKeepsWhatWasPromisedAtLeast(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		give, get chain.Asset
		side      market.Side
		ponds     []chain.ID // that give less by then
		permille  int64
	}{
		"stands still":       {wif, usdc, market.From, nil, 0},
		"falls a little":     {wif, usdc, market.From, []chain.ID{eth.Chain}, 1},
		"falls nearly all":   {wif, usdc, market.From, []chain.ID{eth.Chain}, 9},
		"rises":              {wif, usdc, market.From, []chain.ID{eth.Chain}, -9},
		"two pools, first":   {wif, farB, market.From, []chain.ID{eth.Chain}, 7},
		"two pools, second":  {wif, farB, market.From, []chain.ID{base}, 7},
		"two pools, both":    {wif, farB, market.From, []chain.ID{eth.Chain, base}, 4},
		"exact, falls":       {wif, usdc, market.To, []chain.ID{eth.Chain}, 5},
		"after inventory":    {btc, farB, market.From, []chain.ID{base}, 8},
		"exact, both of two": {wif, farB, market.To, []chain.ID{eth.Chain, base}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newThroughRig(t)
			slip := percent(t, "1")
			a := market.Ask{Give: c.give, Get: c.get, Side: c.side, Amount: whole(c.give, 1000), Mode: quote.Float, Slippage: &slip}
			if c.give == btc {
				a.Amount = n(5_000_000)
			}
			if c.side == market.To {
				a.Amount = whole(c.get, 1000)
			}
			o, err := r.Quote(t.Context(), a, start)
			if err != nil {
				t.Fatal(err)
			}
			o.Quote.ID = "quo_x"
			for _, id := range c.ponds {
				for p, sides := range r.ponds[id].pools {
					if p.Give == wif || p.Get == farB { // what is got grows scarce
						less := new(big.Int).Mul(sides[1], big.NewInt(1000-c.permille))
						r.ponds[id].pools[p] = [2]*big.Int{sides[0], less.Div(less, big.NewInt(1000))}
					}
				}
			}
			got, err := r.Accept(t.Context(), o, start.Add(time.Second))
			if err != nil {
				t.Fatal(err)
			}
			least := got.Quote.Steps[0].Give
			for _, s := range got.Quote.Steps {
				if s.Bring.Less(s.MinOut) {
					t.Errorf("a step must bring %s, and its plan %s", s.MinOut, s.Bring)
				}
				if least, err = s.MinOut.MulDiv(least, s.Give, money.Down); err != nil {
					t.Fatal(err)
				}
			}
			if least, err = got.Quote.Toll.Rest(least); err != nil {
				t.Fatal(err)
			}
			if least.Less(o.MinOut) || got.MinOut.Less(o.MinOut) {
				t.Errorf("at least %s was promised; the order says %s, and its steps may leave %s", o.MinOut, got.MinOut, least)
			}
			if c.permille <= 0 && got.MinOut.Less(o.MinOut) {
				t.Errorf("the price did not fall, and %s became %s", o.MinOut, got.MinOut)
			}
		})
	}
}
