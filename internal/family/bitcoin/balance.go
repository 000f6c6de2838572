package bitcoin

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

// Balances are what lies on each spot at a final block. A node knows only the coins at
// its tip, so what the blocks above that block made is taken away again, and what they
// spent is put back; the blocks are proven by their hashes. Enough nodes must come to
// the same.
//
// Only addresses of the kind that our keys have are known: whoever spends from one of
// those shows it.
func (c *Chain) Balances(ctx context.Context, spots []chain.Spot, at chain.Block) ([]money.Amount, error) {
	ours := map[string]int64{}
	scripts := make([]string, len(spots))
	var list []string
	for i, s := range spots {
		if s.Asset != c.cfg.ID.Native() || c.codec.Kind(s.Address) != P2WPKH {
			return nil, fmt.Errorf("bitcoin: %s on %q can not be looked up", s.Asset, s.Address.Text())
		}
		script, err := c.codec.Script(s.Address)
		if err != nil {
			return nil, err
		}
		scripts[i] = string(script)
		if _, twice := ours[scripts[i]]; !twice {
			list, ours[scripts[i]] = append(list, s.Address.Text()), 0
		}
	}
	scans := c.scanAll(ctx, list)
	answers := make([]quorum.Answer[[]int64], len(scans))
	undone := map[string]*undoing{} // by the tip it begins at
	for i, a := range scans {
		if answers[i].Err = a.Err; a.Err != nil {
			continue
		}
		u, ok := undone[a.Value.Best]
		if !ok {
			var err error
			if u, err = c.undo(ctx, a.Value, at, ours); err != nil {
				answers[i].Err = err
				continue
			}
			undone[a.Value.Best] = u
		}
		answers[i].Value, answers[i].Err = u.balances(a.Value, scripts)
	}
	have, err := quorum.Agree(c.pool.Rule(), answers, slices.Equal)
	if err != nil {
		return nil, fmt.Errorf("balances at %s: %w", at.Hash, err)
	}
	out := make([]money.Amount, len(have))
	for i, n := range have {
		out[i] = amount(n)
	}
	return out, nil
}

// scanAll asks every node for all coins of some addresses. A node looks through its
// coins for one caller at a time.
func (c *Chain) scanAll(ctx context.Context, addresses []string) []quorum.Answer[scanResult] {
	c.scanning.Lock()
	defer c.scanning.Unlock()
	descs := make([]string, len(addresses))
	for i, a := range addresses {
		descs[i] = "addr(" + a + ")"
	}
	return rpc.Each(ctx, c.scans, func(ctx context.Context, n *rpc.Node) (scanResult, error) {
		var r scanResult
		if err := n.Call(ctx, &r, "scantxoutset", "start", descs); err != nil {
			return r, classify(err)
		}
		if !r.Success {
			return r, fmt.Errorf("%s: the scan of coins was stopped", n.Name())
		}
		slices.SortFunc(r.Unspents, func(a, b scanned) int {
			return cmp.Or(strings.Compare(a.TxID, b.TxID), cmp.Compare(a.Vout, b.Vout))
		})
		r.Unspents = slices.Compact(r.Unspents) // one that says everything twice has said it once
		return r, nil
	})
}

// undoing is what the blocks above one did to addresses of ours.
type undoing struct {
	at    uint64           // the height of that block
	spent map[string]int64 // what they spent and did not make themselves, by script
}

// undo goes through the blocks from the tip of a scan down to a block. A tip that does
// not stand on that block says nothing.
func (c *Chain) undo(ctx context.Context, r scanResult, at chain.Block, ours map[string]int64) (*undoing, error) {
	if r.Height < at.Height || r.Height-at.Height > mostBehind {
		return nil, fmt.Errorf("%w: a scan of coins at height %d tells nothing of height %d", errElsewhere, r.Height, at.Height)
	}
	made, spent := map[chainhash.Hash]bool{}, map[wire.OutPoint]string{}
	b, err := c.header(ctx, r.Best, r.Height)
	for ; err == nil && b.Height > at.Height; b, err = c.header(ctx, b.Parent, b.Height-1) {
		var body *block
		hash, bad := chainhash.NewHashFromStr(b.Hash)
		if bad != nil {
			return nil, fmt.Errorf("bitcoin: %w", bad)
		}
		if body, err = c.body(ctx, *hash); err != nil {
			return nil, err
		}
		for i, tx := range body.txs {
			made[body.ids[i]] = true
			for _, in := range tx.ins {
				if script := spender(in); script != "" {
					if _, is := ours[script]; is {
						spent[in.from] = script
					}
				}
			}
		}
	}
	switch {
	case err != nil:
		return nil, err
	case b.Hash != at.Hash:
		return nil, fmt.Errorf("%w: its tip does not stand on block %s", errElsewhere, at.Hash)
	}
	u := &undoing{at: at.Height, spent: map[string]int64{}}
	for o, script := range spent {
		if made[o.Hash] {
			continue // it came and went above the block
		}
		out, err := c.output(ctx, o)
		if err != nil {
			return nil, err
		}
		if string(out.PkScript) == script { // else the same key was used in another way
			u.spent[script] += out.Value
		}
	}
	return u, nil
}

// spender is the script of the coin that an input spends, if that is of the kind that
// our keys have: the key in its witness says which.
func spender(in input) string {
	if in.key == nil {
		return ""
	}
	return string(append([]byte{opFalse, opData20}, address.Hash160(in.key)...))
}

// output is one of a transaction that landed. One node is enough, since the transaction
// must have the hash by which it is asked for.
func (c *Chain) output(ctx context.Context, o wire.OutPoint) (*wire.TxOut, error) {
	return first(ctx, c, func(ctx context.Context, n *rpc.Node) (*wire.TxOut, error) {
		var text string
		if err := n.Call(ctx, &text, "getrawtransaction", o.Hash.String(), false); err != nil {
			return nil, classify(err)
		}
		raw, err := hex.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("%w: it is not in hex", ErrBytes)
		}
		tx, err := parseTx(raw)
		if err != nil || tx.TxHash() != o.Hash || int64(o.Index) >= int64(len(tx.TxOut)) {
			return nil, fmt.Errorf("%w: %s gave another than %s", ErrBytes, n.Name(), o.Hash)
		}
		return tx.TxOut[o.Index], nil
	})
}

// balances are those of some scripts at the block.
func (u *undoing) balances(r scanResult, scripts []string) ([]int64, error) {
	has := make(map[string]int64, len(scripts))
	for _, s := range scripts {
		has[s] = u.spent[s]
	}
	for _, k := range r.Unspents {
		script, err := hex.DecodeString(k.Script)
		if err != nil {
			return nil, fmt.Errorf("bitcoin: script of a coin: %w", err)
		}
		if _, asked := has[string(script)]; !asked {
			return nil, fmt.Errorf("%w: it lists coins that were not asked for", errElsewhere)
		}
		if k.Height > u.at {
			continue
		}
		n, err := satoshis(k.Amount)
		if err != nil {
			return nil, err
		}
		has[string(script)] += n
	}
	out := make([]int64, len(scripts))
	for i, s := range scripts {
		out[i] = has[s]
	}
	return out, nil
}
