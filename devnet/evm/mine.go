package evm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/beacon/engine"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/miner"
)

// making is how blocks are made.
type making struct {
	N           int                 `json:"n"`
	Empty       bool                `json:"empty"`
	FeeTo       common.Address      `json:"feeTo"`
	Withdrawals []*types.Withdrawal `json:"withdrawals"` // in the first of them
	Skip        uint64              `json:"skipSeconds"` // that pass before the first of them
}

// mine makes blocks on the head.
func (n *Node) mine(ctx context.Context, m making) error {
	if err := n.follow(ctx); err != nil {
		return err
	}
	for i := range max(m.N, 1) {
		if i > 0 {
			m.Withdrawals, m.Skip = nil, 0
		}
		if !m.Empty && n.price > 1 {
			if err := n.crowdPays(); err != nil {
				return err
			}
		}
		if err := n.eth.TxPool().Sync(); err != nil {
			return err
		}
		b, err := n.build(ctx, n.eth.BlockChain().CurrentBlock(), m)
		if err != nil {
			return err
		}
		if err := n.adopt(b); err != nil {
			return err
		}
	}
	return n.settle(ctx)
}

// settle is what follows when blocks were made: they are written for good, so that a
// node that is killed goes on from them, and a rollup tells of them below.
func (n *Node) settle(ctx context.Context) error {
	if err := n.eth.ChainDb().SyncKeyValue(); err != nil {
		return err
	}
	return n.propose(ctx)
}

// build makes a block on a parent, checks it by the chain's rules and stores it
// beside the head.
func (n *Node) build(ctx context.Context, parent *types.Header, m making) (*types.Block, error) {
	// Two branches must differ, even where nothing is in them.
	var salt common.Hash
	if _, err := rand.Read(salt[:]); err != nil {
		return nil, err
	}
	when := max(parent.Time+1, uint64(time.Now().Unix())) + m.Skip //nolint:gosec // now is after 1970
	withdrawals := m.Withdrawals
	if withdrawals == nil {
		withdrawals = []*types.Withdrawal{}
	}
	args := &miner.BuildPayloadArgs{
		Parent: parent.Hash(), Timestamp: when, FeeRecipient: m.FeeTo, Random: salt,
		Withdrawals: withdrawals, BeaconRoot: &common.Hash{},
	}
	assemble := n.assemble
	if n.up != nil {
		assemble = n.sequence
	}
	b, err := assemble(ctx, args, m.Empty)
	if err != nil {
		return nil, fmt.Errorf("build on %d: %w", parent.Number, err)
	}
	if _, err := n.eth.BlockChain().InsertBlockWithoutSetHead(ctx, b, false); err != nil {
		return nil, fmt.Errorf("insert %d: %w", b.NumberU64(), err)
	}
	return b, nil
}

// assemble has the miner make a block of what waits.
func (n *Node) assemble(_ context.Context, args *miner.BuildPayloadArgs, empty bool) (*types.Block, error) {
	said, err := n.eth.Miner().BuildTestingPayload(args, nil, empty, nil)
	if err != nil {
		return nil, err
	}
	return n.unpack(said, args.BeaconRoot)
}

// unpack reads a block from the form in which the miner hands it over.
func (n *Node) unpack(said *engine.ExecutionPayloadEnvelope, beacon *common.Hash) (*types.Block, error) {
	txs, err := engine.DecodeTransactions(said.ExecutionPayload.Transactions)
	if err != nil {
		return nil, err
	}
	blobs := []common.Hash{}
	for _, tx := range txs {
		blobs = append(blobs, tx.BlobHashes()...)
	}
	return engine.ExecutableDataToBlock(*said.ExecutionPayload, blobs, beacon, said.Requests, n.eth.BlockChain().Config())
}

// adopt makes a block the head, and tells what is final.
func (n *Node) adopt(b *types.Block) error {
	if _, err := n.eth.BlockChain().SetCanonical(b); err != nil {
		return err
	}
	if err := n.mark(); err != nil {
		return err
	}
	return n.eth.TxPool().Sync()
}

