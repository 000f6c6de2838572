package uniswap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/contract"
	"ferry/internal/venue/uniswap/route"
)

const (
	remembered = 64  // worlds to go back to
	longest    = 256 // blocks to read events of; behind more everything is loaded anew
	named      = 200 // pools that are named in a question about logs; more ask for all
)

// Run follows the chain until it is told to end.
func (v *Venue) Run(ctx context.Context) error {
	t := time.NewTicker(v.cfg.Poll)
	defer t.Stop()
	quiet := true
	for {
		err := v.Sync(ctx, time.Now())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && quiet { // once for each time of trouble; quotes end by their age
			v.notice(common.Address{}, "the pools are not followed", err)
		}
		quiet = err == nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	}
}

// Sync brings the pools to the tip, and now and then compares one with its contract.
func (v *Venue) Sync(ctx context.Context, now time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	head, err := v.chain.Head(ctx)
	if err != nil {
		return fmt.Errorf("uniswap on %s: %w", v.cfg.Chain, err)
	}
	cur := v.now.Load()
	if cur == nil || cur.block.Hash != head.Tip.Hash {
		if cur, err = v.advance(ctx, head.Tip); err != nil {
			return fmt.Errorf("uniswap on %s: block %d: %w", v.cfg.Chain, head.Tip.Height, err)
		}
		cur.gas = v.gasPrice(ctx, v.now.Load())
		v.remember(cur)
	}
	if now.Sub(v.check) >= v.cfg.Check {
		v.check = now
		if err := v.compare(ctx, cur); err != nil {
			return fmt.Errorf("uniswap on %s: check: %w", v.cfg.Chain, err)
		}
	}
	return nil
}

// gasPrice is what a unit of gas costs, by what the plainest payment does. It only weighs
// ways against each other, so the last one does while it is not known.
func (v *Venue) gasPrice(ctx context.Context, before *world) float64 {
	const plain = 21_000
	cost, err := v.chain.Cost(ctx, chain.Call{Chain: v.cfg.Chain, From: hot, To: v.cfg.Own, Asset: v.cfg.Chain.Native(), Amount: money.FromUint64(1)})
	if err == nil {
		n := fromAmount(cost)
		return route.Float(&n) / plain
	}
	if before != nil {
		return before.gas
	}
	return 0
}

func (v *Venue) remember(w *world) {
	v.past = append(v.past, moment{w.block, w.states})
	if len(v.past) > remembered {
		v.past = slices.Delete(v.past, 0, len(v.past)-remembered)
	}
	v.now.Store(w)
}

// advance is the world of a tip: from the newest remembered moment that is still on its
// branch, or loaded anew.
func (v *Venue) advance(ctx context.Context, tip chain.Block) (*world, error) {
	from, err := v.ancestor(ctx, tip)
	if err != nil {
		return nil, err
	}
	if from == nil || tip.Height-from.block.Height > longest {
		return v.loadAll(ctx, tip)
	}
	if from.block.Hash == tip.Hash {
		return newWorld(v, tip, from.states, v.now.Load()), nil
	}
	q := chain.LogQuery{From: from.block.Height + 1, To: tip.Height, Topics: topics}
	if len(v.pools) <= named {
		for _, p := range v.pools {
			q.Addresses = append(q.Addresses, contract.Address(p.at))
		}
	}
	logs, err := v.chain.Logs(ctx, q)
	if err != nil {
		return nil, err
	}
	// The logs are those of this tip only if it was on the branch when they were read.
	if err := v.still(ctx, tip); err != nil {
		return nil, err
	}
	return v.follow(ctx, from, tip, logs)
}

var errBranch = errors.New("the branch changed while it was read")

func (v *Venue) still(ctx context.Context, b chain.Block) error {
	now, err := v.chain.Next(ctx, b.Height)
	if err == nil && now.Hash != b.Hash {
		err = errBranch
	}
	return err
}

// ancestor is the newest remembered moment on the branch of a tip; what is not on it is
// forgotten. Nil is none.
func (v *Venue) ancestor(ctx context.Context, tip chain.Block) (*moment, error) {
	for n := len(v.past); n > 0; n = len(v.past) {
		w := &v.past[n-1]
		if w.block.Hash == tip.Parent || w.block.Hash == tip.Hash {
			return w, nil
		}
		if w.block.Height < tip.Height {
			b, err := v.chain.Next(ctx, w.block.Height)
			if err != nil {
				return nil, err
			}
			if b.Hash == w.block.Hash {
				return w, nil
			}
		}
		v.past = v.past[:n-1]
	}
	return nil, nil
}

// follow applies what pools said since a moment.
func (v *Venue) follow(ctx context.Context, from *moment, tip chain.Block, logs []chain.Log) (*world, error) {
	states := slices.Clone(from.states)
	lost := map[int]error{}
	for i := range logs {
		l := &logs[i]
		place, ours := v.at[l.Address]
		if !ours || lost[place] != nil {
			continue
		}
		if l.Block.Height <= from.block.Height || l.Block.Height > tip.Height || l.Block.Height == tip.Height && l.Block.Hash != tip.Hash {
			return nil, errBranch
		}
		next, err := states[place].after(l)
		if err != nil {
			lost[place] = err
			continue
		}
		states[place] = next
	}
	for i, why := range lost {
		var err error
		if states[i], err = v.load(ctx, &v.pools[i], tip); err != nil {
			return nil, err
		}
		v.notice(v.pools[i].at, "what the pool said does not follow from what is known of it; it was loaded anew", why)
	}
	return newWorld(v, tip, states, v.now.Load()), nil
}

// loadAll reads every pool in the state of a block.
func (v *Venue) loadAll(ctx context.Context, tip chain.Block) (*world, error) {
	if v.pools[0].at == (common.Address{}) {
		if err := v.find(ctx, tip); err != nil {
			return nil, err
		}
	}
	states := make([]state, len(v.pools))
	for i := range v.pools {
		var err error
		if states[i], err = v.load(ctx, &v.pools[i], tip); err != nil {
			return nil, err
		}
	}
	v.past = nil
	return newWorld(v, tip, states, nil), nil
}

// compare holds one pool to its contract, another each time.
func (v *Venue) compare(ctx context.Context, w *world) error {
	v.turn = (v.turn + 1) % len(v.pools)
	i := v.turn
	real, err := v.load(ctx, &v.pools[i], w.block)
	if err != nil || real.same(w.states[i]) {
		return err
	}
	v.notice(v.pools[i].at, "the pool is not as its events said; it was loaded anew", nil)
	states := slices.Clone(w.states)
	states[i] = real
	// Whatever went wrong may be in all that is remembered.
	v.past = nil
	mended := newWorld(v, w.block, states, w)
	mended.gas = w.gas
	v.remember(mended)
	return nil
}
