package evm

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// standing is where a transaction stands on the branch of a node. It can be compared.
type standing struct {
	landed  bool
	pending bool
	height  uint64
	hash    common.Hash
}

// Fate is what became of an attempt. Every answer hangs on the final block that a
// quorum agreed on: a node that does not have it has no vote, so being behind can
// never look like being dead.
func (c *Chain) Fate(ctx context.Context, a chain.Attempt) (chain.Status, error) {
	tx, err := c.readBack(a)
	if err != nil {
		return chain.Status{}, err
	}
	e, err := c.ends(ctx)
	if err != nil {
		return chain.Status{}, err
	}
	where, err := c.whereabouts(ctx, tx.Hash(), e.final)
	if err != nil {
		return chain.Status{}, fmt.Errorf("fate of %s: %w", a.Tx, err)
	}
	if where.landed {
		return c.landed(ctx, tx, where, e.final)
	}
	n, err := c.count(ctx, c.own, e.final)
	if err != nil {
		return chain.Status{}, err
	}
	if n > tx.Nonce() {
		return chain.Status{Fate: chain.Dead}, nil
	}
	return chain.Status{Fate: where.waiting()}, nil
}

// waiting is the fate of what is in no block.
func (s standing) waiting() chain.Fate {
	if s.pending {
		return chain.Pending
	}
	return chain.Missing
}

// whereabouts is where a transaction stands as a quorum says whose nodes all have the
// anchor. Pending is what a quorum has in its mempools.
func (c *Chain) whereabouts(ctx context.Context, tx common.Hash, anchor header) (standing, error) {
	said := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (standing, error) {
		return c.standing(ctx, n, tx, anchor)
	})
	where, err := quorum.Agree(c.pool.Rule(), said, func(a, b standing) bool {
		return a.landed == b.landed && a.height == b.height && a.hash == b.hash // mempools are never quite equal
	})
	if err != nil {
		return standing{}, err
	}
	waits := 0
	for _, s := range said {
		if s.Err == nil && s.Value.pending {
			waits++
		}
	}
	where.pending = waits >= c.pool.Rule().Need()
	return where, nil
}

// standing asks one node. The anchor is asked first, so that what follows is of a
// branch that has it.
func (c *Chain) standing(ctx context.Context, n *rpc.Node, tx common.Hash, anchor header) (standing, error) {
	var on *told
	var receipt *struct {
		Tx     common.Hash `json:"transactionHash"`
		Hash   common.Hash `json:"blockHash"`
		Height quantity    `json:"blockNumber"`
	}
	var known *struct {
		Height *quantity `json:"blockNumber"`
	}
	q := []rpc.Query{
		{Method: "eth_getBlockByNumber", Params: []any{hexutil.EncodeUint64(anchor.Height), false}, Out: &on},
		{Method: "eth_getTransactionReceipt", Params: []any{tx}, Out: &receipt},
		{Method: "eth_getTransactionByHash", Params: []any{tx}, Out: &known},
	}
	if err := askAll(ctx, n, q, nil); err != nil {
		return standing{}, err
	}
	h, err := c.checked(on)
	switch {
	case err != nil:
		return standing{}, err
	case !h.ok || h.Hash != anchor.Hash:
		return standing{}, ErrBehind
	case receipt != nil && receipt.Tx != tx:
		return standing{}, fmt.Errorf("%w: the receipt is another's", ErrForged)
	case receipt != nil:
		return standing{landed: true, hash: receipt.Hash, height: uint64(receipt.Height)}, nil
	case known != nil && known.Height != nil:
		// It threw the receipt away, or the block came between the two questions. To take
		// that for missing could pay a second time.
		return standing{}, fmt.Errorf("%w: it has the transaction in a block and no receipt", ErrBehind)
	}
	return standing{pending: known != nil}, nil
}

// landed judges a transaction that a quorum has in a block. What it did is read from
// the block itself, where the roots of the header prove it.
func (c *Chain) landed(ctx context.Context, tx *types.Transaction, where standing, final header) (chain.Status, error) {
	b, err := c.holding(ctx, where)
	if err != nil {
		return chain.Status{}, err
	}
	h := b.header
	for _, f := range b.facts {
		if f.Hash != tx.Hash() {
			continue
		}
		each := paid(tx, &h.baseFee)
		if f.Each != nil { // some rollups take no tip, whatever is offered
			each = f.Each
		}
		cost, err := fee(f.GasUsed, each)
		if err == nil && f.Beside != nil {
			cost, err = cost.Add(toAmount(f.Beside))
		}
		if err != nil {
			return chain.Status{}, err
		}
		s := chain.Status{Fate: chain.Included, Block: h.Block, Fee: cost}
		if h.Height <= final.Height {
			s.Fate = chain.Final
			if !f.OK || !c.kept(tx, f.Logs) {
				s.Fate = chain.Reverted
			}
		}
		return s, nil
	}
	return chain.Status{}, fmt.Errorf("%w: the block of %s does not have it", ErrForged, tx.Hash())
}

// holding is the block that a transaction stands in, with all that is in it.
func (c *Chain) holding(ctx context.Context, where standing) (*block, error) {
	h, err := c.height(ctx, where.height)
	if err != nil {
		return nil, err
	}
	if !h.ok || h.Hash != where.hash.Hex() {
		return nil, fmt.Errorf("%w: its block is not on the branch", quorum.ErrUnknown)
	}
	return c.load(ctx, h.Hash)
}

// paid is what a unit of gas cost in a block.
func paid(tx *types.Transaction, base *uint256.Int) *uint256.Int {
	tip, most := uint256.MustFromBig(tx.GasTipCap()), uint256.MustFromBig(tx.GasFeeCap())
	if each := new(uint256.Int).Add(base, tip); each.Lt(most) {
		return each
	}
	return most
}

// kept reports whether tokens moved as the transaction asked: a token may say yes and
// do nothing, so only what it emitted counts.
func (c *Chain) kept(tx *types.Transaction, logs []*types.Log) bool {
	want := c.promised(tx)
	for _, l := range logs {
		t, ok := readTransfer(l)
		if !ok {
			continue
		}
		for i, w := range want {
			if w.token == l.Address && w.from == t.from && w.to == t.to && w.amount.Eq(t.amount) {
				want = append(want[:i:i], want[i+1:]...)
				break
			}
		}
	}
	return len(want) == 0
}

// promise is a transfer of a token that a transaction asks for.
type promise struct {
	token common.Address
	transfer
}

// promised reads from the data of a transaction of ours which tokens it moves.
func (c *Chain) promised(tx *types.Transaction) []promise {
	if tx.To() == nil || len(tx.Data()) < 4 {
		return nil
	}
	if *tx.To() == c.sweeper {
		return slices.DeleteFunc(c.swept(tx.Data()), func(p promise) bool { return p.token == common.Address{} })
	}
	m, err := tokenContract.abi.MethodById(tx.Data())
	if _, listed := c.tokens[*tx.To()]; !listed || err != nil || m.Name != "transfer" {
		return nil
	}
	var in struct {
		To    common.Address
		Value *uint256.Int
	}
	args, err := m.Inputs.Unpack(tx.Data()[4:])
	if err != nil || len(args) != 2 {
		return nil
	}
	in.To, _ = args[0].(common.Address)
	in.Value = number(args[1])
	return []promise{{*tx.To(), transfer{from: c.own, to: in.To, amount: in.Value}}}
}
