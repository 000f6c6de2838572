package dev

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/devnet/uniswap"
	"ferry/internal/money"
)

// TestRoutesThroughPoolsOnRealNodes: tokens that the treasury never has are exchanged
// through the real Uniswap contracts, on one chain and across chains, to the last unit
// of the books; a pool that moved away while its order waited gives the money back.
func TestRoutesThroughPoolsOnRealNodes(t *testing.T) {
	t.Parallel()
	s := stage{dir: t.TempDir(), prefix: networkPrefix(), only: []chain.ID{Ethereum, Base, Bitcoin}, blocks: manyBlocks, change: calm, pools: true}
	r := s.begin(t)
	r.closeChains(t)
	half := money.Percent(money.Whole / 200)
	key := r.company(t, "Acme", &half)
	tree, leaf := place{"ethereum", "TREE"}, place{"base", "LEAF"}
	t.Run("trades", func(t *testing.T) {
		for name, c := range map[string]struct {
			from, to place
			steps    int
		}{
			"a token for dollars of its chain":       {tree, place{"ethereum", "USDC"}, 1},
			"coins for a token of their chain":       {place{"ethereum", "ETH"}, tree, 1},
			"a token for coins of its chain":         {leaf, place{"base", "ETH"}, 1},
			"a token for a token of another chain":   {tree, leaf, 3},
			"bitcoin for a token":                    {place{"bitcoin", "BTC"}, leaf, 2},
			"a token for bitcoin":                    {tree, place{"bitcoin", "BTC"}, 2},
			"coins of a chain for another's token":   {place{"base", "ETH"}, tree, 2},
			"dollars of a chain for another's token": {place{"ethereum", "USDC"}, leaf, 2},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := r.open(t, key, c.from, c.to)
				if got := len(w.order.Quote.Steps); got != c.steps {
					t.Fatalf("the way has %d steps: %+v", got, w.order.Quote.Steps)
				}
				w.pay(100)
				o := w.until("completed")
				p, err := payout(o, "delivery")
				if err != nil {
					t.Fatal(err)
				}
				got, least := r.Network.has(t, r.asset(c.to), w.toAddr), w.order.Quote.Shown.MinOut
				if got.String() != p.Amount || got.Less(least) {
					t.Errorf("%s came, %s was told and %s promised at least", got, p.Amount, least)
				}
				w.so("paid for", func(o toldOrder) bool { return o.FeeStatus == "paid" }, nil)
			})
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
		// What our inventory gave was undone, and the dollars of the first swap went back.
		if got := r.Network.has(t, r.asset(place{"ethereum", "USDC"}), w.back); got.String() != p.Amount || got.IsZero() {
			t.Errorf("%s came back, %s was told", got, p.Amount)
		}
		if o.failure() != "step_failed" {
			t.Errorf("it failed for %q", o.failure())
		}
	})
	r.auditsClean(t)
}

// pooled reports whether an asset is one that the treasury never has.
func (r *real) pooled(x chain.Asset) bool { return slices.Contains(r.Network.venues.Pooled, x) }

// push sells so much of a chain's token into its pool that nobody would follow.
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
	digest := sha256.Sum256([]byte("maker of pools of " + made.Seed))
	key, err := crypto.ToECDSA(digest[:])
	if err != nil {
		t.Fatal(err)
	}
	w, err := uniswap.Open(t.Context(), r.Network.RPC(id), key)
	if err != nil {
		t.Fatal(err)
	}
	u := uniswap.New(kit, w, x.Places)
	dollars := common.HexToAddress(string(made.Tokens[id]))
	token := common.HexToAddress(x.Token)
	// All that is in the pool once more: the price falls to about a quarter.
	if err := u.Swap(t.Context(), uniswap.Stake{Token: dollars, Amount: units(poolDollars, 6)}, token, 3000); err != nil {
		t.Fatal(err)
	}
	if err := u.SwapV2(t.Context(), units(300, 18), x.WETH, token); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}
