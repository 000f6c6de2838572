package sim

import (
	"errors"
	"fmt"
	"slices"

	"ferry/internal/chain"
)

// ErrTooDeep: no reorg reaches that far.
var ErrTooDeep = errors.New("sim: a reorg cannot go that deep")

// ReorgOptions say what a reorg does besides orphaning blocks.
type ReorgOptions struct {
	Extra    int          // how many blocks more than before there are; at least one
	Empty    bool         // the new blocks leave the mempool alone
	DropAll  bool         // no orphaned transaction goes back to the mempool
	Drop     []chain.TxID // these do not go back
	Replaced []chain.TxID // these are replaced by one that pays their sender only
}

// Reorg orphans the newest depth blocks and makes a longer branch instead. What
// stood in the orphans waits again, unless the options say otherwise. It returns
// the newest block that is still there.
func (n *Net) Reorg(depth int, o ReorgOptions) (chain.Block, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	deepest := min(len(n.canon)-1, n.cfg.Keep-1)
	if n.cfg.Shape == Expiring { // what such a chain calls final is voted on, not buried
		deepest = min(deepest, n.cfg.FinalDepth)
	}
	if depth < 1 || depth > deepest {
		return chain.Block{}, fmt.Errorf("%w: %d of %d blocks", ErrTooDeep, depth, deepest)
	}
	if n.halted {
		return chain.Block{}, errors.New("sim: the net is halted")
	}
	top := n.tip().Height
	var orphaned []*tx
	var mints []*mint
	for range depth {
		b := n.disconnect()
		for _, r := range slices.Backward(b.receipts) {
			orphaned = append(orphaned, r.tx)
		}
		mints = append(slices.Clone(b.mints), mints...)
	}
	slices.Reverse(orphaned)
	for _, m := range mints {
		n.await(m)
	}
	n.mints = append(mints, n.mints...)
	fork := n.tip()
	if n.cfg.Shape == Expiring { // slots pass on every branch alike
		n.skip += top - fork.Height
	}
	for _, t := range orphaned {
		n.goBack(t, o)
	}
	n.mine(depth+max(1, o.Extra), !o.Empty)
	return fork.Block, nil
}

// goBack returns an orphaned transaction to the mempool, as the options say.
func (n *Net) goBack(t *tx, o ReorgOptions) {
	if o.DropAll || slices.Contains(o.Drop, t.id) {
		return
	}
	if n.admit(t) != nil {
		return // another one took its place meanwhile
	}
	if slices.Contains(o.Replaced, t.id) {
		if _, err := n.replace(t.id, nil); err != nil {
			n.expel(t)
		}
	}
}

// disconnect takes the tip off the canonical branch and keeps it as an orphan.
func (n *Net) disconnect() *block {
	b := n.tip()
	for _, r := range slices.Backward(b.receipts) {
		t := r.tx
		t.at = nil
		if list, ours := n.sent[t.body.from]; ours {
			n.sent[t.body.from] = list[:len(list)-1]
		}
		for i := range t.body.outs {
			if n.pays(r, i) {
				to := t.body.outs[i].to
				n.paid[to] = n.paid[to][:len(n.paid[to])-1]
			}
			if n.cfg.Shape == Coins {
				n.dropCoin(ref{t.id, uint32(i)})
			}
		}
		for _, in := range t.body.ins {
			n.unspend(n.coins[in.ref])
		}
	}
	if n.cfg.Shape == Coins {
		for _, m := range b.mints {
			n.dropCoin(ref{m.id, 0})
		}
	}
	n.restore(b)
	n.canon = n.canon[:b.n]
	n.stale = append(n.stale, b)
	return b
}
