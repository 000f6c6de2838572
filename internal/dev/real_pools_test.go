package dev

import (
	"encoding/json"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/devnet/uniswap"
	"ferry/internal/money"
	"ferry/internal/office"
)

// TestRoutesThroughPoolsOnRealNodes: tokens that the treasury never has are exchanged
// through the real Uniswap contracts, on one chain and across chains, to the last unit
// of the books; a pool that moved away while its order waited gives the money back. The
// dollars of the pools go over CCTP beside it, and the first quote is one over pools.
func TestRoutesThroughPoolsOnRealNodes(t *testing.T) {
	t.Parallel()
	s := stage{dir: t.TempDir(), prefix: networkPrefix(), only: []chain.ID{Ethereum, Base, Bitcoin}, blocks: manyBlocks, change: calm, pools: true}
	r := s.begin(t)
	r.closeChains(t)
	half := money.Percent(money.Whole / 200)
	tree, leaf := place{"ethereum", "TREE"}, place{"base", "LEAF"}
	r.quotesAtOnce(t, tree, leaf)
	key := r.company(t, "Acme", &half)
	r.key = r.company(t, "nobody", nil)
	t.Run("trades", func(t *testing.T) {
		var wg sync.WaitGroup // at once on every machine: what lies there for one is not spent by another
		defer wg.Wait()
		wg.Go(func() {
			t.Run("dollars of the pools over their bridge", func(t *testing.T) { r.performed(t, DollarBridge) })
		})
		for name, c := range map[string]struct {
			from, to place
			steps    int
		}{
			"a token for dollars of its chain":     {tree, place{"ethereum", "USDC"}, 1},
			"coins for a token of their chain":     {place{"ethereum", "ETH"}, tree, 1},
			"a token for a token of another chain": {tree, leaf, 3},
			"bitcoin for a token":                  {place{"bitcoin", "BTC"}, leaf, 2},
			"a token for bitcoin":                  {tree, place{"bitcoin", "BTC"}, 2},
			"a token for coins of another chain":   {leaf, place{"ethereum", "ETH"}, 2},
			"coins for a token of another chain":   {place{"base", "ETH"}, tree, 2},
			"dollars for a token of another chain": {place{"ethereum", "USDC"}, leaf, 2},
		} {
			wg.Go(func() { t.Run(name, func(t *testing.T) { r.trades(t, r.open(t, key, c.from, c.to), c.steps) }) })
		}
	})
	t.Run("a pool that moved away", func(t *testing.T) {
		w := r.open(t, key, tree, leaf)
		r.push(t, Base)
		w.pay(100)
		o := w.until("refunded")
		p, err := payout(o, "refund")
		if err != nil {
			t.Fatal(err)
		}
		// What our inventory gave was undone, and what the first swap brought went back.
		hub := w.order.Quote.Steps[0].Out
		if got := r.Network.has(t, hub, w.back); got.String() != p.Amount || got.IsZero() {
			t.Errorf("%s of %s came back, %s of %s was told", got, hub, p.Amount, p.Token)
		}
		if o.failure() != "step_failed" {
			t.Errorf("it failed for %q", o.failure())
		}
	})
	r.auditsClean(t)
	r.meansOfAPool(t)
	r.stop()
	again := s.begin(t)
	again.quotesAtOnce(t, tree, place{"bitcoin", "BTC"}) // the pools of Base are where nobody follows
}

// trades has an order through pools paid, delivered and paid for.
func (r *real) trades(t *testing.T, w *trade, steps int) {
	t.Helper()
	if got := len(w.order.Quote.Steps); got != steps {
		t.Fatalf("the way has %d steps: %+v", got, w.order.Quote.Steps)
	}
	w.pay(100)
	o := w.until("completed")
	p, err := payout(o, "delivery")
	if err != nil {
		t.Fatal(err)
	}
	got, least := r.Network.has(t, r.asset(w.to), w.toAddr), w.order.Quote.Shown.MinOut
	if got.String() != p.Amount || got.Less(least) {
		t.Errorf("%s came, %s was told and %s promised at least", got, p.Amount, least)
	}
	w.so("paid for", func(o toldOrder) bool { return o.FeeStatus == "paid" }, nil)
}

// quotesAtOnce asks a service that has just said that it is ready for a way through
// pools of two chains, and not again if it refuses.
func (r *real) quotesAtOnce(t *testing.T, from, to place) {
	t.Helper()
	code, text := r.ask(t, "", "", http.MethodPost, "/v2/quotes", fields{
		"fromChainId": from.slug, "fromToken": r.token(from), "toChainId": to.slug, "toToken": r.token(to), "amount": r.worth(from, "240").String(),
	})
	if code != http.StatusOK {
		t.Errorf("the first quote was answered with %d %s", code, text)
	}
}

// meansOfAPool: what the coin is worth three say, of which one is a pool that everybody
// here traded in.
func (r *real) meansOfAPool(t *testing.T) {
	t.Helper()
	r.wait(t, "the pool says what the coin is worth", func() bool {
		all, err := r.Front.Office.Prices()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.Symbol == "ETH" {
				return p.Quorum == 2 && len(p.Words) == 3 && !slices.ContainsFunc(p.Words, func(w office.Word) bool { return w.Price == "" })
			}
		}
		return false
	})
}

// pooled reports whether an asset is one that the treasury never has.
func (r *real) pooled(x chain.Asset) bool { return slices.Contains(r.Network.venues.Pooled, x) }

// push buys so much of a chain's token from each of its pools that nobody would follow.
func (r *real) push(t *testing.T, id chain.ID) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, stateFile))
	if err != nil {
		t.Fatal(err)
	}
	var made state
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	x := made.Exchanges[id]
	kit, err := uniswap.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := made.maker(t.Context(), r.Network.RPC(id))
	if err != nil {
		t.Fatal(err)
	}
	u := uniswap.New(kit, w, x.Places)
	dollars := common.HexToAddress(string(made.Tokens[id]))
	token := common.HexToAddress(x.Token)
	// All that is in each pool once more: a dollar buys about a quarter.
	coin, err := perDollar(holdings["ETH"].price, 18)
	if err != nil {
		t.Fatal(err)
	}
	coins := coin.Mul(coin, big.NewInt(poolDollars))
	if err := u.Wrap(t.Context(), coins); err != nil {
		t.Fatal(err)
	}
	if err := u.SwapV2(t.Context(), coins, u.WETH, token); err != nil {
		t.Fatal(err)
	}
	if err := u.Swap(t.Context(), uniswap.Stake{Token: dollars, Amount: units(poolDollars, 6)}, token, 3000); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}
