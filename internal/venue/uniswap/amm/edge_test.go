package amm_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/holiman/uint256"

	"ferry/internal/testseed"
	"ferry/internal/venue/uniswap/amm"
)

func TestTheEndsOfPricesAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	for tick, want := range map[int32]string{
		amm.MinTick: "4295128739", amm.MinTick + 1: "4295343490", 0: "79228162514264337593543950336",
		amm.MaxTick - 1: "1461373636630004318706518188784493106690254656249", amm.MaxTick: "1461446703485210103287273052203988822378723970342",
	} {
		got, err := amm.RootAt(tick)
		if err != nil || got.Dec() != want {
			t.Errorf("root at %d is %s, %v, want %s", tick, got.Dec(), err, want)
		}
		if tick == amm.MaxTick { // the price of the highest tick is above all prices
			continue
		}
		if back, err := amm.TickAt(&got); err != nil || back != tick {
			t.Errorf("tick of the root at %d is %d, %v", tick, back, err)
		}
	}
	for _, tick := range []int32{amm.MinTick - 1, amm.MaxTick + 1} {
		if _, err := amm.RootAt(tick); !errors.Is(err, amm.ErrPrice) {
			t.Errorf("root at %d: %v", tick, err)
		}
	}
	for _, root := range []*uint256.Int{new(uint256.Int), new(uint256.Int).SubUint64(&amm.MinRoot, 1), &amm.MaxRoot} {
		if _, err := amm.TickAt(root); !errors.Is(err, amm.ErrPrice) {
			t.Errorf("tick of %s: %v", root.Dec(), err)
		}
	}
}

func TestWhatNoPoolCanDoIsRefused(t *testing.T) {
	t.Parallel()
	one := uint256.NewInt(1)
	mass := uint256.NewInt(1e18)
	fresh := func() *amm.Pool {
		p := &amm.Pool{Fee: 3000, Spacing: 60, Root: rootOf(t, 0)}
		ok(t, p.Add(-600, 600, mass, false))
		return p
	}
	limit := rootOf(t, 60)
	for name, c := range map[string]struct {
		want error
		do   func() error
	}{
		"nothing":              {amm.ErrNothing, func() error { _, err := fresh().Out(new(uint256.Int), true); return err }},
		"a negative number":    {amm.ErrOverflow, func() error { _, err := fresh().Out(new(uint256.Int).SetAllOne(), true); return err }},
		"no price":             {amm.ErrBorn, func() error { _, err := (&amm.Pool{Fee: 1, Spacing: 1}).Out(one, true); return err }},
		"no liquidity":         {amm.ErrDry, func() error { _, err := (&amm.Pool{Fee: 100, Spacing: 200, Root: limit}).Out(one, true); return err }},
		"a limit behind":       {amm.ErrPrice, func() error { _, err := fresh().To(one, true, true, &limit); return err }},
		"a limit at the price": {amm.ErrPrice, func() error { p := fresh(); _, err := p.To(one, true, true, &p.Root); return err }},
		"burning too much":     {amm.ErrDry, func() error { return fresh().Add(-600, 600, new(uint256.Int).AddUint64(mass, 1), true) }},
		"burning elsewhere":    {amm.ErrDry, func() error { return fresh().Add(-60, 60, one, true) }},
		"ends that cross":      {amm.ErrPrice, func() error { return fresh().Add(60, -60, one, false) }},
		"too much liquidity": {amm.ErrOverflow, func() error {
			return fresh().Add(-60, 60, new(uint256.Int).SubUint64(new(uint256.Int).Lsh(one, 128), 1), false)
		}},
		"an empty pair": {amm.ErrDry, func() error { _, err := (&amm.Pair{Keep: 997, Of: 1000}).Out(one, true); return err }},
		"all of a pair": {amm.ErrDry, func() error {
			_, err := (&amm.Pair{Zero: *mass, One: *mass, Keep: 997, Of: 1000}).In(mass, true)
			return err
		}},
		"more than a pair has room for": {amm.ErrOverflow, func() error {
			_, err := (&amm.Pair{Zero: *mass, One: *mass, Keep: 997, Of: 1000}).Out(new(uint256.Int).Lsh(one, 112), true)
			return err
		}},
		"dust that brings nothing": {amm.ErrDry, func() error {
			_, err := (&amm.Pair{Zero: *mass, One: *one, Keep: 997, Of: 1000}).Out(one, true)
			return err
		}},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestAPositionThatIsBurnedLeavesNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testseed.Of(t), 9))
	for range 50 {
		p := randomPool(t, r)
		before := *p
		before.Ticks = append([]amm.Tick(nil), p.Ticks...)
		amount := upTo(r, 60)
		low, high := -p.Spacing*(1+r.Int32N(50)), p.Spacing*(1+r.Int32N(50))
		ok(t, p.Add(low, high, &amount, false))
		ok(t, p.Add(low, high, &amount, true))
		if p.Liquidity != before.Liquidity || len(p.Ticks) != len(before.Ticks) {
			t.Fatalf("%+v became %+v", before, p)
		}
		for i := range p.Ticks {
			if p.Ticks[i] != before.Ticks[i] {
				t.Errorf("tick %+v became %+v", before.Ticks[i], p.Ticks[i])
			}
		}
	}
}

func TestAQuoteAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(testseed.Of(t), 3))
	p := randomPool(t, r)
	pair := &amm.Pair{Zero: *uint256.NewInt(1e18), One: *uint256.NewInt(1e18), Keep: 997, Of: 1000}
	amount := uint256.NewInt(1e15)
	if n := testing.AllocsPerRun(100, func() {
		for _, down := range []bool{true, false} {
			_, _ = p.Out(amount, down)
			_, _ = p.In(amount, down)
			_, _ = pair.Out(amount, down)
			_, _ = pair.In(amount, down)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
