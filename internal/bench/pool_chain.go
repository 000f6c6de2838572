package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/dev"
	"ferry/internal/money"
	"ferry/internal/venue/uniswap"
	"ferry/internal/venue/uniswap/amm"
	"ferry/internal/venue/uniswap/ammtest"
	"ferry/internal/venue/uniswap/route"
)

// The pools of the quotes: about 2,000 between 500 tokens. What arbitrage leaves of the
// differences between pools is about their fees.
const (
	quotedPools  = 2500 // of which those are left that can all stand on one chain
	quotedTokens = 500
	quotedOff    = 0.002
	// quotedUnit is what of a world's worth is a dollar: pools have ten thousand dollars to
	// eighty millions.
	quotedUnit = 1e16
	// moved is how many pools say something new in each block, one a second.
	moved = 40
)

// poolChain is a chain whose contracts are pools and nothing else. They answer out of
// memory what the real ones would.
type poolChain struct {
	world *ammtest.World
	edges map[common.Address]*route.Edge
	named map[uniswap.Pool]common.Address
	pools []uniswap.Pool
	pairs []common.Address
	begun time.Time
}

func newPoolChain() (*poolChain, error) {
	w, err := ammtest.NewWorld(rand.New(rand.NewPCG(1, 13)), ammtest.Size{Tokens: quotedTokens, Pools: quotedPools, Hubs: routeHubs, Off: quotedOff})
	if err != nil {
		return nil, err
	}
	c := &poolChain{world: w, edges: map[common.Address]*route.Edge{}, named: map[uniswap.Pool]common.Address{}, begun: time.Now().Truncate(time.Second)}
	var live []route.Live
	for i := range w.Edges {
		e := &w.Edges[i]
		p := uniswap.Pool{Version: 2, Zero: tokenAt(e.Zero), One: tokenAt(e.One)}
		if e.Pool != nil {
			p.Version, p.Fee = 3, e.Pool.Fee
		}
		// There is one of a kind, and the map of ticks of the finest takes long to read.
		if c.named[p] != (common.Address{}) || e.Pool != nil && e.Pool.Spacing == 1 {
			continue
		}
		at := numbered(1<<32 + i)
		c.named[p], c.edges[at], c.pools = at, e, append(c.pools, p)
		if e.Pair != nil {
			c.pairs = append(c.pairs, at)
		}
		if l, fit := route.Ready(*e); fit {
			live = append(live, l)
		}
	}
	w.Graph = route.New(quotedTokens, live)
	return c, nil
}

func numbered(n int) (a common.Address) {
	binary.BigEndian.PutUint64(a[:], uint64(n)) //nolint:gosec // above zero
	return a
}

func evmAddress(a common.Address) chain.Address {
	return chain.CanonicalAddress(chain.EVM, fmt.Sprintf("0x%x", a[:]))
}

// tokenAt is where a token of the world is: in the order of their numbers.
func tokenAt(i int) chain.Address { return evmAddress(numbered(1 + i)) }

// The router, whose factories have the same address, and our own account.
var poolRouter, poolOwn = numbered(1 << 33), numbered(1 << 34)

// venue is the pools as the service trades in them, up to date.
func (c *poolChain) venue(ctx context.Context) (*uniswap.Venue, error) {
	cfg := uniswap.Config{
		Chain: dev.Ethereum, Own: evmAddress(poolOwn), Router: evmAddress(poolRouter), Wrapped: tokenAt(0), Pools: c.pools,
		MaxAge: time.Minute, Poll: time.Second / 2, Check: time.Hour, Patience: time.Hour,
		Noticed: func(n uniswap.Notice) { progress("pools: %s: %v", n.Text, n.Err) },
	}
	for i := range quotedTokens {
		cfg.Tokens = append(cfg.Tokens, tokenAt(i))
	}
	v, err := uniswap.New(cfg, c)
	if err != nil {
		return nil, err
	}
	return v, v.Sync(ctx, time.Now())
}

func (c *poolChain) block(height uint64) chain.Block {
	name := func(n uint64) string { return fmt.Sprintf("0x%064x", n) }
	return chain.Block{Height: height, Hash: name(height), Parent: name(height - 1), Time: c.begun.Add(time.Duration(height) * time.Second)} //nolint:gosec // seconds
}

// Head implements uniswap.Chain.
func (c *poolChain) Head(context.Context) (chain.Head, error) {
	return chain.Head{Tip: c.block(1 + uint64(time.Since(c.begun)/time.Second))}, nil //nolint:gosec // seconds
}

// Next implements uniswap.Chain.
func (c *poolChain) Next(_ context.Context, height uint64) (chain.Block, error) {
	return c.block(height), nil
}

