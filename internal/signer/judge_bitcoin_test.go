package signer_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
)

const (
	bobText = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	eveText = "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc"
	// paid is the wished amount, and bitcoinBudget what its fee may be at most.
	paid, bitcoinBudget = 1_000_000, 20_000
)

func script(r *rig, text string) []byte {
	r.Helper()
	a, err := address.DecodeAddress(text, &chaincfg.RegressionNetParams)
	if err != nil {
		r.Fatal(err)
	}
	s, err := txscript.PayToAddrScript(a)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// coinDraft is a transaction with what it spends.
type coinDraft struct {
	tx    *wire.MsgTx
	spent []*wire.TxOut
	keys  []chain.Key
	more  func(*psbt.Packet)
}

func (d *coinDraft) spend(r *rig, n uint32, k chain.Key, value int64) {
	d.tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: [32]byte{9}, Index: n}, Sequence: wire.MaxTxInSequenceNum - 2})
	d.spent = append(d.spent, wire.NewTxOut(value, script(r, r.address(regtest, k).Text())))
	d.keys = append(d.keys, k)
}

// coinTx pays bob a million from two coins, with change and a fee of 10,000.
func coinTx(r *rig) *coinDraft {
	d := &coinDraft{tx: wire.NewMsgTx(2)}
	d.spend(r, 0, hotKey(), 700_000)
	d.spend(r, 1, hotKey(), 800_000)
	d.tx.AddTxOut(wire.NewTxOut(paid, script(r, bobText)))
	d.tx.AddTxOut(wire.NewTxOut(490_000, script(r, r.address(regtest, hotKey()).Text())))
	return d
}

func (d *coinDraft) paper(r *rig) chain.Paper {
	r.Helper()
	p, err := psbt.NewFromUnsignedTx(d.tx)
	if err != nil {
		r.Fatal(err)
	}
	for i := range p.Inputs {
		p.Inputs[i].WitnessUtxo = d.spent[i]
	}
	if d.more != nil {
		d.more(p)
	}
	var b bytes.Buffer
	if err := p.Serialize(&b); err != nil {
		r.Fatal(err)
	}
	return chain.Paper{Chain: regtest, For: "t", Unsigned: b.Bytes(), Keys: d.keys}
}

func coinWish(r *rig) {
	r.wish("t", chain.Call{Chain: regtest, To: chain.CanonicalAddress(chain.Bitcoin, bobText), Amount: money.FromUint64(paid)}, bitcoinBudget)
}

func coinGood(r *rig) chain.Paper {
	coinWish(r)
	return coinTx(r).paper(r)
}

func TestBitcoinRefusals(t *testing.T) {
	t.Parallel()
	commonRefusals(t, coinGood)
}

func TestBitcoinLife(t *testing.T) {
	t.Parallel()
	commonLife(t, coinGood, func(r *rig) chain.Paper {
		d := coinTx(r)
		n := uint32(r.next())
		d.tx.TxIn[0].PreviousOutPoint.Index, d.tx.TxIn[1].PreviousOutPoint.Index = 2*n, 2*n+1
		return d.paper(r)
	})
}

// check runs the scripts of a signed transaction, as the network does.
func (d *coinDraft) check(r *rig, raw []byte) {
	r.Helper()
	tx := new(wire.MsgTx)
	if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
		r.Fatal(err)
	}
	coins := map[wire.OutPoint]*wire.TxOut{}
	for i, in := range tx.TxIn {
		coins[in.PreviousOutPoint] = d.spent[i]
	}
	fetch := txscript.NewMultiPrevOutFetcher(coins)
	hashes := txscript.NewTxSigHashes(tx, fetch)
	for i, in := range tx.TxIn {
		out := coins[in.PreviousOutPoint]
		vm, err := txscript.NewEngine(out.PkScript, tx, i, txscript.StandardVerifyFlags, nil, hashes, out.Value, fetch)
		if err != nil {
			r.Fatal(err)
		}
		if err := vm.Execute(); err != nil {
			r.Fatalf("input %d: %v", i, err)
		}
	}
	if tx.TxHash() != d.tx.TxHash() {
		r.Fatal("another transaction was signed")
	}
}

func TestBitcoinSigns(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{
		"p2wpkh": bobText, "p2sh": eveText, "p2pkh": "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn",
		"p2wsh": "bcrt1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qzf4jry",
		"p2tr":  "bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			coinWish(r)
			r.change("t", func(k *send.Record) { k.Transfer.Call.To = chain.CanonicalAddress(chain.Bitcoin, to) })
			d := coinTx(r)
			d.tx.TxOut[0].PkScript = script(r, to)
			d.check(r, r.sign(d.paper(r)))
		})
	}
}

