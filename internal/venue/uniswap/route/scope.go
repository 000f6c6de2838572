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

// Forget lets go of what was remembered to answer faster, as if nobody had asked yet.
func (g *Graph) Forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = nil
}

// read looks at the same ways as a search does.
func (s *scope) read(g *Graph, in, out int32) {
	w := borrow(len(g.from))
	defer w.giveBack()
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
// that no split is: what other ways could win is less than their gas.
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
	// Beside the best way, another takes what was worth the last of it or more, and pays
	// for itself; several win no more together than each of them alone.
	for k := range sc.ways {
		gas := s.hop * float64(k+1)
		if cut := s.first(sc.cut[k]); sc.cut[k] > 0 && (cut-gas > worth || cut-last > gas+s.way) {
			return nil, false
		}
		for i := range sc.n[k] {
			o := &sc.ways[k][i]
			if s.first(o.worth)-last <= gas+s.way {
				break // the others have worse rates
			}
			if o != t && !o.shares(t) && s.gains(t, o, got) > (gas+s.way)*nearly {
				return nil, false
			}
		}
	}
	// Whatever price is put on the amount, it says what a split could be worth at most;
	// these mostly say enough, the one that takes the least work first.
	if !s.instead(sc, t, worth, bid{got, false}) {
		return t, true
	}
	for _, price := range [...]float64{got, worth, (got + last) / 2} {
		if !s.instead(sc, t, worth, bid{price, true}) {
			return t, true
		}
	}
	return nil, false
}

// bid is a price for all of an amount, and whether is looked for the part of it that wins
// most over the price, or only for what all of it could win at a rate that does not move.
type bid struct {
	price float64
	close bool
}

// instead reports whether a split without the best way could be better than it: each way
// of a split wins over a price what it can, whatever the others do, and pays for itself.
func (s *job) instead(sc *scope, t *track, worth float64, b bid) bool {
	top := [maxWays]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	add := func(won float64) {
		for i, v := range top {
			if won > v {
				won, top[i] = v, won
			}
		}
	}
	for k := range sc.ways {
		gas := s.hop*float64(k+1) + s.way
		if cut := s.first(sc.cut[k]); sc.cut[k] > 0 {
			for range top {
				add(max(cut-b.price, 0) - gas)
			}
		}
		none := 0 // ways that win nothing, of which as many as there can be do
		for i := 0; i < sc.n[k] && none < maxWays; i++ {
			o := &sc.ways[k][i]
			if o == t {
				continue
			}
			won := max(s.first(o.worth)-b.price, 0)
			switch {
			case won == 0:
				none++
			case b.close:
				won = s.gains(nil, o, b.price) / nearly
			}
			add(won - gas)
		}
	}
	sum := top[0] + top[1]
	for _, v := range top[2:] {
		sum += max(v, 0)
	}
	return sum+s.way+b.price > worth
}

// nearly is what of a gain counts as all of it, since the most is only come close to.
const nearly = 0.9

// gains is about the most that is won by moving a part of an amount to a way, before gas:
// from another way, of which all is worth got, or from wherever it is worth as much as all
// of it is. More is never worth more than the first, so that there is one best part.
func (s *job) gains(from, to *track, got float64) float64 {
	const tries, golden = 10, 0.6180339887498949
	won := func(part float64) float64 {
		left := got * (1 - part)
		if from != nil {
			left = s.value(from, 1-part)
		}
		return s.value(to, part) + left - got
	}
	low, high := 0.0, 1.0
	x, y := high-golden*(high-low), low+golden*(high-low)
	a, b := won(x), won(y)
	most := max(a, b, 0)
	for range tries {
		if a < b {
			low, x, a = x, y, b
			y = low + golden*(high-low)
			b = won(y)
		} else {
			high, y, b = y, x, a
			x = high - golden*(high-low)
			a = won(x)
		}
		most = max(most, a, b)
	}
	return most
}

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
