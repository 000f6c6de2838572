package bitcoin_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/familytest"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
	"ferry/internal/signer/signertest"
)

const (
	regtest chain.ID      = "bip122:0f9188f13cb7b2c71f2a335e3a4fc328"
	hot     chain.Account = "hot"
	depth                 = 3
)

// bench is a real node behind three proxies as the suite wants it.
type bench struct {
	*local
	ring    *signer.Ring
	codec   bitcoin.Codec
	family  *bitcoin.Chain
	sender  send.Chain // the family, with a wish for all that it is asked to sign
	wishes  *signertest.Wishes
	judge   *signer.Signer
	proxies []*proxy
}

func newRing(t testing.TB) *signer.Ring {
	t.Helper()
	ring, err := signer.NewRing(bytes.Repeat([]byte("seed"), 8), map[chain.ID]signer.Net{regtest: {Family: chain.Bitcoin, Network: "regtest"}})
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// setting is how a bench is made; the zero one is the usual.
type setting struct {
	maturity int
	coins    int // of our hot account
	change   func(c *bitcoin.Config)
}

func newBench(t testing.TB, s setting) *bench {
	t.Helper()
	maturity := cmp.Or(s.maturity, 1)
	b := &bench{local: newLocal(t, fields{"maturity": maturity, "coins": 120}), ring: newRing(t)}
	var err error
	if b.codec, err = bitcoin.NewCodec(bitcoin.Regtest); err != nil {
		t.Fatal(err)
	}
	cfg := bitcoin.Config{ID: regtest, Network: bitcoin.Regtest, FinalDepth: depth, Nodes: rpc.Config{Need: 2, Rest: time.Microsecond, Grace: time.Minute, Timeout: time.Minute}}
	for range 3 {
		p := newProxy(b.local)
		b.proxies = append(b.proxies, p)
		cfg.Nodes.URLs = append(cfg.Nodes.URLs, p.server.URL)
	}
	if s.change != nil {
		s.change(&cfg)
	}
	b.judge, b.wishes = signertest.Judge(t, b.ring, nil)
	b.start(cfg)
	outs := []fields{}
	for range cmp.Or(s.coins, 40) {
		outs = append(outs, fields{"address": b.family.Own(hot).Text(), "amount": 1_000_000})
	}
	b.do("pay", fields{"outs": outs})
	b.do("mine", fields{"n": 1 + depth})
	return b
}

// start makes the adapter, as after a restart: it remembers nothing.
func (b *bench) start(c bitcoin.Config) {
	b.t.Helper()
	var err error
	if b.family, err = bitcoin.New(b.t.Context(), c, b.judge); err != nil {
		b.t.Fatal(err)
	}
	b.sender = b.wishes.Sender(b.family)
}

func (b *bench) ID() chain.ID { return regtest }

func (b *bench) Ports() familytest.Ports {
	return familytest.Ports{Reader: b.family, Mempool: b.family, Sender: b.sender, Scales: b.family}
}

func (b *bench) Powers() familytest.Powers {
	return familytest.Powers{
		Amount: money.FromUint64(100_000), Budget: money.FromUint64(60_000), FinalDepth: depth,
		Bumps: true, DeepReorgs: true, Faults: true, Sweeps: true, Nodes: 3, Quorum: 2, Worlds: 4,
	}
}

func (b *bench) Mine(n int)                 { b.do("mine", fields{"n": n}) }
func (b *bench) MineEmpty(n int)            { b.do("mine", fields{"n": n, "empty": true}) }
func (b *bench) Reorg(depth int, lose bool) { b.do("reorg", fields{"depth": depth, "lose": lose}) }
func (b *bench) Skip(int)                   { b.t.Fatal("Bitcoin leaves out no height") }
func (b *bench) Reject(chain.Address)       { b.t.Fatal("no address of Bitcoin refuses money") }
func (b *bench) Evict(tx chain.TxID)        { b.do("evict", fields{"tx": tx}) }
func (b *bench) Price(k uint64)             { b.do("price", fields{"k": k}) }

func (b *bench) Break(node int, t familytest.Trouble) { b.proxies[node].set(t) }

func (b *bench) Pay(p familytest.Payment) chain.TxID {
	b.t.Helper()
	outs := []fields{}
	for _, o := range p.Outs {
		n, _ := o.Amount.Uint64()
		outs = append(outs, fields{"address": o.To.Text(), "amount": n})
	}
	return chain.TxID(b.do("pay", fields{"outs": outs})["tx"].(string))
}

func (b *bench) Divert(tx chain.TxID) chain.TxID {
	b.t.Helper()
	return chain.TxID(b.do("divert", fields{"tx": tx})["tx"].(string))
}

// Usurp spends the first coin of an attempt with our own key, for a stranger.
func (b *bench) Usurp(a chain.Attempt) chain.TxID {
	b.t.Helper()
	var tx wire.MsgTx
	if err := tx.Deserialize(bytes.NewReader(a.Raw)); err != nil {
		b.t.Fatal(err)
	}
	at := tx.TxIn[0].PreviousOutPoint
	coin := b.see().made[at]
	script, err := b.codec.Script(b.Address("thief"))
	if err != nil {
		b.t.Fatal(err)
	}
	raw := b.spend([]wire.OutPoint{at}, wire.NewTxOut(coin.Value-50_000, script))
	return chain.TxID(ask[string](b.local, "sendrawtransaction", raw, 0))
}

// spend signs a transaction of our hot account's coins, past the family.
func (b *bench) spend(coins []wire.OutPoint, outs ...*wire.TxOut) string {
	b.t.Helper()
	tx := wire.NewMsgTx(2)
	paper := chain.Paper{Chain: regtest}
	for _, o := range coins {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: o, Sequence: wire.MaxTxInSequenceNum})
		paper.Keys = append(paper.Keys, chain.Key{Account: hot})
	}
	tx.TxOut = outs
	p, err := psbt.NewFromUnsignedTx(tx)
	if err != nil {
		b.t.Fatal(err)
	}
	for i, o := range coins {
		p.Inputs[i].WitnessUtxo = b.see().made[o].TxOut
	}
	var buf bytes.Buffer
	if err := p.Serialize(&buf); err != nil {
		b.t.Fatal(err)
	}
	paper.Unsigned = buf.Bytes()
	raw, err := b.ring.Sign(b.t.Context(), paper)
	if err != nil {
		b.t.Fatal(err)
	}
	return hex.EncodeToString(raw)
}