func TestBitcoinRefusesOtherTransactions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(r *rig, d *coinDraft)
		want  signer.Reason
	}{
		{"another recipient", func(r *rig, d *coinDraft) { d.tx.TxOut[0].PkScript = script(r, eveText) }, signer.Recipient},
		{"change to somebody", func(r *rig, d *coinDraft) { d.tx.TxOut[1].PkScript = script(r, eveText) }, signer.Recipient},
		{"change to a deposit address", func(r *rig, d *coinDraft) {
			d.tx.TxOut[1].PkScript = script(r, r.address(regtest, depositKey(0)).Text())
		}, signer.Recipient},
		{"change to the recipient", func(r *rig, d *coinDraft) { d.tx.TxOut[1].PkScript = script(r, bobText) }, signer.Amount},
		{"recipient paid twice", func(_ *rig, d *coinDraft) { d.tx.TxOut[1] = d.tx.TxOut[0] }, signer.Amount},
		{"recipient not paid", func(_ *rig, d *coinDraft) { d.tx.TxOut = d.tx.TxOut[1:] }, signer.Amount},
		{"one more", func(_ *rig, d *coinDraft) { d.tx.TxOut[0].Value++ }, signer.Amount},
		{"one less", func(_ *rig, d *coinDraft) { d.tx.TxOut[0].Value-- }, signer.Amount},
		{"data for nothing", func(_ *rig, d *coinDraft) { d.tx.AddTxOut(wire.NewTxOut(0, []byte{txscript.OP_RETURN})) }, signer.Amount},
		{"data over something", func(_ *rig, d *coinDraft) { d.tx.AddTxOut(wire.NewTxOut(1, []byte{txscript.OP_RETURN})) }, signer.Recipient},
		{"change forgotten", func(_ *rig, d *coinDraft) { d.tx.TxOut = d.tx.TxOut[:1] }, signer.Fee},
		{"change too small", func(_ *rig, d *coinDraft) { d.tx.TxOut[1].Value -= 10_001 }, signer.Fee},
		{"pays more than it has", func(_ *rig, d *coinDraft) { d.tx.TxOut[1].Value += 10_001 }, signer.Amount},
		{"pays less than nothing", func(_ *rig, d *coinDraft) { d.tx.TxOut[1].Value = -1 }, signer.Amount},
		{"pays more than there is", func(_ *rig, d *coinDraft) { d.tx.TxOut[1].Value = 1 << 62 }, signer.Amount},
		{"a coin of less than nothing", func(_ *rig, d *coinDraft) { d.spent[0].Value = -5 }, signer.Amount},
		{"a coin of more than there is", func(_ *rig, d *coinDraft) { d.spent[0].Value = 1 << 62 }, signer.Amount},
		{"a coin twice", func(_ *rig, d *coinDraft) { d.tx.TxIn[1].PreviousOutPoint = d.tx.TxIn[0].PreviousOutPoint }, signer.Method},
		{"somebody's coin", func(r *rig, d *coinDraft) { d.spent[0].PkScript = script(r, bobText) }, signer.WrongKeys},
		{"coin of a deposit address", func(r *rig, d *coinDraft) {
			d.spent[0].PkScript, d.keys[0] = script(r, r.address(regtest, depositKey(2)).Text()), depositKey(2)
		}, signer.WrongKeys},
		{"keys in the wrong place", func(_ *rig, d *coinDraft) { d.keys[0] = depositKey(2) }, signer.WrongKeys},
		{"a hot key that is none", func(_ *rig, d *coinDraft) { d.keys[0].Index = 1 }, signer.Unreadable},
		{"a key missing", func(_ *rig, d *coinDraft) { d.keys = d.keys[:1] }, signer.WrongKeys},
		{"locked", func(_ *rig, d *coinDraft) { d.tx.LockTime = 900_000 }, signer.Method},
		{"waits", func(_ *rig, d *coinDraft) { d.tx.TxIn[0].Sequence = 144 }, signer.Method},
		{"of version 3", func(_ *rig, d *coinDraft) { d.tx.Version = 3 }, signer.Method},
		{"signs nothing", func(_ *rig, d *coinDraft) {
			d.more = func(p *psbt.Packet) { p.Inputs[0].SighashType = txscript.SigHashNone }
		}, signer.Unreadable},
		{"signs for others too", func(_ *rig, d *coinDraft) {
			d.more = func(p *psbt.Packet) { p.Inputs[0].SighashType = txscript.SigHashAll | txscript.SigHashAnyOneCanPay }
		}, signer.Unreadable},
		{"says nothing about a coin", func(_ *rig, d *coinDraft) { d.more = func(p *psbt.Packet) { p.Inputs[1].WitnessUtxo = nil } }, signer.Unreadable},
		{"another transaction beside a coin", func(_ *rig, d *coinDraft) {
			d.more = func(p *psbt.Packet) { p.Inputs[0].NonWitnessUtxo = d.tx }
		}, signer.Unreadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			coinWish(r)
			d := coinTx(r)
			c.spoil(r, d)
			r.refused(d.paper(r), c.want)
		})
	}
}

