package sim

import (
	"context"
	"fmt"

	"ferry/internal/chain"
)

// Fate is what became of an attempt. Every answer hangs on the final block that a
// quorum agreed on: a node that does not have it on its branch has no vote, so
// being behind can never look like being dead.
func (c *Chain) Fate(ctx context.Context, a chain.Attempt) (chain.Status, error) {
	b, _, _, err := decode(a.Raw)
	if err != nil {
		return chain.Status{}, err
	}
	if txID(a.Raw) != a.Tx {
		return chain.Status{}, fmt.Errorf("%w: %s has other bytes", ErrBytes, a.Tx)
	}
	head, err := c.Head(ctx)
	if err != nil {
		return chain.Status{}, err
	}
	s, err := same(ctx, c, func(d *Node) (standing, error) { return d.standing(a.Tx, head.Final.Hash) })
	if err != nil {
		return chain.Status{}, err
	}
	if s.landed {
		fate := chain.Included
		if s.block.Height <= head.Final.Height {
			fate = chain.Final
			if s.failed {
				fate = chain.Reverted
			}
		}
		return chain.Status{Fate: fate, Block: s.block, Fee: s.fee}, nil
	}
	dead, err := c.dead(ctx, b, a, head.Final)
	switch {
	case err != nil:
		return chain.Status{}, err
	case dead:
		return chain.Status{Fate: chain.Dead}, nil
	case s.pending:
		return chain.Status{Fate: chain.Pending}, nil
	}
	return chain.Status{Fate: chain.Missing}, nil
}

// dead says whether an attempt that has not landed never will: what it needs was
// used up, or its time ran out, at or below a final block.
func (c *Chain) dead(ctx context.Context, b *body, a chain.Attempt, final chain.Block) (bool, error) {
	switch c.net.cfg.Shape {
	case Nonces:
		n, err := same(ctx, c, func(d *Node) (uint64, error) { return d.count(b.from, final.Hash) })
		return err == nil && n > b.nonce, err
	case Coins:
		for _, in := range b.ins {
			by, err := same(ctx, c, func(d *Node) (chain.TxID, error) { return d.spender(in.ref, final.Hash) })
			if err != nil {
				return false, err
			}
			if by != "" && by != a.Tx {
				return true, nil
			}
		}
		return false, nil
	}
	return final.Height >= b.expires, nil
}
