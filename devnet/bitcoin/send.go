package bitcoin

import (
	"encoding/json"
	"math/big"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/mempool"
)

// dearest is Core's own limit, in satoshis for a thousand virtual bytes, above which
// it does not send what it was not told to.
const dearest = 10_000_000

func sendRawTransaction(n *Node, p params) (any, error) {
	text, err := p.text(0)
	if err != nil {
		return nil, err
	}
	tx, f := parseTx(text)
	if f != nil {
		return nil, f
	}
	limit, err := p.rate(1)
	if err != nil {
		return nil, err
	}
	if n.pool.IsTransactionInPool(tx.Hash()) {
		return tx.Hash().String(), nil
	}
	if fee, err := n.feeOf(tx, nil); err == nil && limit > 0 && fee*1000 > limit*mempool.GetTxVirtualSize(tx) {
		return nil, failf(codeVerify, "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)")
	}
	if err := n.accept(tx); err != nil {
		return nil, refusal(err)
	}
	return tx.Hash().String(), nil
}

// rate reads a price in bitcoins for a thousand virtual bytes, as number or text.
func (p params) rate(i int) (int64, error) {
	if i >= len(p) || string(p[i]) == "null" {
		return dearest, nil
	}
	var text json.Number
	if err := json.Unmarshal(p[i], &text); err != nil {
		return 0, failf(codeType, "Amount is not a number or string")
	}
	r, ok := new(big.Rat).SetString(text.String())
	if !ok {
		return 0, failf(codeType, "Invalid amount")
	}
	r.Mul(r, big.NewRat(1e8, 1))
	return new(big.Int).Div(r.Num(), r.Denom()).Int64(), nil
}

func testMempoolAccept(n *Node, p params) (any, error) {
	var list []string
	if err := p.read(0, &list); err != nil {
		return nil, err
	}
	var out []any
	for _, text := range list {
		tx, f := parseTx(text)
		if f != nil {
			return nil, f
		}
		one := object{"txid": tx.Hash().String(), "wtxid": tx.WitnessHash().String(), "allowed": false}
		r, err := n.pool.CheckMempoolAcceptance(tx)
		switch {
		case err != nil:
			one["reject-reason"] = refusal(err).Message
		case len(r.MissingParents) > 0:
			one["reject-reason"] = "missing-inputs"
		default:
			one["allowed"], one["vsize"] = true, r.TxSize
			one["fees"] = object{"base": btc(int64(r.TxFee))}
		}
		out = append(out, one)
	}
	return out, nil
}

func estimateSmartFee(n *Node, p params) (any, error) {
	target := 0
	if err := p.read(0, &target); err != nil {
		return nil, err
	}
	if target < 1 || target > 1008 {
		return nil, failf(codeParameter, "Invalid conf_target, must be between 1 and 1008")
	}
	return object{"feerate": btc(n.price()), "blocks": max(target, 2)}, nil
}

func generateToAddress(n *Node, p params) (any, error) {
	var count int
	if err := p.read(0, &count); err != nil {
		return nil, err
	}
	to, err := p.text(1)
	if err != nil {
		return nil, err
	}
	outs, err := n.outputs([]out{{Address: to}})
	if err != nil {
		return nil, failf(codeNotFound, "Error: Invalid address")
	}
	hashes, err := n.mine(count, outs[0].PkScript, func() []*btcutil.Tx { return n.best() })
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, h := range hashes {
		names = append(names, h.String())
	}
	return names, nil
}
