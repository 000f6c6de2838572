package route

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/holiman/uint256"

	"ferry/internal/venue/uniswap/amm"
)

// The size of what is looked for.
const (
	maxHops = 3
	maxWays = 4
	breadth = 96 // of the deepest pools of a token, for ways that only pass through it
	kept    = 14 // ways that are kept while looking, for each amount that is looked with
	alike   = 4  // of them with the same first pool, and with the same last one
)

// Edge is a pool between two tokens, which have numbers. It is of one of the versions.
type Edge struct {
	Zero, One int
	Pair      *amm.Pair
	Pool      *amm.Pool
}

// Live is an edge made ready for screening. It is kept while its pool does not change.
type Live struct {
	Edge
	screen screen
}

// Ready makes an edge ready; not ok for a pool in which nothing can be traded now.
func Ready(e Edge) (Live, bool) {
	l := Live{Edge: e}
	ok := l.screen.read(&l.Edge)
	return l, ok
}

// half is a pool as it is seen from one of its tokens.
type half struct {
	pool  int32
	to    int32
	down  bool    // the first token is paid in
	rate  float64 // of the smallest payment
	depth float64 // of what can be paid in, about
}

// Graph is all pools at one moment.
type Graph struct {
	pools []Live
	from  [][]half // by token, the deepest first
	// seen are the scopes of pairs that were asked for.
	mu   sync.RWMutex
	seen map[pair]*scope
}

// New makes a graph of pools between so many tokens.
func New(tokens int, pools []Live) *Graph {
	g := &Graph{pools: pools, from: make([][]half, tokens)}
	for i := range pools {
		p := &pools[i]
		for _, down := range [2]bool{true, false} {
			a, b := p.Zero, p.One
			if !down {
				a, b = b, a
			}
			h := half{pool: int32(i), to: int32(b), down: down} //nolint:gosec // a place in a list
			h.rate, h.depth = p.screen.spot(down)
			if h.rate > 0 {
				g.from[a] = append(g.from[a], h)
			}
		}
	}
	for _, all := range g.from {
		slices.SortStableFunc(all, func(a, b half) int { return cmp.Compare(b.depth, a.depth) })
	}
	return g
}

// Ask is what is looked for.
type Ask struct {
	In, Out int // tokens
	ExactIn bool
	Amount  uint256.Int // of In, or of Out
	// Hop and Way are what each pool and each further way costs, in smallest units of
	// what is not fixed: Out where ExactIn, and else In. Only the choice depends on it.
	Hop, Way uint256.Int
}

// Hop is one pool on a way.
type Hop struct {
	Pool int // its place among those that were given
	Down bool
}

// Way is a part of the amount through up to three pools.
type Way struct {
	Hops    []Hop
	In, Out uint256.Int
}

// Found is the best that was found, priced exactly.
type Found struct {
	Ways    []Way
	In, Out uint256.Int
	Steps   int // of all pools' loops
	// Spot is what Out of In would be if amounts did not move prices: only to tell by
	// how much they do.
	Spot float64
}

// Float is a number as near as a machine number comes.
func Float(x *uint256.Int) float64 {
	const word = 1 << 32 * 1 << 32
	return ((float64(x[3])*word+float64(x[2]))*word+float64(x[1]))*word + float64(x[0])
}

// Rates are about what a unit of a token is worth in each of the others, by the deepest
// pools that lead there; zero is that none do in as many hops as a way has.
func (g *Graph) Rates(in int) []float64 {
	rates, depths := make([]float64, len(g.from)), make([]float64, len(g.from))
	rates[in], depths[in] = 1, math.Inf(1)
	changed := []int{in}
	for hops := 0; hops < maxHops && len(changed) > 0; hops++ {
		var next []int
		for _, at := range changed {
			for _, h := range g.from[at] {
				// As deep as the thinnest so far, in what is paid in.
				if depth := min(depths[at], h.depth/rates[at]); depth > depths[h.to] {
					rates[h.to], depths[h.to] = rates[at]*h.rate, depth
					next = append(next, int(h.to))
				}
			}
		}
		changed = next
	}
	return rates
}
