package evm

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"math/big"
	"sort"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/consensus/misc/eip1559"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/miner"
	"github.com/holiman/uint256"

	"ferry/devnet/evm/rollup"
)

// What one block of a rollup takes from below: a rollup that was at rest catches up soon,
// and what deposits may use still leaves room in the block.
const (
	maxOrigins = 64
	takeGas    = 10_000_000
)

// sequence makes a block of a rollup: the word about the chain below, what was deposited
// there, and then what waits.
func (n *Node) sequence(ctx context.Context, args *miner.BuildPayloadArgs, empty bool) (*types.Block, error) {
	if len(args.Withdrawals) > 0 {
		return nil, errors.New("the rules of a rollup pay nobody by themselves")
	}
	parent := n.eth.BlockChain().GetBlockByHash(args.Parent)
	if parent == nil {
		return nil, errors.New("its parent is missing")
	}
	taken, err := n.up.next(parent)
	if err != nil {
		return nil, err
	}
	limit := uint64(gasLimit)
	args.NoTxPool, args.GasLimit, args.EIP1559Params = true, &limit, make([]byte, 8) // zeros are the chain's own
	if args.FeeRecipient == (common.Address{}) {
		args.FeeRecipient = rollup.Vault
	}
	var waits []*types.Transaction
	if !empty {
		waits = n.choose(parent.Header(), args.Timestamp)
	}
	return n.fit(ctx, args, taken, waits)
}

// fit makes a block of what must be in it and of as much as can be of what waits.
func (n *Node) fit(ctx context.Context, args *miner.BuildPayloadArgs, must, waits []*types.Transaction) (*types.Block, error) {
	try := func(k int) (*types.Block, error) {
		args.Transactions = append(must[:len(must):len(must)], waits[:k]...)
		p, err := n.eth.Miner().BuildPayload(ctx, args, false)
		if err != nil {
			return nil, err
		}
		said := p.Resolve()
		if said == nil {
			return nil, errors.New("the miner made nothing")
		}
		return n.unpack(said, args.BeaconRoot)
	}
	for {
		b, err := try(len(waits))
		if err == nil || len(waits) == 0 {
			return b, err
		}
		// What can be taken together are the first so many; the next one is to blame.
		bad := sort.Search(len(waits), func(k int) bool {
			_, err := try(k + 1)
			return err != nil
		})
		if _, err = try(bad + 1); errors.Is(err, core.ErrGasLimitReached) {
			waits = waits[:bad]
			continue
		}
		waits = n.without(waits, bad)
	}
}

// without leaves out a transaction and what its sender wants after it.
func (n *Node) without(waits []*types.Transaction, bad int) []*types.Transaction {
	signer := types.LatestSigner(n.eth.BlockChain().Config())
	whose, _ := types.Sender(signer, waits[bad]) // the pool knows who sent it
	out := append([]*types.Transaction{}, waits[:bad]...)
	for _, tx := range waits[bad+1:] {
		if from, _ := types.Sender(signer, tx); from != whose {
			out = append(out, tx)
		}
	}
	return out
}

// next is what a block on a parent takes from below. It depends on nothing but the parent
// and the final blocks below, so that another try, or another start, takes the same.
func (u *above) next(parent *types.Block) (txs []*types.Transaction, err error) {
	err = u.below(func() error {
		chain := u.base.eth.BlockChain()
		origin, err := u.origin(parent)
		if err != nil {
			return err
		}
		origin.Sequence++
		var gas uint64
		final := chain.CurrentFinalBlock()
		for i := 0; i < maxOrigins && final != nil && origin.Number < final.Number.Uint64() && gas < takeGas; i++ {
			h := chain.GetHeaderByNumber(origin.Number + 1)
			if h == nil || h.ParentHash != origin.Hash {
				return fmt.Errorf("block %d below is not on the branch of its parent", origin.Number+1)
			}
			found, err := rollup.Deposits(u.at.Portal, h.Hash(), chain.GetReceiptsByHash(h.Hash()))
			if err != nil {
				return err
			}
			for _, tx := range found {
				gas += tx.Gas()
			}
			txs, origin = append(txs, found...), rollup.OriginOf(h)
		}
		txs = append([]*types.Transaction{origin.Info(u.self)}, txs...)
		return nil
	})
	return txs, err
}

