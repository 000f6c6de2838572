package evm

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"ferry/internal/chain"
)

// Receipt is what became of a transaction, whoever sent it, and what it said. Like Fate
// it hangs on a final block that a quorum has, and what the transaction did is read from
// its block, where the roots of the header prove it. Missing is that a quorum knows of no
// such transaction; what is not known is an error.
func (c *Chain) Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error) {
	if !isHash(string(tx)) {
		return chain.Receipt{}, fmt.Errorf("%.80q is no transaction of %s", tx, c.cfg.ID)
	}
	hash := common.HexToHash(string(tx))
	e, err := c.ends(ctx)
	if err != nil {
		return chain.Receipt{}, fmt.Errorf("receipt of %s: %w", tx, err)
	}
	where, err := c.whereabouts(ctx, hash, e.final)
	if err != nil {
		return chain.Receipt{}, fmt.Errorf("receipt of %s: %w", tx, err)
	}
	if !where.landed {
		return chain.Receipt{Tx: txID(hash), Fate: where.waiting()}, nil
	}
	b, err := c.holding(ctx, where)
	if err != nil {
		return chain.Receipt{}, fmt.Errorf("receipt of %s: %w", tx, err)
	}
	r, err := c.receipt(b, hash)
	if err != nil {
		return chain.Receipt{}, err
	}
	if b.Height <= e.final.Height {
		if r.Fate = chain.Final; !r.ok {
			r.Fate = chain.Reverted
		}
	}
	return r.Receipt, nil
}

// outcome is a receipt and whether the transaction went well.
type outcome struct {
	chain.Receipt
	ok bool
}

// receipt is that of a transaction in its block. The number of a log is not under the
// root, so it is counted here.
func (c *Chain) receipt(b *block, hash common.Hash) (outcome, error) {
	before := uint64(0)
	for _, f := range b.facts {
		if f.Hash != hash {
			before += uint64(len(f.Logs))
			continue
		}
		from, err := c.sender(f)
		if err != nil {
			return outcome{}, fmt.Errorf("receipt of %s: %w", hash, err)
		}
		out := outcome{ok: f.OK, Receipt: chain.Receipt{
			Tx: txID(hash), Fate: chain.Included, Block: b.Block, From: canonical(from), Value: toAmount(f.Value), Data: f.Data,
		}}
		if f.To != nil {
			out.To = canonical(*f.To)
		}
		if !f.OK { // it has none, whatever a node says where nothing is proven
			return out, nil
		}
		for i, l := range f.Logs {
			out.Logs = append(out.Logs, toLog(l, out.Tx, b.Block, before+uint64(i))) //nolint:gosec // a place in a list
		}
		return out, nil
	}
	return outcome{}, fmt.Errorf("%w: the block of %s does not have it", ErrForged, hash)
}

// sender is who sent a transaction.
func (c *Chain) sender(f fact) (common.Address, error) {
	if f.tx == nil {
		return *f.From, nil
	}
	from, err := types.Sender(c.rules, f.tx)
	if err != nil {
		return common.Address{}, fmt.Errorf("its sender: %w", err)
	}
	return from, nil
}

func toLog(l *types.Log, tx chain.TxID, b chain.Block, index uint64) chain.Log {
	out := chain.Log{Address: canonical(l.Address), Data: l.Data, Tx: tx, Block: b, Index: index}
	for _, t := range l.Topics {
		out.Topics = append(out.Topics, chain.Word(t))
	}
	return out
}
