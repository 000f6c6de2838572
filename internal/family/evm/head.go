package evm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/watch"
)

// header is what we need of a block's header. It can be compared.
type header struct {
	chain.Block
	ok                                bool // false where a node says that there is no such block
	state, txs, receipts, withdrawals common.Hash
	baseFee                           uint256.Int
	empty                             bool
}

// told is a block's header as a node tells it.
type told struct {
	head types.Header
	hash common.Hash
}

// UnmarshalJSON reads the header and the hash that the node says it has.
func (t *told) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &t.head); err != nil {
		return err
	}
	var said struct {
		Hash *common.Hash `json:"hash"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return err
	}
	if said.Hash != nil { // a block that is not mined yet has none
		t.hash = *said.Hash
	}
	return nil
}

// checked reads what a node told: the hash must be that of the header.
func (c *Chain) checked(t *told) (header, error) {
	if t == nil {
		return header{}, nil
	}
	if !c.cfg.NoVerify && t.head.Hash() != t.hash {
		c.notice(Suspect{Block: chain.Block{Hash: t.hash.Hex()}, Reason: HeaderForged})
		return header{}, fmt.Errorf("%w: its header has another hash", ErrForged)
	}
	h := header{
		Block: chain.Block{
			Height: t.head.Number.Uint64(), Hash: t.hash.Hex(), Parent: t.head.ParentHash.Hex(),
			Time: time.Unix(int64(t.head.Time), 0).UTC(), //nolint:gosec // times of blocks are near ours
		},
		ok: true, state: t.head.Root, txs: t.head.TxHash, receipts: t.head.ReceiptHash,
		empty: t.head.TxHash == types.EmptyTxsHash,
	}
	if t.head.WithdrawalsHash != nil {
		h.withdrawals = *t.head.WithdrawalsHash
	}
	if t.head.BaseFee != nil {
		if h.baseFee.SetFromBig(t.head.BaseFee) {
			return header{}, fmt.Errorf("%w: its base fee has no end", ErrForged)
		}
	}
	return h, nil
}

// byNumber asks one node for a block on its branch, by number or by tag.
func (c *Chain) byNumber(ctx context.Context, n *rpc.Node, which string) (header, error) {
	var t *told
	if err := n.Call(ctx, &t, "eth_getBlockByNumber", which, false); err != nil {
		return header{}, err
	}
	return c.checked(t)
}

// byHash asks one node for a block by its hash.
func (c *Chain) byHash(ctx context.Context, n *rpc.Node, hash string) (header, error) {
	var t *told
	if err := n.Call(ctx, &t, "eth_getBlockByHash", hash, false); err != nil {
		return header{}, err
	}
	h, err := c.checked(t)
	switch {
	case err != nil:
		return header{}, err
	case !h.ok:
		return header{}, ErrBehind
	case h.Hash != hash:
		c.notice(Suspect{Block: h.Block, Reason: HeaderForged})
		return header{}, fmt.Errorf("%w: it is another block", ErrForged)
	}
	return h, nil
}

// height is the block at a height, as a quorum has it.
func (c *Chain) height(ctx context.Context, n uint64) (header, error) {
	return quorum.Same(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, node *rpc.Node) (header, error) {
		h, err := c.byNumber(ctx, node, hexutil.EncodeUint64(n))
		if err == nil && h.ok && h.Height != n {
			err = fmt.Errorf("%w: it has another height", ErrForged)
		}
		return h, err
	}))
}

// ends are the two ends of what is known: the tip and the final block.
type ends struct{ tip, final header }

// nodeEnds are the ends as one node has them.
func (c *Chain) nodeEnds(ctx context.Context, n *rpc.Node) (e ends, err error) {
	var tip, final *told
	q := []rpc.Query{{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Out: &tip}}
	if c.cfg.Tag != "" {
		q = append(q, rpc.Query{Method: "eth_getBlockByNumber", Params: []any{c.cfg.Tag, false}, Out: &final})
	}
	if err := n.Batch(ctx, q); err != nil {
		return ends{}, err
	}
	if q[0].Err != nil {
		return ends{}, q[0].Err
	}
	if e.tip, err = c.checked(tip); err != nil || !e.tip.ok {
		return ends{}, orBehind(err)
	}
	switch {
	case final != nil:
		e.final, err = c.checked(final)
	case c.cfg.Depth > 0: // the node knows no such tag
		e.final, err = c.byNumber(ctx, n, hexutil.EncodeUint64(e.tip.Height-min(e.tip.Height, c.cfg.Depth)))
	default:
		err = q[len(q)-1].Err
	}
	if err != nil || !e.final.ok {
		return ends{}, orBehind(err)
	}
	return e, nil
}

func orBehind(err error) error {
	if err == nil {
		err = ErrBehind
	}
	return err
}

// Head is how far the chain is.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	e, err := c.ends(ctx)
	return chain.Head{Tip: e.tip.Block, Final: e.final.Block}, err
}

// ends are the tip and the final block that a quorum has reached. Nodes that are
// behind can make the tip older than it is, but never take back what was final.
func (c *Chain) ends(ctx context.Context) (ends, error) {
	said := rpc.Each(ctx, c.pool, c.nodeEnds)
	e, err := quorum.Same(c.pool.Rule(), said)
	if err != nil { // they are at different heights, or one of them lies
		e, err = c.common(ctx, said)
	}
	if err != nil {
		return ends{}, err
	}
	return c.keepFinal(ctx, e)
}

// common is the highest that a quorum has reached.
func (c *Chain) common(ctx context.Context, said []quorum.Answer[ends]) (e ends, err error) {
	reached := func(of func(ends) header) (header, error) {
		heights := make([]quorum.Answer[uint64], len(said))
		for i, a := range said {
			heights[i] = quorum.Answer[uint64]{Value: of(a.Value).Height, Err: a.Err}
		}
		n, err := quorum.Reached(c.pool.Rule(), heights)
		if err != nil {
			return header{}, err
		}
		h, err := c.height(ctx, n)
		if err == nil && !h.ok {
			err = fmt.Errorf("%w: no block at height %d", quorum.ErrUnknown, n)
		}
		return h, err
	}
	if e.tip, err = reached(func(e ends) header { return e.tip }); err != nil {
		return ends{}, err
	}
	e.final, err = reached(func(e ends) header { return e.final })
	return e, err
}

// keepFinal never lets what was final move back, unless a quorum shows another block
// in its place: then the chain broke its word, and the caller must see that.
func (c *Chain) keepFinal(ctx context.Context, e ends) (ends, error) {
	c.mu.Lock()
	kept := c.final
	c.mu.Unlock()
	if e.final.Height < kept.Height {
		h, err := c.height(ctx, kept.Height)
		if err != nil {
			return ends{}, err
		}
		if !h.ok || (h.Hash == kept.Hash && e.tip.Height < kept.Height) {
			return ends{}, fmt.Errorf("%w: the nodes are behind height %d, which is final", quorum.ErrUnknown, kept.Height)
		}
		if h.Hash == kept.Hash {
			e.final = kept
			return e, nil
		}
	}
	if e.tip.Height < e.final.Height {
		return ends{}, fmt.Errorf("%w: the tip is below what is final", quorum.ErrUnknown)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.final == kept {
		c.final = e.final
	}
	return e, nil
}

// Next is the block at a height; watch.ErrNoBlock only when a quorum says that there
// is none yet. Heights of this family have no gaps.
func (c *Chain) Next(ctx context.Context, from uint64) (chain.Block, error) {
	h, err := c.height(ctx, from)
	if err == nil && !h.ok {
		err = watch.ErrNoBlock
	}
	return h.Block, err
}
