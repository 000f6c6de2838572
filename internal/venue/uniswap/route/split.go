package route

import "math"

const (
	// grid is in how many parts an amount is split at first; then parts are moved
	// between ways, down to the finest.
	grid   = 20
	finest = 1.0 / 16384
	// beam is how many sets of ways go on to be tried with one more way.
	beam = 12
)

// share is a way with its part of the amount, from 0 to 1.
type share struct {
	track
	part float64
	got  float64 // its value for the part
}

// plan is how an amount is split.
type plan struct {
	ways  [maxWays]share
	n     int
	worth float64
}

func (p *plan) taken(t *track) bool {
	for i := range p.n {
		if p.ways[i].shares(t) {
			return true
		}
	}
	return false
}

// job is an ask in machine numbers.
type job struct {
	g        *Graph
	amount   float64
	exactIn  bool
	hop, way float64
}

// splitter splits one amount over candidates.
type splitter struct {
	job
	cands []track
	// table is what each candidate is worth for each number of parts, without gas.
	// Rows are filled when they are needed; the first part of each is always there.
	table [most][grid + 1]float64
	full  [most]bool
	rows  int    // of it that were begun
	last  search // with which was looked for ways of one part
	begun set    // the greedy split
}

// set is some of the candidates, and the best split of the grid over them.
type set struct {
	mask  uint64 // which of them
	ways  [maxWays]uint8
	parts [maxWays]uint8
	n     int
	worth float64
	low   float64 // what the part was worth that was worth least
}

func (s *job) value(t *track, part float64) float64 {
	if part <= 0 {
		return 0
	}
	return s.g.value(t, s.amount*part, s.exactIn)
}

// reset makes it ready for another job, in the same room. What the table held is written
// over before it is read.
func (s *splitter) reset(j job) {
	s.job, s.cands, s.rows, s.begun, s.last.n = j, s.cands[:0], 0, set{}, 0
	clear(s.full[:])
}

// begin fills in what one part is worth for every candidate.
func (s *splitter) begin() {
	for ; s.rows < len(s.cands); s.rows++ {
		s.table[s.rows][1] = s.value(&s.cands[s.rows], 1.0/grid)
	}
}

// best is the best split, the same as the grid had it, and the best way alone.
func (s *splitter) best() (top [3]plan) {
	sets := s.ones()
	// A way that can not take all may be part of a split that can.
	one := sets[0]
	best := one
	room := make([]set, 0, beam)
	for n := 1; n < maxWays; n++ {
		next := room[:0]
		for _, from := range sets {
			for i := range s.cands {
				// What is worth less than the least of what was given out gets nothing.
				if s.table[i][1] > from.low && s.free(&from, i) && !tried(next, from.mask|1<<i) {
					more := from
					more.mask |= 1 << i
					more.ways[n] = uint8(i) //nolint:gosec // few
					more.n++
					next = keep(next, s.fill(more))
				}
			}
		}
		if len(next) == 0 {
			break
		}
		if next[0].worth > best.worth {
			best = next[0]
		}
		sets, room = next, sets
	}
	if s.begun.n > 0 && s.begun.worth > best.worth {
		best = s.begun
	}
	top[1], top[2] = s.plan(&best), s.plan(&one)
	top[0] = top[1]
	s.refine(&top[0])
	return top
}

// ones are the best of single candidates, also those that can not take all.
func (s *splitter) ones() []set {
	s.begin()
	sets := make([]set, 0, beam)
	for i := range s.cands {
		sets = keep(sets, s.fill(set{mask: 1 << i, ways: [maxWays]uint8{uint8(i)}, n: 1})) //nolint:gosec // few
	}
	return sets
}

// keep adds a set to the best of them.
func keep(sets []set, x set) []set {
	if len(sets) == beam {
		if x.score() <= sets[beam-1].score() {
			return sets
		}
		sets = sets[:beam-1]
	}
	sets = append(sets, x)
	for i := len(sets) - 1; i > 0 && sets[i].score() > sets[i-1].score(); i-- {
		sets[i], sets[i-1] = sets[i-1], sets[i]
	}
	return sets
}

