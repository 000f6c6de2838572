package route_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/holiman/uint256"

	"ferry/internal/venue/uniswap/route"
)

const grid = 20 // parts of five percent

// part is so many twentieths of what is asked for. It is rounded against whoever asks, so
// that a reference is never better by asking for less.
func part(a *route.Ask, n int) *uint256.Int {
	x, _ := new(uint256.Int).MulDivOverflow(&a.Amount, uint256.NewInt(uint64(n)), uint256.NewInt(grid))
	if n < grid && !a.ExactIn {
		x.AddUint64(x, 1)
	}
	return x
}

// worth is what a part of a path is worth after its own gas; nil where it can not be had.
func (w *world) partWorth(a *route.Ask, p *path, n int, first bool) *big.Int {
	v := p.value(w, part(a, n), a.ExactIn)
	if v == nil {
		return nil
	}
	x := v.ToBig()
	if !a.ExactIn {
		x.Neg(x)
	}
	x.Sub(x, new(big.Int).Mul(a.Hop.ToBig(), big.NewInt(int64(len(p.hops)))))
	if !first {
		x.Sub(x, a.Way.ToBig())
	}
	return x
}

// brute is the best of all splits in steps of five percent over all ways.
func (w *world) brute(a *route.Ask, paths []*path) *big.Int {
	var best *big.Int
	var walk func(from, left, used int, sum *big.Int, taken []*path)
	walk = func(from, left, used int, sum *big.Int, taken []*path) {
		if left == 0 {
			if best == nil || sum.Cmp(best) > 0 {
				best = sum
			}
			return
		}
		if used == 4 {
			return
		}
	next:
		for i := from; i < len(paths); i++ {
			for _, t := range taken {
				if t.shares(paths[i]) {
					continue next
				}
			}
			for n := 1; n <= left; n++ {
				if v := w.partWorth(a, paths[i], n, used == 0); v != nil {
					walk(i+1, left-n, used+1, new(big.Int).Add(sum, v), append(taken[:len(taken):len(taken)], paths[i]))
				}
			}
		}
	}
	walk(0, grid, 0, new(big.Int), nil)
	return best
}

// greedy gives each five percent to the way where it is worth most, exactly.
func (w *world) greedy(a *route.Ask, paths []*path) *big.Int {
	type used struct {
		p *path
		n int
	}
	var ways []used
	total := func(ways []used) *big.Int {
		sum := new(big.Int)
		for i, u := range ways {
			v := w.partWorth(a, u.p, u.n, i == 0)
			if v == nil {
				return nil
			}
			sum.Add(sum, v)
		}
		return sum
	}
	for range grid {
		var next []used
		var most *big.Int
		try := func(c []used) {
			if v := total(c); v != nil && (most == nil || v.Cmp(most) > 0) {
				next, most = c, v
			}
		}
		for i := range ways {
			c := append([]used(nil), ways...)
			c[i].n++
			try(c)
		}
	fresh:
		for _, p := range paths {
			if len(ways) == 4 {
				break
			}
			for _, u := range ways {
				if u.p.shares(p) {
					continue fresh
				}
			}
			try(append(append([]used(nil), ways...), used{p, 1}))
		}
		if next == nil {
			return nil
		}
		ways = next
	}
	return total(ways)
}

// close reports whether got is at least want, but for so many billionths of it.
func atLeast(got, want *big.Int, billionths int64) bool {
	slack := new(big.Int).Abs(want)
	slack.Mul(slack, big.NewInt(billionths)).Div(slack, big.NewInt(1e9))
	return got.Cmp(new(big.Int).Sub(want, slack)) >= 0
}

func TestRandomSmallWorldsAreSplitAsWellAsByTryingAll(t *testing.T) {
	t.Parallel()
	asWellAsByTryingAll(t, seed(t), small)
}

// Where no way takes all of an amount alone, what goes well beside one may be worth little
// for a small part.
func TestWhatNoWayTakesAloneIsSplitAsWell(t *testing.T) {
	t.Parallel()
	asWellAsByTryingAll(t, rand.New(rand.NewPCG(13495259316196784208, 1)), 150)
}

func asWellAsByTryingAll(t *testing.T, r *rand.Rand, worlds int) {
	t.Helper()
	asked := 0
	for range worlds {
		w := newWorld(t, r, 3+r.IntN(3), 4+r.IntN(5), 2)
		a := w.Ask(0, 1+r.IntN(len(w.Worth)-1), r.IntN(2) == 0, 1e18*float64(uint64(1)<<r.IntN(18)))
		paths := w.paths(a.In, a.Out)
		want := w.brute(a, paths)
		f, err := w.Graph.Find(a)
		if (want == nil) != (err != nil) {
			t.Fatalf("%+v: by trying all %v, found %+v, %v", a, want, f, err)
		}
		if want == nil {
			continue
		}
		asked++
		if got := net(a, &f); !atLeast(got, want, 1000) {
			t.Errorf("%+v: found %s in %d ways, by trying all %s", a, got, len(f.Ways), want)
		}
		if g := w.greedy(a, paths); g != nil && !atLeast(net(a, &f), g, 0) {
			t.Errorf("%+v: found %s, an exact greedy split has %s", a, net(a, &f), g)
		}
		check(t, w, a, &f)
	}
	if asked < worlds/2 {
		t.Errorf("only %d of %d worlds had a way", asked, worlds)
	}
}

