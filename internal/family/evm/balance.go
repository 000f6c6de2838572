package evm

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

// branch names a block that must be on the branch of whoever answers, so that what was
// orphaned has no balances.
type branch struct {
	BlockHash string `json:"blockHash"`
	Canonical bool   `json:"requireCanonical"`
}

// asked is how many balances are asked for in one request.
const asked = 50

// Balances are what lies on each spot in the state of a block, as a quorum that has the
// block on its branch says.
func (c *Chain) Balances(ctx context.Context, spots []chain.Spot, at chain.Block) ([]money.Amount, error) {
	if !isHash(at.Hash) {
		return nil, fmt.Errorf("%q is no hash of a block", at.Hash)
	}
	for _, s := range spots {
		_, listed := c.tokens[common.HexToAddress(s.Asset.Ref)]
		switch {
		case s.Asset.Chain != c.cfg.ID || (!s.Asset.IsNative() && !listed):
			return nil, fmt.Errorf("%s is no asset of %s", s.Asset, c.cfg.ID)
		case !(Codec{}).made(s.Address):
			return nil, fmt.Errorf("%q is no address of %s", s.Address.Text(), c.cfg.ID)
		}
	}
	have, err := quorum.Agree(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) ([]uint256.Int, error) {
		out := make([]uint256.Int, 0, len(spots))
		for part := range slices.Chunk(spots, asked) {
			some, err := nodeBalances(ctx, n, part, branch{at.Hash, true})
			if err != nil {
				return nil, err
			}
			out = append(out, some...)
		}
		return out, nil
	}), slices.Equal)
	if err != nil {
		return nil, fmt.Errorf("balances at %s: %w", at.Hash, err)
	}
	out := make([]money.Amount, len(have))
	for i := range have {
		out[i] = toAmount(&have[i])
	}
	return out, nil
}

// nodeBalances are balances as one node tells them.
func nodeBalances(ctx context.Context, n *rpc.Node, spots []chain.Spot, on any) ([]uint256.Int, error) {
	q := make([]rpc.Query, len(spots))
	coins, words := make([]hexutil.U256, len(spots)), make([]word, len(spots))
	for i, s := range spots {
		who := common.HexToAddress(s.Address.Text())
		if s.Asset.IsNative() {
			q[i] = rpc.Query{Method: "eth_getBalance", Params: []any{who, on}, Out: &coins[i]}
			continue
		}
		data := append(selector("balanceOf(address)"), common.LeftPadBytes(who[:], word32)...)
		q[i] = rpc.Query{Method: "eth_call", Params: []any{message{To: ptr(common.HexToAddress(s.Asset.Ref)), Data: data}, on}, Out: &words[i]}
	}
	if err := n.Batch(ctx, q); err != nil {
		return nil, err
	}
	out := make([]uint256.Int, len(spots))
	for i, x := range q {
		if x.Err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name(), typed(x.Err))
		}
		out[i] = uint256.Int(coins[i])
		if !spots[i].Asset.IsNative() {
			out[i] = uint256.Int(words[i])
		}
	}
	return out, nil
}
