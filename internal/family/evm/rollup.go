package evm

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

// What surrounds the data of a transaction of ours: its numbers and signatures, each
// about as long as it can be.
const (
	aroundTx   = 200
	aroundAuth = 130
)

// beside is what a rollup may take for the data of an errand, beside the gas. The price
// of data moves while a transaction waits, so twice the present one is set aside; what
// was really taken stands in the receipt.
func (c *Chain) beside(ctx context.Context, e *errand, tip header) (money.Amount, error) {
	if c.oracle == (common.Address{}) {
		return money.Amount{}, nil
	}
	// Bytes that cannot be packed well stand for what is not known yet.
	filler := make([]byte, len(e.data)+aroundTx+aroundAuth*len(e.auths))
	for i := range filler {
		filler[i] = byte(i*7 + 1) //nolint:gosec // any byte will do
	}
	copy(filler, e.data)
	data := append(selector("getL1Fee(bytes)"), common.LeftPadBytes([]byte{word32}, word32)...)
	data = append(data, common.LeftPadBytes(new(uint256.Int).SetUint64(uint64(len(filler))).Bytes(), word32)...)
	data = append(data, common.RightPadBytes(filler, (len(filler)+word32-1)/word32*word32)...)
	v, err := quorum.Middle(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (*uint256.Int, error) {
		var out word
		err := n.Call(ctx, &out, "eth_call", message{To: &c.oracle, Data: data}, at{tip.Hash})
		return (*uint256.Int)(&out), err
	}), (*uint256.Int).Cmp)
	if err != nil {
		return money.Amount{}, fmt.Errorf("price of data: %w", err)
	}
	const endless = 200
	if v.BitLen() > endless {
		return money.Amount{}, fmt.Errorf("%w: the price of data has no end", ErrForged)
	}
	return toAmount(new(uint256.Int).Lsh(v, 1)), nil
}
