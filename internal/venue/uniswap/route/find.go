package route

import (
	"errors"
	"math"

	"github.com/holiman/uint256"

	"ferry/internal/venue/uniswap/amm"
)

// ErrNone: no ways lead there, or not for such an amount.
var ErrNone = errors.New("route: no way for this amount")

// looks are the parts of an amount with which is looked for ways: some are best for all of
// it, and others for a part.
var looks = [...]float64{1, 1.0 / 4, 1.0 / 20}

// most is how many ways are compared, and extra how many of them each look adds that the
// greedy split needs.
const (
	extra = 2
	most  = (len(looks)+1)*kept + (maxWays-1)*extra
)

// Find is the best way that there is for an ask.
func (g *Graph) Find(a *Ask) (Found, error) {
	if a.In == a.Out || a.Amount.IsZero() || a.In < 0 || a.Out < 0 || a.In >= len(g.from) || a.Out >= len(g.from) {
		return Found{}, ErrNone
	}
	j := job{g: g, amount: Float(&a.Amount), exactIn: a.ExactIn, hop: Float(&a.Hop), way: Float(&a.Way)}
	if t, ok := j.plain(a); ok {
		one := plan{n: 1}
		one.ways[0] = share{track: *t, part: 1}
		if f, err := g.price(a, &one); err == nil {
			return f, nil
		}
	}
	return g.split(a, j)
}

// split compares ways and splits over them.
func (g *Graph) split(a *Ask, j job) (Found, error) {
	w := borrow(len(g.from))
	defer w.giveBack()
	w.mark(g.from[a.Out], g)
	sp := &w.split
	sp.reset(j)
	for _, part := range looks {
		sp.look(a, w, look{part: part, most: kept})
	}
	if len(sp.cands) == 0 {
		return Found{}, ErrNone
	}
	sp.greedy(a, w)
	top := sp.best()
	// The best ways of all may crowd out what would go well beside them, and so may each
	// of those that can not take all.
	n := len(sp.cands)
	if top[0].n < maxWays {
		sp.look(a, w, look{part: looks[len(looks)-1], most: kept, ban: &top[0]})
	}
	if math.IsInf(top[2].worth, -1) {
		sp.besideEach(a, w)
	}
	if len(sp.cands) > n {
		top = sp.best()
	}
	return g.settle(a, sp, top)
}

// look is one look for ways.
type look struct {
	part float64 // of the amount
	most int     // ways to add
	ban  *plan   // whose pools are not taken; nil is none
}

// look adds the best ways for a part of the amount.
func (s *splitter) look(a *Ask, w *work, l look) {
	s.last = search{
		g: s.g, in: int32(a.In), out: int32(a.Out), exactIn: a.ExactIn, //nolint:gosec // numbers of tokens
		amount: s.amount * l.part, hop: s.hop * l.part, ban: l.ban,
	}
	f := &s.last
	if l.part <= 1.0/grid { // as the greedy split counts it
		f.hop = s.hop
	}
	f.run(w)
	for i := range min(f.n, l.most) {
		if len(s.cands) < most && !known(s.cands, &f.best[i]) {
			s.cands = append(s.cands, f.best[i])
		}
	}
}

func known(all []track, t *track) bool {
	for i := range all {
		if all[i].n == t.n && all[i].same(t) {
			return true
		}
	}
	return false
}

func (t *track) same(o *track) bool {
	for i := range t.n {
		if t.hops[i].pool != o.hops[i].pool {
			return false
		}
	}
	return true
}

// settle prices what was chosen. A split must be better than one way alone also when it
// is priced exactly, and what can not be priced gives way to the next.
func (g *Graph) settle(a *Ask, sp *splitter, top [3]plan) (best Found, err error) {
	err = ErrNone
	for i := range top {
		if math.IsInf(top[i].worth, -1) || i > 0 && err == nil && top[0].n == 1 {
			continue
		}
		f, bad := g.price(a, &top[i])
		if bad == nil && (err != nil || f.beats(&best, a)) {
			best, err = f, nil
		}
	}
	if err == nil {
		return best, nil
	}
	for i := range sp.cands {
		one := plan{n: 1}
		one.ways[0] = share{track: sp.cands[i], part: 1}
		if f, bad := g.price(a, &one); bad == nil {
			return f, nil
		}
	}
	return best, err
}

