package route

import "math"

const (
	ranked = 12   // ways of each length that are remembered of a pair
	scopes = 2048 // pairs of which a graph remembers ways, with some 4 KB each
)

// scope is what of a pair of tokens does not depend on the amount: its ways with the best
// rates. What a small amount gets is settled by them alone.
type scope struct {
	ways [maxHops][ranked]track // by how many hops, the best rate first; worth is the rate
	n    [maxHops]int
	cut  [maxHops]float64 // no way that was left out has a better rate; zero is that none was
}

type pair struct{ in, out int32 }

// scope is that of an ask, remembered while the graph is in use.
func (g *Graph) scope(a *Ask) *scope {
	p := pair{int32(a.In), int32(a.Out)} //nolint:gosec // numbers of tokens
	g.mu.RLock()
	s := g.seen[p]
	g.mu.RUnlock()
	if s != nil {
		return s
	}
	s = &scope{}
	s.read(g, p.in, p.out)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen == nil || len(g.seen) >= scopes { // what is asked for often is soon there again
		g.seen = map[pair]*scope{}
	}
	g.seen[p] = s
	return s
}

// Forget lets go of what was remembered to answer faster: for one that is only kept.
func (g *Graph) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = nil
}

// read looks at the same ways as a search does.
func (s *scope) read(g *Graph, in, out int32) {
	w := borrow(len(g.from))
	defer works.Put(w)
	w.mark(g.from[out], g)
	from := g.from[in]
	for _, h := range from {
		if h.to == out {
			s.add(h)
		}
	}
	from = from[:min(len(from), 2*breadth)]
	for _, h := range from {
		if h.to == out {
			continue
		}
		for i := w.head(h.to); i >= 0; i = w.next[i] {
			s.add(h, w.ends[i])
		}
	}
	for _, a := range from {
		if a.to != out && (w.known[a.to] != w.now || !s.poor(a.rate*w.onward[a.to])) {
			s.onward(g, w, a, [2]int32{in, out})
		}
	}
}

// onward adds ways of three hops that begin with a pool.
func (s *scope) onward(g *Graph, w *work, a half, ends [2]int32) {
	most := 0.0
	mids := g.from[a.to]
	for _, b := range mids[:min(len(mids), breadth)] {
		if b.to == ends[0] || b.to == ends[1] || w.head(b.to) < 0 || b.pool == a.pool {
			continue
		}
		rate := b.rate * w.rates[b.to]
		most = max(most, rate)
		if s.poor(a.rate * rate) {
			continue
		}
		for i := w.head(b.to); i >= 0; i = w.next[i] {
			if c := w.ends[i]; c.pool != a.pool && c.pool != b.pool {
				s.add(a, b, c)
			}
		}
	}
	w.known[a.to], w.onward[a.to] = w.now, most
}

// poor reports whether ways of three hops with such a rate at best are left out.
func (s *scope) poor(rate float64) bool {
	const long = maxHops - 1
	if s.n[long] < ranked || rate > s.ways[long][ranked-1].worth {
		return false
	}
	s.cut[long] = max(s.cut[long], rate)
	return true
}

// add remembers a way if its rate is among the best.
func (s *scope) add(hops ...half) {
	rate := 1.0
	for _, h := range hops {
		rate *= h.rate
	}
	k := len(hops) - 1
	all, at := &s.ways[k], s.n[k]
	switch {
	case at < ranked:
		s.n[k]++
	case rate <= all[ranked-1].worth:
		s.cut[k] = max(s.cut[k], rate)
		return
	default:
		at--
		s.cut[k] = max(s.cut[k], all[at].worth)
	}
	for ; at > 0 && all[at-1].worth < rate; at-- {
		all[at] = all[at-1]
	}
	all[at] = track{n: len(hops), worth: rate}
	copy(all[at].hops[:], hops)
}

// plain is the best way for an amount, where it is certain that no other is better and
// that no split is: what another way could win is less than its gas.
func (s *job) plain(a *Ask) (t *track, ok bool) {
	if s.hop+s.way <= 0 {
		return nil, false // then a split is always better
	}
	sc := s.g.scope(a)
	t, worth := s.alone(sc)
	if t == nil {
		return nil, false
	}
	got := worth + s.hop*float64(t.n)
	// What the last of the amount is worth on the best way; more of it is worth less.
	const more = 1 + 1.0/64
	last := (s.value(t, more) - got) / (more - 1)
	if math.IsInf(last, -1) {
		return nil, false
	}
	for k := range sc.ways {
		gas := s.hop * float64(k+1)
		// Beside the best way, another takes what was worth the last of it, and pays for
		// itself. Splits without the best way take all that it got, and save its gas: each
		// of their ways at most its half.
		beside, instead := rival{last, gas + s.way}, rival{got, gas + s.way/2 - s.hop*float64(t.n)/2}
		if cut := sc.cut[k]; cut > 0 && (s.first(cut)-gas > worth || s.tempts(cut, beside) || s.tempts(cut, instead)) {
			return nil, false
		}
		for i := range sc.n[k] {
			o := &sc.ways[k][i]
			if o != t && (s.gains(o, instead) || !o.shares(t) && s.gains(o, beside)) {
				return nil, false
			}
		}
	}
	return t, true
}

// rival is what a part of an amount is worth where it is, for the whole of it, and what
// must be won to move it.
type rival struct{ price, gas float64 }

// tempts reports whether so much could be won at a rate if it did not move.
func (s *job) tempts(rate float64, r rival) bool { return s.first(rate)-r.price > max(r.gas, 0) }

// first is what an amount would be worth at a rate that does not move.
func (s *job) first(rate float64) float64 {
	if s.exactIn {
		return s.amount * rate
	}
	return -s.amount / rate
}

// alone is the best way of a scope for all of an amount.
func (s *job) alone(sc *scope) (best *track, worth float64) {
	worth = math.Inf(-1)
	for k := range sc.ways {
		gas := s.hop * float64(k+1)
		for i := range sc.n[k] {
			t := &sc.ways[k][i]
			if s.first(t.worth)-gas <= worth {
				break
			}
			if v := s.value(t, 1) - gas; v > worth {
				best, worth = t, v
			}
		}
	}
	return best, worth
}

// gains reports whether moving a part of an amount to a way could win enough. More is
// never worth more than the first, so what one part wins bounds what larger ones do, and
// shows which to try next.
func (s *job) gains(t *track, r rival) bool {
	const tries = 12
	if !s.tempts(t.worth, r) {
		return false
	}
	each := s.first(t.worth) - r.price // what is won by the whole if nothing moved
	for range tries {
		part := r.gas / each // smaller ones do not win it
		switch won := s.value(t, part) - part*r.price; {
		case part >= 1:
			return false
		case part <= 0 || won > r.gas:
			return true
		case won <= 0:
			return false // nor do larger ones
		default:
			each = min(each, won/part)
		}
	}
	return true // as far as is known
}
