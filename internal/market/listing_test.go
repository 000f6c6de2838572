package market_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/testseed"
)

func pow10(n int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
}

// randomAmount draws from all lengths up to some digits.
func randomAmount(r *rand.Rand, digits int) money.Amount {
	x := new(big.Int)
	for range 1 + r.IntN(digits) {
		x.Mul(x, big.NewInt(10)).Add(x, big.NewInt(r.Int64N(10)))
	}
	return money.MustParse(x.String())
}

// Between any two prices and any decimals a conversion is the exact rate, rounded once
// and the way that was said; what does not fit is an error and never a wrapped number.
func TestConversionsAreExactForAllDecimals(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	all := []int{0, 6, 8, 9, 18, 24}
	fits, over := 0, 0
	limit := new(big.Int).Lsh(big.NewInt(1), 256)
	for range 10_000 {
		a := market.Asset{Asset: chain.ID("a").Native(), Symbol: "A", Decimals: all[r.IntN(len(all))], Dust: n(1)}
		b := market.Asset{Asset: chain.ID("b").Native(), Symbol: "B", Decimals: all[r.IntN(len(all))], Dust: n(1)}
		ps := board{"A": randomPrice(t, r), "B": randomPrice(t, r)}
		l, err := market.NewListing(ps, []market.Asset{a, b})
		if err != nil {
			t.Fatal(err)
		}
		rates := market.Rates{Listing: l, Now: func() time.Time { return start }}
		amount := randomAmount(r, 60)
		whole := new(big.Rat).Quo(new(big.Rat).SetInt(toBig(amount)), pow10(a.Decimals))
		dollars := new(big.Rat).Mul(whole, rat(t, ps["A"]))
		exact := new(big.Rat).Mul(new(big.Rat).Quo(dollars, rat(t, ps["B"])), pow10(b.Decimals))
		for _, round := range []money.Rounding{money.Down, money.Up} {
			want := rounded(exact, round)
			got, err := rates.Convert(t.Context(), amount, a.Asset, b.Asset, round)
			if want.Cmp(limit) >= 0 {
				over++
				if err == nil {
					t.Fatalf("%s of %v at %v became %s", amount, a, ps, got)
				}
				continue
			}
			fits++
			if err != nil || toBig(got).Cmp(want) != 0 {
				t.Fatalf("%s of %+v to %+v at %v: got %s, %v, want %s", amount, a, b, ps, got, err, want)
			}
		}
		usd, err := rates.USD(t.Context(), a.Asset, amount)
		micros := rounded(new(big.Rat).Mul(dollars, pow10(6)), money.Up)
		if !micros.IsInt64() {
			micros.SetInt64(math.MaxInt64)
		}
		if err != nil || int64(usd) != micros.Int64() {
			t.Fatalf("%s of %+v at %v: got %s, %v, want %s", amount, a, ps, usd, err, micros)
		}
	}
	if fits < 5_000 || over < 200 {
		t.Errorf("only %d fitted and %d did not", fits, over)
	}
}

func rounded(x *big.Rat, round money.Rounding) *big.Int {
	q, m := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if round == money.Up && m.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func TestWhatIsNotListedHasNoWorth(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rates := market.Rates{Listing: r.listing, Now: func() time.Time { return start }}
	_, err := rates.USD(t.Context(), chain.Asset{Chain: "eip155:1", Ref: "dai"}, n(1))
	mustFault(t, err, fault.Invalid, "unsupported_token")
	_, err = rates.Convert(t.Context(), n(1), btc, chain.ID("eip155:9").Native(), money.Up)
	mustFault(t, err, fault.Invalid, "unsupported_chain")
	r.prices["BTC"] = market.Price{}
	_, err = rates.USD(t.Context(), btc, n(1))
	mustFault(t, err, fault.Unavailable, "pair_unavailable")
}
