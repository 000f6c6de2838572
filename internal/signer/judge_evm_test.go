package signer_test

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
)

const (
	sweeperText = "0x00000000000000000000000000000000005eee9e"
	tokenText   = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	aliceText   = "0x52908400098527886e0f7030069857d2e4169ee7"
	evmBudget   = 100_000_000_000_000 // of a wish, in wei
)

var (
	alice = common.HexToAddress(aliceText)
	token = common.HexToAddress(tokenText)
)

// evmTx is a payment of 5000 wei to alice.
func evmTx() *types.DynamicFeeTx {
	return &types.DynamicFeeTx{
		ChainID: big.NewInt(1), Nonce: 7, Gas: 21_000, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(2e9),
		To: &alice, Value: big.NewInt(5000),
	}
}

// transferData is transfer(address,uint256).
func transferData(to common.Address, amount uint64) []byte {
	data := binary.BigEndian.AppendUint32(nil, 0xa9059cbb)
	data = append(data, common.LeftPadBytes(to[:], 32)...)
	return append(data, common.BigToHash(new(big.Int).SetUint64(amount)).Bytes()...)
}

// tokenTx is a payment of 5000 units of the token to alice.
func tokenTx() *types.DynamicFeeTx {
	tx := evmTx()
	tx.To, tx.Value, tx.Gas, tx.Data = &token, new(big.Int), 40_000, transferData(alice, 5000)
	return tx
}

func evmPaper(r *rig, tx types.TxData) chain.Paper {
	r.Helper()
	raw, err := types.NewTx(tx).MarshalBinary()
	if err != nil {
		r.Fatal(err)
	}
	return chain.Paper{Chain: ether, For: "t", Unsigned: raw, Keys: []chain.Key{hotKey()}}
}

func evmWish(r *rig, ref string) {
	r.wish("t", chain.Call{
		Chain: ether, To: chain.CanonicalAddress(chain.EVM, aliceText), Asset: chain.Asset{Ref: ref}, Amount: money.FromUint64(5000),
	}, evmBudget)
}

func evmGood(r *rig) chain.Paper {
	evmWish(r, "")
	return evmPaper(r, evmTx())
}

func tokenGood(r *rig) chain.Paper {
	evmWish(r, tokenText)
	return evmPaper(r, tokenTx())
}

func TestEVMRefusals(t *testing.T) {
	t.Parallel()
	commonRefusals(t, evmGood)
}

func TestEVMTokenRefusals(t *testing.T) {
	t.Parallel()
	commonRefusals(t, tokenGood)
}

func TestEVMLife(t *testing.T) {
	t.Parallel()
	fresh := func(r *rig) chain.Paper {
		tx := evmTx()
		tx.Nonce += r.next()
		return evmPaper(r, tx)
	}
	commonLife(t, evmGood, fresh)
}

// TestEVMSigns: what comes back is the wished transaction, from the hot account.
func TestEVMSigns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		good func(*rig) chain.Paper
		tx   *types.DynamicFeeTx
	}{"coin": {evmGood, evmTx()}, "token": {tokenGood, tokenTx()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := c.good(r)
			tx := new(types.Transaction)
			if err := tx.UnmarshalBinary(r.sign(p)); err != nil {
				t.Fatal(err)
			}
			from, err := types.Sender(types.LatestSignerForChainID(big.NewInt(1)), tx)
			if err != nil || "0x"+common.Bytes2Hex(from[:]) != r.address(ether, hotKey()).Text() {
				t.Fatalf("it is from %s, %v", from, err)
			}
			if tx.Nonce() != 7 || *tx.To() != *c.tx.To || tx.Value().Cmp(c.tx.Value) != 0 || !bytes.Equal(tx.Data(), c.tx.Data) {
				t.Fatalf("another transaction: %+v", tx)
			}
		})
	}
}