// tried reports whether a set is there already, made in another order.
func tried(sets []set, mask uint64) bool {
	for i := range sets {
		if sets[i].mask == mask {
			return true
		}
	}
	return false
}

// free reports whether a candidate may be added to a set, whose ways share no pool.
func (s *splitter) free(x *set, i int) bool {
	for k := range x.n {
		if int(x.ways[k]) == i || s.cands[x.ways[k]].shares(&s.cands[i]) {
			return false
		}
	}
	return true
}

// fill splits over a set: each part goes where it is worth most, which is the best split
// of the grid, since more of a way is never worth more than its first part.
func (s *splitter) fill(x set) set {
	x.parts = [maxWays]uint8{}
	x.low = math.Inf(-1)
	x.worth = -s.way * float64(x.n-1)
	for k := range x.n {
		s.row(x.ways[k])
		x.worth -= s.hop * float64(s.cands[x.ways[k]].n)
	}
	least := math.Inf(1)
	var more [maxWays]float64 // what the next part of each is worth
	for k := range x.n {
		more[k] = s.table[x.ways[k]][1]
	}
	for range grid {
		at, most := -1, math.Inf(-1)
		for k, v := range more[:x.n] {
			if v > most {
				at, most = k, v
			}
		}
		if at < 0 {
			x.worth = math.Inf(-1)
			return x
		}
		x.parts[at]++
		x.worth += most
		least = min(least, most)
		if row := &s.table[x.ways[at]]; x.parts[at] < grid {
			more[at] = row[x.parts[at]+1] - row[x.parts[at]]
		}
	}
	x.low = least
	return x
}

// row fills a row of the table.
func (s *splitter) row(i uint8) {
	if s.full[i] {
		return
	}
	s.full[i] = true
	row := &s.table[i]
	for k := 2; k <= grid; k++ {
		if row[k] = row[k-1]; !math.IsInf(row[k], -1) { // else nor is there any for more
			row[k] = s.value(&s.cands[i], float64(k)/grid)
		}
	}
}

// given is how much of the amount found a place.
func (x *set) given() (n int) {
	for k := range x.n {
		n += int(x.parts[k])
	}
	return n
}

// score orders sets: those that can take all by their worth, and behind them those that
// can take most.
func (x *set) score() float64 {
	if math.IsInf(x.worth, -1) {
		return -math.MaxFloat64 * (1 - float64(x.given())/(2*grid))
	}
	return x.worth
}

// plan is a set as it will be priced.
func (s *splitter) plan(x *set) (p plan) {
	if p.worth = x.worth; math.IsInf(x.worth, -1) {
		return p
	}
	for k := range x.n {
		if x.parts[k] > 0 {
			part := float64(x.parts[k]) / grid
			p.ways[p.n] = share{track: s.cands[x.ways[k]], part: part, got: s.table[x.ways[k]][x.parts[k]]}
			p.n++
		}
	}
	return p
}

// refine moves ever smaller parts from one way to another while that is worth more.
func (s *splitter) refine(p *plan) {
	for step := 0.5 / grid; p.n > 1 && step > finest; step /= 2 {
		for again := true; again; {
			again = false
			for i := range p.n {
				for j := range p.n {
					again = i != j && s.move(&p.ways[i], &p.ways[j], step) || again
				}
			}
		}
	}
}

func (s *splitter) move(from, to *share, step float64) bool {
	if from.part < step {
		return false
	}
	a, b := s.value(&from.track, from.part-step), s.value(&to.track, to.part+step)
	if a+b <= from.got+to.got+math.Abs(from.got+to.got)*1e-13 {
		return false
	}
	from.part, to.part, from.got, to.got = from.part-step, to.part+step, a, b
	return true
}
