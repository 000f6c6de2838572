package bitcoin

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// stored reads a block from the store, where orphans are too.
func (n *Node) stored(hash chainhash.Hash) (*btcutil.Block, error) {
	var b *btcutil.Block
	err := n.db.View(func(tx database.Tx) error {
		raw, err := tx.FetchBlock(&hash)
		if err != nil {
			return err
		}
		b, err = btcutil.NewBlockFromBytes(slices.Clone(raw)) // the bytes end with the view
		return err
	})
	return b, err
}

func getRawTransaction(n *Node, p params) (any, error) {
	id, err := p.hash(0)
	if err != nil {
		return nil, err
	}
	level, err := p.level(1, 0)
	if err != nil {
		return nil, err
	}
	var in chainhash.Hash
	given := len(p) > 2 && string(p[2]) != "null"
	if given {
		if in, err = p.hash(2); err != nil {
			return nil, err
		}
		if _, err := n.block(in); err != nil {
			return nil, failf(codeNotFound, "Block hash not found")
		}
	} else if tx, err := n.pool.FetchTransaction(&id); err == nil {
		if level == 0 {
			return hexTx(tx.MsgTx()), nil
		}
		return n.show(tx), nil
	} else if at, ok := n.index.block(id); ok {
		in, given = at, true
	}
	if given {
		b, err := n.block(in)
		if err != nil {
			return nil, err
		}
		for _, tx := range b.Transactions() {
			if *tx.Hash() == id {
				return n.landed(tx, b, level)
			}
		}
		return nil, failf(codeNotFound, "No such transaction found in the provided block. Use gettransaction for wallet transactions.")
	}
	return nil, failf(codeNotFound, "No such mempool or blockchain transaction. Use gettransaction for wallet transactions.")
}

func (n *Node) landed(tx *btcutil.Tx, b *btcutil.Block, level int) (any, error) {
	if level == 0 {
		return hexTx(tx.MsgTx()), nil
	}
	_, deep, err := n.depth(*b.Hash())
	if err != nil {
		return nil, err
	}
	out := n.show(tx)
	out["blockhash"], out["confirmations"] = b.Hash().String(), max(deep, 0)
	if deep > 0 {
		out["time"], out["blocktime"] = b.MsgBlock().Header.Timestamp.Unix(), b.MsgBlock().Header.Timestamp.Unix()
	}
	return out, nil
}

func getRawMempool(n *Node, p params) (any, error) {
	verbose, err := p.flag(0, false)
	if err != nil {
		return nil, err
	}
	if verbose {
		out := object{}
		for _, d := range n.waiting() {
			out[d.Tx.Hash().String()] = n.entry(d)
		}
		return out, nil
	}
	out := []string{}
	for _, d := range n.waiting() {
		out = append(out, d.Tx.Hash().String())
	}
	return out, nil
}

func getMempoolEntry(n *Node, p params) (any, error) {
	id, err := p.hash(0)
	if err != nil {
		return nil, err
	}
	for _, d := range n.pool.TxDescs() {
		if *d.Tx.Hash() == id {
			return n.entry(d), nil
		}
	}
	return nil, failf(codeNotFound, "Transaction not in mempool")
}

func (n *Node) entry(d *mempool.TxDesc) object {
	at := map[chainhash.Hash]*mempool.TxDesc{}
	descs := n.pool.TxDescs()
	for _, x := range descs {
		at[*x.Tx.Hash()] = x
	}
	total := func(list []*mempool.TxDesc) (fee, size int64) {
		for _, x := range list {
			fee, size = fee+x.Fee, size+mempool.GetTxVirtualSize(x.Tx)
		}
		return fee, size
	}
	up := ancestors(d, at)
	var down []*mempool.TxDesc
	depends, spentBy := []string{}, []string{}
	for _, x := range descs {
		if slices.Contains(ancestors(x, at), d) {
			down = append(down, x)
		}
		for _, in := range x.Tx.MsgTx().TxIn {
			if in.PreviousOutPoint.Hash == *d.Tx.Hash() {
				spentBy = append(spentBy, x.Tx.Hash().String())
			}
		}
	}
	for _, in := range d.Tx.MsgTx().TxIn {
		if p := at[in.PreviousOutPoint.Hash]; p != nil {
			depends = append(depends, p.Tx.Hash().String())
		}
	}
	upFee, upSize := total(up)
	downFee, downSize := total(down)
	return object{
		"vsize": mempool.GetTxVirtualSize(d.Tx), "time": d.Added.Unix(), "height": d.Height,
		"ancestorcount": len(up), "ancestorsize": upSize, "descendantcount": len(down), "descendantsize": downSize,
		"wtxid": d.Tx.WitnessHash().String(), "depends": depends, "spentby": spentBy, "bip125-replaceable": signals(d.Tx),
		"fees": object{"base": btc(d.Fee), "modified": btc(d.Fee), "ancestor": btc(upFee), "descendant": btc(downFee)},
	}
}

