package amm

import (
	"errors"
	"math/bits"

	"github.com/holiman/uint256"
)

// What the contracts refuse.
var (
	// ErrOverflow: a number would not fit where the contract keeps it.
	ErrOverflow = errors.New("amm: a number too large for the pool")
	// ErrDry: there is not enough in the pool.
	ErrDry = errors.New("amm: not enough liquidity")
	// ErrNothing: an amount of nothing.
	ErrNothing = errors.New("amm: an amount of nothing")
	// ErrPrice: a price or tick outside of what a pool can have.
	ErrPrice = errors.New("amm: a price that no pool has")
	// ErrBorn: the pool has no price yet.
	ErrBorn = errors.New("amm: the pool has no price yet")
)

// fits160 reports whether x is at most 160 bits, as prices are.
func fits160(x *uint256.Int) bool { return x[3] == 0 && x[2]>>32 == 0 }

// fits128 reports whether x is at most 128 bits, as liquidity is.
func fits128(x *uint256.Int) bool { return x[3]|x[2] == 0 }

// mulDiv is x·y/d rounded down, exact in between; not ok where the contract reverts.
func mulDiv(z, x, y, d *uint256.Int) bool {
	if d.IsZero() {
		return false
	}
	_, over := z.MulDivOverflow(x, y, d)
	return !over
}

// mulDivUp is x·y/d rounded up. z must be none of the others.
func mulDivUp(z, x, y, d *uint256.Int) bool {
	if !mulDiv(z, x, y, d) {
		return false
	}
	// The remainder is below d, so the low halves of both products tell it.
	var p, q uint256.Int
	p.Mul(x, y)
	q.Mul(z, d)
	if p == q {
		return true
	}
	_, over := z.AddOverflow(z, one)
	return !over
}

// divUp is x/d rounded up, for a d that is not zero.
func divUp(z, x, d *uint256.Int) {
	var rest uint256.Int
	z.DivMod(x, d, &rest)
	if !rest.IsZero() {
		z.AddUint64(z, 1)
	}
}

var one = uint256.NewInt(1)

// share is x·num/den for small num and den, rounded as asked. Almost every amount takes
// the short way: a few machine divisions.
func share(z, x *uint256.Int, num, den uint64, up bool) bool {
	if x[3] != 0 {
		n, d := uint256.Int{num}, uint256.Int{den}
		if up {
			return mulDivUp(z, x, &n, &d)
		}
		return mulDiv(z, x, &n, &d)
	}
	h0, p0 := bits.Mul64(x[0], num)
	h1, p1 := bits.Mul64(x[1], num)
	h2, p2 := bits.Mul64(x[2], num)
	var c uint64
	p1, c = bits.Add64(p1, h0, 0)
	p2, c = bits.Add64(p2, h1, c)
	p3 := h2 + c
	var q, rest uint64
	q, rest = p3/den, p3%den
	z[3] = q
	z[2], rest = bits.Div64(rest, p2, den)
	z[1], rest = bits.Div64(rest, p1, den)
	z[0], rest = bits.Div64(rest, p0, den)
	if up && rest != 0 {
		z.AddUint64(z, 1)
	}
	return true
}

// mulShift96 is liquidity·diff/2^96, rounded as asked: liquidity of 128 bits, diff of 160.
func mulShift96(z, liquidity, diff *uint256.Int, up bool) {
	a0, a1 := liquidity[0], liquidity[1]
	var p [5]uint64
	var c, h, l uint64
	// the first row
	h, p[0] = bits.Mul64(a0, diff[0])
	p[1] = h
	h, l = bits.Mul64(a0, diff[1])
	p[1], c = bits.Add64(p[1], l, 0)
	p[2] = h + c
	h, l = bits.Mul64(a0, diff[2])
	p[2], c = bits.Add64(p[2], l, 0)
	p[3] = h + c
	// the second row
	h, l = bits.Mul64(a1, diff[0])
	p[1], c = bits.Add64(p[1], l, 0)
	carry := h + c
	h, l = bits.Mul64(a1, diff[1])
	l, c = bits.Add64(l, carry, 0)
	h += c
	p[2], c = bits.Add64(p[2], l, 0)
	carry = h + c
	h, l = bits.Mul64(a1, diff[2])
	l, c = bits.Add64(l, carry, 0)
	h += c
	p[3], c = bits.Add64(p[3], l, 0)
	p[4] = h + c
	z[0] = p[1]>>32 | p[2]<<32
	z[1] = p[2]>>32 | p[3]<<32
	z[2] = p[3]>>32 | p[4]<<32
	z[3] = p[4] >> 32
	if up && p[0]|(p[1]<<32) != 0 {
		z.AddUint64(z, 1)
	}
}

// shift96 is x·2^96, for an x of at most 160 bits.
func shift96(z, x *uint256.Int) {
	z[3] = x[1]>>32 | x[2]<<32
	z[2] = x[0]>>32 | x[1]<<32
	z[1] = x[0] << 32
	z[0] = 0
}
