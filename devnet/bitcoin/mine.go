package bitcoin

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/mining"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// place is a block on which another is mined.
type place struct {
	hash   chainhash.Hash
	height int32
	time   time.Time
}

func (n *Node) tip() (place, error) {
	best := n.chain.BestSnapshot()
	return n.placeOf(best.Hash, best.Height)
}

func (n *Node) placeOf(hash chainhash.Hash, height int32) (place, error) {
	h, err := n.chain.HeaderByHash(&hash)
	return place{hash, height, h.Timestamp}, err
}

// mine puts blocks on the tip and tidies the mempool after each.
func (n *Node) mine(count int, to []byte, pick func() []*btcutil.Tx) ([]chainhash.Hash, error) {
	var out []chainhash.Hash
	for range count {
		on, err := n.tip()
		if err != nil {
			return out, err
		}
		b, err := n.put(on, to, pick())
		if err != nil {
			return out, err
		}
		out = append(out, b.hash)
		n.settle()
	}
	return out, nil
}

// put mines one block on any other.
func (n *Node) put(on place, to []byte, txs []*btcutil.Tx) (place, error) {
	b, err := n.assemble(on, to, txs)
	if err != nil {
		return place{}, err
	}
	b.SetHeight(on.height + 1)
	if _, orphan, err := n.chain.ProcessBlock(b, blockchain.BFNone); err != nil || orphan {
		return place{}, fmt.Errorf("block %d is refused (orphan: %t): %w", on.height+1, orphan, err)
	}
	return place{*b.Hash(), on.height + 1, b.MsgBlock().Header.Timestamp}, n.note(b)
}

func (n *Node) assemble(on place, to []byte, txs []*btcutil.Tx) (*btcutil.Block, error) {
	n.extra++
	script, err := txscript.NewScriptBuilder().AddInt64(int64(on.height) + 1).AddInt64(int64(n.extra)).AddData([]byte("ferry")).Script()
	if err != nil {
		return nil, err
	}
	cb := wire.NewMsgTx(2)
	cb.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: script, Sequence: wire.MaxTxInSequenceNum})
	reward := blockchain.CalcBlockSubsidy(on.height+1, &n.params)
	for _, tx := range txs {
		fee, err := n.feeOf(tx, txs)
		if err != nil {
			return nil, err
		}
		reward += fee
	}
	cb.AddTxOut(wire.NewTxOut(reward, to))
	all := append([]*btcutil.Tx{btcutil.NewTx(cb)}, txs...)
	mining.AddWitnessCommitment(all[0], all)
	all[0] = btcutil.NewTx(all[0].MsgTx()) // its hash was kept from before
	when := time.Unix(time.Now().Unix(), 0)
	if !when.After(on.time) {
		when = on.time.Add(time.Second)
	}
	b := wire.NewMsgBlock(&wire.BlockHeader{
		Version: 0x20000000, PrevBlock: on.hash, MerkleRoot: blockchain.CalcMerkleRoot(all, false),
		Timestamp: when, Bits: n.params.PowLimitBits,
	})
	for _, tx := range all {
		if err := b.AddTransaction(tx.MsgTx()); err != nil {
			return nil, err
		}
	}
	target := blockchain.CompactToBig(b.Header.Bits)
	for {
		if h := b.BlockHash(); blockchain.HashToBig(&h).Cmp(target) <= 0 {
			return btcutil.NewBlock(b), nil
		}
		b.Header.Nonce++
	}
}

// feeOf is what a transaction leaves to the miner; it may spend what another of the
// same block pays.
func (n *Node) feeOf(tx *btcutil.Tx, beside []*btcutil.Tx) (int64, error) {
	var sum int64
	for _, in := range tx.MsgTx().TxIn {
		out, err := n.coin(in.PreviousOutPoint, beside)
		if err != nil {
			return 0, err
		}
		sum += out.Value
	}
	for _, out := range tx.MsgTx().TxOut {
		sum -= out.Value
	}
	return sum, nil
}

func (n *Node) coin(o wire.OutPoint, beside []*btcutil.Tx) (*wire.TxOut, error) {
	for _, tx := range beside {
		if *tx.Hash() == o.Hash && int(o.Index) < len(tx.MsgTx().TxOut) {
			return tx.MsgTx().TxOut[o.Index], nil
		}
	}
	if e, err := n.chain.FetchUtxoEntry(o); err == nil && e != nil && !e.IsSpent() {
		return wire.NewTxOut(e.Amount(), e.PkScript()), nil
	}
	if tx, err := n.pool.FetchTransaction(&o.Hash); err == nil && int(o.Index) < len(tx.MsgTx().TxOut) {
		return tx.MsgTx().TxOut[o.Index], nil
	}
	return nil, fmt.Errorf("coin %v is not there", o)
}