// check holds an answer to what was asked, pool by pool.
func check(t testing.TB, w *world, a *route.Ask, f *route.Found) {
	t.Helper()
	var in, out uint256.Int
	seen := map[int]bool{}
	for _, way := range f.Ways {
		at, x := a.In, way.In
		for _, h := range way.Hops {
			e := &w.Edges[h.Pool]
			from, to := e.Zero, e.One
			if !h.Down {
				from, to = to, from
			}
			if from != at || seen[h.Pool] {
				t.Fatalf("%+v: a way that leads nowhere, or a pool twice: %+v", a, f)
			}
			seen[h.Pool], at = true, to
			trade, err := e.Through(&x, h.Down, true)
			ok(t, err)
			x = trade.Out
		}
		if at != a.Out || x != way.Out || len(way.Hops) > 3 {
			t.Fatalf("%+v: a way that brings something else than it says: %+v", a, f)
		}
		in.Add(&in, &way.In)
		out.Add(&out, &way.Out)
	}
	if in != f.In || out != f.Out || len(f.Ways) > 4 || a.ExactIn && in != a.Amount || !a.ExactIn && out.Lt(&a.Amount) {
		t.Fatalf("%+v: %s becomes %s by %+v", a, in.Dec(), out.Dec(), f)
	}
}

func TestRandomLargeWorldsAreNeverBelowAGreedySplit(t *testing.T) {
	t.Parallel()
	neverBelow(t, seed(t), large)
}

// Worlds in which the best ways crowd out those that go well beside them, or in which gas
// decides what a part of the amount is worth.
func TestWaysThatOthersCrowdOutAreFoundAllTheSame(t *testing.T) {
	t.Parallel()
	for _, s := range []uint64{15, 89, 117, 1238, 2336} {
		neverBelow(t, rand.New(rand.NewPCG(s, 1)), 150)
	}
}

// neverBelow asks a large world as often as that.
func neverBelow(t *testing.T, r *rand.Rand, times int) {
	t.Helper()
	w := newWorld(t, r, 60, 180, 6)
	for range times {
		in, out := r.IntN(60), r.IntN(60)
		if in == out {
			continue
		}
		a := w.Ask(in, out, r.IntN(2) == 0, 1e18*float64(uint64(1)<<r.IntN(15)))
		f, err := w.Graph.Find(a)
		g := w.greedy(a, w.paths(in, out))
		if errors.Is(err, route.ErrNone) {
			if g != nil {
				t.Errorf("%+v: nothing found, an exact greedy split has %s", a, g)
			}
			continue
		}
		ok(t, err)
		if g != nil && !atLeast(net(a, &f), g, 0) {
			t.Errorf("%+v: found %s, an exact greedy split has %s", a, net(a, &f), g)
		}
		check(t, w, a, &f)
	}
}

func TestAnAskThatHasNoAnswerIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, seed(t), 4, 6, 2)
	one := *uint256.NewInt(1)
	huge := *new(uint256.Int).SetAllOne()
	for name, a := range map[string]*route.Ask{
		"nothing":         {In: 0, Out: 1, ExactIn: true},
		"for itself":      {In: 1, Out: 1, ExactIn: true, Amount: one},
		"unknown token":   {In: 0, Out: 9, ExactIn: true, Amount: one},
		"all there is in": {In: 0, Out: 1, ExactIn: true, Amount: huge},
		"more than is":    {In: 0, Out: 1, Amount: huge},
	} {
		if f, err := w.Graph.Find(a); !errors.Is(err, route.ErrNone) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}

// What a coin is worth is known in every token to which a way leads: what pools cost is
// counted in it.
func TestRatesAreKnownWhereverAWayLeads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, seed(t), 40, 60, 3)
	far := 0
	for in := range 3 {
		for out, rate := range w.Graph.Rates(in) {
			paths := w.paths(in, out)
			short := false
			for _, p := range paths {
				short = short || len(p.hops) < 3
			}
			if len(paths) > 0 && !short {
				far++
			}
			switch off := rate * w.Worth[out] / w.Worth[in]; {
			case in == out:
				if rate != 1 {
					t.Errorf("token %d is worth %g of itself", in, rate)
				}
			case len(paths) == 0 && rate != 0:
				t.Errorf("from %d to %d: a rate of %g, and there is no way", in, out, rate)
			case len(paths) > 0 && (off < 0.8 || off > 1.25):
				t.Errorf("from %d to %d: %g of its worth in %d ways", in, out, off, len(paths))
			}
		}
	}
	if far == 0 {
		t.Error("no token is three hops away")
	}
}

// What a graph remembers of a pair makes it faster and nothing else.
func TestAGraphAnswersManyAsItAnswersOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, seed(t), 40, 120, 4)
	var asks []*route.Ask
	var want []route.Found
	for i := range 64 {
		a := w.Ask(i%8, 8+i%32, i%2 == 0, 1e16*float64(uint64(1)<<(i%16)))
		w.Graph.Forget()
		f, err := w.Graph.Find(a)
		if err == nil {
			asks, want = append(asks, a), append(want, f)
		}
	}
	if len(asks) == 0 {
		t.Fatal("there is no way at all")
	}
	w.Graph.Forget()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i, a := range asks {
				f, err := w.Graph.Find(a)
				if err != nil || !reflect.DeepEqual(f, want[i]) {
					t.Errorf("%+v: %+v, %v; alone %+v", a, f, err, want[i])
				}
				if i == len(asks)/2 {
					w.Graph.Forget()
				}
			}
		})
	}
	all.Wait()
}
