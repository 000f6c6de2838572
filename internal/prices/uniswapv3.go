package prices

import (
	"context"
	"fmt"
	"math/big"
	"time"
)

// UniswapV3 is the mean price of a pool of Uniswap V3, or one like it, over a window that
// ends with the newest block. The pool keeps the sum of its ticks over time itself; one
// that does not remember the whole window refuses, and then nothing is said.
type UniswapV3 struct{ pool }

// NewUniswapV3 checks the settings.
func NewUniswapV3(cfg PoolConfig, from Contracts) (*UniswapV3, error) {
	if err := cfg.check(from); err != nil {
		return nil, err
	}
	return &UniswapV3{pool{cfg: cfg, from: from}}, nil
}

// Prices implements Source.
func (u *UniswapV3) Prices(ctx context.Context, now time.Time) (map[string]Quote, error) {
	r, err := readAt(ctx, u.from, u.cfg.MaxLag, now)
	if err != nil {
		return nil, err
	}
	s, err := u.stand(ctx, r)
	if err != nil {
		return nil, err
	}
	window := uint32(u.cfg.Window / time.Second)
	out, err := r.ask(ctx, poolV3, u.cfg.Pool, "observe", []uint32{window, 0})
	if err != nil {
		return nil, err
	}
	ticks, ok1 := out[0].([]*big.Int)
	shares, ok2 := out[1].([]*big.Int)
	if !ok1 || !ok2 || len(ticks) != 2 || len(shares) != 2 {
		return nil, errForm
	}
	if liquidity(shares[0], shares[1], window).Cmp(floorOf(u.cfg.Floor)) < 0 {
		return nil, errThin
	}
	tick := meanTick(ticks[0], ticks[1], window)
	if tick < -maxTick || tick > maxTick {
		return nil, fmt.Errorf("%w: its tick is %d", errForm, tick)
	}
	if s.flipped {
		tick = -tick
	}
	num, den := tickPrice(tick)
	return u.quote(s, num, den, now), nil
}

// maxTick is the highest that a pool can have.
const maxTick = 887_272

// meanTick is the mean over a window, rounded down as the pool's own library does.
func meanTick(was, is *big.Int, window uint32) int64 {
	span := big.NewInt(int64(window))
	mean, rest := new(big.Int).QuoRem(new(big.Int).Sub(is, was), span, new(big.Int))
	if rest.Sign() < 0 {
		mean.Sub(mean, big.NewInt(1))
	}
	if !mean.IsInt64() {
		return maxTick + 1
	}
	return mean.Int64()
}

// liquidity is the harmonic mean over a window, from the sums of seconds per unit of it,
// which are kept in parts of 2^128 and begin again after 2^160.
func liquidity(was, is *big.Int, window uint32) *big.Int {
	sum := new(big.Int).Sub(is, was)
	sum.Mod(sum, new(big.Int).Lsh(big.NewInt(1), 160))
	if sum.Sign() == 0 {
		return sum
	}
	n := new(big.Int).Lsh(big.NewInt(int64(window)), 128)
	return n.Quo(n, sum)
}

// precision is with how many bits after the point powers are computed: far more than the
// digits of a price need after twenty squarings.
const precision = 384

// tickPrice is 1.0001 to the power of a tick: smallest units of the second token for one
// of the first, as a fraction. It is computed with whole numbers only.
func tickPrice(tick int64) (num, den *big.Int) {
	one := new(big.Int).Lsh(big.NewInt(1), precision)
	power, by := new(big.Int).Set(one), new(big.Int).Lsh(big.NewInt(10_001), precision)
	by.Quo(by, big.NewInt(10_000))
	for n := max(tick, -tick); n > 0; n >>= 1 {
		if n&1 == 1 {
			power.Mul(power, by)
			power.Rsh(power, precision)
		}
		by.Mul(by, by)
		by.Rsh(by, precision)
	}
	if tick < 0 {
		return one, power
	}
	return power, one
}
