package uniswap

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/market"
	"ferry/internal/venue/contract"
)

// Name is the venue's in steps.
const Name = "uniswap"

// Config is what a venue needs to know of its chain.
type Config struct {
	Chain chain.ID
	Own   chain.Address // our hot account: who swaps, and who gets what comes of it
	// Router is SwapRouter02, Wrapped the token of the chain's own coin. Multicall3 makes
	// loading faster; without it every question is asked by itself.
	Router, Wrapped, Multicall chain.Address
	// Tokens are the only ones that are routed, by their addresses; the chain's own coin
	// is traded where Wrapped is among them.
	Tokens []chain.Address
	// Pools are those that are kept; none is all pools between the tokens.
	Pools []Pool
	// MaxAge is how old the block of a state may be for a quote.
	MaxAge time.Duration
	// Poll is how often is looked for a new block, and Check how often a pool is compared
	// with its contract.
	Poll, Check time.Duration
	// Patience is how long after it was asked for a swap may still land.
	Patience time.Duration
	// Noticed hears of what a person should look at; nil is nobody.
	Noticed func(Notice)
}

// Pool names a pool: its version is 2, or 3 with a fee in millionths.
type Pool struct {
	Version   int
	Zero, One chain.Address
	Fee       uint32
}

// Notice is something odd that was mended, or that could not be.
type Notice struct {
	Chain chain.ID
	Pool  chain.Address // zero where it is about all of them
	Text  string
	Err   error
}

// hot is the account that swaps.
const hot chain.Account = "hot"

// Venue is the pools of one chain.
type Venue struct {
	cfg    Config
	chain  Chain
	tokens map[common.Address]int
	list   []common.Address // of them
	refs   map[string]int   // by how assets name them
	coin   int              // the wrapped coin's; below zero where it is not traded
	now    atomic.Pointer[world]

	mu    sync.Mutex // one that follows the chain at a time
	pools []place
	at    map[chain.Address]int // where each of them is, once that is known
	past  []moment              // remembered, the newest last
	check time.Time
	turn  int // the next pool to compare
}

// place is where a pool stands.
type place struct {
	Pool
	at        common.Address
	zero, one int
}

// fees are the fees of pools that are looked for where none are named.
var fees = []uint32{100, 500, 3000, 10000}

// New checks the settings; nothing is asked yet.
func New(cfg Config, c Chain) (*Venue, error) {
	bad := func(why string) (*Venue, error) { return nil, fmt.Errorf("uniswap on %s: %s", cfg.Chain, why) }
	switch {
	case c == nil || cfg.Chain == "":
		return bad("it needs a chain")
	case cfg.Own.IsZero() || cfg.Router.IsZero() || cfg.Wrapped.IsZero():
		return bad("it needs our own address, the router's and that of the wrapped coin")
	case len(cfg.Tokens) < 2:
		return bad("name at least two tokens; only those are routed")
	case cfg.MaxAge <= 0 || cfg.Poll <= 0 || cfg.Check <= 0 || cfg.Patience <= 0:
		return bad("say how old a state may be, how often to look and to check, and how long a swap may take; zero never means always")
	}
	v := &Venue{cfg: cfg, chain: c, tokens: map[common.Address]int{}, refs: map[string]int{}, coin: -1}
	for _, t := range cfg.Tokens {
		at, err := toCommon(t)
		if err != nil {
			return bad(err.Error())
		}
		if _, twice := v.tokens[at]; twice {
			return bad("token " + t.Text() + " is named twice")
		}
		v.tokens[at], v.refs[contract.Address(at).Text()] = len(v.list), len(v.list)
		v.list = append(v.list, at)
	}
	for _, a := range []chain.Address{cfg.Own, cfg.Router, cfg.Wrapped} {
		if _, err := toCommon(a); err != nil {
			return bad(err.Error())
		}
	}
	if n, traded := v.tokens[known(cfg.Wrapped)]; traded {
		v.coin = n
	}
	wanted := cfg.Pools
	if len(wanted) == 0 {
		wanted = allPools(cfg.Tokens)
	}
	for _, p := range wanted {
		if err := v.add(p); err != nil {
			return bad(err.Error())
		}
	}
	return v, nil
}

// allPools is every pool that could be between tokens.
func allPools(tokens []chain.Address) (all []Pool) {
	for i, a := range tokens {
		for _, b := range tokens[i+1:] {
			all = append(all, Pool{Version: 2, Zero: a, One: b})
			for _, fee := range fees {
				all = append(all, Pool{Version: 3, Zero: a, One: b, Fee: fee})
			}
		}
	}
	return all
}

var errPool = errors.New("a pool must be of version 2 without a fee or of version 3 with one, between two tokens of the list")

// add notes a pool, its tokens in the order of the contract.
func (v *Venue) add(p Pool) error {
	a, err := toCommon(p.Zero)
	if err != nil {
		return err
	}
	b, err := toCommon(p.One)
	if err != nil {
		return err
	}
	if a.Cmp(b) > 0 {
		a, b, p.Zero, p.One = b, a, p.One, p.Zero
	}
	zero, one := v.tokens[a]
	other, two := v.tokens[b]
	if !one || !two || zero == other || (p.Version != 2 || p.Fee != 0) && (p.Version != 3 || p.Fee == 0 || p.Fee >= 1_000_000) {
		return errPool
	}
	if slices.ContainsFunc(v.pools, func(o place) bool { return o.Pool == p }) {
		return fmt.Errorf("pool %+v is named twice", p)
	}
	v.pools = append(v.pools, place{Pool: p, zero: zero, one: other})
	return nil
}

// Name implements market.Pools.
func (v *Venue) Name() string { return Name }

var _ market.Pools = (*Venue)(nil)

func (v *Venue) notice(at common.Address, text string, err error) {
	if v.cfg.Noticed != nil {
		n := Notice{Chain: v.cfg.Chain, Text: text, Err: err}
		if at != (common.Address{}) {
			n.Pool = contract.Address(at)
		}
		v.cfg.Noticed(n)
	}
}
