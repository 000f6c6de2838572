package bitcoin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
)

// errElsewhere: a node that does not have the block which the others agree on has no
// say: being behind must never look like being dead.
var errElsewhere = errors.New("bitcoin: the node is at another block than the others")

// Broadcast offers the bytes to every node. It is heard when enough took them.
func (c *Chain) Broadcast(ctx context.Context, raw []byte) error {
	tx, err := parseTx(raw)
	if err != nil {
		return err
	}
	id, text := tx.TxHash().String(), hex.EncodeToString(raw)
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (string, error) {
		var said string
		// The price was bounded when it was signed; a node's own bound must not stop it.
		err := classify(n.Call(ctx, &said, "sendrawtransaction", text, 0))
		switch {
		case errors.Is(err, errKnown):
			return id, nil
		case errors.Is(err, errSpent):
			// It may be spent by itself.
			var there string
			if n.Call(ctx, &there, "getrawtransaction", id, false) == nil {
				return id, nil
			}
		}
		return said, err
	})
	if err := quorum.Heard(c.pool.Rule(), answers); err != nil {
		return fmt.Errorf("broadcast %s: %w", id, err)
	}
	return nil
}

// standing is where a transaction is.
type standing struct {
	block   string // in which it landed; empty if it did not
	height  uint64
	pending bool
}

// Fate is what became of an attempt. Every answer hangs on the final block that
// enough nodes agreed on.
func (c *Chain) Fate(ctx context.Context, a chain.Attempt) (chain.Status, error) {
	tx, err := attempted(a)
	if err != nil {
		return chain.Status{}, err
	}
	head, err := c.Head(ctx)
	if err != nil {
		return chain.Status{}, err
	}
	s, err := c.standing(ctx, string(a.Tx), head)
	if err != nil {
		return chain.Status{}, fmt.Errorf("fate of %s: %w", a.Tx, err)
	}
	if s.block != "" {
		b, err := c.header(ctx, s.block, s.height)
		if err != nil {
			return chain.Status{}, err
		}
		// What it cost was fixed when it was signed: the name is the hash of it.
		st := chain.Status{Fate: chain.Included, Block: b, Fee: a.Fee}
		if s.height <= head.Final.Height {
			st.Fate = chain.Final
		}
		return st, nil
	}
	if s.pending { // no node keeps one whose coins are spent on the chain
		return chain.Status{Fate: chain.Pending}, nil
	}
	dead, err := c.dead(ctx, tx, head)
	switch {
	case err != nil:
		return chain.Status{}, fmt.Errorf("fate of %s: %w", a.Tx, err)
	case dead:
		return chain.Status{Fate: chain.Dead}, nil
	}
	return chain.Status{Fate: chain.Missing}, nil
}

// rawTx is a transaction as Core tells it.
type rawTx struct {
	Block         string `json:"blockhash"`
	Confirmations int64  `json:"confirmations"`
}

type rawHeader struct {
	Height        uint64 `json:"height"`
	Confirmations int64  `json:"confirmations"`
}

// standing is where a transaction is, by nodes that have the final block.
func (c *Chain) standing(ctx context.Context, id string, head chain.Head) (standing, error) {
	return same(ctx, c, func(ctx context.Context, n *rpc.Node) (standing, error) {
		var final rawHeader
		var tx rawTx
		q := []rpc.Query{
			{Method: "getblockheader", Params: []any{head.Final.Hash, true}, Out: &final},
			{Method: "getrawtransaction", Params: []any{id, true}, Out: &tx},
		}
		if err := n.Batch(ctx, q); err != nil {
			return standing{}, err
		}
		if q[0].Err != nil || final.Confirmations < 1 || final.Height != head.Final.Height {
			return standing{}, fmt.Errorf("%s: %w", n.Name(), errElsewhere)
		}
		err := classify(q[1].Err)
		switch {
		case errors.Is(err, errNotThere):
			return standing{}, nil
		case err != nil:
			return standing{}, err
		case tx.Block == "":
			return standing{pending: true}, nil
		case tx.Confirmations < 1: // in a block that was orphaned since
			return standing{}, fmt.Errorf("%s: %w", n.Name(), errElsewhere)
		}
		var at rawHeader
		if err := n.Call(ctx, &at, "getblockheader", tx.Block, true); err != nil {
			return standing{}, classify(err)
		}
		if at.Confirmations < 1 {
			return standing{}, fmt.Errorf("%s: %w", n.Name(), errElsewhere)
		}
		return standing{block: tx.Block, height: at.Height}, nil
	})
}

