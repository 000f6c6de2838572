package route_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/holiman/uint256"

	"ferry/internal/venue/uniswap/amm"
	"ferry/internal/venue/uniswap/route"
)

// seed is printed, and FERRY_TEST_SEED runs it again.
func seed(t testing.TB) *rand.Rand {
	t.Helper()
	s := rand.Uint64()
	if text := os.Getenv("FERRY_TEST_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		ok(t, err)
		s = n
	}
	t.Logf("FERRY_TEST_SEED=%d", s)
	return rand.New(rand.NewPCG(s, 1))
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func whole(x float64) uint256.Int {
	n, _ := big.NewFloat(x).Int(nil)
	return *uint256.MustFromBig(n)
}

// world is random pools whose prices are near to what their tokens are worth.
type world struct {
	r     *rand.Rand
	worth []float64 // of a smallest unit
	edges []route.Edge
	graph *route.Graph
}

// newWorld makes pools: hubs are the tokens with which most others have theirs.
func newWorld(t testing.TB, r *rand.Rand, tokens, pools, hubs int) *world {
	t.Helper()
	w := &world{r: r, worth: make([]float64, tokens)}
	for i := range w.worth {
		w.worth[i] = math.Exp(r.Float64()*10 - 5)
	}
	var live []route.Live
	for i := range pools {
		a, b := r.IntN(hubs), i%tokens // every token has some pool
		if r.IntN(8) == 0 {
			a = r.IntN(tokens)
		}
		for a == b {
			a = r.IntN(tokens)
		}
		e := w.pool(t, min(a, b), max(a, b))
		w.edges = append(w.edges, e)
		l, fit := route.Ready(e)
		if !fit {
			t.Fatalf("a pool that can not be traded in: %+v", e)
		}
		live = append(live, l)
	}
	w.graph = route.New(tokens, live)
	return w
}

// pool is one of both versions, with a value of 10^20 to 10^24, off by a percent or so.
func (w *world) pool(t testing.TB, zero, one int) route.Edge {
	t.Helper()
	value := math.Exp(w.r.Float64()*9) * 1e20
	price := w.worth[zero] / w.worth[one] * (1 + (w.r.Float64()-0.5)/50)
	e := route.Edge{Zero: zero, One: one}
	if w.r.IntN(2) == 0 {
		e.Pair = &amm.Pair{Zero: whole(value / w.worth[zero]), Keep: 997, Of: 1000}
		e.Pair.One = whole(value / w.worth[zero] * price)
		return e
	}
	fee := []struct {
		fee     uint32
		spacing int32
	}{{100, 1}, {500, 10}, {3000, 60}, {10000, 200}}[w.r.IntN(4)]
	p := &amm.Pool{Fee: fee.fee, Spacing: fee.spacing, Root: whole(math.Sqrt(price) * 0x1p96)}
	var err error
	p.Tick, err = amm.TickAt(&p.Root)
	ok(t, err)
	mass := value / w.worth[zero] * math.Sqrt(price)
	for range 1 + w.r.IntN(8) {
		near := p.Tick / fee.spacing
		half := 1 + w.r.Int32N(4000/fee.spacing+1)
		l := whole(mass * (1 + w.r.Float64()))
		ok(t, p.Add((near-half)*fee.spacing, (near+1+half)*fee.spacing, &l, false))
	}
	e.Pool = p
	return e
}

// ask is a random question of a value.
func (w *world) ask(in, out int, exactIn bool, value float64) *route.Ask {
	a := &route.Ask{In: in, Out: out, ExactIn: exactIn, Amount: whole(value / w.worth[in])}
	other := out
	if !exactIn {
		a.Amount = whole(value / w.worth[out])
		other = in
	}
	if w.r.IntN(2) == 0 {
		a.Hop, a.Way = whole(3e16/w.worth[other]), whole(1e16/w.worth[other])
	}
	return a
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
		for i, e := range w.edges {
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
	var out *uint256.Int = &x
	for i := range p.hops {
		h := p.hops[i]
		if !exactIn {
			h = p.hops[len(p.hops)-1-i]
		}
		t, err := w.edges[h.Pool].Through(&x, h.Down, exactIn)
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
