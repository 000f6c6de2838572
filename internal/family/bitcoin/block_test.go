package bitcoin

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/rpc"
)

type everybody struct{}

func (everybody) Has(chain.Address) bool { return true }

// FuzzBlock: whatever a node says is a block is refused or is just what it was.
func FuzzBlock(f *testing.F) {
	for _, p := range []*chaincfg.Params{&chaincfg.MainNetParams, &chaincfg.RegressionNetParams, &chaincfg.SigNetParams} {
		f.Add(write(p.GenesisBlock))
	}
	f.Add(write(worked(witnessBlock())))
	limit := chaincfg.RegressionNetParams.PowLimit
	codec, err := NewCodec(Regtest)
	if err != nil {
		f.Fatal(err)
	}
	c := &Chain{cfg: Config{ID: "x", Noticed: func(Suspect) {}}, codec: codec}
	f.Fuzz(func(t *testing.T, raw []byte) {
		try := func(raw []byte) {
			var h wire.BlockHeader
			if h.Deserialize(bytes.NewReader(raw)) != nil {
				return
			}
			b, err := codec.readBlock(raw, h.BlockHash(), limit)
			if err != nil {
				if !errors.Is(err, ErrForged) {
					t.Fatalf("an error of another kind: %v", err)
				}
				return
			}
			var m wire.MsgBlock
			if err := m.Deserialize(bytes.NewReader(raw)); err != nil {
				t.Fatalf("it is believed and is no block: %v", err)
			}
			if !bytes.Equal(write(&m), raw) {
				t.Fatal("what was read is not what was there")
			}
			sameTransactions(t, b.txs, m.Transactions)
			for _, d := range c.found(b, chain.Block{Hash: "h"}, everybody{}) {
				if d.Amount.IsZero() || d.To.IsZero() {
					t.Fatalf("found %v", d)
				}
			}
			if _, err := codec.readBlock(raw, chainhash.Hash{1}, limit); err == nil {
				t.Fatal("it is believed under another name")
			}
		}
		try(raw)
		// With a header that fits what is behind it, so that more is looked at.
		var m wire.MsgBlock
		if m.Deserialize(bytes.NewReader(raw)) == nil && len(m.Transactions) > 0 && len(m.Transactions) < 1000 {
			try(write(worked(&m)))
		}
	})
}

func write(m *wire.MsgBlock) []byte {
	var b bytes.Buffer
	_ = m.Serialize(&b) // a buffer takes everything
	return b.Bytes()
}

// worked gives a block the root of its transactions and work on it.
func worked(m *wire.MsgBlock) *wire.MsgBlock {
	var ids []chainhash.Hash
	for _, tx := range m.Transactions {
		ids = append(ids, tx.TxHash())
	}
	m.Header.MerkleRoot, _ = merkle(ids)
	m.Header.Bits = chaincfg.RegressionNetParams.PowLimitBits
	for number(m.BlockHash()).Cmp(compact(m.Header.Bits)) > 0 {
		m.Header.Nonce++
	}
	return m
}

// witnessBlock has three transactions with witnesses and the commitment to them.
func witnessBlock() *wire.MsgBlock {
	cb := wire.NewMsgTx(2)
	cb.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: []byte{1, 1}, Witness: wire.TxWitness{make([]byte, 32)}})
	cb.AddTxOut(wire.NewTxOut(50, ownScript))
	ids := []chainhash.Hash{{}}
	m := &wire.MsgBlock{Header: wire.BlockHeader{Version: 4}, Transactions: []*wire.MsgTx{cb}}
	for i := range 3 {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(i)}, Witness: wire.TxWitness{{byte(i)}}})
		tx.AddTxOut(wire.NewTxOut(1000, payees[kindsOf[i]]))
		m.Transactions, ids = append(m.Transactions, tx), append(ids, tx.WitnessHash())
	}
	root, _ := merkle(ids)
	commitment := chainhash.DoubleHashB(append(root[:], make([]byte, 32)...))
	cb.AddTxOut(wire.NewTxOut(0, append(append([]byte(nil), mark...), commitment...)))
	return m
}

