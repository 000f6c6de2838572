package bitcoin_test

import (
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// TestCoinsThatCameAndWentAboveABlockWereNeverThere spends a coin of ours, and then at
// once what is left of it: at the block before, there is the first coin and nothing else.
func TestCoinsThatCameAndWentAboveABlockWereNeverThere(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{coins: 3})
	own := b.family.Own(hot)
	spots := []chain.Spot{{Address: own, Asset: regtest.Native()}, {Address: b.Deposit(9), Asset: regtest.Native()}}
	head, err := b.family.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	script, err := b.codec.Script(own)
	if err != nil {
		t.Fatal(err)
	}
	var coin wire.OutPoint
	for o, s := range b.see().made {
		if string(s.PkScript) == string(script) {
			coin = o
		}
	}
	for _, left := range []int64{900_000, 800_000, 700_000} {
		ask[string](b.local, "sendrawtransaction", b.spend([]wire.OutPoint{coin}, wire.NewTxOut(left, script)), 0)
		b.Mine(1)
		for o, s := range b.see().made {
			if string(s.PkScript) == string(script) && s.Value == left {
				coin = o
			}
		}
	}
	check := func(at chain.Block, want uint64) {
		t.Helper()
		got, err := b.family.Balances(t.Context(), spots, at)
		if err != nil || got[0] != money.FromUint64(want) || !got[1].IsZero() {
			t.Errorf("at height %d there is %v, %v, want %d", at.Height, got, err, want)
		}
	}
	check(head.Final, 3_000_000)
	now, err := b.family.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check(now.Tip, 2_700_000)
	b.Mine(depth)
	check(now.Tip, 2_700_000)
	for _, bad := range [][]chain.Spot{
		{{Address: own, Asset: chain.Asset{Chain: regtest, Ref: "gold"}}},
		{{Address: chain.CanonicalAddress(chain.Bitcoin, "bcrt1pxwww0ct9ue7e8tdnlmug5m2tamfn7q06sahstg39ys4c9f3340qqxrdu9k"), Asset: regtest.Native()}},
	} {
		if got, err := b.family.Balances(t.Context(), bad, now.Tip); err == nil {
			t.Errorf("%v has %v", bad, got)
		}
	}
}
