package amm

import (
	"math/bits"

	"github.com/holiman/uint256"
)

// The ends of what a price can be.
const (
	MinTick int32 = -887272
	MaxTick int32 = 887272
)

// MinRoot and MaxRoot are the roots of the prices at the ends.
var (
	MinRoot = *uint256.NewInt(4295128739)
	MaxRoot = *uint256.MustFromDecimal("1461446703485210103287273052203988822378723970342")

	lowest  = *new(uint256.Int).AddUint64(&MinRoot, 1) // the last price on the way down
	highest = *new(uint256.Int).SubUint64(&MaxRoot, 1)
)

// powers are 1/√1.0001 to the powers of two, in 128 bits behind the point, as high and
// low halves: the constants of the contract.
var powers = [20][2]uint64{
	{0xfffcb933bd6fad37, 0xaa2d162d1a594001},
	{0xfff97272373d4132, 0x59a46990580e213a},
	{0xfff2e50f5f656932, 0xef12357cf3c7fdcc},
	{0xffe5caca7e10e4e6, 0x1c3624eaa0941cd0},
	{0xffcb9843d60f6159, 0xc9db58835c926644},
	{0xff973b41fa98c081, 0x472e6896dfb254c0},
	{0xff2ea16466c96a38, 0x43ec78b326b52861},
	{0xfe5dee046a99a2a8, 0x11c461f1969c3053},
	{0xfcbe86c7900a88ae, 0xdcffc83b479aa3a4},
	{0xf987a7253ac41317, 0x6f2b074cf7815e54},
	{0xf3392b0822b70005, 0x940c7a398e4b70f3},
	{0xe7159475a2c29b74, 0x43b29c7fa6e889d9},
	{0xd097f3bdfd2022b8, 0x845ad8f792aa5825},
	{0xa9f746462d870fdf, 0x8a65dc1f90e061e5},
	{0x70d869a156d2a1b8, 0x90bb3df62baf32f7},
	{0x31be135f97d08fd9, 0x81231505542fcfa6},
	{0x09aa508b5b7a84e1, 0xc677de54f3e99bc9},
	{0x005d6af8dedb8119, 0x6699c329225ee604},
	{0x00002216e584f5fa, 0x1ea926041bedfe98},
	{0x00000000048a1703, 0x91f7dc42444e8fa2},
}

// RootAt is the root of the price at a tick, times 2^96.
func RootAt(tick int32) (root uint256.Int, err error) {
	if tick < MinTick || tick > MaxTick {
		return root, ErrPrice
	}
	rootAt(&root, tick)
	return root, nil
}

func rootAt(z *uint256.Int, tick int32) {
	abs := uint32(max(tick, -tick)) //nolint:gosec // not negative
	var hi, lo uint64               // zero is one whole until the first factor
	whole := true
	for rest := abs; rest != 0; rest &= rest - 1 {
		f := &powers[bits.TrailingZeros32(rest)]
		if whole {
			hi, lo, whole = f[0], f[1], false
			continue
		}
		hi, lo = mulHigh(hi, lo, f[0], f[1])
	}
	switch {
	case whole:
		*z = uint256.Int{0, 1 << 32} // 2^96
		return
	case tick > 0:
		d := uint256.Int{lo, hi}
		z.SetAllOne()
		z.Div(z, &d)
	default:
		*z = uint256.Int{lo, hi}
	}
	up := z[0]&(1<<32-1) != 0
	z[0] = z[0]>>32 | z[1]<<32
	z[1] = z[1]>>32 | z[2]<<32
	z[2] = z[2]>>32 | z[3]<<32
	z[3] >>= 32
	if up {
		z.AddUint64(z, 1)
	}
}

// mulHigh is the high half of the product of two numbers of 128 bits.
func mulHigh(ah, al, bh, bl uint64) (hi, lo uint64) {
	c1, _ := bits.Mul64(al, bl)
	h2, l2 := bits.Mul64(ah, bl)
	h3, l3 := bits.Mul64(al, bh)
	h4, l4 := bits.Mul64(ah, bh)
	mid, c := bits.Add64(c1, l2, 0)
	h2 += c
	_, c = bits.Add64(mid, l3, 0)
	h3 += c
	lo, c = bits.Add64(l4, h2, 0)
	h4 += c
	lo, c = bits.Add64(lo, h3, 0)
	return h4 + c, lo
}

// TickAt is the highest tick whose price is not above one.
func TickAt(root *uint256.Int) (int32, error) {
	if root.Lt(&MinRoot) || !root.Lt(&MaxRoot) {
		return 0, ErrPrice
	}
	low, high := MinTick, MaxTick // low is at or below it, high above
	var at uint256.Int
	for high-low > 1 {
		mid := low + (high-low)/2
		if rootAt(&at, mid); at.Gt(root) {
			high = mid
		} else {
			low = mid
		}
	}
	return low, nil
}
