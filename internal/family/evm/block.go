package evm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"

	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// fact is what a transaction of a block did, as far as its receipt says.
type fact struct {
	Hash    common.Hash
	To      *common.Address
	Value   *uint256.Int
	Data    []byte
	OK      bool
	GasUsed uint64
	Each    *uint256.Int // what a unit of gas cost by the receipt; nil is by the rules of the base fee
	Beside  *uint256.Int // what a rollup took beside the gas; nil is nothing
	Logs    []*types.Log
	From    *common.Address // who sent it, as a quorum says; nil is by the signature

	tx *types.Transaction // itself, where it is proven
}

// block is a block with what its transactions did.
type block struct {
	header
	facts []fact
	gifts types.Withdrawals // what the protocol itself paid out
}

// load gives a block by its hash.
func (c *Chain) load(ctx context.Context, hash string) (*block, error) {
	h, err := c.present(ctx, hash)
	if err != nil {
		return nil, err
	}
	return c.contents(ctx, h)
}

// present is the header of a block that a quorum has.
func (c *Chain) present(ctx context.Context, hash string) (header, error) {
	if !isHash(hash) {
		return header{}, fmt.Errorf("%q is no hash of a block", hash)
	}
	h, err := quorum.Same(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (header, error) {
		return c.byHash(ctx, n, hash)
	}))
	if err != nil {
		return header{}, fmt.Errorf("block %s: %w", hash, err)
	}
	return h, nil
}

// contents is what stands in a block: from any node, where the roots of the header
// prove it, or as a quorum tells it.
func (c *Chain) contents(ctx context.Context, h header) (*block, error) {
	if h.empty && (h.withdrawals == common.Hash{} || h.withdrawals == types.EmptyWithdrawalsHash) {
		return &block{header: h}, nil
	}
	if c.cfg.NoVerify {
		return c.agreed(ctx, h)
	}
	b, err := first(ctx, c, func(ctx context.Context, n *rpc.Node) (*block, error) { return c.proven(ctx, n, h) })
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", h.Hash, err)
	}
	return b, nil
}

// first asks one node after another until one answers what can be proven; the one
// that did so the last time is asked first.
func first[T any](ctx context.Context, c *Chain, ask func(ctx context.Context, n *rpc.Node) (T, error)) (T, error) {
	nodes := c.pool.Nodes()
	begin := int(c.lead.Load())
	var errs []error
	for i := range nodes {
		k := (begin + i) % len(nodes)
		v, err := ask(ctx, nodes[k])
		if err == nil {
			c.lead.Store(int64(k))
			return v, nil
		}
		errs = append(errs, err)
	}
	var none T
	return none, errors.Join(append(errs, quorum.ErrUnknown)...)
}

// body is what a block holds, as a node tells it.
type body struct {
	Transactions []*types.Transaction `json:"transactions"`
	Withdrawals  types.Withdrawals    `json:"withdrawals"`
}

// proven reads a block from a node and holds it against the header's roots.
func (c *Chain) proven(ctx context.Context, n *rpc.Node, h header) (*block, error) {
	var said *body
	var receipts []*types.Receipt
	if err := ask2(ctx, n, h.Hash, &said, &receipts); err != nil {
		return nil, err
	}
	b, err := c.prove(h, said, receipts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Name(), err)
	}
	return b, nil
}

// prove holds a block against the header's roots.
func (c *Chain) prove(h header, body *body, receipts []*types.Receipt) (*block, error) {
	if body == nil || slices.Contains(body.Transactions, nil) || slices.Contains(body.Withdrawals, nil) || slices.Contains(receipts, nil) {
		return nil, ErrBehind
	}
	txs := types.Transactions(body.Transactions)
	if types.DeriveSha(txs, trie.NewListHasher()) != h.txs {
		c.notice(Suspect{Block: h.Block, Reason: TxsForged})
		return nil, fmt.Errorf("%w: its transactions are others", ErrForged)
	}
	if h.withdrawals != (common.Hash{}) && types.DeriveSha(body.Withdrawals, trie.NewListHasher()) != h.withdrawals {
		c.notice(Suspect{Block: h.Block, Reason: TxsForged})
		return nil, fmt.Errorf("%w: its withdrawals are others", ErrForged)
	}
	receipts = inOrder(receipts, func(r *types.Receipt) int { return int(r.TransactionIndex) }) //nolint:gosec // a place in a block
	whole := len(receipts) == len(txs)
	for _, r := range receipts {
		logs, ok := tidy(r.Logs)
		r.Logs, whole = logs, whole && ok
	}
	if !whole || types.DeriveSha(types.Receipts(receipts), trie.NewListHasher()) != h.receipts {
		c.notice(Suspect{Block: h.Block, Reason: ReceiptForged})
		return nil, fmt.Errorf("%w: its receipts are others", ErrForged)
	}
	b := &block{header: h, facts: make([]fact, len(txs)), gifts: body.Withdrawals}
	var before uint64
	for i, tx := range txs {
		r := receipts[i]
		value, over := uint256.FromBig(tx.Value())
		if over {
			return nil, fmt.Errorf("%w: a value has no end", ErrForged)
		}
		// The hash and the place of a receipt are not under its root; the transaction's are.
		b.facts[i] = fact{
			Hash: tx.Hash(), To: tx.To(), Value: value, Data: tx.Data(), OK: r.Status == types.ReceiptStatusSuccessful,
			GasUsed: r.CumulativeGasUsed - before, Logs: r.Logs, tx: tx,
		}
		before = r.CumulativeGasUsed
	}
	return b, nil
}

