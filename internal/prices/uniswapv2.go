package prices

import (
	"context"
	"math/big"
	"slices"
	"time"
)

// UniswapV2 is the mean price of a pair of Uniswap V2, or one like it. The pair keeps the
// sum of its price over time, so two looks at least a window apart are needed: for that
// long after the start nothing is said.
type UniswapV2 struct {
	pool
	looks []look // oldest first
}

// look is what the sum was at the time of a block, in seconds.
type look struct {
	at  int64
	sum *big.Int
}

// looksKept is how many looks are kept within a window.
const looksKept = 16

// NewUniswapV2 checks the settings.
func NewUniswapV2(cfg PoolConfig, from Contracts) (*UniswapV2, error) {
	if err := cfg.check(from); err != nil {
		return nil, err
	}
	return &UniswapV2{pool: pool{cfg: cfg, from: from}}, nil
}

// Prices implements Source.
func (u *UniswapV2) Prices(ctx context.Context, now time.Time) (map[string]Quote, error) {
	r, err := readAt(ctx, u.from, u.cfg.MaxLag, now)
	if err != nil {
		return nil, err
	}
	s, err := u.stand(ctx, r)
	if err != nil {
		return nil, err
	}
	out, err := r.ask(ctx, pairV2, u.cfg.Pool, "getReserves")
	if err != nil {
		return nil, err
	}
	base, quote, which := number(out[0]), number(out[1]), "price0CumulativeLast"
	if s.flipped {
		base, quote, which = quote, base, "price1CumulativeLast"
	}
	if base.Sign() == 0 || quote.Cmp(floorOf(u.cfg.Floor)) < 0 {
		return nil, errThin
	}
	sum, err := r.ask(ctx, pairV2, u.cfg.Pool, which)
	if err != nil {
		return nil, err
	}
	at := r.at.Time.Unix()
	l := look{at, accrued(number(sum[0]), base, quote, at-number(out[2]).Int64())}
	old, ok := u.see(l)
	if !ok {
		return map[string]Quote{u.cfg.Symbol: {Why: "has not been looked at for a window yet"}}, nil
	}
	paid := new(big.Int).Sub(l.sum, old.sum)
	paid.Mod(paid, wrap256)
	if paid.Sign() == 0 {
		return nil, errForm
	}
	return u.quote(s, paid, new(big.Int).Lsh(big.NewInt(l.at-old.at), 112), now), nil
}

var wrap256 = new(big.Int).Lsh(big.NewInt(1), 256)

// accrued is the sum as it would be if somebody traded now: the pair adds to it only with
// the first trade of a block. Prices are in parts of 2^112, and the pair's clock begins
// again after 2^32 seconds.
func accrued(sum, base, quote *big.Int, since int64) *big.Int {
	price := new(big.Int).Lsh(quote, 112)
	price.Quo(price, base)
	price.Mul(price, big.NewInt(since&0xffffffff))
	return price.Mod(price.Add(price, sum), wrap256)
}

// see remembers a look, and gives the newest that is a window older. What is much older
// is of another time, as after a pause, and is dropped. A block that is older than the
// last one is of a branch that was left.
func (u *UniswapV2) see(l look) (look, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	window := int64(u.cfg.Window / time.Second)
	u.looks = slices.DeleteFunc(u.looks, func(o look) bool { return o.at >= l.at || l.at-o.at > 2*window })
	var found look
	ok := false
	for i, o := range u.looks {
		if l.at-o.at < window {
			break
		}
		found, ok = o, true
		if i > 0 {
			u.looks[i-1].sum = nil // a newer one will do from now on
		}
	}
	u.looks = slices.DeleteFunc(u.looks, func(o look) bool { return o.sum == nil })
	if n := len(u.looks); n == 0 || l.at-u.looks[n-1].at >= max(window/looksKept, 1) {
		u.looks = append(u.looks, l)
	}
	return found, ok
}
