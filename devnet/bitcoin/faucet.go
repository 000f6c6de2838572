package bitcoin

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// faucet is the stranger to whom all new coins belong.
type faucet struct {
	key    *btcec.PrivateKey
	addr   address.Address
	script []byte
}

func newFaucet(p *chaincfg.Params) faucet {
	seed := sha256.Sum256([]byte("the faucet of a chain that is worth nothing"))
	key, pub := btcec.PrivKeyFromBytes(seed[:])
	addr, err := address.NewAddressWitnessPubKeyHash(address.Hash160(pub.SerializeCompressed()), p)
	if err != nil {
		panic(err) // a hash has the length of a hash
	}
	script, err := txscript.PayToAddrScript(addr)
	if err != nil {
		panic(err)
	}
	return faucet{key, addr, script}
}

// endow mines the first blocks and cuts what the faucet got into coins.
func (n *Node) endow() error {
	none := func() []*btcutil.Tx { return nil }
	if _, err := n.mine(int(n.spec.Maturity)+4, n.faucet.script, none); err != nil {
		return err
	}
	coins := n.ready()
	if len(coins) == 0 {
		return fmt.Errorf("no coin is ripe")
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: coins[0].at, Sequence: 0xfffffffd})
	each := (coins[0].value - 1_000_000) / int64(n.spec.Coins)
	for range n.spec.Coins {
		tx.AddTxOut(wire.NewTxOut(each, n.faucet.script))
	}
	if err := n.sign(tx, coins[:1]); err != nil {
		return err
	}
	if err := n.accept(btcutil.NewTx(tx)); err != nil {
		return err
	}
	_, err := n.mine(1, n.faucet.script, n.best)
	return err
}

type coin struct {
	at    wire.OutPoint
	value int64
}

// ready are the faucet's coins that can be spent now, the largest first.
func (n *Node) ready() []coin {
	var out []coin
	next := n.chain.BestSnapshot().Height + 1
	for _, o := range n.index.of(n.faucet.script) {
		e, err := n.chain.FetchUtxoEntry(o)
		if err != nil || e == nil || e.IsSpent() || n.pool.CheckSpend(o) != nil {
			continue
		}
		if e.IsCoinBase() && next-e.BlockHeight() < int32(n.spec.Maturity) {
			continue
		}
		out = append(out, coin{o, e.Amount()})
	}
	slices.SortFunc(out, func(a, b coin) int {
		if by := cmp.Compare(b.value, a.value); by != 0 {
			return by
		}
		return cmp.Compare(a.at.String(), b.at.String())
	})
	return out
}

// out is what a stranger pays to whom: an address, or a script in hex.
type out struct {
	Address string `json:"address"`
	Script  string `json:"script"`
	Amount  int64  `json:"amount"`
}

func (n *Node) outputs(outs []out) ([]*wire.TxOut, error) {
	var all []*wire.TxOut
	for _, o := range outs {
		script, err := hex.DecodeString(o.Script)
		if err != nil {
			return nil, err
		}
		if o.Address != "" {
			a, err := address.DecodeAddress(o.Address, &n.params)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", o.Address, err)
			}
			if script, err = txscript.PayToAddrScript(a); err != nil {
				return nil, err
			}
		}
		all = append(all, wire.NewTxOut(o.Amount, script))
	}
	return all, nil
}

// payment is a transaction of the faucet at twice the going price, signed.
func (n *Node) payment(outs []*wire.TxOut, final bool) (*btcutil.Tx, error) {
	tx := wire.NewMsgTx(2)
	var need, have int64
	for _, o := range outs {
		tx.AddTxOut(o)
		need += o.Value
	}
	tx.AddTxOut(wire.NewTxOut(0, n.faucet.script))
	sequence := uint32(0xfffffffd)
	if final {
		sequence = wire.MaxTxInSequenceNum
	}
	// The smallest coin that is enough, so that the large ones stay for large payments.
	coins := n.ready()
	fee := func(ins int) int64 { return int64(tx.SerializeSize()+70*ins+20) * n.price() * 2 / 1000 }
	var spent []coin
	for _, c := range slices.Backward(coins) {
		if c.value >= need+fee(1)+1000 {
			spent = []coin{c}
			break
		}
	}
	if spent == nil {
		for i, c := range coins {
			if have += c.value; have >= need+fee(i+1)*2+1000 {
				spent = coins[:i+1]
				break
			}
		}
	}
	if spent == nil {
		return nil, fmt.Errorf("the faucet has no coins for %d", need)
	}
	have = 0
	for _, c := range spent {
		have += c.value
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: c.at, Sequence: sequence})
	}
	tx.TxOut[len(outs)].Value = have - need - fee(len(spent))
	return btcutil.NewTx(tx), n.sign(tx, spent)
}

func (n *Node) sign(tx *wire.MsgTx, coins []coin) error {
	prev := map[wire.OutPoint]*wire.TxOut{}
	for _, c := range coins {
		prev[c.at] = wire.NewTxOut(c.value, n.faucet.script)
	}
	hashes := txscript.NewTxSigHashes(tx, txscript.NewMultiPrevOutFetcher(prev))
	for i, c := range coins {
		w, err := txscript.WitnessSignature(tx, hashes, i, c.value, n.faucet.script, txscript.SigHashAll, n.faucet.key, true)
		if err != nil {
			return err
		}
		tx.TxIn[i].Witness = w
	}
	return nil
}

// divert replaces a waiting payment of the faucet by one that pays nobody else.
func (n *Node) divert(id chainhash.Hash) (*btcutil.Tx, error) {
	old, err := n.pool.FetchTransaction(&id)
	if err != nil {
		return nil, err
	}
	tx := wire.NewMsgTx(2)
	var coins []coin
	var have int64
	for _, in := range old.MsgTx().TxIn {
		out, err := n.coin(in.PreviousOutPoint, nil)
		if err != nil {
			return nil, err
		}
		coins = append(coins, coin{in.PreviousOutPoint, out.Value})
		have += out.Value
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: in.PreviousOutPoint, Sequence: 0xfffffffd})
	}
	fee, err := n.feeOf(old, nil)
	if err != nil {
		return nil, err
	}
	tx.AddTxOut(wire.NewTxOut(have-2*fee-mempool.GetTxVirtualSize(old)*relayRate/1000, n.faucet.script))
	if err := n.sign(tx, coins); err != nil {
		return nil, err
	}
	other := btcutil.NewTx(tx)
	return other, n.accept(other)
}
