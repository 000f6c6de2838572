package uniswap

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"ferry/internal/chain"
	"ferry/internal/venue/contract"
	"ferry/internal/venue/uniswap/amm"
)

const (
	atOnce = 8   // questions without a contract that asks many
	many   = 400 // questions with it
)

// view is a question to a contract.
type view struct {
	to   common.Address
	data []byte
}

// ask asks contracts in the state of one block.
func (v *Venue) ask(ctx context.Context, at chain.Block, all []view) ([][]byte, error) {
	out := make([][]byte, len(all))
	if v.cfg.Multicall.IsZero() {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(atOnce)
		for i, q := range all {
			g.Go(func() (err error) {
				out[i], err = v.chain.ViewAt(ctx, contract.Address(q.to), q.data, at)
				return err
			})
		}
		return out, g.Wait()
	}
	for from := 0; from < len(all); from += many {
		part := all[from:min(from+many, len(all))]
		if err := v.askMany(ctx, at, part, out[from:]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (v *Venue) askMany(ctx context.Context, at chain.Block, part []view, out [][]byte) error {
	type call struct {
		Target       common.Address
		AllowFailure bool
		CallData     []byte
	}
	calls := make([]call, len(part))
	for i, q := range part {
		calls[i] = call{q.to, false, q.data}
	}
	said, err := v.chain.ViewAt(ctx, v.cfg.Multicall, protocol.Data("aggregate3", calls), at)
	if err != nil {
		return err
	}
	read, err := protocol.Unpack("aggregate3", said)
	if err != nil {
		return fmt.Errorf("answer of %s: %w", v.cfg.Multicall.Text(), err)
	}
	answers, fit := read[0].([]struct {
		Success    bool   `json:"success"`
		ReturnData []byte `json:"returnData"`
	})
	if !fit || len(answers) != len(part) {
		return fmt.Errorf("answer of %s: other than what was asked", v.cfg.Multicall.Text())
	}
	for i, a := range answers {
		if !a.Success {
			return fmt.Errorf("%s refused to answer", part[i].to)
		}
		out[i] = a.ReturnData
	}
	return nil
}

// find asks the factories of the router where the pools are. Those that are not there
// are left out when they were not named.
func (v *Venue) find(ctx context.Context, at chain.Block) error {
	router := known(v.cfg.Router)
	said, err := v.ask(ctx, at, []view{{router, protocol.Data("factoryV2")}, {router, protocol.Data("factory")}})
	if err != nil {
		return fmt.Errorf("factories of the router: %w", err)
	}
	var factories [2]common.Address
	for i := range factories {
		w, err := words(said[i], 1)
		if err != nil {
			return fmt.Errorf("factories of the router: %w", err)
		}
		factories[i] = w[0].Bytes20()
	}
	var asks []view
	var asked []place
	for _, p := range v.pools {
		q := view{factories[1], protocol.Data("getPool", known(p.Zero), known(p.One), big.NewInt(int64(p.Fee)))}
		if p.Version == 2 {
			q = view{factories[0], protocol.Data("getPair", known(p.Zero), known(p.One))}
		}
		switch { // the routers of many rollups know no factory of version 2
		case q.to != (common.Address{}):
			asks, asked = append(asks, q), append(asked, p)
		case len(v.cfg.Pools) > 0:
			return noPool(p.Pool)
		}
	}
	if said, err = v.ask(ctx, at, asks); err != nil {
		return fmt.Errorf("pools: %w", err)
	}
	var there []place
	for i, p := range asked {
		if len(said[i]) > 0 { // where there is no factory nobody answers
			w, err := words(said[i], 1)
			if err != nil {
				return fmt.Errorf("pools: %w", err)
			}
			p.at = w[0].Bytes20()
		}
		switch {
		case p.at != (common.Address{}):
			there = append(there, p)
		case len(v.cfg.Pools) > 0:
			return noPool(p.Pool)
		}
	}
	if len(there) == 0 {
		return errors.New("there are no pools between the tokens")
	}
	v.pools, v.at = there, make(map[chain.Address]int, len(there))
	for i, p := range there {
		v.at[contract.Address(p.at)] = i
	}
	return nil
}

func noPool(p Pool) error {
	return fmt.Errorf("there is no pool of version %d between %s and %s with a fee of %d", p.Version, p.Zero.Text(), p.One.Text(), p.Fee)
}

// ErrRouter: the router is not the one of these settings.
var ErrRouter = errors.New("uniswap: the router is not what the configuration says")

// Check asks at start whether the router is one, and of the wrapped coin: a mistake in an
// address is found here, and not by a swap.
func (v *Venue) Check(ctx context.Context) error {
	head, err := v.chain.Head(ctx)
	if err != nil {
		return fmt.Errorf("uniswap on %s: %w", v.cfg.Chain, err)
	}
	router := known(v.cfg.Router)
	said, err := v.ask(ctx, head.Tip, []view{{router, protocol.Data("WETH9")}, {router, protocol.Data("factory")}, {router, protocol.Data("factoryV2")}})
	if err != nil {
		return fmt.Errorf("uniswap on %s: %w: %w", v.cfg.Chain, ErrRouter, err)
	}
	for i, b := range said {
		w, err := words(b, 1)
		if err != nil {
			return fmt.Errorf("uniswap on %s: %w: %w", v.cfg.Chain, ErrRouter, err)
		}
		if coin := common.Address(w[0].Bytes20()); i == 0 && coin != known(v.cfg.Wrapped) {
			return fmt.Errorf("uniswap on %s: %w: it wraps the coin as %s, and %s is configured", v.cfg.Chain, ErrRouter, coin, v.cfg.Wrapped.Text())
		}
	}
	return nil
}

// state is a pool as it stands: one of both.
type state struct {
	pair *amm.Pair
	pool *amm.Pool
}

// load reads one pool in the state of a block.
func (v *Venue) load(ctx context.Context, p *place, at chain.Block) (state, error) {
	s, err := v.loadBare(ctx, p, at)
	if err != nil {
		return state{}, fmt.Errorf("pool %s: %w", p.at, err)
	}
	return s, nil
}

func (v *Venue) loadBare(ctx context.Context, p *place, at chain.Block) (state, error) {
	if p.Version == 2 {
		said, err := v.ask(ctx, at, []view{{p.at, protocol.Data("getReserves")}})
		if err != nil {
			return state{}, err
		}
		w, err := words(said[0], 2)
		if err != nil {
			return state{}, err
		}
		return state{pair: &amm.Pair{Zero: w[0], One: w[1], Keep: 997, Of: 1000}}, nil
	}
	said, err := v.ask(ctx, at, []view{{p.at, protocol.Data("slot0")}, {p.at, protocol.Data("liquidity")}, {p.at, protocol.Data("tickSpacing")}})
	if err != nil {
		return state{}, err
	}
	slot, err := words(said[0], 2)
	if err != nil {
		return state{}, err
	}
	mass, err := words(said[1], 1)
	if err != nil {
		return state{}, err
	}
	space, err := words(said[2], 1)
	if err != nil {
		return state{}, err
	}
	pool := &amm.Pool{Root: slot[0], Tick: signed24(&slot[1]), Liquidity: mass[0], Spacing: signed24(&space[0]), Fee: p.Fee}
	if pool.Spacing <= 0 {
		return state{}, fmt.Errorf("a distance of ticks of %d", pool.Spacing)
	}
	return state{pool: pool}, v.loadTicks(ctx, p, pool, at)
}

// loadTicks reads the whole map of ticks, and then the ticks that are in it.
func (v *Venue) loadTicks(ctx context.Context, p *place, pool *amm.Pool, at chain.Block) error {
	first, last := (amm.MinTick/pool.Spacing)>>8, (amm.MaxTick/pool.Spacing)>>8
	if amm.MinTick%pool.Spacing != 0 {
		first = (amm.MinTick/pool.Spacing - 1) >> 8
	}
	var asks []view
	for w := first; w <= last; w++ {
		asks = append(asks, view{p.at, protocol.Data("tickBitmap", int16(w))}) //nolint:gosec // as the contract has it
	}
	said, err := v.ask(ctx, at, asks)
	if err != nil {
		return err
	}
	var ticks []int32
	for i, b := range said {
		w, err := words(b, 1)
		if err != nil {
			return err
		}
		for k, part := range w[0] {
			for ; part != 0; part &= part - 1 {
				bit := int32(64*k + bits.TrailingZeros64(part))                //nolint:gosec // below 256
				ticks = append(ticks, ((first+int32(i))*256+bit)*pool.Spacing) //nolint:gosec // few words
			}
		}
	}
	asks = asks[:0]
	for _, t := range ticks {
		asks = append(asks, view{p.at, protocol.Data("ticks", big.NewInt(int64(t)))})
	}
	if said, err = v.ask(ctx, at, asks); err != nil {
		return err
	}
	for i, b := range said {
		w, err := words(b, 2)
		if err != nil {
			return err
		}
		t := amm.Tick{At: ticks[i], Gross: w[0], Net: amm.Net{Low: w[1][0], High: int64(w[1][1])}} //nolint:gosec // the bits are meant
		if t.Root, err = amm.RootAt(t.At); err != nil {
			return err
		}
		pool.Ticks = append(pool.Ticks, t)
	}
	return nil
}

// same reports whether two states of a pool are the same.
func (s state) same(o state) bool {
	if s.pair != nil || o.pair != nil {
		return s.pair != nil && o.pair != nil && *s.pair == *o.pair
	}
	a, b := s.pool, o.pool
	if a.Root != b.Root || a.Tick != b.Tick || a.Liquidity != b.Liquidity || a.Spacing != b.Spacing || a.Fee != b.Fee || len(a.Ticks) != len(b.Ticks) {
		return false
	}
	for i := range a.Ticks {
		if a.Ticks[i] != b.Ticks[i] {
			return false
		}
	}
	return true
}