// beats compares two answers after gas, by exact amounts.
func (f *Found) beats(o *Found, a *Ask) bool {
	mine, its := f.gas(a), o.gas(a)
	var x, y uint256.Int
	if a.ExactIn { // what comes out and the other's gas, against the same of the other
		x.Add(&f.Out, &its)
		y.Add(&o.Out, &mine)
		return x.Gt(&y)
	}
	x.Add(&f.In, &mine)
	y.Add(&o.In, &its)
	return x.Lt(&y)
}

// gas is what all pools and ways cost together.
func (f *Found) gas(a *Ask) (sum uint256.Int) {
	for i, w := range f.Ways {
		n := uint256.Int{uint64(len(w.Hops))}
		sum.Add(&sum, n.Mul(&n, &a.Hop))
		if i > 0 {
			sum.Add(&sum, &a.Way)
		}
	}
	return sum
}

// price prices a split exactly. What rounding leaves goes to the largest way.
func (g *Graph) price(a *Ask, p *plan) (f Found, err error) {
	big := 0
	left := a.Amount
	var parts [maxWays]uint256.Int
	for i := range p.n {
		if p.ways[i].part > p.ways[big].part {
			big = i
		}
		const fine = grid << 40 // parts of the grid are exactly that
		n := uint256.Int{uint64(math.Round(p.ways[i].part * fine))}
		parts[i].MulDivOverflow(&a.Amount, &n, uint256.NewInt(fine))
		if parts[i].Gt(&left) {
			parts[i] = left
		}
		left.Sub(&left, &parts[i])
	}
	parts[big].Add(&parts[big], &left)
	f.Ways = make([]Way, 0, p.n)
	for i := range p.n {
		if parts[i].IsZero() {
			continue
		}
		t := &p.ways[i].track
		w := Way{Hops: make([]Hop, t.n)}
		rate := 1.0
		for k := range t.n {
			w.Hops[k] = Hop{int(t.hops[k].pool), t.hops[k].down}
			rate *= t.hops[k].rate
		}
		steps, err := g.exact(&w, &parts[i], a.ExactIn)
		if err != nil {
			return f, err
		}
		f.Steps += steps
		f.Spot += rate * Float(&w.In)
		_, over := f.In.AddOverflow(&f.In, &w.In)
		_, more := f.Out.AddOverflow(&f.Out, &w.Out)
		if over || more {
			return f, amm.ErrOverflow
		}
		f.Ways = append(f.Ways, w)
	}
	return f, nil
}

// Through is what one pool makes of an amount.
func (l *Edge) Through(amount *uint256.Int, down, exactIn bool) (amm.Trade, error) {
	switch {
	case l.Pair != nil && exactIn:
		return l.Pair.Out(amount, down)
	case l.Pair != nil:
		return l.Pair.In(amount, down)
	case exactIn:
		return l.Pool.Out(amount, down)
	}
	return l.Pool.In(amount, down)
}

// exact prices one way. One that is wanted by its output is priced again by its input,
// since that is how it will run.
func (g *Graph) exact(w *Way, amount *uint256.Int, exactIn bool) (steps int, err error) {
	if !exactIn {
		need := *amount
		for i := len(w.Hops) - 1; i >= 0; i-- {
			t, err := g.pools[w.Hops[i].Pool].Through(&need, w.Hops[i].Down, false)
			if err == nil && t.Short {
				err = amm.ErrDry
			}
			if err != nil {
				return 0, err
			}
			need = t.In
		}
		amount = &need
	}
	w.In, w.Out = *amount, *amount
	for _, h := range w.Hops {
		t, err := g.pools[h.Pool].Through(&w.Out, h.Down, true)
		if err == nil && (t.Short || t.Out.IsZero()) {
			err = amm.ErrDry
		}
		if err != nil {
			return 0, err
		}
		w.Out = t.Out
		steps += t.Steps
	}
	return steps, nil
}
