package signer

import (
	"bytes"
	"fmt"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
)

// bitcoinShelf is the keys of one Bitcoin network: m/84'/coin'/account'/0/index.
type bitcoinShelf struct {
	branches branches
	params   *chaincfg.Params
	own      []byte // the output script of the hot account, which is in every paper
}

// bitcoinNets refuses a network that nobody named: a missing one must not mean mainnet.
var bitcoinNets = map[string]*chaincfg.Params{
	"mainnet": &chaincfg.MainNetParams, "testnet": &chaincfg.TestNet3Params,
	"signet": &chaincfg.SigNetParams, "regtest": &chaincfg.RegressionNetParams,
}

func newBitcoinShelf(seed []byte, network string) (shelf, error) {
	params, ok := bitcoinNets[network]
	if !ok {
		return nil, fmt.Errorf("%q is none of Bitcoin's networks", network)
	}
	b, err := newBranches(seed, 84, coinType(network))
	if err != nil {
		return nil, err
	}
	s := &bitcoinShelf{branches: b, params: params}
	s.own, err = s.script(b.hot)
	return s, err
}

func (s *bitcoinShelf) address(k chain.Key) (chain.Address, error) {
	key, err := s.branches.key(k)
	if err != nil {
		return chain.Address{}, err
	}
	a, err := s.segwit(key)
	if err != nil {
		return chain.Address{}, err
	}
	return chain.CanonicalAddress(chain.Bitcoin, a.EncodeAddress()), nil
}

// segwit is the P2WPKH address of a key.
func (s *bitcoinShelf) segwit(key *btcec.PrivateKey) (address.Address, error) {
	hash := address.Hash160(key.PubKey().SerializeCompressed())
	return address.NewAddressWitnessPubKeyHash(hash, s.params)
}

// readBitcoin reads a PSBT without signatures and what each of its inputs spends.
func readBitcoin(unsigned []byte) (*wire.MsgTx, []*wire.TxOut, error) {
	in := bytes.NewReader(unsigned)
	p, err := psbt.NewFromRawBytes(in, false)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if in.Len() != 0 {
		return nil, nil, fmt.Errorf("%w: there are bytes behind it", ErrUnreadable)
	}
	spent := make([]*wire.TxOut, len(p.Inputs))
	for i := range p.Inputs {
		if spent[i], err = spentBy(p, i); err != nil {
			return nil, nil, fmt.Errorf("%w: input %d: %w", ErrUnreadable, i, err)
		}
	}
	return p.UnsignedTx, spent, nil
}

// spentBy is the coin that an input spends. A whole earlier transaction, if it is
// there, must be the one that the input names, and must say the same.
func spentBy(p *psbt.Packet, i int) (*wire.TxOut, error) {
	in, from := p.Inputs[i], p.UnsignedTx.TxIn[i].PreviousOutPoint
	if len(in.PartialSigs) != 0 || len(in.FinalScriptSig) != 0 || len(in.FinalScriptWitness) != 0 {
		return nil, fmt.Errorf("it is signed already")
	}
	if in.SighashType != 0 && in.SighashType != txscript.SigHashAll {
		return nil, fmt.Errorf("it asks for a signature of kind %d, which does not cover everything", in.SighashType)
	}
	coin := in.WitnessUtxo
	if whole := in.NonWitnessUtxo; whole != nil {
		if whole.TxHash() != from.Hash || int(from.Index) >= len(whole.TxOut) {
			return nil, fmt.Errorf("the transaction beside it is not the one that it spends")
		}
		out := whole.TxOut[from.Index]
		if coin != nil && !psbt.TxOutsEqual(coin, out) {
			return nil, fmt.Errorf("what it spends is told in two ways")
		}
		coin = out
	}
	if coin == nil {
		return nil, fmt.Errorf("it does not say what it spends")
	}
	return coin, nil
}

func (s *bitcoinShelf) sign(unsigned []byte, keys []chain.Key) ([]byte, error) {
	tx, spent, err := readBitcoin(unsigned)
	if err != nil {
		return nil, err
	}
	if len(keys) != len(tx.TxIn) {
		return nil, fmt.Errorf("%w: %d keys for %d inputs", ErrUnreadable, len(keys), len(tx.TxIn))
	}
	coins := make(map[wire.OutPoint]*wire.TxOut, len(spent))
	for i, in := range tx.TxIn {
		coins[in.PreviousOutPoint] = spent[i]
	}
	hashes := txscript.NewTxSigHashes(tx, txscript.NewMultiPrevOutFetcher(coins))
	for i, k := range keys {
		key, err := s.branches.key(k)
		if err != nil {
			return nil, err
		}
		own, err := s.scriptFor(k)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(own, spent[i].PkScript) {
			return nil, fmt.Errorf("%w: input %d does not belong to the key %q %d", ErrUnreadable, i, k.Account, k.Index)
		}
		tx.TxIn[i].Witness, err = txscript.WitnessSignature(tx, hashes, i, spent[i].Value, own, txscript.SigHashAll, key, true)
		if err != nil {
			return nil, fmt.Errorf("sign input %d: %w", i, err)
		}
	}
	var out bytes.Buffer
	if err := tx.Serialize(&out); err != nil {
		return nil, fmt.Errorf("write: %w", err)
	}
	return out.Bytes(), nil
}

// scriptFor is the output script of one of our keys.
func (s *bitcoinShelf) scriptFor(k chain.Key) ([]byte, error) {
	if k == (chain.Key{Account: Hot}) {
		return s.own, nil
	}
	key, err := s.branches.key(k)
	if err != nil {
		return nil, err
	}
	return s.script(key)
}

// script is the output script of a key's address.
func (s *bitcoinShelf) script(key *btcec.PrivateKey) ([]byte, error) {
	a, err := s.segwit(key)
	if err != nil {
		return nil, err
	}
	return txscript.PayToAddrScript(a)
}