func TestEVMRefusesOtherTransactions(t *testing.T) {
	t.Parallel()
	mallory := common.HexToAddress("0x00000000000000000000000000000000000bad00")
	for _, c := range []struct {
		name  string
		spoil func(tx *types.DynamicFeeTx)
		want  signer.Reason
	}{
		{"another chain", func(tx *types.DynamicFeeTx) { tx.ChainID = big.NewInt(2) }, signer.Unreadable},
		{"every chain", func(tx *types.DynamicFeeTx) { tx.ChainID = new(big.Int) }, signer.Unreadable},
		{"another recipient", func(tx *types.DynamicFeeTx) { tx.To = &mallory }, signer.Recipient},
		{"a contract is made", func(tx *types.DynamicFeeTx) { tx.To = nil }, signer.Method},
		{"one wei more", func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(5001) }, signer.Amount},
		{"one wei less", func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(4999) }, signer.Amount},
		{"a method of the recipient", func(tx *types.DynamicFeeTx) { tx.Data = []byte{1} }, signer.Method},
		{"access list", func(tx *types.DynamicFeeTx) { tx.AccessList = types.AccessList{{Address: mallory}} }, signer.Method},
		{"gas above the budget", func(tx *types.DynamicFeeTx) { tx.Gas = 50_001 }, signer.Fee},
		{"price above the budget", func(tx *types.DynamicFeeTx) { tx.GasFeeCap = big.NewInt(5e9) }, signer.Fee},
		{"price without end", func(tx *types.DynamicFeeTx) {
			tx.GasFeeCap = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
		}, signer.Fee},
		{"a tip above the price", func(tx *types.DynamicFeeTx) { tx.GasTipCap = big.NewInt(3e9) }, signer.Fee},
		{"signed already", func(tx *types.DynamicFeeTx) { tx.R, tx.S, tx.V = big.NewInt(1), big.NewInt(1), new(big.Int) }, signer.Unreadable},
		{"a token instead of the coin", func(tx *types.DynamicFeeTx) { *tx = *tokenTx() }, signer.Method},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			evmWish(r, "")
			tx := evmTx()
			c.spoil(tx)
			r.refused(evmPaper(r, tx), c.want)
		})
	}
}

func TestEVMRefusesOtherForms(t *testing.T) {
	t.Parallel()
	x := evmTx()
	for name, tx := range map[string]types.TxData{
		"legacy":      &types.LegacyTx{Nonce: 7, Gas: 21_000, GasPrice: big.NewInt(1e9), To: &alice, Value: big.NewInt(5000)},
		"access list": &types.AccessListTx{ChainID: big.NewInt(1), Nonce: 7, Gas: 21_000, GasPrice: big.NewInt(1e9), To: &alice, Value: big.NewInt(5000)},
		"blob": &types.BlobTx{
			ChainID: uint256.NewInt(1), Nonce: 7, Gas: 21_000, GasTipCap: uint256.NewInt(1), GasFeeCap: uint256.NewInt(1), To: alice,
			Value: uint256.NewInt(5000), BlobFeeCap: uint256.NewInt(1), BlobHashes: []common.Hash{{1}},
		},
		"set code": &types.SetCodeTx{
			ChainID: uint256.NewInt(1), Nonce: 7, Gas: x.Gas, GasTipCap: uint256.NewInt(1), GasFeeCap: uint256.NewInt(1), To: alice,
			Value: uint256.NewInt(5000),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			evmWish(r, "")
			p := evmPaper(r, tx)
			if raw, err := r.signer.Sign(t.Context(), p); raw != nil || err == nil {
				t.Fatalf("it was signed: %x", raw)
			}
		})
	}
}

