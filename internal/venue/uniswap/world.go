package uniswap

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/venue/uniswap/route"
)

// world is all pools in the state of one block. It never changes.
type world struct {
	block  chain.Block
	states []state // by the place of the pool
	live   []lively
	index  []int // of the graph's pools, their places here
	graph  *route.Graph
	coins  []float64 // by token, what a unit of the coin is worth, about; zero is unknown
	gas    float64   // what a unit of gas costs, in smallest units of the chain's coin, about
}

// moment is what is remembered of a world, to go on from where a branch left it.
type moment struct {
	block  chain.Block
	states []state
}

// lively is a pool made ready for routes, kept while its state is the same.
type lively struct {
	of   state
	edge route.Live
	fit  bool
}

// newWorld makes a world of states; what did not change since before is taken over.
func newWorld(v *Venue, block chain.Block, states []state, before *world) *world {
	w := &world{block: block, states: states, live: make([]lively, len(states))}
	var ready []route.Live
	for i, s := range states {
		if before != nil && before.live[i].of == s {
			w.live[i] = before.live[i]
		} else {
			l := lively{of: s}
			l.edge, l.fit = route.Ready(route.Edge{Zero: v.pools[i].zero, One: v.pools[i].one, Pair: s.pair, Pool: s.pool})
			w.live[i] = l
		}
		if w.live[i].fit {
			ready = append(ready, w.live[i].edge)
			w.index = append(w.index, i)
		}
	}
	w.graph = route.New(len(v.tokens), ready)
	w.coins = make([]float64, len(v.tokens))
	if v.coin >= 0 {
		w.coins = w.graph.Rates(v.coin)
	}
	return w
}

// Fresh reports whether the pools were read, and so late that they can be quoted from.
func (v *Venue) Fresh(now time.Time) bool {
	w := v.now.Load()
	return w != nil && !w.old(now, v.cfg.MaxAge)
}

// old reports whether a world is too old to be quoted from.
func (w *world) old(now time.Time, most time.Duration) bool {
	return now.Sub(w.block.Time) > most
}
