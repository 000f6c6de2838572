package market_test

import (
	"context"
	"math/big"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/market"
	"ferry/internal/money"
)

func all() []chain.Asset { return []chain.Asset{btc, eth, usdc, sol} }

// What is indicated is what offers give: the same limits, and the same output but for
// what the network takes.
func TestIndicationsAreWhatOffersGive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	told, err := r.Indications(t.Context(), all(), start)
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 12 {
		t.Fatalf("%d pairs of 12", len(told))
	}
	for _, i := range told {
		for _, give := range []money.Amount{i.Min, i.Max} {
			o, err := r.Quote(t.Context(), market.Ask{Give: i.Give.Asset, Get: i.Get.Asset, Side: market.From, Amount: give, Mode: "float"}, start)
			if err != nil {
				t.Fatalf("%s to %s: %v", i.Give.Symbol, i.Get.Symbol, err)
			}
			if o.Quote.MinIn != i.Min || o.Quote.MaxIn != i.Max {
				t.Errorf("%s to %s: limits %s and %s, offered %s and %s", i.Give.Symbol, i.Get.Symbol, i.Min, i.Max, o.Quote.MinIn, o.Quote.MaxIn)
			}
			if i.Most.Less(o.Quote.Out) {
				t.Errorf("%s to %s: %s are paid and %s are said to be there", i.Give.Symbol, i.Get.Symbol, o.Quote.Out, i.Most)
			}
			// Out + network = give·rate, all in smallest units, rounded down twice.
			rate, ok := new(big.Rat).SetString(i.Rate)
			if !ok {
				t.Fatalf("rate %q", i.Rate)
			}
			gross := new(big.Rat).Mul(rate, new(big.Rat).SetInt(toBig(give)))
			ten := func(n int) *big.Rat {
				return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
			}
			gross.Mul(gross, ten(i.Get.Decimals)).Quo(gross, ten(i.Give.Decimals))
			network := gross.Sub(gross, new(big.Rat).SetInt(toBig(o.Quote.Out)))
			cost := map[string]int64{"BTC": 1_000, "ETH": 500_000_000_000_000, "USDC": 2_000_000, "SOL": 5_000}[i.Get.Symbol]
			off := network.Sub(network, new(big.Rat).SetInt64(cost))
			if off.Abs(off).Cmp(big.NewRat(2, 1)) > 0 {
				t.Errorf("%s to %s at %s: the rate %s is off by %s", i.Give.Symbol, i.Get.Symbol, give, i.Rate, off.FloatString(3))
			}
		}
	}
}

func TestPairsThatCannotBeExchangedAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*rig)
		of     []chain.Asset
		want   int
	}{
		{"everything", func(*rig) {}, all(), 12},
		{"fewer assets", func(*rig) {}, []chain.Asset{btc, sol}, 2},
		{"no price", func(r *rig) { delete(r.prices, "SOL") }, all(), 6},
		{"nothing to pay with", func(r *rig) { r.free[sol] = n(0) }, all(), 9},
		{"no cost", func(r *rig) { delete(r.costs, sol.Chain) }, all(), 9},
		{"a pair is off", func(r *rig) { r.stock.Pairs = map[market.Pair]market.Terms{{Give: btc, Get: sol}: {Off: true}} }, all(), 11},
		{"no prices at all", func(r *rig) { clear(r.prices) }, all(), 0},
	} {
		told, err := newRig(t, c.change).Indications(t.Context(), c.of, start)
		if err != nil || len(told) != c.want {
			t.Errorf("%s: %d pairs of %d, %v", c.name, len(told), c.want, err)
		}
	}
	closed := newRig(t, func(r *rig) { delete(r.free, sol) })
	if told, err := closed.Indications(t.Context(), all(), start); err == nil {
		t.Errorf("closed books: %d pairs", len(told))
	}
}

// teller is a venue that indicates what another does.
type teller struct {
	venue
	from *market.Market
}

func (v *teller) Indications(ctx context.Context, assets []chain.Asset, _ money.Percent, now time.Time) ([]market.Indication, error) {
	return v.from.Indications(ctx, assets, now)
}

func TestTheBestIndicationIsShown(t *testing.T) {
	t.Parallel()
	dear := newRig(t)
	cheap := newRig(t, func(r *rig) { r.stock.Default.Spread = 1_000 })
	for name, order := range map[string][]*rig{"the best first": {cheap, dear}, "the best last": {dear, cheap}} {
		var venues []market.Venue
		for i, r := range order {
			venues = append(venues, &teller{venue: venue{name: []string{"a", "b"}[i]}, from: r.Market})
		}
		m, err := market.New(dear.cfg, dear.listing, market.Ports{Treasury: dear.free, Costs: dear.costs, Venues: append(venues, &venue{name: "silent"})})
		if err != nil {
			t.Fatal(err)
		}
		told, err := m.Indications(t.Context(), []chain.Asset{btc, usdc}, start)
		if err != nil || len(told) != 2 || told[0].Rate != "99900" {
			t.Errorf("%s: got %+v, %v", name, told, err)
		}
	}
}

// What is never ours is not indicated, though some of it lies with us for orders.
func TestWhatIsNeverOursIsNotIndicated(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.stock.Never = map[chain.Asset]bool{usdc: true} })
	told, err := r.Indications(t.Context(), all(), start)
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 6 {
		t.Errorf("%d pairs of 6", len(told))
	}
	for _, i := range told {
		if i.Give.Asset == usdc || i.Get.Asset == usdc {
			t.Errorf("%s to %s is indicated", i.Give.Symbol, i.Get.Symbol)
		}
	}
}