// price is the going one, in satoshis for a thousand virtual bytes.
func (n *Node) price() int64 { return n.spec.Rate * int64(n.times) }

// best are the waiting transactions that pay the going price, each valued together
// with those it stands on, which come before it.
func (n *Node) best() []*btcutil.Tx {
	descs := n.waiting()
	at := make(map[chainhash.Hash]*mempool.TxDesc, len(descs))
	for _, d := range descs {
		at[*d.Tx.Hash()] = d
	}
	var out []*btcutil.Tx
	taken := map[chainhash.Hash]bool{}
	weight := int64(4000)
	for _, d := range descs {
		family := ancestors(d, at)
		var fee, size, heavy int64
		for _, f := range family {
			if !taken[*f.Tx.Hash()] {
				fee, size, heavy = fee+f.Fee, size+mempool.GetTxVirtualSize(f.Tx), heavy+blockchain.GetTransactionWeight(f.Tx)
			}
		}
		if size == 0 || fee*1000 < n.price()*size || weight+heavy > blockchain.MaxBlockWeight {
			continue
		}
		weight += heavy
		for _, f := range family {
			if !taken[*f.Tx.Hash()] {
				taken[*f.Tx.Hash()] = true
				out = append(out, f.Tx)
			}
		}
	}
	return out
}

// waiting is the mempool, oldest first.
func (n *Node) waiting() []*mempool.TxDesc {
	descs := n.pool.TxDescs()
	slices.SortFunc(descs, func(a, b *mempool.TxDesc) int {
		if by := a.Added.Compare(b.Added); by != 0 {
			return by
		}
		return cmp.Compare(a.Tx.Hash().String(), b.Tx.Hash().String())
	})
	return descs
}

// ancestors are the waiting transactions that one stands on, and itself at the end.
func ancestors(d *mempool.TxDesc, at map[chainhash.Hash]*mempool.TxDesc) []*mempool.TxDesc {
	var out []*mempool.TxDesc
	seen := map[chainhash.Hash]bool{}
	var walk func(d *mempool.TxDesc)
	walk = func(d *mempool.TxDesc) {
		if seen[*d.Tx.Hash()] {
			return
		}
		seen[*d.Tx.Hash()] = true
		for _, in := range d.Tx.MsgTx().TxIn {
			if p := at[in.PreviousOutPoint.Hash]; p != nil {
				walk(p)
			}
		}
		out = append(out, d)
	}
	walk(d)
	return out
}

// reorg orphans the newest blocks for a longer branch of empty ones. What stood in
// them waits again, or is lost.
func (n *Node) reorg(depth int, lose bool) error {
	best := n.chain.BestSnapshot()
	if depth < 1 || depth > int(best.Height) {
		return fmt.Errorf("a chain of %d blocks can not be reorganised by %d", best.Height, depth)
	}
	hash, err := n.chain.BlockHashByHeight(best.Height - int32(depth))
	if err != nil {
		return err
	}
	on, err := n.placeOf(*hash, best.Height-int32(depth))
	if err != nil {
		return err
	}
	n.undone = nil
	for range depth + 1 {
		if on, err = n.put(on, n.faucet.script, nil); err != nil {
			return err
		}
	}
	if n.chain.BestSnapshot().Hash != on.hash {
		return fmt.Errorf("the longer branch was not taken")
	}
	if lose {
		n.undone = nil
	}
	n.settle()
	return nil
}

// settle makes the mempool fit the chain again: what was orphaned waits again, what
// landed or lost its coins is gone.
func (n *Node) settle() {
	var all []*btcutil.Tx
	for _, b := range slices.Backward(n.undone) {
		all = append(all, b.Transactions()[1:]...)
	}
	n.undone = nil
	for _, d := range n.waiting() {
		all = append(all, d.Tx)
		n.pool.RemoveTransaction(d.Tx, false)
	}
	for again := true; again; {
		again = false
		for i, tx := range all {
			if tx == nil {
				continue
			}
			if missing, d, err := n.pool.MaybeAcceptTransaction(tx, false, false); err == nil && len(missing) == 0 && d != nil {
				all[i], again = nil, true // what stands on it may come now
			}
		}
	}
}