// origin is up to where below a block has taken deposits.
func (u *above) origin(b *types.Block) (rollup.Origin, error) {
	if o, ok := rollup.ReadOrigin(b); ok {
		return o, nil
	}
	h := u.base.eth.BlockChain().GetHeaderByNumber(u.start)
	if h == nil || b.NumberU64() != 0 {
		return rollup.Origin{}, fmt.Errorf("block %d does not say what is below it", b.NumberU64())
	}
	return rollup.OriginOf(h), nil
}

// follow leaves blocks whose deposits were orphaned below: a chain above is only worth
// what is below it. That happens only where more was orphaned than what makes a block
// final, or where the chain below lost its newest blocks in a crash.
func (n *Node) follow(ctx context.Context) error {
	if n.up == nil {
		return nil
	}
	chain := n.eth.BlockChain()
	head := chain.CurrentBlock().Number.Uint64()
	at := head
	err := n.up.below(func() error {
		for ; ; at-- {
			o, err := n.up.origin(chain.GetBlockByNumber(at))
			if err != nil {
				return err
			}
			if h := n.up.base.eth.BlockChain().GetHeaderByNumber(o.Number); h != nil && h.Hash() == o.Hash {
				return nil
			}
			if at == 0 {
				return errors.New("the chain below is another than the one that it was made on")
			}
		}
	})
	if err != nil || at == head {
		return err
	}
	return n.branch(ctx, at, false)
}

// line is what one account wants, in order.
type line []*txpool.LazyTransaction

// lines are the accounts, whose next transaction pays best first.
type lines struct {
	of   []line
	base *uint256.Int
}

func (l *lines) Len() int      { return len(l.of) }
func (l *lines) Swap(i, j int) { l.of[i], l.of[j] = l.of[j], l.of[i] }
func (l *lines) Push(x any)    { l.of = append(l.of, x.(line)) } //nolint:forcetypeassert // only lines are pushed
func (l *lines) Pop() any {
	last := l.of[len(l.of)-1]
	l.of = l.of[:len(l.of)-1]
	return last
}

func (l *lines) Less(i, j int) bool {
	a, b := l.of[i][0], l.of[j][0]
	if c := l.tip(a).Cmp(l.tip(b)); c != 0 {
		return c > 0
	}
	return a.Time.Before(b.Time)
}

func (l *lines) tip(tx *txpool.LazyTransaction) *uint256.Int {
	tip := new(uint256.Int).Sub(tx.GasFeeCap, l.base)
	if tip.Gt(tx.GasTipCap) {
		return tx.GasTipCap
	}
	return tip
}

// choose is what waits and pays enough, in the order in which a miner takes it.
func (n *Node) choose(parent *types.Header, when uint64) []*types.Transaction {
	base := uint256.MustFromBig(eip1559.CalcBaseFee(n.eth.BlockChain().Config(), parent, when))
	pending, _ := n.eth.TxPool().Pending(txpool.PendingFilter{MinTip: uint256.MustFromBig(n.tip()), BaseFee: base, BlobFee: uint256.MustFromBig(new(big.Int))})
	all := &lines{base: base}
	for _, list := range pending {
		all.of = append(all.of, list)
	}
	heap.Init(all)
	var out []*types.Transaction
	for all.Len() > 0 {
		first := all.of[0]
		tx := first[0].Resolve()
		if tx == nil || len(first) == 1 {
			heap.Pop(all)
		} else {
			all.of[0] = first[1:]
			heap.Fix(all, 0)
		}
		if tx != nil {
			out = append(out, tx)
		}
	}
	return out
}
