package uniswap_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/venue/uniswap"
)

func TestRunFollowsTheChainUntilItIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.fill()
	cfg := r.config()
	cfg.Poll, cfg.Check = 10*time.Millisecond, time.Hour
	v := must(uniswap.New(cfg, r.port))(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- v.Run(ctx) }()
	ask := market.PoolAsk{Give: r.asset(2), Get: r.asset(1), Side: market.From, Amount: money.FromUint64(1e18), At: time.Now()}
	price := func() money.Amount {
		for t.Context().Err() == nil {
			if d, err := v.Best(ctx, ask); err == nil {
				return d.Out
			}
			time.Sleep(cfg.Poll)
		}
		return money.Amount{}
	}
	before := price()
	r.ok(r.u.SwapV2(ctx, whole(400), r.tokens[1], r.tokens[2]))
	must(r.wallet.Wait(ctx))(t)
	for !before.Less(price()) { // the pair gives more for what it has little of now
		if t.Context().Err() != nil {
			t.Fatal("the swap of another was never seen")
		}
		time.Sleep(cfg.Poll)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
