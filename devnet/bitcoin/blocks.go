package bitcoin

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
)

type object = map[string]any

func getBlockchainInfo(n *Node, _ params) (any, error) {
	best := n.chain.BestSnapshot()
	tip, err := n.tip()
	if err != nil {
		return nil, err
	}
	old := time.Since(tip.time) > 24*time.Hour
	progress := 1.0
	if old {
		progress = 0.5
	}
	return object{
		"chain": "regtest", "blocks": best.Height, "headers": best.Height, "bestblockhash": best.Hash.String(),
		"bits": fmt.Sprintf("%08x", best.Bits), "time": tip.time.Unix(), "mediantime": best.MedianTime.Unix(),
		"verificationprogress": progress, "initialblockdownload": old, "pruned": false, "warnings": []string{},
	}, nil
}

func getNetworkInfo(n *Node, _ params) (any, error) {
	return object{
		"version": 290000, "subversion": "/ferry-devnet(btcd):0.26.2/", "protocolversion": 70016, "connections": 0,
		"networkactive": true, "relayfee": btc(relayRate), "incrementalfee": btc(relayRate), "warnings": []string{},
	}, nil
}

func getIndexInfo(n *Node, _ params) (any, error) {
	return object{"txindex": object{"synced": true, "best_block_height": n.chain.BestSnapshot().Height}}, nil
}

func getBlockCount(n *Node, _ params) (any, error) { return n.chain.BestSnapshot().Height, nil }

func getBestBlockHash(n *Node, _ params) (any, error) {
	return n.chain.BestSnapshot().Hash.String(), nil
}

func getBlockHash(n *Node, p params) (any, error) {
	var height int32
	if err := p.read(0, &height); err != nil {
		return nil, err
	}
	h, err := n.chain.BlockHashByHeight(height)
	if err != nil {
		return nil, failf(codeParameter, "Block height out of range")
	}
	return h.String(), nil
}

// depth is the height of a block and how deep it stands; -1 where it is orphaned.
func (n *Node) depth(hash chainhash.Hash) (height, confirmations int32, err error) {
	if h, err := n.chain.BlockHeightByHash(&hash); err == nil {
		return h, n.chain.BestSnapshot().Height - h + 1, nil
	}
	b, err := n.block(hash)
	if err != nil {
		return 0, 0, err
	}
	// Below an orphan stand orphans and then the branch that counts.
	above := int32(1)
	for at := b.MsgBlock().Header.PrevBlock; ; above++ {
		if h, err := n.chain.BlockHeightByHash(&at); err == nil {
			return h + above, -1, nil
		}
		up, err := n.chain.HeaderByHash(&at)
		if err != nil {
			return 0, 0, err
		}
		at = up.PrevBlock
	}
}

// block is any block that is stored, on whichever branch.
func (n *Node) block(hash chainhash.Hash) (*btcutil.Block, error) {
	if b, err := n.chain.BlockByHash(&hash); err == nil {
		return b, nil
	}
	return n.stored(hash)
}

func getBlockHeader(n *Node, p params) (any, error) {
	hash, err := p.hash(0)
	if err != nil {
		return nil, err
	}
	verbose, err := p.flag(1, true)
	if err != nil {
		return nil, err
	}
	h, err := n.chain.HeaderByHash(&hash)
	if err != nil {
		return nil, failf(codeNotFound, "Block not found")
	}
	if !verbose {
		var b bytes.Buffer
		if err := h.Serialize(&b); err != nil {
			return nil, err
		}
		return hex.EncodeToString(b.Bytes()), nil
	}
	height, deep, err := n.depth(hash)
	if err != nil {
		return nil, err
	}
	out := object{
		"hash": hash.String(), "confirmations": deep, "height": height, "version": h.Version,
		"merkleroot": h.MerkleRoot.String(), "time": h.Timestamp.Unix(), "nonce": h.Nonce, "bits": fmt.Sprintf("%08x", h.Bits),
	}
	if height > 0 {
		out["previousblockhash"] = h.PrevBlock.String()
	}
	if deep > 1 {
		if next, err := n.chain.BlockHashByHeight(height + 1); err == nil {
			out["nextblockhash"] = next.String()
		}
	}
	return out, nil
}

func getBlock(n *Node, p params) (any, error) {
	hash, err := p.hash(0)
	if err != nil {
		return nil, err
	}
	level, err := p.level(1, 1)
	if err != nil {
		return nil, err
	}
	b, err := n.block(hash)
	if err != nil {
		return nil, failf(codeNotFound, "Block not found")
	}
	raw, err := b.Bytes()
	if err != nil {
		return nil, err
	}
	if level <= 0 {
		return hex.EncodeToString(raw), nil
	}
	head, err := getBlockHeader(n, p[:1])
	if err != nil {
		return nil, err
	}
	out, _ := head.(object)
	var txs []any
	for _, tx := range b.Transactions() {
		if level == 1 {
			txs = append(txs, tx.Hash().String())
		} else {
			txs = append(txs, n.show(tx))
		}
	}
	out["tx"], out["nTx"], out["size"] = txs, len(txs), len(raw)
	return out, nil
}

// show is a transaction as Core tells it.
func (n *Node) show(tx *btcutil.Tx) object {
	m := tx.MsgTx()
	var ins, outs []any
	for _, in := range m.TxIn {
		one := object{"sequence": in.Sequence}
		if in.PreviousOutPoint.Index == 0xffffffff {
			one["coinbase"] = hex.EncodeToString(in.SignatureScript)
		} else {
			one["txid"], one["vout"] = in.PreviousOutPoint.Hash.String(), in.PreviousOutPoint.Index
			one["scriptSig"] = object{"hex": hex.EncodeToString(in.SignatureScript)}
		}
		if len(in.Witness) > 0 {
			var parts []string
			for _, w := range in.Witness {
				parts = append(parts, hex.EncodeToString(w))
			}
			one["txinwitness"] = parts
		}
		ins = append(ins, one)
	}
	for i, o := range m.TxOut {
		outs = append(outs, object{"value": btc(o.Value), "n": i, "scriptPubKey": n.script(o.PkScript)})
	}
	size := m.SerializeSize()
	weight := m.SerializeSizeStripped()*3 + size
	return object{
		"txid": tx.Hash().String(), "hash": tx.WitnessHash().String(), "version": m.Version, "size": size, "vsize": (weight + 3) / 4,
		"weight": weight, "locktime": m.LockTime, "vin": ins, "vout": outs, "hex": hexTx(m),
	}
}

func (n *Node) script(script []byte) object {
	out := object{"hex": hex.EncodeToString(script), "type": kinds[txscript.GetScriptClass(script)]}
	_, addrs, _, err := txscript.ExtractPkScriptAddrs(script, &n.params)
	if err == nil && len(addrs) == 1 {
		if _, bare := addrs[0].(*address.AddressPubKey); !bare {
			out["address"] = addrs[0].EncodeAddress()
		}
	}
	return out
}

var kinds = map[txscript.ScriptClass]string{
	txscript.NonStandardTy: "nonstandard", txscript.PubKeyTy: "pubkey", txscript.PubKeyHashTy: "pubkeyhash",
	txscript.WitnessV0PubKeyHashTy: "witness_v0_keyhash", txscript.ScriptHashTy: "scripthash",
	txscript.WitnessV0ScriptHashTy: "witness_v0_scripthash", txscript.MultiSigTy: "multisig",
	txscript.NullDataTy: "nulldata", txscript.WitnessV1TaprootTy: "witness_v1_taproot", txscript.WitnessUnknownTy: "witness_unknown",
}
