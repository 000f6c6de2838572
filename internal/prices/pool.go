package prices

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// PoolConfig is a source that reads what one pool paid in the mean of a time. The price
// of a moment is never read: whoever trades in a block can make it what he likes.
type PoolConfig struct {
	Name, Symbol string
	Pool         chain.Address
	// Base is the token that is priced, and Quote the other; the pool must have these two.
	Base, Quote chain.Address
	In          string // the symbol of Quote
	Window      time.Duration
	// Floor is how much must be in the pool: for V3 the harmonic mean of its liquidity over
	// the window, for V2 the smallest units of Quote. A thin pool is cheap to move.
	Floor  money.Amount
	MaxLag time.Duration // how old the chain's newest block may be; zero is a minute
}

// Bounds of windows: shorter ones are moments, and pools remember no longer ones.
const (
	minWindow = time.Second
	maxWindow = 24 * time.Hour
)

// errThin: there is too little in the pool for its price to mean anything.
var errThin = errors.New("there is too little in the pool")

func (c PoolConfig) check(from Contracts) error {
	switch {
	case from == nil:
		return fmt.Errorf("prices: source %s: its chain can not be asked for contracts", c.Name)
	case c.Symbol == "" || c.In == "" || c.Symbol == c.In:
		return fmt.Errorf("prices: source %s: it must be said which symbol is priced in which other", c.Name)
	case c.Pool.IsZero() || c.Base.IsZero() || c.Quote.IsZero() || c.Base == c.Quote:
		return fmt.Errorf("prices: source %s: a pool has an address and two tokens", c.Name)
	case c.Window < minWindow || c.Window > maxWindow || c.Window%time.Second != 0:
		return fmt.Errorf("prices: source %s: the window must be whole seconds, at most a day", c.Name)
	case c.Floor.IsZero():
		return fmt.Errorf("prices: source %s: no floor never means that an empty pool will do; say how much must be in it", c.Name)
	case c.MaxLag < 0:
		return fmt.Errorf("prices: source %s: the age of a block must be above zero", c.Name)
	}
	return nil
}

// sides is how the tokens of a pool stand in it.
type sides struct {
	flipped     bool // Base is its second token
	base, quote int  // their decimals
}

// pool is what the sources of this kind have in common.
type pool struct {
	cfg  PoolConfig
	from Contracts

	mu    sync.Mutex
	sides *sides // nil until they were read
}

// Name implements Source.
func (p *pool) Name() string { return p.cfg.Name }

// Kind implements Source.
func (p *pool) Kind() Kind { return Pool }

// stand reads once how the tokens stand in the pool. A pool of others is an error: its
// price would be that of something else.
func (p *pool) stand(ctx context.Context, r reader) (sides, error) {
	p.mu.Lock()
	known := p.sides
	p.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	var s sides
	first, err := r.token(ctx, p.cfg.Pool, "token0")
	if err != nil {
		return s, err
	}
	second, err := r.token(ctx, p.cfg.Pool, "token1")
	if err != nil {
		return s, err
	}
	switch {
	case first == p.cfg.Base && second == p.cfg.Quote:
	case first == p.cfg.Quote && second == p.cfg.Base:
		s.flipped = true
	default:
		return s, errors.New("the pool has other tokens")
	}
	if s.base, err = r.decimals(ctx, p.cfg.Base); err != nil {
		return s, err
	}
	if s.quote, err = r.decimals(ctx, p.cfg.Quote); err != nil {
		return s, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sides = &s
	return s, nil
}

// quote makes a word of what smallest units of Quote were paid for one of Base.
func (p *pool) quote(s sides, num, den *big.Int, now time.Time) map[string]Quote {
	text := decimal(new(big.Int).Mul(num, tenTo(s.base)), new(big.Int).Mul(den, tenTo(s.quote)))
	if text == "" {
		return map[string]Quote{p.cfg.Symbol: {Why: "pays what is no price"}}
	}
	return map[string]Quote{p.cfg.Symbol: {Price: text, In: p.cfg.In, At: now}}
}

func floorOf(a money.Amount) *big.Int {
	n, _ := new(big.Int).SetString(a.String(), 10)
	return n
}