func TestEVMRefusesOtherTokenCalls(t *testing.T) {
	t.Parallel()
	word := func(n uint64) []byte { return common.BigToHash(new(big.Int).SetUint64(n)).Bytes() }
	method := func(id uint32, rest []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, id), rest...) }
	mallory := common.HexToAddress("0x00000000000000000000000000000000000bad00")
	for _, c := range []struct {
		name  string
		spoil func(tx *types.DynamicFeeTx)
		want  signer.Reason
	}{
		{"another token", func(tx *types.DynamicFeeTx) { tx.To = &mallory }, signer.Recipient},
		{"another recipient", func(tx *types.DynamicFeeTx) { tx.Data = transferData(mallory, 5000) }, signer.Recipient},
		{"one unit more", func(tx *types.DynamicFeeTx) { tx.Data = transferData(alice, 5001) }, signer.Amount},
		{"coins along", func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(1) }, signer.Amount},
		{"approve", func(tx *types.DynamicFeeTx) { tx.Data = method(0x095ea7b3, tx.Data[4:]) }, signer.Method},
		{"transferFrom", func(tx *types.DynamicFeeTx) {
			tx.Data = method(0x23b872dd, append(common.LeftPadBytes(alice[:], 32), tx.Data[4:]...))
		}, signer.Method},
		{"transferOwnership", func(tx *types.DynamicFeeTx) { tx.Data = method(0xf2fde38b, common.LeftPadBytes(mallory[:], 32)) }, signer.Method},
		{"permit", func(tx *types.DynamicFeeTx) { tx.Data = method(0xd505accf, bytes.Repeat(word(1), 7)) }, signer.Method},
		{"no data", func(tx *types.DynamicFeeTx) { tx.Data = nil }, signer.Method},
		{"method alone", func(tx *types.DynamicFeeTx) { tx.Data = tx.Data[:4] }, signer.Method},
		{"a byte missing", func(tx *types.DynamicFeeTx) { tx.Data = tx.Data[:67] }, signer.Method},
		{"a byte more", func(tx *types.DynamicFeeTx) { tx.Data = append(tx.Data, 0) }, signer.Method},
		{"a word more", func(tx *types.DynamicFeeTx) { tx.Data = append(tx.Data, word(1)...) }, signer.Method},
		{"dirt before the recipient", func(tx *types.DynamicFeeTx) { tx.Data[4] = 1 }, signer.Recipient},
		{"an amount of 256 bits", func(tx *types.DynamicFeeTx) { tx.Data[36] = 0x80 }, signer.Amount},
		{"the coin instead of the token", func(tx *types.DynamicFeeTx) { *tx = *evmTx() }, signer.Recipient},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			evmWish(r, tokenText)
			tx := tokenTx()
			c.spoil(tx)
			r.refused(evmPaper(r, tx), c.want)
		})
	}
}

// TestEVMCancels: to ourselves, over nothing, with the slot of the wish.
func TestEVMCancels(t *testing.T) {
	t.Parallel()
	void := func(r *rig) *types.DynamicFeeTx {
		tx := evmTx()
		own := common.HexToAddress(r.address(ether, hotKey()).Text())
		tx.To, tx.Value = &own, new(big.Int)
		return tx
	}
	for _, c := range []struct {
		name  string
		spoil func(tx *types.DynamicFeeTx)
		want  signer.Reason
	}{
		{"good", func(*types.DynamicFeeTx) {}, ""},
		{"dearer", func(tx *types.DynamicFeeTx) { tx.GasFeeCap = big.NewInt(4e9) }, ""},
		{"too dear", func(tx *types.DynamicFeeTx) { tx.GasFeeCap = big.NewInt(5e9) }, signer.Fee},
		{"another slot", func(tx *types.DynamicFeeTx) { tx.Nonce++ }, signer.Beside},
		{"to somebody", func(tx *types.DynamicFeeTx) { tx.To = &alice }, signer.Recipient},
		{"over something", func(tx *types.DynamicFeeTx) { tx.Value = big.NewInt(1) }, signer.Amount},
		{"by a method", func(tx *types.DynamicFeeTx) { tx.Data = []byte{1, 2, 3, 4} }, signer.Method},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.keep("t", r.sign(evmGood(r)))
			tx := void(r)
			c.spoil(tx)
			p := evmPaper(r, tx)
			p.Cancel = true
			if c.want == "" {
				r.sign(p)
				return
			}
			r.refused(p, c.want)
		})
	}
	t.Run("above a cap that was lowered", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		good := evmGood(r)
		r.keep("t", r.sign(good))
		r.change("t", func(k *send.Record) { k.Transfer.USD = 1001 * money.Dollar })
		r.refused(good, signer.Capped)
		p := evmPaper(r, void(r))
		p.Cancel = true
		r.sign(p)
	})
	t.Run("nothing to cancel", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		evmWish(r, "")
		p := evmPaper(r, void(r))
		p.Cancel = true
		r.refused(p, signer.Method)
		p.Cancel = false
		r.refused(p, signer.Recipient)
	})
}

// TestEVMBumps: dearer with the same nonce, at any hour, and never counted twice.
func TestEVMBumps(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.keep("t", r.sign(evmGood(r)))
	for i := range int64(20) {
		tx := evmTx()
		tx.GasFeeCap = big.NewInt(2e9 + i)
		r.now = r.now.Add(20 * 60 * 1e9)
		r.keep("t", r.sign(evmPaper(r, tx)))
	}
	r.change("t", func(k *send.Record) { k.Transfer.USD = 1001 * money.Dollar })
	r.refused(evmPaper(r, evmTx()), signer.Capped)
}
