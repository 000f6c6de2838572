package route

import (
	"math"

	"ferry/internal/venue/uniswap/amm"
)

// screen is a pool in machine numbers.
type screen struct {
	keep float64 // what is left of a payment after the fee
	// of a pair
	zero, one float64
	// of a pool: the root of its price, and the roots between which liquidity is the same
	root  float64
	at    int // the span in which root is: between roots[at-1] and roots[at]
	roots []float64
	mass  []float64 // of the span that ends with the root of the same place, and one more
}

const q96 = 1 << 48 * 1 << 48

func (s *screen) read(e *Edge) bool {
	if p := e.Pair; p != nil {
		s.keep = float64(p.Keep) / float64(p.Of)
		s.zero, s.one = Float(&p.Zero), Float(&p.One)
		return s.zero > 0 && s.one > 0
	}
	p := e.Pool
	if p == nil || p.Root.IsZero() || len(p.Ticks) < 2 {
		return false
	}
	s.keep = 1 - float64(p.Fee)/1e6
	s.root = Float(&p.Root) / q96
	s.roots, s.mass = make([]float64, len(p.Ticks)), make([]float64, len(p.Ticks)+1)
	for i := range p.Ticks {
		s.roots[i] = Float(&p.Ticks[i].Root) / q96
		if p.Ticks[i].At <= p.Tick {
			s.at = i + 1
		}
	}
	s.mass[s.at] = Float(&p.Liquidity)
	for i := s.at; i < len(s.roots); i++ {
		s.mass[i+1] = max(s.mass[i]+net(p.Ticks[i].Net), 0)
	}
	for i := s.at; i > 0; i-- {
		s.mass[i-1] = max(s.mass[i]-net(p.Ticks[i-1].Net), 0)
	}
	// What rounding left of nothing is nothing.
	s.mass[0], s.mass[len(s.roots)] = 0, 0
	return true
}

func net(n amm.Net) float64 { return float64(n.High)*(1<<32*1<<32) + float64(n.Low) }

// spot is the rate of the smallest payment, and how much can be paid in before the price
// is far from here.
func (s *screen) spot(down bool) (rate, depth float64) {
	if s.roots == nil {
		if down {
			return s.keep * s.one / s.zero, s.zero
		}
		return s.keep * s.zero / s.one, s.one
	}
	mass := s.mass[s.at]
	if down {
		// On the very edge of a span the next one counts.
		for i := s.at; mass == 0 && i > 0; i-- {
			mass = s.mass[i-1]
		}
		return s.keep * s.root * s.root, mass / s.root
	}
	for i := s.at; mass == 0 && i < len(s.roots); i++ {
		mass = s.mass[i+1]
	}
	return s.keep / (s.root * s.root), mass * s.root
}

// out is about what is paid out for a payment, and nothing when the pool is too small.
func (s *screen) out(in float64, down bool) float64 {
	in *= s.keep
	if s.roots == nil {
		from, to := s.zero, s.one
		if !down {
			from, to = to, from
		}
		return to * in / (from + in)
	}
	if down {
		return s.fall(in)
	}
	return s.rise(in)
}

func (s *screen) fall(in float64) (out float64) {
	root := s.root
	for i := s.at; i > 0; i-- {
		mass, low := s.mass[i], s.roots[i-1]
		if room := mass * (1/low - 1/root); in > room {
			in -= room
			out += mass * (root - low)
			root = low
			continue
		}
		next := mass * root / (mass + in*root)
		return out + mass*(root-next)
	}
	return 0
}

func (s *screen) rise(in float64) (out float64) {
	root := s.root
	for i := s.at; i < len(s.roots); i++ {
		mass, high := s.mass[i], s.roots[i]
		if room := mass * (high - root); in > room {
			in -= room
			out += mass * (1/root - 1/high)
			root = high
			continue
		}
		next := root + in/mass
		return out + mass*(1/root-1/next)
	}
	return 0
}

// in is about what must be paid for an amount, and without end when it can not be had.
func (s *screen) in(out float64, down bool) float64 {
	if s.roots == nil {
		from, to := s.zero, s.one
		if !down {
			from, to = to, from
		}
		if out >= to {
			return math.Inf(1)
		}
		return from * out / ((to - out) * s.keep)
	}
	if down {
		return s.fallFor(out) / s.keep
	}
	return s.riseFor(out) / s.keep
}

func (s *screen) fallFor(out float64) (in float64) {
	root := s.root
	for i := s.at; i > 0; i-- {
		mass, low := s.mass[i], s.roots[i-1]
		if room := mass * (root - low); out > room {
			out -= room
			in += mass * (1/low - 1/root)
			root = low
			continue
		}
		next := root - out/mass
		return in + mass*(1/next-1/root)
	}
	return math.Inf(1)
}

func (s *screen) riseFor(out float64) (in float64) {
	root := s.root
	for i := s.at; i < len(s.roots); i++ {
		mass, high := s.mass[i], s.roots[i]
		if room := mass * (1/root - 1/high); out > room {
			out -= room
			in += mass * (high - root)
			root = high
			continue
		}
		next := 1 / (1/root - out/mass)
		return in + mass*(next-root)
	}
	return math.Inf(1)
}