// mark sets the final and the safe block by their depth.
func (n *Node) mark() error {
	chain := n.eth.BlockChain()
	head := chain.CurrentBlock().Number.Uint64()
	final := chain.GetHeaderByNumber(head - min(head, n.spec.FinalDepth))
	if final == nil {
		return errors.New("the final block is missing")
	}
	chain.SetFinalized(final)
	chain.SetSafe(final)
	return nil
}

// reorg orphans the newest blocks for a longer branch of empty ones. What stood in
// them waits again or is lost.
func (n *Node) reorg(ctx context.Context, depth int, lose bool) error {
	chain := n.eth.BlockChain()
	head := chain.CurrentBlock().Number.Uint64()
	if depth < 1 || uint64(depth) > head {
		return fmt.Errorf("there are no %d blocks to orphan", depth)
	}
	if err := n.branch(ctx, head-uint64(depth), lose); err != nil {
		return err
	}
	return n.settle(ctx)
}

// branch replaces every block above a height by one more empty one.
func (n *Node) branch(ctx context.Context, from uint64, lose bool) error {
	chain := n.eth.BlockChain()
	head := chain.CurrentBlock().Number.Uint64()
	var txs []*types.Transaction
	for h := from + 1; h <= head && !lose; h++ {
		for _, tx := range chain.GetBlockByNumber(h).Transactions() {
			if !tx.IsDepositTx() { // those come from below again
				txs = append(txs, tx)
			}
		}
	}
	if err := n.eth.TxPool().Sync(); err != nil {
		return err
	}
	txs = append(txs, n.waiting()...)
	// A pool that still has them would put them into the branch, or keep what is lost.
	n.eth.TxPool().Clear()
	parent := chain.GetHeaderByNumber(from)
	var b *types.Block
	var err error
	for range head - from + 1 {
		if b, err = n.build(ctx, parent, making{Empty: true}); err != nil {
			return err
		}
		parent = b.Header()
	}
	if err := n.adopt(b); err != nil {
		return err
	}
	n.refill(txs)
	return n.eth.TxPool().Sync()
}

// waiting is everything in the pool.
func (n *Node) waiting() []*types.Transaction {
	var out []*types.Transaction
	pending, queued := n.eth.TxPool().Content()
	for _, m := range []map[common.Address][]*types.Transaction{pending, queued} {
		for _, list := range m {
			out = append(out, list...)
		}
	}
	return out
}

// refill makes the pool hold these and nothing else. What the pool does not want any
// more is lost, as it would be by a network.
func (n *Node) refill(txs []*types.Transaction) {
	n.eth.TxPool().Clear()
	n.eth.TxPool().Add(txs, true)
}

// evict makes the pool forget a transaction.
func (n *Node) evict(tx common.Hash) error {
	if err := n.eth.TxPool().Sync(); err != nil {
		return err
	}
	var rest []*types.Transaction
	for _, w := range n.waiting() {
		if w.Hash() != tx {
			rest = append(rest, w)
		}
	}
	n.refill(rest)
	return n.eth.TxPool().Sync()
}

// ask makes the going price k times what it was at the start: whoever builds blocks
// takes nobody who tips less, and others are seen to pay it in a block of their own.
func (n *Node) ask(ctx context.Context, k uint64) error {
	n.price = max(k, 1)
	if err := n.eth.Miner().SetGasTip(n.tip()); err != nil {
		return err
	}
	if n.price == 1 {
		return nil
	}
	return n.mine(ctx, making{N: 1})
}

func (n *Node) tip() *big.Int { return new(big.Int).SetUint64(n.price * gwei) }

// crowdPays has somebody else pay the going price in the next block. Where they wait
// already, at a lower price, they pay more; at a higher one nothing is to be done.
func (n *Node) crowdPays() error {
	at := n.eth.TxPool().Nonce(crypto.PubkeyToAddress(n.crowd.PublicKey))
	_, err := n.sendAt(n.crowd, at, wish{To: &common.Address{0xc0}})
	if errors.Is(err, txpool.ErrAlreadyKnown) || errors.Is(err, txpool.ErrReplaceUnderpriced) {
		return nil
	}
	return err
}
