package uniswap_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"ferry/internal/chain"
	contracts "ferry/internal/devnet/uniswap"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/testseed"
	"ferry/internal/venue/uniswap"
)

// stir does something with a pool.
func (r *rig) stir(src *rand.Rand) {
	ctx := r.Context()
	pair := [][3]int{{0, 1, 3000}, {1, 0, 3000}, {0, 1, 500}, {1, 0, 500}, {1, 2, 3000}, {2, 1, 3000}, {0, 2, 10000}, {2, 0, 10000}}[src.IntN(8)]
	a, b, fee := r.tokens[pair[0]], r.tokens[pair[1]], uint32(pair[2])
	amount := new(big.Int).Mul(big.NewInt(1+src.Int64N(2000)), big.NewInt(1e17+1))
	switch src.IntN(6) {
	case 0, 1:
		r.ok(r.u.Swap(ctx, contracts.Stake{Token: a, Amount: amount}, b, fee))
	case 2:
		r.ok(r.u.SwapV2(ctx, amount, r.tokens[src.IntN(2)*2], r.tokens[1]))
	case 3:
		r.mint(a, b, fee, 1+src.Int64N(50), 600*(1+src.Int32N(12)))
	case 4: // also of positions that are not there, which fails and changes nothing
		r.ok(r.u.Burn(ctx, 1+src.Int64N(12), new(big.Int).Mul(big.NewInt(1+src.Int64N(300)), big.NewInt(1e18))))
	default:
		r.ok(r.u.Add(ctx, contracts.Stake{Token: r.tokens[0], Amount: amount}, contracts.Stake{Token: r.tokens[1], Amount: amount}))
	}
}

func TestKeptPoolsAreAsLoadedOnesThroughSwapsAndForks(t *testing.T) {
	t.Parallel()
	r, src, ctx := newRig(t), rand.New(rand.NewPCG(testseed.Of(t), 1)), t.Context()
	r.fill()
	v := must(uniswap.New(r.config(), r.port))(t)
	r.ok(v.Sync(ctx, time.Now()))
	if v.Pools() != 6 {
		t.Fatalf("%d pools were found, want 6", v.Pools())
	}
	for round := range stirs {
		for range 1 + src.IntN(4) {
			r.stir(src)
		}
		_, _ = r.wallet.Wait(ctx) // some were meant to fail
		switch src.IntN(4) {
		case 0:
			lose := src.IntN(2) == 0
			depth := 1 + src.IntN(min(round+1, 5))
			r.ok(r.node.Do(ctx, "reorg", map[string]any{"depth": depth, "lose": lose}, nil))
			r.ok(r.wallet.Renew(ctx))
			r.mine(src.IntN(2) + 1)
		case 1:
			r.mine(src.IntN(3) + 1)
		}
		if src.IntN(3) == 0 {
			continue // several blocks at once
		}
		r.ok(v.Sync(ctx, time.Now()))
		bad, at, err := v.Differences(ctx)
		r.ok(err)
		if len(bad) > 0 {
			t.Fatalf("round %d, block %d: %v are not as their contracts say", round, at.Height, bad)
		}
	}
}

func TestAPoolThatDriftedIsLoadedAnewAndTold(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	cfg := r.config()
	var told []uniswap.Notice
	cfg.Noticed = func(n uniswap.Notice) { told = append(told, n) }
	v := must(uniswap.New(cfg, r.port))(t)
	r.ok(v.Sync(ctx, time.Now()))
	spoiled := v.Spoil()
	if bad, _, err := v.Differences(ctx); err != nil || len(bad) != 1 {
		t.Fatalf("%v, %v: nothing was spoiled", bad, err)
	}
	r.ok(v.Sync(ctx, time.Now().Add(time.Second)))
	if bad, _, err := v.Differences(ctx); err != nil || len(bad) != 0 {
		t.Errorf("%v, %v are still not as their contracts say", bad, err)
	}
	if len(told) != 1 || told[0].Pool != spoiled {
		t.Errorf("told %+v, want of %s once", told, spoiled.Text())
	}
}

func TestAnOldStateIsNotQuotedFrom(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	cfg := r.config()
	cfg.Multicall = chain.Address{} // and every question is asked by itself
	v := must(uniswap.New(cfg, r.port))(t)
	ask := market.PoolAsk{Give: r.asset(1), Get: r.asset(2), Side: market.From, Amount: money.FromUint64(1e18), At: time.Now()}
	if _, err := v.Best(ctx, ask); fault.Of(err).Code != "pair_unavailable" {
		t.Errorf("before anything was loaded: %v", err)
	}
	r.ok(v.Sync(ctx, time.Now()))
	if _, err := v.Best(ctx, ask); err != nil {
		t.Error(err)
	}
	ask.At = ask.At.Add(2 * time.Hour)
	if _, err := v.Best(ctx, ask); fault.Of(err).Code != "pair_unavailable" {
		t.Errorf("two hours later: %v", err)
	}
	ask.Get.Ref = "0x00000000000000000000000000000000000000aa"
	if _, err := v.Best(ctx, ask); !errors.Is(err, market.ErrNoPool) {
		t.Errorf("for a token that is not listed: %v", err)
	}
}
