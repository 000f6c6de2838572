package route

import "math"

// track is a way that is looked at.
type track struct {
	hops [maxHops]half
	n    int
	// worth is what it brings for the amount (or what it costs, below zero), after gas:
	// more is better.
	worth float64
}

func (t *track) shares(o *track) bool {
	for i := range t.n {
		for j := range o.n {
			if t.hops[i].pool == o.hops[j].pool {
				return true
			}
		}
	}
	return false
}

// search looks for the best ways for one amount.
type search struct {
	g       *Graph
	in, out int32
	exactIn bool
	amount  float64
	hop     float64
	ban     *plan       // ways whose pools are taken; nil is none
	best    [kept]track // the best first
	n       int
}

// value is what a way brings for an amount, or what it costs below zero; gas is not counted.
func (g *Graph) value(t *track, amount float64, exactIn bool) float64 {
	if exactIn {
		for i := range t.n {
			h := &t.hops[i]
			if amount = g.pools[h.pool].screen.out(amount, h.down); amount <= 0 {
				return math.Inf(-1)
			}
		}
		return amount
	}
	for i := t.n - 1; i >= 0; i-- {
		h := &t.hops[i]
		if amount = g.pools[h.pool].screen.in(amount, h.down); !(amount > 0) || math.IsInf(amount, 1) {
			return math.Inf(-1)
		}
	}
	return -amount
}

// floor is what a way must be worth to be kept, and which one would go for it. Ways of
// one split share no pool, so only a few with the same end are of use.
func (s *search) floor(first, last int32) (worth float64, gone int) {
	heads, tails, head, tail := 0, 0, 0, 0
	for i := range s.n {
		t := &s.best[i]
		if t.hops[0].pool == first {
			heads, head = heads+1, i
		}
		if t.hops[t.n-1].pool == last {
			tails, tail = tails+1, i
		}
	}
	switch {
	case heads >= alike && (tails < alike || head <= tail):
		return s.best[head].worth, head
	case tails >= alike:
		return s.best[tail].worth, tail
	case s.n == kept:
		return s.best[kept-1].worth, kept - 1
	}
	return math.Inf(-1), s.n
}

// poor reports whether nothing that begins with a pool can be kept at such a bound.
func (s *search) poor(bound float64) bool { return s.n == kept && bound <= s.best[kept-1].worth }

// bound is the most that a way could be worth by its rates alone.
func (s *search) bound(rate float64, hops int) float64 {
	if s.exactIn {
		return s.amount*rate - s.hop*float64(hops)
	}
	return -s.amount/rate - s.hop*float64(hops)
}

// offer keeps a way if it is among the best.
func (s *search) offer(hops ...half) {
	rate := 1.0
	for _, h := range hops {
		rate *= h.rate
	}
	bound := s.bound(rate, len(hops))
	if s.poor(bound) {
		return
	}
	floor, at := s.floor(hops[0].pool, hops[len(hops)-1].pool)
	if bound <= floor {
		return
	}
	var t track
	t.n = copy(t.hops[:], hops)
	if s.ban != nil && s.ban.taken(&t) {
		return
	}
	t.worth = s.g.value(&t, s.amount, s.exactIn) - s.hop*float64(t.n)
	if math.IsInf(t.worth, -1) || t.worth <= floor {
		return
	}
	if at == s.n {
		s.n++
	}
	for ; at > 0 && s.best[at-1].worth < t.worth; at-- {
		s.best[at] = s.best[at-1]
	}
	s.best[at] = t
}

// run looks at ways of one hop, of two, and of three. The ends of a way are all pools of
// its tokens; the middle of a long one are the deepest.
func (s *search) run(w *work) {
	from := s.g.from[s.in]
	for _, h := range from {
		if h.to == s.out {
			s.offer(h)
		}
	}
	from = from[:min(len(from), 2*breadth)]
	for _, h := range from {
		if h.to == s.out {
			continue
		}
		for i := w.head(h.to); i >= 0; i = w.next[i] {
			s.offer(h, w.ends[i])
		}
	}
	for _, a := range from {
		if a.to == s.out || w.known[a.to] == w.now && s.poor(s.bound(a.rate*w.onward[a.to], maxHops)) {
			continue
		}
		s.onward(w, a)
	}
}

// onward looks at ways of three hops that begin with a pool, and notes the best rate of
// its token to the end: whatever begins with it can not be better.
func (s *search) onward(w *work, a half) {
	most := 0.0
	mids := s.g.from[a.to]
	for _, b := range mids[:min(len(mids), breadth)] {
		if b.to == s.in || b.to == s.out || w.head(b.to) < 0 || b.pool == a.pool {
			continue
		}
		rate := b.rate * w.rates[b.to]
		most = max(most, rate)
		if s.poor(s.bound(a.rate*rate, maxHops)) {
			continue
		}
		for i := w.head(b.to); i >= 0; i = w.next[i] {
			if c := w.ends[i]; c.pool != a.pool && c.pool != b.pool {
				s.offer(a, b, c)
			}
		}
	}
	w.known[a.to], w.onward[a.to] = w.now, most
}
