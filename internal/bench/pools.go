package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/holiman/uint256"

	"ferry/internal/venue/uniswap/amm"
	"ferry/internal/venue/uniswap/ammtest"
)

// The goals of P11, and how many pools are asked in turns.
const (
	nearGoal = 1.0 / 100
	farGoal  = 1.0 / 50
	sdkGoal  = 1.0 / 25
	poolsFew = 32
)

// swapAsk is a swap of one pool.
type swapAsk struct {
	pool *amm.Pool
	ammtest.Question
	want uint256.Int
}

// runPools measures P11: our quote of a pool of version 3 beside geth's EVM that runs
// QuoterV2, and beside the SDK in Node.js.
func runPools(ctx context.Context, o options) error {
	ground, err := ammtest.New(ctx)
	if err != nil {
		o.report.skip("pools: %v", err)
		return nil
	}
	r := rand.New(rand.NewPCG(1, 11))
	for _, c := range []struct {
		name      string
		low, high int
		goal      float64
	}{{"0 or 1 ticks", 0, 1, nearGoal}, {"10 to 50 ticks", 10, 50, farGoal}} {
		asks, err := swapAsks(r, ground, c.low, c.high)
		if err != nil {
			return err
		}
		ours := quoteSide(asks, o.length/10)
		d, err := interleave("pools: beside QuoterV2, "+c.name, o.rounds, cost, [2]side{ours, quoterSide(ground, asks, o.length/10)})
		if err != nil {
			return err
		}
		o.report.add(result{Bench: "pools", Name: "exact in, " + c.name + ", beside QuoterV2 in geth's EVM", Unit: "µs", AtMost: c.goal}.judged(d))
		n := testing.AllocsPerRun(100, func() { _, _, _ = ours(0, 0) }) // some hundred quotes each
		o.report.add(result{Bench: "pools", Name: "exact in, " + c.name, Unit: "allocations", Ours: float64(int(n / poolsFew))}.within(0))
		if err := besideSDK(ctx, o, c.name, asks); err != nil {
			return err
		}
	}
	return nil
}

// swapAsks are swaps that cross so many ticks, and what the contract answers.
func swapAsks(r *rand.Rand, g *ammtest.Ground, low, high int) (asks []swapAsk, err error) {
	for len(asks) < poolsFew {
		p := &amm.Pool{Fee: 500, Spacing: 10, Root: uint256.Int{0, 1 << 32}}
		for k := int32(-100); k < 100; k++ { // a market with much on every tick
			mass := ammtest.Whole(1e20 * (1 + r.Float64()))
			if err := p.Add(k*10, (k+1+r.Int32N(20))*10, &mass, false); err != nil {
				return nil, err
			}
		}
		a := swapAsk{pool: p, Question: ammtest.Question{Down: r.IntN(2) == 0, ExactIn: true}}
		far := int32(low*10 + r.IntN((high-low)*10)) //nolint:gosec // few
		if a.Down {
			far = -far - 1
		}
		limit, err := amm.RootAt(far + 1)
		if err != nil {
			return nil, err
		}
		all, err := p.To(new(uint256.Int).Lsh(uint256.NewInt(1), 200), a.Down, true, &limit)
		if err != nil {
			continue // it is where the price is already
		}
		a.Amount = all.In
		t, err := p.Out(&a.Amount, a.Down)
		if err != nil || t.Crossed < low || t.Crossed > high {
			continue
		}
		g.PutPool(p)
		if a.want, _, err = g.Quoter(p, a.Question); err != nil {
			return nil, err
		}
		if a.want != t.Out {
			return nil, fmt.Errorf("we quote %s and the contract %s", t.Out.Dec(), a.want.Dec())
		}
		asks = append(asks, a)
	}
	return asks, nil
}

// quoteSide is ours, by the CPU that it takes.
func quoteSide(asks []swapAsk, length time.Duration) side {
	return func(int, int) (int, time.Duration, error) {
		n, start, before := 0, time.Now(), cpuTime()
		for time.Since(start) < length {
			for i := range asks {
				a := &asks[i]
				if t, err := a.pool.Out(&a.Amount, a.Down); err != nil || t.Out != a.want {
					return 0, 0, fmt.Errorf("a quote changed: %w", err)
				}
			}
			n += len(asks)
		}
		return n, cpuTime() - before, nil
	}
}

// quoterSide is the contract in geth's EVM. Putting a pool there is not counted.
func quoterSide(g *ammtest.Ground, asks []swapAsk, length time.Duration) side {
	const each = 4
	at := 0
	return func(int, int) (n int, took time.Duration, err error) {
		for start := time.Now(); time.Since(start) < length; at++ {
			a := &asks[at%len(asks)]
			g.PutPool(a.pool)
			data := g.QuoterCall(a.pool, a.Question)
			before := cpuTime()
			for range each {
				if _, err := g.Ask(g.U.Quoter, data); err != nil {
					return 0, 0, err
				}
			}
			n += each
			took += cpuTime() - before
		}
		return n, took, nil
	}
}
