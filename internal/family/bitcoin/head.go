package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/watch"
)

// ErrStale: the newest block is too old: the nodes are cut off, or the network stands.
var ErrStale = errors.New("bitcoin: the newest block is too old")

// errSyncing: a node that is still catching up has no say.
var errSyncing = errors.New("bitcoin: the node is still catching up")

// Head is how far the chain is. The tip is the highest block that enough nodes have;
// the final one stands below it by the chain of hashes, so no node can put another
// in its place.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	height, err := c.reached(ctx)
	if err != nil {
		return chain.Head{}, err
	}
	tip, err := c.common(ctx, height)
	if err != nil {
		return chain.Head{}, err
	}
	if age := time.Since(tip.Time); c.cfg.MaxTipAge > 0 && age > c.cfg.MaxTipAge {
		return chain.Head{}, fmt.Errorf("%w: %s", ErrStale, age.Round(time.Minute))
	}
	final := tip
	for range c.cfg.FinalDepth {
		if final.Height == 0 {
			break
		}
		if final, err = c.header(ctx, final.Parent, final.Height-1); err != nil {
			return chain.Head{}, err
		}
	}
	return c.keepFinal(ctx, chain.Head{Tip: tip, Final: final})
}

// reached is the highest height that enough nodes have reached.
func (c *Chain) reached(ctx context.Context) (uint64, error) {
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (uint64, error) {
		var info struct {
			Blocks   uint64  `json:"blocks"`
			Syncing  bool    `json:"initialblockdownload"`
			Progress float64 `json:"verificationprogress"`
		}
		if err := n.Call(ctx, &info, "getblockchaininfo"); err != nil {
			return 0, classify(err)
		}
		if info.Syncing || info.Progress < 0.99 {
			return 0, fmt.Errorf("%s: %w", n.Name(), errSyncing)
		}
		return info.Blocks, nil
	})
	return quorum.Reached(c.pool.Rule(), answers)
}

// mostForked is how many blocks below the tip nodes are asked to agree, while two
// miners' newest blocks race.
const mostForked = 2

// common is the highest block, at or a little below a height, that enough nodes have.
func (c *Chain) common(ctx context.Context, height uint64) (chain.Block, error) {
	var errs []error
	for below := uint64(0); below <= min(mostForked, height); below++ {
		hash, err := c.hashAt(ctx, height-below)
		if err == nil && hash == "" {
			err = fmt.Errorf("%w: the nodes went back below height %d", quorum.ErrUnknown, height-below)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		return c.header(ctx, hash, height-below)
	}
	return chain.Block{}, errors.Join(errs...)
}

// hashAt is the block that enough nodes have at a height; empty if they have none.
func (c *Chain) hashAt(ctx context.Context, height uint64) (string, error) {
	return same(ctx, c, func(ctx context.Context, n *rpc.Node) (string, error) {
		var hash string
		err := classify(n.Call(ctx, &hash, "getblockhash", height))
		if errors.Is(err, errHigh) {
			return "", nil
		}
		if err == nil && len(hash) != 2*chainhash.HashSize {
			err = fmt.Errorf("%s: %q is no hash", n.Name(), hash)
		}
		return hash, err
	})
}

// keepFinal never lets what was final move back while it stands: nodes that fell
// behind say nothing. Where enough of them show another block in its place the chain
// broke its word, and the caller must see that.
func (c *Chain) keepFinal(ctx context.Context, h chain.Head) (chain.Head, error) {
	c.mu.Lock()
	kept := c.final
	c.mu.Unlock()
	broke := false
	if h.Final.Height < kept.Height {
		hash, err := c.hashAt(ctx, kept.Height)
		if err != nil {
			return chain.Head{}, err
		}
		if hash == kept.Hash || hash == "" {
			return chain.Head{}, fmt.Errorf("%w: the nodes are behind height %d, which is final", quorum.ErrUnknown, kept.Height)
		}
		broke = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if broke || h.Final.Height >= c.final.Height { // another caller may be further
		c.final = h.Final
	}
	return h, nil
}

// Next is the block at a height on the branch that enough nodes have.
func (c *Chain) Next(ctx context.Context, from uint64) (chain.Block, error) {
	hash, err := c.hashAt(ctx, from)
	switch {
	case err != nil:
		return chain.Block{}, err
	case hash == "":
		return chain.Block{}, watch.ErrNoBlock
	}
	return c.header(ctx, hash, from)
}

// header is a block by its hash. One node is enough to ask, since the header must
// have the hash; that a block with that hash stands at that height, others said.
func (c *Chain) header(ctx context.Context, text string, height uint64) (chain.Block, error) {
	hash, err := chainhash.NewHashFromStr(text)
	if err != nil || len(text) != 2*chainhash.HashSize {
		return chain.Block{}, fmt.Errorf("bitcoin: %q is no hash of a block", text)
	}
	if b, ok := c.headers.get(*hash); ok {
		b.Height = height
		return b, nil
	}
	b, err := first(ctx, c, func(ctx context.Context, n *rpc.Node) (chain.Block, error) {
		var said string
		if err := n.Call(ctx, &said, "getblockheader", text, false); err != nil {
			return chain.Block{}, classify(err)
		}
		raw, err := hex.DecodeString(said)
		if err != nil || len(raw) != wire.MaxBlockHeaderPayload {
			return chain.Block{}, forged("its header can not be read")
		}
		var h wire.BlockHeader
		if err := h.Deserialize(bytes.NewReader(raw)); err != nil {
			return chain.Block{}, forged("its header can not be read")
		}
		return place(&h, text), proven(&h, *hash, c.params.PowLimit)
	})
	if err != nil {
		return chain.Block{}, fmt.Errorf("block %s: %w", text, err)
	}
	c.headers.put(*hash, b, 1)
	b.Height = height
	return b, nil
}

func place(h *wire.BlockHeader, hash string) chain.Block {
	b := chain.Block{Hash: hash, Time: h.Timestamp.UTC()}
	if h.PrevBlock != (chainhash.Hash{}) {
		b.Parent = h.PrevBlock.String()
	}
	return b
}