func (b *bench) Address(name string) chain.Address { return b.codec.Make([]byte(name)) }

func (b *bench) Deposit(i uint32) chain.Address {
	b.t.Helper()
	a, err := b.ring.Address(b.t.Context(), regtest, chain.Key{Account: chain.DepositKeys, Index: i})
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func (b *bench) Balance(a chain.Address, _ chain.Asset) money.Amount {
	b.t.Helper()
	t := b.see()
	script, err := b.codec.Script(a)
	if err != nil {
		b.t.Fatal(err)
	}
	var sum int64
	for o, s := range t.made {
		if _, ok := t.coin(o, t.tip()); ok && bytes.Equal(s.PkScript, script) {
			sum += s.Value
		}
	}
	return money.FromUint64(uint64(sum))
}

func (b *bench) Received(a chain.Address) []chain.Deposit {
	b.t.Helper()
	t := b.see()
	script, err := b.codec.Script(a)
	if err != nil {
		b.t.Fatal(err)
	}
	var out []chain.Deposit
	for o, s := range t.made {
		if !bytes.Equal(s.PkScript, script) || s.coinbase {
			continue
		}
		h := t.blocks[s.height].Header
		id := o.Hash.String()
		out = append(out, chain.Deposit{
			ID: chain.DepositID(string(regtest) + ":" + o.String()), To: a, Asset: regtest.Native(),
			Amount: money.FromUint64(uint64(s.Value)), Tx: chain.TxID(id),
			Block: chain.Block{Height: uint64(s.height), Hash: t.hashes[s.height], Parent: h.PrevBlock.String(), Time: h.Timestamp.UTC()},
		})
	}
	slices.SortFunc(out, func(a, b chain.Deposit) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (b *bench) Landed(tx chain.TxID) bool {
	b.t.Helper()
	_, ok := b.see().landed[string(tx)]
	return ok
}

func TestBitcoinIsAFamily(t *testing.T) {
	t.Parallel()
	familytest.Run(t, func(t *testing.T) familytest.Bench { return newBench(t, setting{}) })
}
