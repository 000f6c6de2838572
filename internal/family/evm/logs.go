package evm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// widest is how many blocks a node is asked about in one request. Many refuse more, and
// some refuse far fewer when much was said in them.
const widest = 2000

// Logs are what contracts said in a span of blocks, in their order, as a quorum tells it
// that has the last of the blocks on its branch. Of each log's block only its height and
// its hash are told. A node that does not have the span has no vote, so that being behind
// never looks like silence; a span that is not there yet is an error.
func (c *Chain) Logs(ctx context.Context, q chain.LogQuery) ([]chain.Log, error) {
	f, err := c.filter(q)
	if err != nil {
		return nil, err
	}
	var out []chain.Log
	for from := q.From; from <= q.To; from += widest {
		part := *f
		part.from, part.to = from, min(q.To, from+widest-1)
		some, err := c.span(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("logs of blocks %d to %d: %w", part.from, part.to, err)
		}
		out = append(out, some...)
	}
	return out, nil
}

// filter is a question about a span.
type filter struct {
	from, to  uint64
	addresses []common.Address
	topics    []common.Hash
}

func (c *Chain) filter(q chain.LogQuery) (*filter, error) {
	if q.From > q.To {
		return nil, fmt.Errorf("blocks %d to %d are no span", q.From, q.To)
	}
	f := &filter{}
	for _, a := range q.Addresses {
		if !(Codec{}).made(a) {
			return nil, fmt.Errorf("%q is no address of %s", a.Text(), c.cfg.ID)
		}
		f.addresses = append(f.addresses, common.HexToAddress(a.Text()))
	}
	for _, t := range q.Topics {
		f.topics = append(f.topics, common.Hash(t))
	}
	return f, nil
}

// span is a part of Logs that is asked for at once.
func (c *Chain) span(ctx context.Context, f filter) ([]chain.Log, error) {
	end, err := c.height(ctx, f.to)
	if err != nil {
		return nil, err
	}
	if !end.ok {
		return nil, fmt.Errorf("%w: there is no block %d yet", ErrBehind, f.to)
	}
	return quorum.Agree(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) ([]chain.Log, error) {
		said, err := c.nodeLogs(ctx, n, f, end)
		if err != nil {
			return nil, err
		}
		return f.judge(said, end)
	}), func(a, b []chain.Log) bool { return slices.EqualFunc(a, b, sameLog) })
}

// nodeLogs asks one node, and asks it again for halves when it refuses the whole. The
// end of the span is asked for before and after, so that a branch that changes between
// the questions does not give a list of both.
func (c *Chain) nodeLogs(ctx context.Context, n *rpc.Node, f filter, end header) ([]*types.Log, error) {
	var before, after *told
	var said []*types.Log
	ask := map[string]any{"fromBlock": hexutil.EncodeUint64(f.from), "toBlock": hexutil.EncodeUint64(f.to)}
	if len(f.addresses) > 0 {
		ask["address"] = f.addresses
	}
	if len(f.topics) > 0 {
		ask["topics"] = [][]common.Hash{f.topics}
	}
	anchor := []any{hexutil.EncodeUint64(end.Height), false}
	err := askAll(ctx, n, []rpc.Query{
		{Method: "eth_getBlockByNumber", Params: anchor, Out: &before},
		{Method: "eth_getLogs", Params: []any{ask}, Out: &said},
		{Method: "eth_getBlockByNumber", Params: anchor, Out: &after},
	}, nil)
	var refused *rpc.Error
	if errors.As(err, &refused) && f.from < f.to {
		left, right := f, f
		left.to = f.from + (f.to-f.from)/2
		right.from = left.to + 1
		some, err := c.nodeLogs(ctx, n, left, end)
		if err != nil {
			return nil, err
		}
		more, err := c.nodeLogs(ctx, n, right, end)
		return append(some, more...), err
	}
	if err != nil {
		return nil, err
	}
	for _, t := range []*told{before, after} {
		h, err := c.checked(t)
		if err != nil {
			return nil, err
		}
		if !h.ok || h.Hash != end.Hash {
			return nil, ErrBehind
		}
	}
	return said, nil
}

// judge puts what a node told in order, and takes nothing that was not asked for.
func (f *filter) judge(said []*types.Log, end header) ([]chain.Log, error) {
	out := make([]chain.Log, 0, len(said))
	for _, l := range said {
		switch {
		case l == nil || l.Removed || l.BlockNumber < f.from || l.BlockNumber > f.to,
			l.BlockNumber == end.Height && l.BlockHash.Hex() != end.Hash,
			len(f.addresses) > 0 && !slices.Contains(f.addresses, l.Address),
			len(f.topics) > 0 && (len(l.Topics) == 0 || !slices.Contains(f.topics, l.Topics[0])):
			return nil, fmt.Errorf("%w: a log is none of those that were asked for", ErrForged)
		}
		b := chain.Block{Height: l.BlockNumber, Hash: l.BlockHash.Hex()}
		out = append(out, toLog(l, txID(l.TxHash), b, uint64(l.Index)))
	}
	slices.SortStableFunc(out, func(a, b chain.Log) int {
		return cmp.Or(cmp.Compare(a.Block.Height, b.Block.Height), cmp.Compare(a.Index, b.Index))
	})
	out = slices.CompactFunc(out, sameLog)
	for i := range out[:max(len(out), 1)-1] {
		if out[i].Block.Height == out[i+1].Block.Height && (out[i].Index == out[i+1].Index || out[i].Block.Hash != out[i+1].Block.Hash) {
			return nil, fmt.Errorf("%w: two logs have one place", ErrForged)
		}
	}
	return out, nil
}

func sameLog(a, b chain.Log) bool {
	return a.Address == b.Address && a.Tx == b.Tx && a.Block == b.Block && a.Index == b.Index &&
		slices.Equal(a.Topics, b.Topics) && bytes.Equal(a.Data, b.Data)
}
