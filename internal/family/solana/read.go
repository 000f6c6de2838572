package solana

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/watch"
)

// header is a block without what is in it, or the word that a slot has none.
type header struct {
	slot, parent, height uint64
	hash, prev           string
	time                 int64
	skipped              bool
}

func (h header) block() chain.Block {
	return chain.Block{Height: h.slot, Hash: h.hash, Parent: h.prev, Time: time.Unix(h.time, 0).UTC()}
}

// wireHeader is what a node says of a block.
type wireHeader struct {
	Blockhash         string  `json:"blockhash"`
	PreviousBlockhash string  `json:"previousBlockhash"`
	ParentSlot        uint64  `json:"parentSlot"`
	BlockHeight       *uint64 `json:"blockHeight"`
	BlockTime         *int64  `json:"blockTime"`
}

func (w wireHeader) read(slot uint64) (header, error) {
	if w.Blockhash == "" || w.PreviousBlockhash == "" || w.BlockHeight == nil || w.BlockTime == nil || (slot > 0 && w.ParentSlot >= slot) {
		return header{}, fmt.Errorf("%w: slot %d is not told whole", errMissing, slot)
	}
	return header{slot: slot, parent: w.ParentSlot, height: *w.BlockHeight, hash: w.Blockhash, prev: w.PreviousBlockhash, time: *w.BlockTime}, nil
}

// blockOf asks one node for a header.
func blockOf(ctx context.Context, n *rpc.Node, slot uint64, commitment string) (header, error) {
	var w wireHeader
	err := typed(n.Call(ctx, &w, "getBlock", slot, options{
		"commitment": commitment, "transactionDetails": "none", "rewards": false, "maxSupportedTransactionVersion": newestVersion,
	}))
	if errors.Is(err, errSkipped) {
		return header{slot: slot, skipped: true}, nil
	}
	if err != nil {
		return header{}, err
	}
	return w.read(slot)
}

// header is the block in a slot, or its absence, as enough nodes show it.
func (c *Chain) header(ctx context.Context, slot uint64, commitment string) (header, error) {
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (header, error) {
		return blockOf(ctx, n, slot, commitment)
	})
	h, err := quorum.Same(c.pool.Rule(), answers)
	if err != nil {
		return header{}, fmt.Errorf("slot %d: %w", slot, err)
	}
	return h, nil
}

// furthestBack is over how many empty slots the newest block is looked for.
const furthestBack = 64

// newest is the highest block at or below a slot that enough nodes have reached.
func (c *Chain) newest(ctx context.Context, slot uint64, commitment string) (header, error) {
	for range furthestBack {
		h, err := c.header(ctx, slot, commitment)
		if err != nil || !h.skipped || slot == 0 {
			return h, err
		}
		slot--
	}
	return header{}, fmt.Errorf("%w: no block in %d slots", quorum.ErrUnknown, furthestBack)
}

// Head is how far the cluster is. Nodes that say that less is final than was final
// before are behind, and say nothing of the head.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	final, err := c.finalHead(ctx)
	if err != nil {
		return chain.Head{}, fmt.Errorf("final block: %w", err)
	}
	tip, err := c.tip(ctx)
	if err != nil {
		return chain.Head{}, fmt.Errorf("newest block: %w", err)
	}
	if tip.slot < final.slot {
		return chain.Head{}, fmt.Errorf("%w: slot %d is final, and the newest is %d", quorum.ErrUnknown, final.slot, tip.slot)
	}
	return chain.Head{Tip: tip.block(), Final: final.block()}, nil
}

func (c *Chain) tip(ctx context.Context) (header, error) {
	slot, err := c.number(ctx, "getSlot", confirmed)
	if err != nil {
		return header{}, err
	}
	return c.newest(ctx, slot, confirmed)
}

func (c *Chain) finalHead(ctx context.Context) (header, error) {
	slot, err := c.number(ctx, "getSlot", finalized)
	if err != nil {
		return header{}, err
	}
	c.mu.Lock()
	known := c.final
	c.mu.Unlock()
	switch {
	case known.hash != "" && slot == known.slot:
		return known, nil
	case known.hash != "" && slot < known.slot:
		return header{}, fmt.Errorf("%w: slot %d was final, and now they say %d", quorum.ErrUnknown, known.slot, slot)
	}
	h, err := c.newest(ctx, slot, finalized)
	if err != nil {
		return header{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.final.hash == "" || h.slot > c.final.slot {
		c.final = h
	}
	return h, nil
}

// Next is the first block at or above a slot. That no slot before it has a block is
// proven by the parent that it names; a block in between that nodes do not have is an
// error, and is never stepped over.
func (c *Chain) Next(ctx context.Context, from uint64) (chain.Block, error) {
	tip, err := c.number(ctx, "getSlot", confirmed)
	if err != nil {
		return chain.Block{}, err
	}
	if from > tip {
		return chain.Block{}, watch.ErrNoBlock
	}
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (uint64, error) {
		var slots []uint64
		if err := n.Call(ctx, &slots, "getBlocksWithLimit", from, 1, options{"commitment": confirmed}); err != nil {
			return 0, typed(err)
		}
		if len(slots) == 0 || slots[0] < from {
			return 0, fmt.Errorf("%w: none from slot %d on", errMissing, from)
		}
		return slots[0], nil
	})
	slot, err := quorum.Same(c.pool.Rule(), answers)
	if err != nil {
		return chain.Block{}, fmt.Errorf("blocks from slot %d on: %w", from, err)
	}
	for {
		h, err := c.header(ctx, slot, confirmed)
		switch {
		case err != nil:
			return chain.Block{}, err
		case h.skipped:
			return chain.Block{}, fmt.Errorf("%w: the block in slot %d", errMissing, slot)
		case h.parent < from || slot == 0:
			return h.block(), nil
		}
		slot = h.parent // a list that left it out was not whole
	}
}
