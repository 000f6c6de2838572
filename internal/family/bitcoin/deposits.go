package bitcoin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/btcsuite/btcd/chainhash/v2"

	"ferry/internal/chain"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/watch"
)

// Deposits returns every payment in a block to one of the addresses. That the block
// stands at its height enough nodes must say; what is in it its hash says.
func (c *Chain) Deposits(ctx context.Context, b chain.Block, to watch.Addresses) ([]chain.Deposit, error) {
	hash, err := chainhash.NewHashFromStr(b.Hash)
	if err != nil || len(b.Hash) != 2*chainhash.HashSize {
		return nil, fmt.Errorf("bitcoin: %q is no hash of a block", b.Hash)
	}
	height, err := same(ctx, c, func(ctx context.Context, n *rpc.Node) (uint64, error) {
		var h struct {
			Height uint64 `json:"height"`
		}
		return h.Height, classify(n.Call(ctx, &h, "getblockheader", b.Hash, true))
	})
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", b.Hash, err)
	}
	if height != b.Height {
		return nil, fmt.Errorf("bitcoin: block %s stands at height %d and not at %d", b.Hash, height, b.Height)
	}
	body, err := c.body(ctx, *hash)
	if err != nil {
		return nil, err
	}
	return c.found(body, b, to), nil
}

// hexBytes are what a text of JSON says in hex; nil if it says nothing so. A block is
// megabytes, which are read here without copying the text first.
type hexBytes []byte

// UnmarshalJSON takes a text.
func (h *hexBytes) UnmarshalJSON(text []byte) error {
	if len(text) < 2 || text[0] != '"' {
		return errors.New("bitcoin: not a text")
	}
	out := make([]byte, hex.DecodedLen(len(text)-2))
	if _, err := hex.Decode(out, text[1:len(text)-1]); err != nil {
		return nil //nolint:nilerr // it is an answer, and a wrong one: who asked says what that means
	}
	*h = out
	return nil
}

// body is a block by its hash, from whichever node gives the right one.
func (c *Chain) body(ctx context.Context, hash chainhash.Hash) (*block, error) {
	if b, ok := c.blocks.get(hash); ok {
		return b, nil
	}
	b, err := first(ctx, c, func(ctx context.Context, n *rpc.Node) (*block, error) {
		var said hexBytes
		if err := n.Call(ctx, &said, "getblock", hash.String(), 0); err != nil {
			return nil, classify(err)
		}
		if said == nil {
			return nil, forged("it is not in hex")
		}
		b, err := c.codec.readBlock(said, hash, c.params.PowLimit)
		if errors.Is(err, ErrForged) {
			c.notice(Suspect{Reason: ForgedBlock, Block: hash.String(), Detail: n.Name() + ": " + err.Error()})
		}
		return b, err
	})
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", hash, err)
	}
	c.blocks.put(hash, b, 3*b.size) // what is made of the bytes is larger than they
	return b, nil
}

// found are the payments of a block to the addresses. The first transaction's are
// not counted: they can not be spent for a hundred blocks, and no customer pays so.
// Nor is what pays our key by another kind of script than the one we gave: no signer
// of ours would spend it.
func (c *Chain) found(body *block, b chain.Block, to watch.Addresses) []chain.Deposit {
	var out []chain.Deposit
	for i := range body.txs {
		for _, m := range body.pays[i] {
			o, at := &body.txs[i].outs[m.out], where{body.ids[i], m.out, b}
			switch {
			case m.kind == "":
				if c.cfg.Noticed != nil {
					c.suspect(o, to, at)
				}
			case !to.Has(m.to):
			case m.kind != P2WPKH:
				c.notice(at.suspect(OtherForm, m.to, o.value))
			case i == 0:
				c.notice(at.suspect(Coinbase, m.to, o.value))
			case o.value < dust(P2WPKH):
				c.notice(at.suspect(Dust, m.to, o.value))
			default:
				out = append(out, c.deposit(at, m.to, o.value))
			}
		}
	}
	return out
}

// where is an output on the chain.
type where struct {
	tx    chainhash.Hash
	index int
	block chain.Block
}

func (c *Chain) deposit(w where, to chain.Address, value int64) chain.Deposit {
	tx := w.tx.String()
	return chain.Deposit{
		ID: c.depositID(tx, uint32(w.index)), To: to, Asset: c.cfg.ID.Native(), //nolint:gosec // an index of a list
		Amount: money.FromUint64(uint64(value)), Tx: chain.TxID(tx), Block: w.block, //nolint:gosec // it is above dust
	}
}

// depositID is chain:txid:vout, which is the same wherever the transaction is mined.
func (c *Chain) depositID(tx string, index uint32) chain.DepositID {
	return chain.DepositID(string(c.cfg.ID) + ":" + tx + ":" + strconv.FormatUint(uint64(index), 10))
}