// Logs implements uniswap.Chain: in each block some pairs were traded in, a little.
func (c *poolChain) Logs(_ context.Context, q chain.LogQuery) (all []chain.Log, err error) {
	sync := chain.Word(crypto.Keccak256Hash([]byte("Sync(uint112,uint112)")))
	for h := q.From; h <= q.To; h++ {
		for i := range uint64(moved) {
			at := c.pairs[(h*moved+i)%uint64(len(c.pairs))]
			p := c.edges[at].Pair
			one, _ := new(uint256.Int).MulDivOverflow(&p.One, uint256.NewInt(100_000+h%7), uint256.NewInt(100_000))
			zero, more := p.Zero.Bytes32(), one.Bytes32()
			all = append(all, chain.Log{Address: evmAddress(at), Topics: []chain.Word{sync}, Data: append(zero[:], more[:]...), Block: c.block(h), Index: i})
		}
	}
	return all, nil
}

// Receipt implements uniswap.Chain.
func (c *poolChain) Receipt(_ context.Context, tx chain.TxID) (chain.Receipt, error) {
	return chain.Receipt{Tx: tx}, nil // nobody sends anything
}

// Cost implements uniswap.Chain: six cents.
func (c *poolChain) Cost(context.Context, chain.Call) (money.Amount, error) {
	n := ammtest.Whole(0.06 * quotedUnit / c.world.Worth[0])
	return money.FromWords(n), nil
}

// View implements uniswap.Chain.
func (c *poolChain) View(ctx context.Context, to chain.Address, data []byte) ([]byte, error) {
	return c.ViewAt(ctx, to, data, chain.Block{})
}

// ViewAt implements uniswap.Chain.
func (c *poolChain) ViewAt(_ context.Context, to chain.Address, data []byte, _ chain.Block) ([]byte, error) {
	at, method := common.HexToAddress(to.Text()), [4]byte(data)
	arg := func(n int) []byte { return data[4+32*n : 36+32*n] }
	if at == poolRouter {
		p := uniswap.Pool{Version: 2}
		switch method {
		case methodFactory, methodFactoryV2:
			return words32(new(uint256.Int).SetBytes(at[:])), nil
		case methodGetPool:
			p.Version, p.Fee = 3, uint32(new(uint256.Int).SetBytes(arg(2)).Uint64()) //nolint:gosec // it has 24 bits
		}
		p.Zero, p.One = evmAddress(common.BytesToAddress(arg(0))), evmAddress(common.BytesToAddress(arg(1)))
		found := c.named[p]
		return words32(new(uint256.Int).SetBytes(found[:])), nil
	}
	e := c.edges[at]
	switch {
	case e == nil:
		return nil, errors.New("there is no contract")
	case e.Pair != nil:
		return words32(&e.Pair.Zero, &e.Pair.One), nil
	}
	return poolSays(e.Pool, method, int32(new(uint256.Int).SetBytes(data[4:]).Uint64())) //nolint:gosec // the lowest bits are it
}

var (
	methodFactory, methodFactoryV2 = methodOf("factory()"), methodOf("factoryV2()")
	methodGetPool                  = methodOf("getPool(address,address,uint24)")
	methodSlot0, methodLiquidity   = methodOf("slot0()"), methodOf("liquidity()")
	methodSpacing, methodBitmap    = methodOf("tickSpacing()"), methodOf("tickBitmap(int16)")
	methodTicks                    = methodOf("ticks(int24)")
)

func methodOf(signature string) [4]byte { return [4]byte(crypto.Keccak256([]byte(signature))) }

func words32(all ...*uint256.Int) (out []byte) {
	for _, w := range all {
		b := w.Bytes32()
		out = append(out, b[:]...)
	}
	return out
}

// signedWord is a signed number as contracts have it.
func signedWord(n int64) *uint256.Int {
	x := uint256.NewInt(uint64(max(n, -n))) //nolint:gosec // small
	if n < 0 {
		x.Neg(x)
	}
	return x
}

// poolSays is what a pool of version 3 answers.
func poolSays(p *amm.Pool, method [4]byte, arg int32) ([]byte, error) {
	switch method {
	case methodSlot0:
		return words32(&p.Root, signedWord(int64(p.Tick))), nil
	case methodLiquidity:
		return words32(&p.Liquidity), nil
	case methodSpacing:
		return words32(signedWord(int64(p.Spacing))), nil
	case methodBitmap:
		var w uint256.Int
		for i := range p.Ticks {
			if place := p.Ticks[i].At / p.Spacing; place>>8 == arg {
				w[place&255/64] |= 1 << (place & 63)
			}
		}
		return words32(&w), nil
	case methodTicks:
		for i := range p.Ticks {
			if t := &p.Ticks[i]; t.At == arg {
				net := uint256.Int{t.Net.Low, uint64(t.Net.High)} //nolint:gosec // the bits are meant
				return words32(&t.Gross, &net), nil
			}
		}
	}
	return nil, errors.New("the pool has no answer")
}
