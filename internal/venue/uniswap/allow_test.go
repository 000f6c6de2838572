package uniswap_test

import (
	"math/big"
	"testing"
	"time"

	contracts "ferry/internal/devnet/uniswap"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/venue/uniswap"
)

func TestTheRouterIsAllowedWhatItNeedsOnce(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	v := must(uniswap.New(r.config(), r.port))(t)
	for _, c := range []struct {
		allowed int64
		calls   int
	}{{0, 2}, {7, 3}} { // some tokens want nothing to be allowed before anything else is
		data := must(r.kit["WETH9"].ABI.Pack("approve", r.u.Router, big.NewInt(c.allowed)))(t)
		must(r.wallet.Send(ctx, contracts.Tx{To: &r.tokens[1], Data: data}))(t)
		must(r.wallet.Wait(ctx))(t)
		for _, calls := range []int{c.calls, 1} {
			r.ok(v.Sync(ctx, time.Now()))
			s := r.step(v, r.asset(1), r.asset(2), whole(3))
			move, p := r.carry(v, s, s.Give)
			if _, done := move.(quote.Done); !done || len(p.Calls) != calls {
				t.Errorf("with %d allowed: %#v after %d calls, want it done after %d", c.allowed, move, len(p.Calls), calls)
			}
		}
	}
}

func TestWhatIsWantedIsBroughtByWhatIsAsked(t *testing.T) {
	t.Parallel()
	r, ctx := newRig(t), t.Context()
	r.fill()
	v := must(uniswap.New(r.config(), r.port))(t)
	for _, want := range []*big.Int{big.NewInt(1e9), whole(1), whole(333)} {
		r.ok(v.Sync(ctx, time.Now()))
		wanted := money.MustParse(want.String())
		d := must(v.Best(ctx, market.PoolAsk{Give: r.asset(0), Get: r.asset(2), Side: market.To, Amount: wanted, At: time.Now()}))(t)
		if d.Out.Less(wanted) || d.Gas == 0 {
			t.Fatalf("for %s: %+v", wanted, d)
		}
		s := quote.Step{Venue: v.Name(), In: r.asset(0), Out: r.asset(2), Give: d.In, Bring: d.Out, MinOut: wanted, Plan: d.Plan}
		move, _ := r.carry(v, s, s.Give)
		if done, is := move.(quote.Done); !is || done.In != d.In || done.Out != d.Out {
			t.Errorf("for %s: %#v, want %s to become %s", wanted, move, d.In, d.Out)
		}
	}
	huge := money.MustParse(whole(100_000_000).String())
	if d, err := v.Best(ctx, market.PoolAsk{Give: r.asset(0), Get: r.asset(2), Side: market.To, Amount: huge, At: time.Now()}); err == nil {
		t.Errorf("more than all pools have: %+v", d)
	}
}
