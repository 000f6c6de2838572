package route

import "sync"

// work is the room in which a search is made; it is used again.
type work struct {
	stamp []uint32  // which search marked a token
	ends  []half    // pools that lead to what is paid out, seen from their other token
	next  []int32   // the next end of the same token
	heads []int32   // the first end of a token
	rates []float64 // the best of them
	now   uint32
	// onward is the best rate of a token to the end in two hops, where known has the search.
	onward []float64
	known  []uint32
	split  splitter
}

var works = sync.Pool{New: func() any { return new(work) }}

func borrow(tokens int) *work {
	w := works.Get().(*work)
	if len(w.stamp) < tokens {
		*w = work{split: splitter{cands: make([]track, 0, most)}, stamp: make([]uint32, tokens), heads: make([]int32, tokens), rates: make([]float64, tokens), onward: make([]float64, tokens), known: make([]uint32, tokens)}
	}
	return w
}

// giveBack lets others use the room; it keeps no graph.
func (w *work) giveBack() {
	w.split.job, w.split.last = job{}, search{}
	works.Put(w)
}

// mark notes which tokens have a pool with what is paid out. Of a token with very many
// pools only the deepest are looked at.
func (w *work) mark(last []half, g *Graph) {
	w.now++
	if w.now == 0 {
		clear(w.stamp)
		clear(w.known)
		w.now = 1
	}
	w.ends, w.next = w.ends[:0], w.next[:0]
	for _, h := range last[:min(len(last), 2*breadth)] {
		p := &g.pools[h.pool]
		end := half{pool: h.pool, down: !h.down}
		if end.to = int32(p.One); h.down { //nolint:gosec // a number of a token
			end.to = int32(p.Zero) //nolint:gosec // a number of a token
		}
		if end.rate, _ = p.screen.spot(end.down); end.rate <= 0 {
			continue
		}
		i := int32(len(w.ends)) //nolint:gosec // a place in a list
		w.ends = append(w.ends, end)
		if w.stamp[h.to] != w.now {
			w.stamp[h.to], w.heads[h.to], w.rates[h.to] = w.now, -1, 0
		}
		w.next = append(w.next, w.heads[h.to])
		w.heads[h.to] = i
		w.rates[h.to] = max(w.rates[h.to], end.rate)
	}
}

func (w *work) head(token int32) int32 {
	if w.stamp[token] != w.now {
		return -1
	}
	return w.heads[token]
}