// TestBitcoinFeeIsAShare: however much the wish allows.
func TestBitcoinFeeIsAShare(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	coinWish(r)
	r.change("t", func(k *send.Record) { k.Transfer.MaxFee = money.FromUint64(1 << 40) })
	d := coinTx(r)
	d.tx.TxOut[1].Value = 400_000 // a fee of a tenth
	d.check(r, r.sign(d.paper(r)))
	d.tx.TxOut[1].Value--
	r.refused(d.paper(r), signer.Fee)
}

// TestBitcoinCoinKeepsItsValue: two papers that lie about different coins would give
// signatures that fit together.
func TestBitcoinCoinKeepsItsValue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	coinWish(r)
	lie := func(i int) chain.Paper {
		d := coinTx(r)
		d.spent[0].Value, d.spent[1].Value = 80_000_000, 80_000_000 // what they are worth
		d.spent[i].Value = 1_500_000 - d.tx.TxOut[0].Value
		d.tx.TxOut[1].Value = 80_000_000 + d.spent[i].Value - paid - 10_000
		return d.paper(r)
	}
	r.sign(lie(0))
	r.refused(lie(1), signer.Coin)
}

// TestBitcoinBumps: one coin in common with every attempt is enough, and needed.
func TestBitcoinBumps(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	coinWish(r)
	bump := func(value int64, coins ...uint32) chain.Paper {
		d := &coinDraft{tx: wire.NewMsgTx(2)}
		for _, n := range coins {
			d.spend(r, n, hotKey(), 1_200_000)
		}
		d.tx.AddTxOut(wire.NewTxOut(paid, script(r, bobText)))
		d.tx.AddTxOut(wire.NewTxOut(int64(len(coins))*1_200_000-paid-value, script(r, r.address(regtest, hotKey()).Text())))
		return d.paper(r)
	}
	r.keep("t", r.sign(bump(5000, 1)))
	r.keep("t", r.sign(bump(6000, 1, 2)))
	r.keep("t", r.sign(bump(7000, 1, 3)))
	r.refused(bump(8000, 2), signer.Beside)
	r.refused(bump(8000, 2, 3), signer.Beside)
	r.refused(bump(20_001, 1), signer.Fee)
	r.sign(bump(20_000, 1))
}

func TestBitcoinCancels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(r *rig, d *coinDraft)
		want  signer.Reason
	}{
		{"good", func(*rig, *coinDraft) {}, ""},
		{"other coins", func(_ *rig, d *coinDraft) { d.tx.TxIn[0].PreviousOutPoint.Index = 77 }, signer.Beside},
		{"to somebody", func(r *rig, d *coinDraft) { d.tx.TxOut[0].PkScript = script(r, bobText) }, signer.Recipient},
		{"to the miners", func(_ *rig, d *coinDraft) { d.tx.TxOut[0].Value = 1 }, signer.Fee},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.keep("t", r.sign(coinGood(r)))
			d := &coinDraft{tx: wire.NewMsgTx(2)}
			d.spend(r, 0, hotKey(), 700_000)
			d.tx.AddTxOut(wire.NewTxOut(685_000, script(r, r.address(regtest, hotKey()).Text())))
			c.spoil(r, d)
			p := d.paper(r)
			p.Cancel = true
			if c.want == "" {
				d.check(r, r.sign(p))
				return
			}
			r.refused(p, c.want)
		})
	}
}

// coinSweepTx brings 5000 home from three coins of two addresses.
func coinSweepTx(r *rig) *coinDraft {
	sweepWish(r, regtest, "", 500)
	d := &coinDraft{tx: wire.NewMsgTx(2)}
	d.spend(r, 100, depositKey(3), 300)
	d.spend(r, 101, depositKey(9), 4000)
	d.spend(r, 102, depositKey(9), 700)
	d.tx.AddTxOut(wire.NewTxOut(4600, script(r, r.address(regtest, hotKey()).Text())))
	return d
}

