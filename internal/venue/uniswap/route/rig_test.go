package route_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/holiman/uint256"

	"ferry/internal/testseed"
	"ferry/internal/venue/uniswap/ammtest"
	"ferry/internal/venue/uniswap/route"
)

// seed gives a source of the test's seed, as those that were kept are read.
func seed(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(testseed.Of(t), 1))
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is random pools, with the references that know no screening.
type world struct{ *ammtest.World }

func newWorld(t testing.TB, r *rand.Rand, tokens, pools, hubs int) *world {
	t.Helper()
	w, err := ammtest.NewWorld(r, ammtest.Size{Tokens: tokens, Pools: pools, Hubs: hubs})
	ok(t, err)
	return &world{w}
}

// net is what an answer is worth after gas; more is better.
func net(a *route.Ask, f *route.Found) *big.Int {
	n := f.Out.ToBig()
	if !a.ExactIn {
		n = new(big.Int).Neg(f.In.ToBig())
	}
	hops := 0
	for _, w := range f.Ways {
		hops += len(w.Hops)
	}
	n.Sub(n, new(big.Int).Mul(a.Hop.ToBig(), big.NewInt(int64(hops))))
	return n.Sub(n, new(big.Int).Mul(a.Way.ToBig(), big.NewInt(int64(len(f.Ways)-1))))
}

// path is a way for the references, which know no screening.
type path struct {
	hops  []route.Hop
	cache map[string]*uint256.Int
}

// paths are all ways of at most three pools that visit no token twice.
func (w *world) paths(in, out int) (all []*path) {
	var walk func(at int, seen []int, hops []route.Hop)
	walk = func(at int, seen []int, hops []route.Hop) {
		if at == out {
			all = append(all, &path{append([]route.Hop(nil), hops...), map[string]*uint256.Int{}})
			return
		}
		if len(hops) == 3 {
			return
		}
		for i, e := range w.Edges {
			for _, down := range []bool{true, false} {
				from, to := e.Zero, e.One
				if !down {
					from, to = to, from
				}
				if from != at || has(seen, to) {
					continue
				}
				walk(to, append(append([]int(nil), seen...), to), append(append([]route.Hop(nil), hops...), route.Hop{Pool: i, Down: down}))
			}
		}
	}
	walk(in, []int{in}, nil)
	return all
}

func has(all []int, x int) bool {
	for _, a := range all {
		if a == x {
			return true
		}
	}
	return false
}

func (p *path) shares(o *path) bool {
	for _, a := range p.hops {
		for _, b := range o.hops {
			if a.Pool == b.Pool {
				return true
			}
		}
	}
	return false
}

// value is the exact other amount; nil where it can not be had.
func (p *path) value(w *world, amount *uint256.Int, exactIn bool) *uint256.Int {
	if v, known := p.cache[amount.Dec()]; known {
		return v
	}
	x := *amount
	out := &x
	for i := range p.hops {
		h := p.hops[i]
		if !exactIn {
			h = p.hops[len(p.hops)-1-i]
		}
		t, err := w.Edges[h.Pool].Through(&x, h.Down, exactIn)
		if err != nil || t.Short || t.Out.IsZero() {
			out = nil
			break
		}
		if x = t.Out; !exactIn {
			x = t.In
		}
	}
	p.cache[amount.Dec()] = out
	return out
}
