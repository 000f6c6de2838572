package ammtest

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/holiman/uint256"

	"ferry/internal/venue/uniswap/amm"
	"ferry/internal/venue/uniswap/route"
)

// World is random pools whose prices are near to what their tokens are worth.
type World struct {
	Worth []float64 // of a smallest unit of each token
	Edges []route.Edge
	Graph *route.Graph
	r     *rand.Rand
	off   float64
}

// Size is how large a world is: hubs are the tokens with which most others have pools.
type Size struct {
	Tokens, Pools, Hubs int
	// Off is how far apart the prices of two pools are at most; zero is a fiftieth.
	Off float64
}

// NewWorld makes a world.
func NewWorld(r *rand.Rand, size Size) (*World, error) {
	w := &World{Worth: make([]float64, size.Tokens), r: r, off: size.Off}
	if w.off == 0 {
		w.off = 1.0 / 50
	}
	for i := range w.Worth {
		w.Worth[i] = math.Exp(r.Float64()*10 - 5)
	}
	live := make([]route.Live, 0, size.Pools)
	for i := range size.Pools {
		a, b := r.IntN(size.Hubs), i%size.Tokens // every token has some pool
		if r.IntN(8) == 0 {
			a = r.IntN(size.Tokens)
		}
		for a == b {
			a = r.IntN(size.Tokens)
		}
		e, err := w.pool(min(a, b), max(a, b))
		if err != nil {
			return nil, err
		}
		w.Edges = append(w.Edges, e)
		if l, fit := route.Ready(e); fit {
			live = append(live, l)
		}
	}
	w.Graph = route.New(size.Tokens, live)
	return w, nil
}

// Whole is a number as near as there is one.
func Whole(x float64) uint256.Int {
	n, _ := big.NewFloat(x).Int(nil)
	return *uint256.MustFromBig(n)
}

// pool is one of both versions, with a value of 10^20 to 10^24, off by a percent or so.
func (w *World) pool(zero, one int) (route.Edge, error) {
	value := math.Exp(w.r.Float64()*9) * 1e20
	price := w.Worth[zero] / w.Worth[one] * (1 + (w.r.Float64()-0.5)*w.off)
	e := route.Edge{Zero: zero, One: one}
	if w.r.IntN(2) == 0 {
		e.Pair = &amm.Pair{Zero: Whole(value / w.Worth[zero]), Keep: 997, Of: 1000}
		e.Pair.One = Whole(value / w.Worth[zero] * price)
		return e, nil
	}
	fee := Fees[w.r.IntN(len(Fees))]
	p := &amm.Pool{Fee: fee.Fee, Spacing: fee.Spacing, Root: Whole(math.Sqrt(price) * 0x1p96)}
	var err error
	if p.Tick, err = amm.TickAt(&p.Root); err != nil {
		return e, err
	}
	mass := value / w.Worth[zero] * math.Sqrt(price)
	for range 1 + w.r.IntN(8) {
		near := p.Tick / fee.Spacing
		half := 1 + w.r.Int32N(4000/fee.Spacing+1)
		l := Whole(mass * (1 + w.r.Float64()))
		if err := p.Add((near-half)*fee.Spacing, (near+1+half)*fee.Spacing, &l, false); err != nil {
			return e, err
		}
	}
	e.Pool = p
	return e, nil
}

// Ask is a question of a value, with or without a price of gas.
func (w *World) Ask(in, out int, exactIn bool, value float64) *route.Ask {
	a := &route.Ask{In: in, Out: out, ExactIn: exactIn, Amount: Whole(value / w.Worth[in])}
	other := out
	if !exactIn {
		a.Amount = Whole(value / w.Worth[out])
		other = in
	}
	if w.r.IntN(2) == 0 {
		a.Hop, a.Way = Whole(3e16/w.Worth[other]), Whole(1e16/w.Worth[other])
	}
	return a
}