// ask2 asks a node for the body of a block and for its receipts.
func ask2(ctx context.Context, n *rpc.Node, hash string, body, receipts any) error {
	return askAll(ctx, n, []rpc.Query{
		{Method: "eth_getBlockByHash", Params: []any{hash, true}, Out: body},
		{Method: "eth_getBlockReceipts", Params: []any{hash}, Out: receipts},
	}, nil)
}

// tidy puts the logs of a receipt in order. Logs that are missing, or of a block that
// was taken back, are no logs of this one.
func tidy(logs []*types.Log) ([]*types.Log, bool) {
	if slices.ContainsFunc(logs, func(l *types.Log) bool { return l == nil || l.Removed }) {
		return nil, false
	}
	return inOrder(logs, func(l *types.Log) int { return int(l.Index) }), true //nolint:gosec // a place in a block
}

// inOrder puts a list in its order and drops what is in it twice.
func inOrder[T any](list []T, index func(T) int) []T {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(index(a), index(b)) })
	return slices.CompactFunc(list, func(a, b T) bool { return index(a) == index(b) })
}

// plainTx and plainReceipt are what any chain's nodes can tell, whatever types of
// transactions it has.
type plainTx struct {
	Hash  common.Hash     `json:"hash"`
	From  *common.Address `json:"from"`
	To    *common.Address `json:"to"`
	Value *hexutil.U256   `json:"value"`
	Input hexutil.Bytes   `json:"input"`
}

type plainReceipt struct {
	Hash    common.Hash   `json:"transactionHash"`
	Status  quantity      `json:"status"`
	GasUsed quantity      `json:"gasUsed"`
	Each    *hexutil.U256 `json:"effectiveGasPrice"`
	L1Fee   *hexutil.U256 `json:"l1Fee"`
	Logs    []*types.Log  `json:"logs"`
}

// agreed is a block as a quorum tells it, where it cannot be proven.
func (c *Chain) agreed(ctx context.Context, h header) (*block, error) {
	type said struct {
		b   *block
		sum [sha256.Size]byte
	}
	s, err := quorum.Agree(c.pool.Rule(), rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (said, error) {
		b, err := c.plain(ctx, n, h)
		if err != nil {
			return said{}, err
		}
		text, err := json.Marshal(b.facts)
		return said{b, sha256.Sum256(text)}, err
	}), func(a, b said) bool { return a.sum == b.sum })
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", h.Hash, err)
	}
	return s.b, nil
}

func (c *Chain) plain(ctx context.Context, n *rpc.Node, h header) (*block, error) {
	var body *struct {
		Transactions []plainTx `json:"transactions"`
	}
	var receipts []plainReceipt
	if err := ask2(ctx, n, h.Hash, &body, &receipts); err != nil {
		return nil, err
	}
	if body == nil {
		return nil, ErrBehind
	}
	of := make(map[common.Hash]plainReceipt, len(receipts))
	for _, r := range receipts {
		logs, ok := tidy(r.Logs)
		if !ok {
			return nil, fmt.Errorf("%w: a log is none of the block", ErrForged)
		}
		r.Logs = nil
		for _, l := range logs { // only what must be the same everywhere
			r.Logs = append(r.Logs, &types.Log{Address: l.Address, Topics: l.Topics, Data: l.Data})
		}
		of[r.Hash] = r
	}
	b := &block{header: h, facts: make([]fact, len(body.Transactions))}
	for i, tx := range body.Transactions {
		r, ok := of[tx.Hash]
		if !ok || tx.Value == nil || tx.From == nil {
			return nil, fmt.Errorf("%w: a transaction has no receipt or no sender", ErrForged)
		}
		b.facts[i] = fact{
			Hash: tx.Hash, To: tx.To, Value: (*uint256.Int)(tx.Value), Data: tx.Input, OK: r.Status == 1,
			GasUsed: uint64(r.GasUsed), Each: (*uint256.Int)(r.Each), Beside: (*uint256.Int)(r.L1Fee), Logs: r.Logs,
			From: tx.From,
		}
	}
	return b, nil
}
