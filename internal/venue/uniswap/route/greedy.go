package route

import "math"

// greedy gives each part of the grid to whichever way makes the most of it, a new one or
// one that is in use. What is chosen by all that it brings is mostly better, and never
// by rule: this is what it is held to, and so it must be among what is compared.
func (s *splitter) greedy(a *Ask, w *work) {
	s.begin()
	var x set
	unseen := math.Inf(-1)
	var next [maxWays]float64 // what the next part of each is worth
	for range grid {
		at, most := -1, math.Inf(-1)
		for k, v := range next[:x.n] {
			if v > most {
				at, most = k, v
			}
		}
		i, v := s.fresh(&x, most)
		if unseen > v || at < 0 && i < 0 && x.n > 0 && x.n < maxWays {
			s.beside(a, w, &x)
			unseen = math.Inf(-1)
			i, _ = s.fresh(&x, most)
		}
		if i >= 0 {
			at = x.n
			x.mask |= 1 << i
			x.ways[at] = uint8(i) //nolint:gosec // few
			x.n++
			s.row(x.ways[at])
			if unseen = math.Inf(-1); x.n < maxWays {
				unseen = s.unseen(&x)
			}
		}
		if at < 0 {
			return
		}
		x.parts[at]++
		if row := &s.table[x.ways[at]]; x.parts[at] < grid {
			next[at] = row[x.parts[at]+1] - row[x.parts[at]]
		}
	}
	s.begun = s.fill(x)
}

// fresh is the way beside a set that makes the most of one part, and more than that;
// below zero is none.
func (s *splitter) fresh(x *set, most float64) (at int, worth float64) {
	at, worth = -1, most
	for i := 0; i < len(s.cands) && x.n < maxWays; i++ {
		v := s.table[i][1] - s.hop*float64(s.cands[i].n)
		if x.n > 0 {
			v -= s.way
		}
		if v > worth && s.free(x, i) {
			at, worth = i, v
		}
	}
	return at, worth
}

// unseen is the most that a way could be worth for one part that was not kept and shares
// no pool with a set. What was not kept had better ones with the same first pool or the
// same last one, or many better ones: it matters where it could be taken and they can not.
func (s *splitter) unseen(x *set) float64 {
	f := &s.last
	var busy [kept]bool
	all := f.n == kept
	for i := range f.n {
		busy[i] = s.meets(x, &f.best[i])
		all = all && busy[i]
	}
	if all {
		return f.best[0].worth
	}
	most := math.Inf(-1)
	for i := range f.n {
		for _, last := range [2]bool{false, true} {
			pool := f.best[i].end(last)
			if f.best[i].worth > most && s.stuck(x, &busy, pool, last) {
				most = f.best[i].worth
			}
		}
	}
	return most
}

// stuck reports whether about as many ways as are kept with a pool at that end can all not
// be taken, though the pool can. One of them may have gone for one with the same other end.
func (s *splitter) stuck(x *set, busy *[kept]bool, pool int32, last bool) bool {
	n := 0
	for i := range s.last.n {
		if s.last.best[i].end(last) != pool {
			continue
		}
		if n++; !busy[i] {
			return false
		}
	}
	return n >= alike-1 && !s.uses(x, pool)
}

// end is the first pool of a way, or the last.
func (t *track) end(last bool) int32 {
	if last {
		return t.hops[t.n-1].pool
	}
	return t.hops[0].pool
}

// meets reports whether a way shares a pool with a set.
func (s *splitter) meets(x *set, t *track) bool {
	for k := range x.n {
		if s.cands[x.ways[k]].shares(t) {
			return true
		}
	}
	return false
}

func (s *splitter) uses(x *set, pool int32) bool {
	for k := range x.n {
		t := &s.cands[x.ways[k]]
		for i := range t.n {
			if t.hops[i].pool == pool {
				return true
			}
		}
	}
	return false
}

// besideEach looks for ways that take what each of those leaves that can take most of an
// amount, where none can take all of it.
func (s *splitter) besideEach(a *Ask, w *work) {
	ones := s.ones()
	for i := range ones[:min(len(ones), kept/2)] {
		left := float64(grid-ones[i].given()) / grid
		s.look(a, w, look{part: left, ban: s.banned(&ones[i]), most: kept})
	}
	s.begin()
}

func (s *splitter) banned(x *set) *plan {
	ban := plan{n: x.n}
	for k := range x.n {
		ban.ways[k].track = s.cands[x.ways[k]]
	}
	return &ban
}

// beside looks for ways that share no pool with a set, and adds the best.
func (s *splitter) beside(a *Ask, w *work, x *set) {
	s.look(a, w, look{part: 1.0 / grid, ban: s.banned(x), most: extra})
	s.begin()
}