func getMempoolInfo(n *Node, _ params) (any, error) {
	var bytes, fees int64
	descs := n.pool.TxDescs()
	for _, d := range descs {
		bytes, fees = bytes+mempool.GetTxVirtualSize(d.Tx), fees+d.Fee
	}
	return object{
		"loaded": true, "size": len(descs), "bytes": bytes, "total_fee": btc(fees), "maxmempool": 300_000_000,
		"mempoolminfee": btc(relayRate), "minrelaytxfee": btc(relayRate), "incrementalrelayfee": btc(relayRate), "fullrbf": true,
	}, nil
}

func getTxOut(n *Node, p params) (any, error) {
	var o wire.OutPoint
	var err error
	if o.Hash, err = p.hash(0); err != nil {
		return nil, err
	}
	if err := p.read(1, &o.Index); err != nil {
		return nil, err
	}
	waits, err := p.flag(2, true)
	if err != nil {
		return nil, err
	}
	best := n.chain.BestSnapshot()
	if waits {
		if n.pool.CheckSpend(o) != nil {
			return nil, nil
		}
		if tx, err := n.pool.FetchTransaction(&o.Hash); err == nil {
			if int(o.Index) >= len(tx.MsgTx().TxOut) {
				return nil, nil
			}
			out := tx.MsgTx().TxOut[o.Index]
			return object{"bestblock": best.Hash.String(), "confirmations": 0, "value": btc(out.Value), "scriptPubKey": n.script(out.PkScript), "coinbase": false}, nil
		}
	}
	e, err := n.chain.FetchUtxoEntry(o)
	if err != nil || e == nil || e.IsSpent() {
		return nil, err
	}
	return object{
		"bestblock": best.Hash.String(), "confirmations": best.Height - e.BlockHeight() + 1, "value": btc(e.Amount()),
		"scriptPubKey": n.script(e.PkScript()), "coinbase": e.IsCoinBase(),
	}, nil
}

func getTxSpendingPrevOut(n *Node, p params) (any, error) {
	var list []struct {
		TxID string `json:"txid"`
		Vout uint32 `json:"vout"`
	}
	if err := p.read(0, &list); err != nil {
		return nil, err
	}
	out := []any{}
	for _, o := range list {
		h, err := chainhash.NewHashFromStr(o.TxID)
		if err != nil {
			return nil, failf(codeParameter, "txid must be hexadecimal string")
		}
		one := object{"txid": o.TxID, "vout": o.Vout}
		if tx := n.pool.CheckSpend(wire.OutPoint{Hash: *h, Index: o.Vout}); tx != nil {
			one["spendingtxid"] = tx.Hash().String()
		}
		out = append(out, one)
	}
	return out, nil
}

// scanTxOutSet knows descriptors of the kind addr(…).
func scanTxOutSet(n *Node, p params) (any, error) {
	action, err := p.text(0)
	if err != nil {
		return nil, err
	}
	if action != "start" {
		return nil, failf(codeParameter, "Invalid action '%s'", action)
	}
	var list []json.RawMessage
	if err := p.read(1, &list); err != nil {
		return nil, err
	}
	best := n.chain.BestSnapshot()
	coins, total := []object{}, int64(0)
	for _, text := range list {
		desc := descriptor(text)
		inner, ok := strings.CutPrefix(desc, "addr(")
		inner, _, closed := strings.Cut(inner, ")")
		if !ok || !closed {
			return nil, failf(codeNotFound, "only descriptors of the kind addr(...) are known here")
		}
		a, err := address.DecodeAddress(inner, &n.params)
		if err != nil {
			return nil, failf(codeNotFound, "Address is not valid")
		}
		script, err := txscript.PayToAddrScript(a)
		if err != nil {
			return nil, err
		}
		for _, o := range n.index.of(script) {
			e, err := n.chain.FetchUtxoEntry(o)
			if err != nil || e == nil || e.IsSpent() {
				continue
			}
			total += e.Amount()
			coins = append(coins, object{
				"txid": o.Hash.String(), "vout": o.Index, "scriptPubKey": hex.EncodeToString(script), "desc": desc,
				"amount": btc(e.Amount()), "coinbase": e.IsCoinBase(), "height": e.BlockHeight(), "confirmations": best.Height - e.BlockHeight() + 1,
			})
		}
	}
	slices.SortFunc(coins, func(a, b object) int { // Core lists them by their name too
		return cmp.Compare(a["txid"].(string), b["txid"].(string))
	})
	return object{"success": true, "txouts": len(coins), "height": best.Height, "bestblock": best.Hash.String(), "unspents": coins, "total_amount": btc(total)}, nil
}

func descriptor(text json.RawMessage) string {
	var s string
	if json.Unmarshal(text, &s) == nil {
		return s
	}
	var o struct {
		Desc string `json:"desc"`
	}
	_ = json.Unmarshal(text, &o) // an empty one is refused
	return o.Desc
}