func coinSweepGood(r *rig) chain.Paper { return coinSweepTx(r).paper(r) }

func TestBitcoinSweeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		spoil func(r *rig, d *coinDraft)
		want  signer.Reason
	}{
		{"good", func(*rig, *coinDraft) {}, ""},
		{"helped by a coin of ours", func(r *rig, d *coinDraft) { d.spend(r, 8, hotKey(), 50); d.tx.TxOut[0].Value += 50 }, ""},
		{"to somebody", func(r *rig, d *coinDraft) { d.tx.TxOut[0].PkScript = script(r, bobText) }, signer.Recipient},
		{"to a deposit address", func(r *rig, d *coinDraft) {
			d.tx.TxOut[0].PkScript = script(r, r.address(regtest, depositKey(3)).Text())
		}, signer.Recipient},
		{"too dear", func(_ *rig, d *coinDraft) { d.tx.TxOut[0].Value -= 101 }, signer.Fee},
		{"a source is missing", func(_ *rig, d *coinDraft) {
			d.tx.TxIn, d.spent, d.keys = d.tx.TxIn[1:], d.spent[1:], d.keys[1:]
			d.tx.TxOut[0].Value -= 300
		}, signer.Amount},
		{"more of a source", func(r *rig, d *coinDraft) { d.spend(r, 8, depositKey(3), 50) }, signer.Amount},
		{"an address nobody named", func(r *rig, d *coinDraft) { d.spend(r, 8, depositKey(4), 50) }, signer.WrongKeys},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			d := coinSweepTx(r)
			c.spoil(r, d)
			if c.want == "" {
				d.check(r, r.sign(d.paper(r)))
				return
			}
			r.refused(d.paper(r), c.want)
		})
	}
}

// TestBitcoinLifts: a payment that waits is lifted by a sweep of its own change.
func TestBitcoinLifts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	hot := r.address(regtest, hotKey())
	r.wish("t", chain.Call{
		Chain: regtest, To: hot, Amount: money.FromUint64(490_000),
		Sources: []chain.Source{{Address: hot, Amount: money.FromUint64(490_000)}},
	}, bitcoinBudget)
	lift := func(values ...int64) *coinDraft {
		d := &coinDraft{tx: wire.NewMsgTx(2)}
		var sum int64
		for i, v := range values {
			d.spend(r, uint32(i), hotKey(), v)
			sum += v
		}
		d.tx.AddTxOut(wire.NewTxOut(sum-15_000, script(r, hot.Text())))
		return d
	}
	d := lift(490_000, 30_000)
	d.check(r, r.sign(d.paper(r)))
	r.refused(lift(480_000, 9999).paper(r), signer.Amount)
	d = lift(490_000, 30_001)
	d.tx.TxOut[0].PkScript = script(r, bobText)
	r.refused(d.paper(r), signer.Recipient)
	// Elsewhere nobody lifts.
	sweepWish(r, cluster, "", solBudget)
	r.change("t", func(k *send.Record) { k.Transfer.Call.Sources[0].Address = r.address(cluster, hotKey()) })
	r.refused(solPaper(r, solTransfer(r.sol(hotKey()), r.sol(hotKey()), 300)), signer.WrongKeys)
}

// TestBitcoinRefusesOtherWishes: what is wished must be possible here.
func TestBitcoinRefusesOtherWishes(t *testing.T) {
	t.Parallel()
	to := func(f chain.Family, text string) func(*send.Record) {
		return func(k *send.Record) { k.Transfer.Call.To = chain.CanonicalAddress(f, text) }
	}
	const key = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" // of bob
	for _, c := range []struct {
		name  string
		spoil func(*send.Record)
		want  signer.Reason
	}{
		{"a token", func(k *send.Record) { k.Transfer.Call.Asset.Ref = "usdt" }, signer.Method},
		{"an address of another network", to(chain.Bitcoin, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"), signer.Recipient},
		{"an address of another family", to(chain.EVM, bobText), signer.Recipient},
		{"another form of the address", to(chain.Bitcoin, strings.ToUpper(bobText)), signer.Recipient},
		{"a key and no address", to(chain.Bitcoin, key), signer.Recipient},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			p := coinGood(r)
			r.change("t", c.spoil)
			r.refused(p, c.want)
		})
	}
	t.Run("an attempt with something behind it", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		p := coinGood(r)
		r.keep("t", append(r.sign(p), 0))
		r.refused(p, signer.Beside)
	})
}
