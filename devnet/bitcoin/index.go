package bitcoin

import (
	"sync"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// index is where transactions stand on the branch that counts, and which coins a
// script ever had on any: whether one is unspent is asked of the chain.
type index struct {
	mu    *sync.RWMutex
	txs   map[chainhash.Hash]chainhash.Hash
	coins map[string]map[wire.OutPoint]bool
}

func newIndex() index {
	return index{mu: &sync.RWMutex{}, txs: map[chainhash.Hash]chainhash.Hash{}, coins: map[string]map[wire.OutPoint]bool{}}
}

func (x index) add(b *btcutil.Block) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, tx := range b.Transactions() {
		x.txs[*tx.Hash()] = *b.Hash()
		for i, out := range tx.MsgTx().TxOut {
			owner := string(out.PkScript)
			if x.coins[owner] == nil {
				x.coins[owner] = map[wire.OutPoint]bool{}
			}
			x.coins[owner][wire.OutPoint{Hash: *tx.Hash(), Index: uint32(i)}] = true
		}
	}
}

func (x index) remove(b *btcutil.Block) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, tx := range b.Transactions() {
		if x.txs[*tx.Hash()] == *b.Hash() {
			delete(x.txs, *tx.Hash())
		}
	}
}

// block is the one in which a transaction stands.
func (x index) block(tx chainhash.Hash) (chainhash.Hash, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	h, ok := x.txs[tx]
	return h, ok
}

// of are the coins that a script ever had.
func (x index) of(script []byte) []wire.OutPoint {
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := make([]wire.OutPoint, 0, len(x.coins[string(script)]))
	for o := range x.coins[string(script)] {
		out = append(out, o)
	}
	return out
}
