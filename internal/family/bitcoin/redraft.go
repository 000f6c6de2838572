package bitcoin

import (
	"context"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// Redraft signs an attempt that spends a coin of prev, so that only one of the two
// can land. It takes the same coins, and more only where these do not pay for it.
//
// Where no coin helps it is ErrTooDear and never less for the recipient. What waits
// then can still be lifted by a sweep of its own change: see lift.
func (c *Chain) Redraft(ctx context.Context, call chain.Call, prev chain.Attempt, most money.Amount) (chain.Attempt, error) {
	e, err := c.examine(call)
	if err != nil {
		return chain.Attempt{}, err
	}
	tx, err := attempted(prev)
	if err != nil {
		return chain.Attempt{}, err
	}
	coins, err := c.shared(ctx, e, tx)
	if err != nil {
		return chain.Attempt{}, err
	}
	old := rival{fee: budget(prev.Fee), size: virtual(tx)}
	e.most = min(budget(most), feeAt(c.cfg.MaxRate, old.size))
	if p, ok := outbid(coins, e.bill, old); ok {
		return c.sign(ctx, e, p)
	}
	if e.most < old.fee+feeAt(relayStep, old.size) || len(call.Sources) > 0 {
		return chain.Attempt{}, fmt.Errorf("%w: %d cannot replace a fee of %d", send.ErrTooDear, e.most, old.fee)
	}
	head, err := c.Head(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	more, err := c.free(ctx, head, c.others(prev.Slots))
	if err != nil {
		return chain.Attempt{}, err
	}
	for i := range more {
		if len(coins)+i >= maxInputs {
			break
		}
		if p, ok := outbid(slices.Concat(coins, more[:i+1]), e.bill, old); ok {
			return c.sign(ctx, e, p)
		}
	}
	return chain.Attempt{}, fmt.Errorf("%w: the coins we have cannot replace a fee of %d with %d", send.ErrTooDear, old.fee, e.most)
}

// others are the slots that a bump must leave alone.
func (c *Chain) others(ours []chain.Slot) []chain.Slot {
	c.purse.mu.Lock()
	defer c.purse.mu.Unlock()
	out := slices.Clone(ours) // they are in it already
	for s := range c.purse.busy {
		out = append(out, s)
	}
	return out
}

// attempted reads an attempt of ours from its bytes.
func attempted(a chain.Attempt) (*wire.MsgTx, error) {
	tx, err := parseTx(a.Raw)
	if err != nil {
		return nil, err
	}
	if tx.TxHash().String() != string(a.Tx) {
		return nil, fmt.Errorf("%w: they are not %s", ErrBytes, a.Tx)
	}
	return tx, nil
}

// shared are the coins of an attempt as the chain has them. A cancel does without
// those that are not there; whatever pays needs all.
func (c *Chain) shared(ctx context.Context, e errand, tx *wire.MsgTx) ([]coin, error) {
	var list []wire.OutPoint
	for _, in := range tx.TxIn {
		list = append(list, in.PreviousOutPoint)
	}
	seen, err := c.look(ctx, list, false)
	if err != nil {
		return nil, err
	}
	var coins []coin
	for _, o := range list {
		s := seen[o]
		if !s.there {
			if e.Amount.IsZero() {
				continue
			}
			return nil, fmt.Errorf("%w: a coin of it is spent or not there", send.ErrLive)
		}
		if _, ours := c.keyOf(e, s.coin); !ours {
			// Bringing home is cancelled by nobody: it pays ourselves as it is.
			return nil, fmt.Errorf("%w: it brings home what a cancel has no key for", send.ErrLive)
		}
		coins = append(coins, s.coin)
	}
	if len(coins) == 0 {
		return nil, fmt.Errorf("%w: its coins are spent or not there", send.ErrLive)
	}
	return coins, nil
}