func TestBlocksAreReadByTheirHash(t *testing.T) {
	t.Parallel()
	codec, err := NewCodec(Regtest)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		m     *wire.MsgBlock
		limit *chaincfg.Params
		good  bool
	}{
		{"mainnet's first", chaincfg.MainNetParams.GenesisBlock, &chaincfg.MainNetParams, true},
		{"signet's first", chaincfg.SigNetParams.GenesisBlock, &chaincfg.SigNetParams, true},
		{"with witnesses", worked(witnessBlock()), &chaincfg.RegressionNetParams, true},
		{"with too little work for mainnet", worked(witnessBlock()), &chaincfg.MainNetParams, false},
	} {
		b, err := codec.readBlock(write(c.m), c.m.BlockHash(), c.limit.PowLimit)
		if (err == nil) != c.good {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil && len(b.ids) != len(c.m.Transactions) {
			t.Errorf("%s: %d transactions", c.name, len(b.ids))
		}
	}
	for _, bits := range []uint32{0, 0x01003456, 0x04923456, 0xff123456, 0x00ffffff} {
		m := worked(witnessBlock())
		m.Header.Bits = bits
		if _, err := codec.readBlock(write(m), m.BlockHash(), chaincfg.RegressionNetParams.PowLimit); !errors.Is(err, ErrForged) {
			t.Errorf("bits %08x: %v", bits, err)
		}
	}
}

// TestManyTransactionsAreHashedSideBySide: as one after another.
func TestManyTransactionsAreHashedSideBySide(t *testing.T) {
	t.Parallel()
	m := witnessBlock()
	m.Transactions = m.Transactions[:1]
	m.Transactions[0].TxOut = m.Transactions[0].TxOut[:1]
	m.Transactions[0].TxIn[0].Witness = nil
	for i := range 3000 {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(i)}})
		tx.AddTxOut(wire.NewTxOut(1000, ownScript))
		m.Transactions = append(m.Transactions, tx)
	}
	worked(m)
	codec, err := NewCodec(Regtest)
	if err != nil {
		t.Fatal(err)
	}
	b, err := codec.readBlock(write(m), m.BlockHash(), chaincfg.RegressionNetParams.PowLimit)
	if err != nil {
		t.Fatal(err)
	}
	for i, tx := range m.Transactions {
		if b.ids[i] != tx.TxHash() {
			t.Fatalf("transaction %d has another name", i)
		}
	}
}

// TestWhatNodesSayIsKnownByItsCode: and whatever is not known says nothing.
func TestWhatNodesSayIsKnownByItsCode(t *testing.T) {
	t.Parallel()
	all := []error{errNotThere, errHigh, errKnown, errSpent, errOutbid, errCheap, errRejected, errNoMethod, errNoIndex}
	for _, c := range []struct {
		code int
		text string
		want error
	}{
		{-5, "No such mempool or blockchain transaction. Use gettransaction for wallet transactions.", errNotThere},
		{-5, "Transaction not in mempool", errNotThere},
		{-5, "Block not found", errNotThere},
		{-5, "No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries. Use gettransaction for wallet transactions.", errNoIndex},
		{-5, "No such mempool transaction. Blockchain transactions are still in the process of being indexed. Use gettransaction for wallet transactions.", errNoIndex},
		{-5, "Invalid address", nil},
		{-8, "Block height out of range", errHigh},
		{-8, "Scan already in progress, use action \"abort\" or \"status\"", nil},
		{-22, "TX decode failed. Make sure the tx has at least one input.", errRejected},
		{-25, "bad-txns-inputs-missingorspent", errSpent},
		{-25, "Missing inputs", errSpent},
		{-25, "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)", errRejected},
		{-26, "txn-mempool-conflict", errOutbid},
		{-26, "insufficient fee, rejecting replacement 00", errOutbid},
		{-26, "min relay fee not met, 0 < 110", errCheap},
		{-26, "mempool min fee not met, 110 < 220", errCheap},
		{-26, "mempool-script-verify-flag-failed (Signature must be zero)", errRejected},
		{-26, "txn-already-known", errKnown},
		{-27, "Transaction outputs already in utxo set", errKnown},
		{-28, "Loading block index…", nil},
		{-32601, "Method not found", errNoMethod},
		{-1, "anything", nil},
		{-1, "Block number out of range", errHigh},
	} {
		err := classify(fmt.Errorf("node 1: %w", &rpc.Error{Code: c.code, Message: c.text}))
		for _, kind := range all {
			if errors.Is(err, kind) != errors.Is(c.want, kind) {
				t.Errorf("%d %q is %v", c.code, c.text, err)
			}
		}
	}
	if err := classify(rpc.ErrSilent); !errors.Is(err, rpc.ErrSilent) || classify(nil) != nil {
		t.Errorf("what no node said became %v", err)
	}
}
