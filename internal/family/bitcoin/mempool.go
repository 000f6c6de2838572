package bitcoin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/watch"
)

// Bounds of what is looked at in the mempool. What is beyond them is only seen
// later, or when it is mined: nothing hangs on it.
const (
	mostWaiting = 400_000 // transactions that are remembered
	mostNew     = 4_000   // that are fetched in one look
	perBatch    = 100
)

// waiting is what is known of the mempool's transactions, so that each is fetched once.
type waiting struct {
	mu  sync.Mutex
	txs map[chainhash.Hash][]sighting
}

// sighting is an output that pays an address.
type sighting struct {
	index int
	to    chain.Address
	value int64
}

// Pending are the payments to the addresses that wait in the mempools of enough nodes.
func (c *Chain) Pending(ctx context.Context, to watch.Addresses) ([]chain.Deposit, error) {
	shown, err := quorum.Shown(c.pool.Rule(), rpc.All[[]string](ctx, c.pool, "getrawmempool"))
	if err != nil {
		return nil, fmt.Errorf("mempool: %w", err)
	}
	ids := make([]chainhash.Hash, 0, len(shown))
	for _, text := range shown {
		h, err := chainhash.NewHashFromStr(text)
		if err != nil || len(text) != 2*chainhash.HashSize {
			continue
		}
		ids = append(ids, *h)
	}
	c.learn(ctx, ids)
	c.waiting.mu.Lock()
	defer c.waiting.mu.Unlock()
	var out []chain.Deposit
	for _, id := range ids {
		for _, s := range c.waiting.txs[id] {
			if to.Has(s.to) {
				out = append(out, c.deposit(where{tx: id, index: s.index}, s.to, s.value))
			}
		}
	}
	slices.SortFunc(out, func(a, b chain.Deposit) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// learn fetches the transactions that are new and forgets those that are gone.
func (c *Chain) learn(ctx context.Context, ids []chainhash.Hash) {
	c.waiting.mu.Lock()
	here := make(map[chainhash.Hash]bool, len(ids))
	var unknown []chainhash.Hash
	for _, id := range ids {
		here[id] = true
		if _, ok := c.waiting.txs[id]; !ok && len(unknown) < mostNew {
			unknown = append(unknown, id)
		}
	}
	for id := range c.waiting.txs {
		if !here[id] {
			delete(c.waiting.txs, id)
		}
	}
	c.waiting.mu.Unlock()
	for batch := range slices.Chunk(unknown, perBatch) {
		for _, n := range c.pool.Nodes() {
			// A transaction has the name that was asked for, so each may come from any
			// node. One that no node gives was mined or dropped in between.
			if batch = c.fetch(ctx, n, batch); len(batch) == 0 {
				break
			}
		}
	}
}

// fetch asks one node for transactions and says which it did not give.
func (c *Chain) fetch(ctx context.Context, n *rpc.Node, ids []chainhash.Hash) (left []chainhash.Hash) {
	said := make([]string, len(ids))
	queries := make([]rpc.Query, len(ids))
	for i, id := range ids {
		queries[i] = rpc.Query{Method: "getrawtransaction", Params: []any{id.String(), false}, Out: &said[i]}
	}
	if n.Batch(ctx, queries) != nil {
		return ids
	}
	for i, id := range ids {
		tx, err := readTx(said[i])
		if queries[i].Err != nil || err != nil || tx.TxHash() != id {
			left = append(left, id)
			continue
		}
		c.remember(id, tx)
	}
	return left
}

func (c *Chain) remember(id chainhash.Hash, tx *wire.MsgTx) {
	list, outs := []sighting{}, make([]output, len(tx.TxOut))
	for i, o := range tx.TxOut {
		outs[i] = output{o.Value, o.PkScript}
	}
	for _, m := range c.codec.mentions(outs) {
		if v := outs[m.out].value; m.kind == P2WPKH && v >= dust(P2WPKH) {
			list = append(list, sighting{m.out, m.to, v})
		}
	}
	c.waiting.mu.Lock()
	defer c.waiting.mu.Unlock()
	if len(c.waiting.txs) < mostWaiting {
		c.waiting.txs[id] = list
	}
}

// readTx reads a transaction from hex, and nothing but one.
func readTx(text string) (*wire.MsgTx, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: it is not in hex", ErrBytes)
	}
	return parseTx(raw)
}

func parseTx(raw []byte) (*wire.MsgTx, error) {
	r := bytes.NewReader(raw)
	tx := wire.NewMsgTx(2)
	if err := tx.Deserialize(r); err != nil || r.Len() != 0 || len(tx.TxIn) == 0 || len(tx.TxOut) == 0 {
		return nil, fmt.Errorf("%w: they are no transaction", ErrBytes)
	}
	return tx, nil
}
