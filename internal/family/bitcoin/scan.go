package bitcoin

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
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

// scanned is one coin of a scan.
type scanned struct {
	TxID     string      `json:"txid"`
	Vout     uint32      `json:"vout"`
	Script   string      `json:"scriptPubKey"`
	Amount   json.Number `json:"amount"`
	Coinbase bool        `json:"coinbase"`
	Height   uint64      `json:"height"`
}

type scanResult struct {
	Success  bool      `json:"success"`
	Best     string    `json:"bestblock"`
	Height   uint64    `json:"height"`
	Unspents []scanned `json:"unspents"`
}

// scanFor asks the nodes to go through all coins there are for those of some
// addresses, which takes minutes on a large chain. Enough must list the same ones.
func (c *Chain) scanFor(ctx context.Context, list []chain.Address) (scanResult, error) {
	wanted := make([]string, len(list))
	for i, a := range list {
		wanted[i] = "addr(" + a.Text() + ")"
	}
	answers := rpc.Each(ctx, c.scans, func(ctx context.Context, n *rpc.Node) (scanResult, error) {
		var r scanResult
		if err := n.Call(ctx, &r, "scantxoutset", "start", wanted); err != nil {
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
	return quorum.Agree(c.pool.Rule(), answers, func(a, b scanResult) bool {
		return a.Best == b.Best && a.Height == b.Height && slices.Equal(a.Unspents, b.Unspents)
	})
}

// Balance is what one of our addresses has at a block of the branch that ends at the
// head. For many addresses ask Balances, which costs no more than one.
func (c *Chain) Balance(ctx context.Context, a chain.Address, x chain.Asset, at chain.Block) (money.Amount, error) {
	if x != c.cfg.ID.Native() {
		return money.Amount{}, fmt.Errorf("bitcoin: %v is no asset of this chain", x)
	}
	all, err := c.Balances(ctx, []chain.Address{a}, at)
	return all[a], err
}

// Balances are what our addresses have at a block: what lies there now, without what
// came since, and with what went since.
func (c *Chain) Balances(ctx context.Context, list []chain.Address, at chain.Block) (map[chain.Address]money.Amount, error) {
	owners := make(map[string]chain.Address, len(list))
	for _, a := range list {
		script, err := c.codec.Script(a)
		if err != nil || c.codec.Kind(a) != P2WPKH {
			return nil, fmt.Errorf("bitcoin: balance of what is none of our addresses")
		}
		owners[string(script)] = a
	}
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	above, err := c.above(ctx, head.Tip, at)
	if err != nil {
		return nil, err
	}
	r, err := c.scanFor(ctx, list)
	if err != nil {
		return nil, fmt.Errorf("balances: %w", err)
	}
	if r.Best != head.Tip.Hash {
		return nil, fmt.Errorf("%w: the chain went on while it was looked at", quorum.ErrUnknown)
	}
	sums := make(map[chain.Address]int64, len(list))
	for _, u := range r.Unspents {
		script, err := hex.DecodeString(u.Script)
		a, ours := owners[string(script)]
		if err != nil || !ours {
			return nil, fmt.Errorf("%w: a coin that was not asked for", quorum.ErrUnknown)
		}
		if u.Height > at.Height {
			continue
		}
		v, err := satoshis(u.Amount)
		if err != nil {
			return nil, err
		}
		sums[a] += v
	}
	if err := c.restoreSpent(ctx, above, owners, sums); err != nil {
		return nil, err
	}
	out := make(map[chain.Address]money.Amount, len(list))
	for _, a := range list {
		out[a] = amount(sums[a])
	}
	return out, nil
}

// above are the blocks from a tip down to another, which must be below it.
func (c *Chain) above(ctx context.Context, tip, at chain.Block) ([]*block, error) {
	if tip.Height < at.Height || tip.Height-at.Height > mostBehind {
		return nil, fmt.Errorf("bitcoin: block %d is too far from the tip %d", at.Height, tip.Height)
	}
	var out []*block
	b := tip
	for b.Height > at.Height {
		hash, err := chainhash.NewHashFromStr(b.Hash)
		if err != nil {
			return nil, fmt.Errorf("bitcoin: %w", err)
		}
		body, err := c.body(ctx, *hash)
		if err != nil {
			return nil, err
		}
		out = append(out, body)
		if b, err = c.header(ctx, b.Parent, b.Height-1); err != nil {
			return nil, err
		}
	}
	if b.Hash != at.Hash {
		return nil, fmt.Errorf("%w: block %s is not on the branch that ends at the head", quorum.ErrUnknown, at.Hash)
	}
	return out, nil
}

// restoreSpent adds what the blocks spent of our addresses. Whoever spends a coin of
// such an address shows its key, so these are found without asking for every input.
func (c *Chain) restoreSpent(ctx context.Context, above []*block, owners map[string]chain.Address, sums map[chain.Address]int64) error {
	young := map[chainhash.Hash]bool{} // made above, and so not there before
	for _, b := range above {
		for _, id := range b.ids {
			young[id] = true
		}
	}
	for _, b := range above {
		for _, tx := range b.txs {
			for _, in := range tx.TxIn {
				if len(in.Witness) != 2 || young[in.PreviousOutPoint.Hash] {
					continue
				}
				script := append([]byte{opFalse, opData20}, address.Hash160(in.Witness[1])...)
				a, ours := owners[string(script)]
				if !ours {
					continue
				}
				o, err := c.output(ctx, in.PreviousOutPoint)
				if err != nil {
					return err
				}
				if string(o.PkScript) == string(script) { // and not the same key in another form
					sums[a] += o.Value
				}
			}
		}
	}
	return nil
}

// output is an output of a transaction, from whichever node gives the right one.
func (c *Chain) output(ctx context.Context, at wire.OutPoint) (*wire.TxOut, error) {
	return first(ctx, c, func(ctx context.Context, n *rpc.Node) (*wire.TxOut, error) {
		var text string
		if err := n.Call(ctx, &text, "getrawtransaction", at.Hash.String(), false); err != nil {
			return nil, classify(err)
		}
		tx, err := readTx(text)
		if err != nil {
			return nil, err
		}
		if tx.TxHash() != at.Hash || int(at.Index) >= len(tx.TxOut) {
			return nil, fmt.Errorf("%w: they are not %v", ErrBytes, at)
		}
		return tx.TxOut[at.Index], nil
	})
}
