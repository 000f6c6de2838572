package bitcoin_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/familytest"
	"ferry/internal/money"
)

// set is a few addresses.
type set []chain.Address

func (s set) Has(a chain.Address) bool { return slices.Contains(s, a) }

// ear keeps what was noticed.
type ear struct {
	mu  sync.Mutex
	all []bitcoin.Suspect
}

func (e *ear) hear(s bitcoin.Suspect) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, s)
}

// reasons are what was noticed since the last time, each once.
func (e *ear) reasons() []bitcoin.Reason {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []bitcoin.Reason
	for _, s := range e.all {
		if !slices.Contains(out, s.Reason) {
			out = append(out, s.Reason)
		}
	}
	e.all = nil
	return out
}

// victim is a deposit address whose key the test knows.
type victim struct {
	key  []byte // compressed
	hash []byte
	x    []byte
	to   chain.Address
}

func newVictim(t *testing.T, c bitcoin.Codec) victim {
	t.Helper()
	_, pub := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))
	v := victim{key: pub.SerializeCompressed(), x: schnorr.SerializePubKey(pub)}
	v.hash = address.Hash160(v.key)
	v.to = c.AddressOf(slices.Concat([]byte{0, 20}, v.hash))
	return v
}

func scripted(t *testing.T, build func(b *txscript.ScriptBuilder) *txscript.ScriptBuilder) []byte {
	t.Helper()
	s, err := build(txscript.NewScriptBuilder()).Script()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPaymentsThatOnlyLookLikeDepositsAreNotCounted puts outputs into real blocks,
// whatever a mempool would think of them, and reads the blocks.
func TestPaymentsThatOnlyLookLikeDepositsAreNotCounted(t *testing.T) {
	t.Parallel()
	var e ear
	b := newBench(t, setting{change: func(c *bitcoin.Config) { c.Noticed = e.hear }})
	v := newVictim(t, b.codec)
	own := slices.Concat([]byte{0, 20}, v.hash)
	near := bytes.Clone(own)
	near[21] ^= 1
	build := func(f func(b *txscript.ScriptBuilder) *txscript.ScriptBuilder) []byte { return scripted(t, f) }
	other := bytes.Repeat([]byte{2}, 33)
	for _, c := range []struct {
		name   string
		script []byte
		amount int64
		want   bitcoin.Reason // empty: it does not reach us
	}{
		{"dust", own, 293, bitcoin.Dust},
		{"nothing", own, 0, bitcoin.Dust},
		{"P2PKH of our key", build(func(b *txscript.ScriptBuilder) *txscript.ScriptBuilder {
			return b.AddOp(txscript.OP_DUP).AddOp(txscript.OP_HASH160).AddData(v.hash).AddOp(txscript.OP_EQUALVERIFY).AddOp(txscript.OP_CHECKSIG)
		}), 100_000, bitcoin.OtherForm},
		{"our key itself", build(func(b *txscript.ScriptBuilder) *txscript.ScriptBuilder {
			return b.AddData(v.key).AddOp(txscript.OP_CHECKSIG)
		}), 100_000, bitcoin.BareKey},
		{"one of two keys", build(func(b *txscript.ScriptBuilder) *txscript.ScriptBuilder {
			return b.AddOp(txscript.OP_1).AddData(v.key).AddData(other).AddOp(txscript.OP_2).AddOp(txscript.OP_CHECKMULTISIG)
		}), 100_000, bitcoin.Multisig},
		{"our address in a message", build(func(b *txscript.ScriptBuilder) *txscript.ScriptBuilder {
			return b.AddOp(txscript.OP_RETURN).AddData([]byte(v.to.Text()))
		}), 100_000, bitcoin.Message},
		{"our hash in a message", build(func(b *txscript.ScriptBuilder) *txscript.ScriptBuilder {
			return b.AddOp(txscript.OP_RETURN).AddData(v.hash)
		}), 100_000, bitcoin.Message},
		{"our key wrapped in P2SH", build(func(b *txscript.ScriptBuilder) *txscript.ScriptBuilder {
			return b.AddOp(txscript.OP_HASH160).AddData(address.Hash160(own)).AddOp(txscript.OP_EQUAL)
		}), 100_000, ""},
		{"our hash as that of a script", build(func(b *txscript.ScriptBuilder) *txscript.ScriptBuilder {
			return b.AddOp(txscript.OP_HASH160).AddData(v.hash).AddOp(txscript.OP_EQUAL)
		}), 100_000, ""},
		{"our key as taproot", slices.Concat([]byte{0x51, 32}, v.x), 100_000, ""},
		{"our hash with a witness version to come", slices.Concat([]byte{0x52, 20}, v.hash), 100_000, ""},
		{"our hash as the first version", slices.Concat([]byte{0x51, 20}, v.hash), 100_000, ""},
		{"our script and more", slices.Concat(own, []byte{txscript.OP_DROP}), 100_000, ""},
		{"our script as data", slices.Concat([]byte{22}, own), 100_000, ""},
		{"our script with a long push", slices.Concat([]byte{0, txscript.OP_PUSHDATA1, 20}, v.hash), 100_000, ""},
		{"nearly our hash", near, 100_000, ""},
		{"an unreadable script", slices.Concat([]byte{75}, v.hash), 100_000, ""},
	} {
		raw := b.do("make", fields{"outs": []fields{{"script": hex.EncodeToString(c.script), "amount": c.amount}}})["raw"]
		b.do("mine", fields{"txs": []any{raw}})
		b.none(c.name, v.to)
		var want []bitcoin.Reason
		if c.want != "" {
			want = []bitcoin.Reason{c.want}
		}
		if got := e.reasons(); !slices.Equal(got, want) {
			t.Errorf("%s: noticed %v, want %v", c.name, got, want)
		}
	}
	b.do("mine", fields{"n": 1, "to": v.to.Text()})
	b.none("coinbase", v.to)
	if got := e.reasons(); !slices.Equal(got, []bitcoin.Reason{bitcoin.Coinbase}) {
		t.Errorf("coinbase: noticed %v", got)
	}
	// The same address is found when it is really paid, among all of these.
	b.Pay(familytest.Payment{Outs: []familytest.Out{{To: v.to, Amount: money.FromUint64(294)}}})
	b.Mine(1)
	if got := b.tipDeposits(v.to); len(got) != 1 || got[0].Amount != money.FromUint64(294) {
		t.Errorf("found %v", got)
	}
}

func (b *bench) tip() chain.Block {
	b.t.Helper()
	h, err := b.family.Head(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return h.Tip
}

func (b *bench) tipDeposits(to ...chain.Address) []chain.Deposit {
	b.t.Helper()
	list, err := b.family.Deposits(b.t.Context(), b.tip(), set(to))
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

func (b *bench) none(name string, to chain.Address) {
	b.t.Helper()
	if got := b.tipDeposits(to); len(got) != 0 {
		b.t.Errorf("%s: counted %v", name, got)
	}
}

// TestForgedBlocksAreNotBelieved has every node give bodies that are not those of the
// hash which all of them name.
func TestForgedBlocksAreNotBelieved(t *testing.T) {
	t.Parallel()
	var e ear
	b := newBench(t, setting{change: func(c *bitcoin.Config) { c.Noticed = e.hear }})
	v := newVictim(t, b.codec)
	ours, err := b.codec.Script(v.to)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := newLocal(t, fields{"maturity": 1})
	pay := func(m *wire.MsgBlock) { m.Transactions[1].TxOut[0].PkScript = ours }
	for _, c := range []struct {
		name  string
		forge func(m *wire.MsgBlock)
	}{
		{"an output changed to pay us", pay},
		{"an amount changed", func(m *wire.MsgBlock) { m.Transactions[1].TxOut[0].Value++ }},
		{"a transaction more", func(m *wire.MsgBlock) {
			tx := m.Transactions[1].Copy()
			tx.TxOut[0].PkScript = ours
			m.Transactions = append(m.Transactions, tx)
		}},
		{"a transaction less", func(m *wire.MsgBlock) { m.Transactions = m.Transactions[:1] }},
		{"no transaction", func(m *wire.MsgBlock) { m.Transactions = nil }},
		{"the last transaction twice", func(m *wire.MsgBlock) {
			m.Transactions = append(m.Transactions, m.Transactions[len(m.Transactions)-1])
		}},
		{"transactions in another order", func(m *wire.MsgBlock) { slices.Reverse(m.Transactions) }},
		{"a header for what was changed", func(m *wire.MsgBlock) {
			pay(m)
			m.Header.MerkleRoot = m.Transactions[1].TxHash()
		}},
		{"a header that claims no work", func(m *wire.MsgBlock) { m.Header.Bits = 0x2100ffff }},
		{"a header of another time", func(m *wire.MsgBlock) { m.Header.Nonce++ }},
		{"witnesses taken out", func(m *wire.MsgBlock) {
			for _, tx := range m.Transactions {
				for _, in := range tx.TxIn {
					in.Witness = nil
				}
			}
		}},
		{"a witness changed", func(m *wire.MsgBlock) { m.Transactions[1].TxIn[0].Witness[0][9] ^= 1 }},
		{"the witness of the first changed", func(m *wire.MsgBlock) { m.Transactions[0].TxIn[0].Witness[0][0] ^= 1 }},
		{"a block of another chain", func(m *wire.MsgBlock) {
			other := elsewhere.see()
			*m = *other.blocks[other.tip()]
		}},
		{"the block before", func(m *wire.MsgBlock) { *m = *b.see().blocks[b.see().tip()-1] }},
	} {
		b.Pay(familytest.Payment{Outs: []familytest.Out{{To: b.Address("somebody"), Amount: money.FromUint64(100_000)}}})
		b.Pay(familytest.Payment{Outs: []familytest.Out{{To: b.Address("another"), Amount: money.FromUint64(100_000)}}})
		b.Mine(1)
		b.twist(func(method string, _ []any, raw json.RawMessage, err error) (json.RawMessage, error) {
			if method != "getblock" {
				return raw, err
			}
			return reforge(t, raw, c.forge), err
		})
		tip := b.tip()
		got, err := b.family.Deposits(t.Context(), tip, set{v.to})
		if !errors.Is(err, bitcoin.ErrForged) || len(got) != 0 {
			t.Errorf("%s: counted %v, error %v", c.name, got, err)
		}
		if got := e.reasons(); !slices.Equal(got, []bitcoin.Reason{bitcoin.ForgedBlock}) {
			t.Errorf("%s: noticed %v", c.name, got)
		}
		b.twist(nil)
		if got, err := b.family.Deposits(t.Context(), tip, set{v.to, b.Address("somebody")}); err != nil || len(got) != 1 {
			t.Errorf("%s: after it the block has %v, %v", c.name, got, err)
		}
	}
}

// reforge changes the block in an answer.
func reforge(t *testing.T, raw json.RawMessage, forge func(m *wire.MsgBlock)) json.RawMessage {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		t.Error(err)
		return raw
	}
	body, err := hex.DecodeString(text)
	if err != nil {
		t.Error(err)
		return raw
	}
	var m wire.MsgBlock
	if err := m.Deserialize(bytes.NewReader(body)); err != nil {
		t.Error(err)
		return raw
	}
	forge(&m)
	var out bytes.Buffer
	if err := m.Serialize(&out); err != nil {
		t.Error(err)
		return raw
	}
	return pack(hex.EncodeToString(out.Bytes()))
}

func (b *bench) twist(f func(method string, params []any, raw json.RawMessage, err error) (json.RawMessage, error)) {
	for _, p := range b.proxies {
		p.mu.Lock()
		p.twist = f
		p.mu.Unlock()
	}
}

// TestABlockThatOneNodeInventedIsNotBelieved: it has its work, its root and a payment
// to us, but stands on no branch that enough nodes have.
func TestABlockThatOneNodeInventedIsNotBelieved(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{})
	v := newVictim(t, b.codec)
	forger := newLocal(t, fields{"maturity": 1})
	forger.do("pay", fields{"outs": []fields{{"address": v.to.Text(), "amount": 5_000_000}}})
	forger.do("mine", fields{"n": 30}) // a longer branch, and all of it with work
	b.proxies[0].mu.Lock()
	b.proxies[0].twist = func(method string, params []any, _ json.RawMessage, _ error) (json.RawMessage, error) {
		return forger.call(method, params...)
	}
	b.proxies[0].mu.Unlock()
	other := forger.see()
	if h := b.tip(); h.Hash != b.see().hashes[b.see().tip()] {
		t.Fatalf("the tip is %v", h)
	}
	for height, hash := range other.hashes[1:] {
		if slices.Contains(b.see().hashes, hash) {
			continue // two chains that are made in the same second begin alike
		}
		block := chain.Block{Height: uint64(height + 1), Hash: hash}
		if got, err := b.family.Deposits(t.Context(), block, set{v.to}); err == nil {
			t.Fatalf("block %d of one node gave %v", height+1, got)
		}
	}
	for h := range b.see().tip() {
		if got, err := b.family.Next(t.Context(), uint64(h)); err != nil || got.Hash != b.see().hashes[h] {
			t.Fatalf("at height %d stands %v, %v", h, got, err)
		}
	}
}

// TestWhatWaitsIsShownAndNeverCounted: whether it says that it can be replaced or not,
// it can, and then it is gone.
func TestWhatWaitsIsShownAndNeverCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{})
	v := newVictim(t, b.codec)
	for _, final := range []bool{false, true} {
		tx := b.do("pay", fields{"outs": []fields{{"address": v.to.Text(), "amount": 90_000}}, "final": final})["tx"].(string)
		list, err := b.family.Pending(t.Context(), set{v.to})
		if err != nil || len(list) != 1 || !list[0].Block.IsZero() || string(list[0].Tx) != tx {
			t.Fatalf("final %t: the mempool shows %v, %v", final, list, err)
		}
		b.none("waiting", v.to)
		b.MineEmpty(1)
		b.none("waiting still", v.to)
		b.Divert(chain.TxID(tx))
		if list, err := b.family.Pending(t.Context(), set{v.to}); err != nil || len(list) != 0 {
			t.Fatalf("final %t: what was replaced is shown as %v, %v", final, list, err)
		}
		b.Mine(1)
		b.none("replaced", v.to)
	}
}
