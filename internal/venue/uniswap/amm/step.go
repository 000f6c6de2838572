package amm

import "github.com/holiman/uint256"

// millionths is the whole of a fee.
const millionths = 1_000_000

// delta0 is how much of the first token lies between two prices, low below high.
func delta0(z, low, high, liquidity *uint256.Int, up bool) bool {
	if low.IsZero() {
		return false
	}
	var mass, width, part uint256.Int
	shift96(&mass, liquidity)
	width.Sub(high, low)
	if up {
		if !mulDivUp(&part, &mass, &width, high) {
			return false
		}
		divUp(z, &part, low)
		return true
	}
	if !mulDiv(&part, &mass, &width, high) {
		return false
	}
	z.Div(&part, low)
	return true
}

// delta1 is how much of the second token lies between two prices, low below high.
func delta1(z, low, high, liquidity *uint256.Int, up bool) {
	var width uint256.Int
	width.Sub(high, low)
	mulShift96(z, liquidity, &width, up)
}

// after0 is the price after an amount of the first token came (or went), rounded up.
func after0(z, root, liquidity, amount *uint256.Int, came bool) error {
	if amount.IsZero() {
		*z = *root
		return nil
	}
	var mass, product, whole uint256.Int
	shift96(&mass, liquidity)
	_, over := product.MulOverflow(amount, root)
	if !came {
		if over || !mass.Gt(&product) {
			return ErrDry
		}
		whole.Sub(&mass, &product)
		if !mulDivUp(z, &mass, root, &whole) || !fits160(z) {
			return ErrOverflow
		}
		return nil
	}
	if !over {
		if _, over = whole.AddOverflow(&mass, &product); !over {
			if !mulDivUp(z, &mass, root, &whole) {
				return ErrOverflow
			}
			return nil
		}
	}
	whole.Div(&mass, root)
	if _, over = whole.AddOverflow(&whole, amount); over {
		return ErrOverflow
	}
	divUp(z, &mass, &whole)
	return nil
}

// after1 is the price after an amount of the second token came (or went), rounded down.
func after1(z, root, liquidity, amount *uint256.Int, came bool) error {
	var part, mass uint256.Int
	if fits160(amount) {
		shift96(&mass, amount)
		if came {
			part.Div(&mass, liquidity)
		} else {
			divUp(&part, &mass, liquidity)
		}
	} else {
		q96 := uint256.Int{0, 1 << 32}
		if came && !mulDiv(&part, amount, &q96, liquidity) || !came && !mulDivUp(&part, amount, &q96, liquidity) {
			return ErrOverflow
		}
	}
	if came {
		if _, over := z.AddOverflow(root, &part); over || !fits160(z) {
			return ErrOverflow
		}
		return nil
	}
	if !root.Gt(&part) {
		return ErrDry
	}
	z.Sub(root, &part)
	return nil
}

// step is a swap between two prices with the same liquidity.
type step struct {
	root, target, liquidity *uint256.Int
	left                    *uint256.Int // of what was asked for
	fee                     uint64
	down, exactIn           bool
}

// made is what a step came to.
type made struct{ next, in, out, fee uint256.Int }

// between is what was put in, and what came out, by going from one price to another.
func (s *step) amountIn(z, to *uint256.Int) bool {
	if s.down {
		return delta0(z, to, s.root, s.liquidity, true)
	}
	delta1(z, s.root, to, s.liquidity, true)
	return true
}

func (s *step) amountOut(z, to *uint256.Int) bool {
	if s.down {
		delta1(z, to, s.root, s.liquidity, false)
		return true
	}
	return delta0(z, s.root, to, s.liquidity, false)
}

// take goes as far as the amount reaches, and at most to the target.
func (s *step) take(m *made) error {
	if s.exactIn {
		return s.takeIn(m)
	}
	return s.takeOut(m)
}

func (s *step) takeIn(m *made) error {
	var net uint256.Int
	if !share(&net, s.left, millionths-s.fee, millionths, false) || !s.amountIn(&m.in, s.target) {
		return ErrOverflow
	}
	if !net.Lt(&m.in) {
		m.next = *s.target
		if !s.amountOut(&m.out, s.target) || !share(&m.fee, &m.in, s.fee, millionths-s.fee, true) {
			return ErrOverflow
		}
		return nil
	}
	var err error
	if s.liquidity.IsZero() {
		return ErrDry
	}
	if s.down {
		err = after0(&m.next, s.root, s.liquidity, &net, true)
	} else {
		err = after1(&m.next, s.root, s.liquidity, &net, true)
	}
	if err != nil {
		return err
	}
	// The target is reached by rounding alone: then its amount counts, as before.
	reached := m.next == *s.target
	if !reached && !s.amountIn(&m.in, &m.next) || !s.amountOut(&m.out, &m.next) {
		return ErrOverflow
	}
	if !reached {
		m.fee.Sub(s.left, &m.in)
		return nil
	}
	if !share(&m.fee, &m.in, s.fee, millionths-s.fee, true) {
		return ErrOverflow
	}
	return nil
}

func (s *step) takeOut(m *made) error {
	if !s.amountOut(&m.out, s.target) {
		return ErrOverflow
	}
	if !s.left.Lt(&m.out) {
		m.next = *s.target
	} else {
		if s.liquidity.IsZero() {
			return ErrDry
		}
		var err error
		if s.down {
			err = after1(&m.next, s.root, s.liquidity, s.left, false)
		} else {
			err = after0(&m.next, s.root, s.liquidity, s.left, false)
		}
		if err != nil {
			return err
		}
		if m.next != *s.target && !s.amountOut(&m.out, &m.next) {
			return ErrOverflow
		}
	}
	if !s.amountIn(&m.in, &m.next) {
		return ErrOverflow
	}
	if s.left.Lt(&m.out) {
		m.out = *s.left
	}
	if !share(&m.fee, &m.in, s.fee, millionths-s.fee, true) {
		return ErrOverflow
	}
	return nil
}
