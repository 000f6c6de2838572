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
	"ferry/internal/send"
)

// count is how many transactions an account has sent, in the state of a block.
func (c *Chain) count(ctx context.Context, a common.Address, on header) (uint64, error) {
	n, err := quorum.Same(c.pool.Rule(), rpc.All[quantity](ctx, c.pool, "eth_getTransactionCount", a, at{on.Hash}))
	if err != nil {
		return 0, fmt.Errorf("nonce: %w", err)
	}
	return uint64(n), nil
}

// affords says whether there is what a call takes, counting only what is final and
// not gone again since.
func (c *Chain) affords(ctx context.Context, call chain.Call, e ends, cost money.Amount) error {
	type need struct {
		who   common.Address
		asset chain.Asset
		least *uint256.Int
	}
	coins := toInt(cost)
	var needs []need
	switch {
	case len(call.Sources) > 0:
		for _, s := range call.Sources {
			needs = append(needs, need{common.HexToAddress(s.Address.Text()), call.Asset, toInt(s.Amount)})
		}
	case call.Asset.IsNative():
		if _, over := coins.AddOverflow(coins, toInt(call.Amount)); over {
			return fmt.Errorf("%w: more than can be counted", send.ErrNoFunds)
		}
	default:
		needs = append(needs, need{c.own, call.Asset, toInt(call.Amount)})
	}
	needs = append(needs, need{c.own, c.cfg.ID.Native(), coins})
	have, err := quorum.Agree(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) ([]uint256.Int, error) {
		var q []rpc.Query
		coins, words := make([]hexutil.U256, 2*len(needs)), make([]word, 2*len(needs))
		for i, x := range needs {
			for j, on := range []string{e.final.Hash, e.tip.Hash} {
				k := 2*i + j
				if x.asset.IsNative() {
					q = append(q, rpc.Query{Method: "eth_getBalance", Params: []any{x.who, at{on}}, Out: &coins[k]})
					continue
				}
				data := append(selector("balanceOf(address)"), common.LeftPadBytes(x.who[:], word32)...)
				q = append(q, rpc.Query{Method: "eth_call", Params: []any{message{To: ptr(common.HexToAddress(x.asset.Ref)), Data: data}, at{on}}, Out: &words[k]})
			}
		}
		if err := askAll(ctx, n, q, nil); err != nil {
			return nil, err
		}
		out := make([]uint256.Int, len(q))
		for k := range q {
			out[k] = uint256.Int(coins[k])
			if !needs[k/2].asset.IsNative() {
				out[k] = uint256.Int(words[k])
			}
		}
		return out, nil
	}), slices.Equal)
	if err != nil {
		return fmt.Errorf("funds: %w", err)
	}
	for k := range have {
		x := needs[k/2]
		if have[k].Lt(x.least) && x.who != c.own { // others than us may not fill it up again
			return fmt.Errorf("%w: a deposit address has %s of the %s that are to come home", send.ErrRefused, have[k].Dec(), x.least.Dec())
		}
		if have[k].Lt(x.least) {
			return fmt.Errorf("%w: there are %s of the %s that are needed of %s", send.ErrNoFunds, have[k].Dec(), x.least.Dec(), x.asset)
		}
	}
	return nil
}