// dead says whether an attempt that has not landed never will: a coin of it was spent
// by another, at or below the final block. The coin must have been there, be there no
// longer, and not have been spent by a block above the final one.
func (c *Chain) dead(ctx context.Context, tx *wire.MsgTx, head chain.Head) (bool, error) {
	absent, err := c.absent(ctx, tx, head)
	if err != nil || len(absent) == 0 {
		return false, err
	}
	recent, err := c.recent(ctx, head)
	if err != nil {
		return false, err
	}
	for _, o := range absent {
		if recent[o] {
			continue
		}
		gone, err := c.gone(ctx, o, head)
		if err != nil || gone {
			return gone, err
		}
	}
	return false, nil
}

// absent are the coins of a transaction that are not there on the branch that ends at
// the tip.
func (c *Chain) absent(ctx context.Context, tx *wire.MsgTx, head chain.Head) ([]wire.OutPoint, error) {
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) ([]wire.OutPoint, error) {
		outs := make([]*txOut, len(tx.TxIn))
		var before, after string
		q := []rpc.Query{{Method: "getbestblockhash", Out: &before}}
		for i, in := range tx.TxIn {
			o := in.PreviousOutPoint
			q = append(q, rpc.Query{Method: "gettxout", Params: []any{o.Hash.String(), o.Index, false}, Out: &outs[i]})
		}
		q = append(q, rpc.Query{Method: "getbestblockhash", Out: &after})
		if err := n.Batch(ctx, q); err != nil {
			return nil, err
		}
		for i := range q {
			if q[i].Err != nil {
				return nil, classify(q[i].Err)
			}
		}
		if before != head.Tip.Hash || after != head.Tip.Hash {
			return nil, fmt.Errorf("%s: %w", n.Name(), errElsewhere)
		}
		var list []wire.OutPoint
		for i, in := range tx.TxIn {
			if outs[i] == nil {
				list = append(list, in.PreviousOutPoint)
			}
		}
		return list, nil
	})
	return quorum.Agree(c.pool.Rule(), answers, slices.Equal[[]wire.OutPoint])
}

// gone says whether a coin that is not there was made at or below the final block, so
// that it was spent, and not taken back with the transaction that made it.
func (c *Chain) gone(ctx context.Context, o wire.OutPoint, head chain.Head) (bool, error) {
	s, err := c.standing(ctx, o.Hash.String(), head)
	return err == nil && s.block != "" && s.height <= head.Final.Height, err
}

// recent are the coins that were spent above the final block.
func (c *Chain) recent(ctx context.Context, head chain.Head) (map[wire.OutPoint]bool, error) {
	out := map[wire.OutPoint]bool{}
	for b := head.Tip; b.Height > head.Final.Height; {
		hash, err := chainhash.NewHashFromStr(b.Hash)
		if err != nil {
			return nil, fmt.Errorf("bitcoin: %w", err)
		}
		body, err := c.body(ctx, *hash)
		if err != nil {
			return nil, err
		}
		for _, tx := range body.txs {
			for _, in := range tx.ins {
				out[in.from] = true
			}
		}
		if b, err = c.header(ctx, b.Parent, b.Height-1); err != nil {
			return nil, err
		}
	}
	return out, nil
}
