package bitcoin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/send"
)

// ErrBytes: bytes that are no transaction, or not the one they should be.
var ErrBytes = errors.New("bitcoin: the bytes are not the transaction")

// replaceable is the number of an input that says it may be replaced (BIP-125).
const replaceable = wire.MaxTxInSequenceNum - 2

// errand is a call that was looked through.
type errand struct {
	chain.Call
	bill
	sources map[string]chain.Key // which key an input's script belongs to, besides ours
}

// examine refuses calls that can never succeed.
func (c *Chain) examine(call chain.Call) (errand, error) {
	e := errand{Call: call, bill: bill{change: c.script}}
	refuse := func(why string, args ...any) (errand, error) {
		return errand{}, fmt.Errorf("%w: %s", send.ErrRefused, fmt.Sprintf(why, args...))
	}
	switch {
	case call.Chain != c.cfg.ID || call.Asset.Chain != c.cfg.ID:
		return refuse("it is for another chain")
	case call.From != hot:
		return refuse("%q is none of our accounts", call.From)
	case !call.Asset.IsNative():
		return refuse("there are no tokens on Bitcoin")
	case len(call.Data) > 0:
		return refuse("there are no contracts on Bitcoin")
	}
	kind := c.codec.Kind(call.To)
	if kind == "" {
		return refuse("the recipient is no address of %s", c.cfg.Network)
	}
	amount, ok := call.Amount.Uint64()
	if !ok || amount > maxSatoshis {
		return refuse("it is more than there can be")
	}
	e.amount = int64(amount)
	if amount == 0 && call.To != c.own {
		return refuse("it pays nothing")
	}
	if amount > 0 && e.amount < dust(kind) {
		return refuse("%d is dust", amount)
	}
	if len(call.Sources) > 0 && call.To != c.own {
		return refuse("what is brought home goes to ourselves")
	}
	var err error
	if e.to, err = c.codec.Script(call.To); err != nil {
		return refuse("%v", err)
	}
	if len(call.Sources) > 0 { // all of it but the fee comes home
		e.amount = 0
	}
	e.sources = make(map[string]chain.Key, len(call.Sources))
	for _, s := range call.Sources {
		script, err := c.codec.Script(s.Address)
		if err != nil || c.codec.Kind(s.Address) != P2WPKH {
			return refuse("a source is none of our addresses")
		}
		e.sources[string(script)] = chain.Key{Account: chain.DepositKeys, Index: s.Index}
	}
	return e, nil
}

// keyOf is the key of a coin of ours.
func (c *Chain) keyOf(e errand, k coin) (chain.Key, bool) {
	if bytes.Equal(k.script, c.script) {
		return chain.Key{Account: hot}, true
	}
	key, ok := e.sources[string(k.script)]
	return key, ok
}

// Cost is what a call would cost now, if it took the coins that a draft would take.
func (c *Chain) Cost(ctx context.Context, call chain.Call) (money.Amount, error) {
	e, err := c.examine(call)
	if err != nil {
		return money.Amount{}, err
	}
	n := 0
	for _, s := range call.Sources {
		n += len(s.Deposits)
	}
	if n > maxInputs { // whoever asks takes fewer
		return money.Amount{}, fmt.Errorf("%w: %d deposits in one transaction; at most %d", send.ErrRefused, n, maxInputs)
	}
	if e.rate, err = c.goingRate(ctx); err != nil {
		return money.Amount{}, err
	}
	if len(call.Sources) > 0 {
		return amount(feeAt(e.rate, sizeOf(n, c.script))), nil
	}
	head, err := c.Head(ctx)
	if err != nil {
		return money.Amount{}, err
	}
	coins, err := c.free(ctx, head, nil)
	if err != nil {
		return money.Amount{}, err
	}
	p, err := pick(coins, e.bill)
	if errors.Is(err, send.ErrNoFunds) { // then two coins and change are a fair guess
		return amount(feeAt(e.rate, sizeOf(2, e.to, c.script))), nil
	}
	return amount(p.fee), err
}

func amount(sat int64) money.Amount { return money.FromUint64(uint64(sat)) } //nolint:gosec // fees are not negative

// Draft signs a first attempt at the going price.
func (c *Chain) Draft(ctx context.Context, call chain.Call, slots send.Held, most money.Amount) (chain.Attempt, error) {
	e, err := c.examine(call)
	if err != nil {
		return chain.Attempt{}, err
	}
	e.most = budget(most)
	if e.rate, err = c.goingRate(ctx); err != nil {
		return chain.Attempt{}, err
	}
	head, err := c.Head(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	held, err := slots.Slots(ctx)
	if err != nil {
		return chain.Attempt{}, err
	}
	if len(call.Sources) > 0 {
		return c.sweep(ctx, e, head, held)
	}
	coins, err := c.free(ctx, head, held)
	if err != nil {
		return chain.Attempt{}, err
	}
	p, err := pick(coins, e.bill)
	if err != nil {
		return chain.Attempt{}, err
	}
	if p.fee > e.most {
		return chain.Attempt{}, fmt.Errorf("%w: it costs %d of %d", send.ErrTooDear, p.fee, e.most)
	}
	a, err := c.sign(ctx, e, p)
	if err == nil {
		c.occupy(held, a.Slots)
	}
	return a, err
}

// occupy remembers which slots others have: a bump that needs more coins must not
// take theirs.
func (c *Chain) occupy(held, ours []chain.Slot) {
	c.purse.mu.Lock()
	defer c.purse.mu.Unlock()
	c.purse.busy = make(map[chain.Slot]bool, len(held)+len(ours))
	for _, list := range [][]chain.Slot{held, ours} {
		for _, s := range list {
			c.purse.busy[s] = true
		}
	}
}

// budget is an amount in satoshis, at most all there can be.
func budget(a money.Amount) int64 {
	v, ok := a.Uint64()
	if !ok || v > maxSatoshis {
		return maxSatoshis
	}
	return int64(v)
}

// goingRate is the price for landing soon, in satoshis for a thousand virtual bytes:
// the middle one of what the nodes say, within bounds of ours.
func (c *Chain) goingRate(ctx context.Context) (int64, error) {
	answers := rpc.Each(ctx, c.pool, func(ctx context.Context, n *rpc.Node) (int64, error) {
		var guess struct {
			Rate json.Number `json:"feerate"` // left out while the node knows too little
		}
		var pool struct {
			Least json.Number `json:"mempoolminfee"`
			Relay json.Number `json:"minrelaytxfee"`
		}
		q := []rpc.Query{
			{Method: "estimatesmartfee", Params: []any{c.cfg.Target}, Out: &guess},
			{Method: "getmempoolinfo", Out: &pool},
		}
		if err := n.Batch(ctx, q); err != nil {
			return 0, err
		}
		for i := range q {
			if q[i].Err != nil {
				return 0, classify(q[i].Err)
			}
		}
		rate := int64(relayStep)
		for _, said := range []json.Number{guess.Rate, pool.Least, pool.Relay} {
			if said == "" {
				continue
			}
			v, err := satoshis(said)
			if err != nil {
				return 0, err
			}
			rate = max(rate, v)
		}
		return rate, nil
	})
	rate, err := quorum.Middle(c.pool.Rule(), answers, func(a, b int64) int { return int(a - b) })
	if err != nil {
		return 0, fmt.Errorf("going price: %w", err)
	}
	return min(rate, c.cfg.MaxRate), nil
}

// sign has a plan signed, and reads back what it got: it must be what was meant.
func (c *Chain) sign(ctx context.Context, e errand, p plan) (chain.Attempt, error) {
	tx := wire.NewMsgTx(2)
	paper := chain.Paper{Chain: c.cfg.ID, For: e.For, Cancel: e.Amount.IsZero()}
	for _, k := range p.coins {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: k.at, Sequence: replaceable})
		key, ok := c.keyOf(e, k)
		if !ok {
			return chain.Attempt{}, fmt.Errorf("%w: a coin belongs to none of our keys", ErrBytes)
		}
		paper.Keys = append(paper.Keys, key)
	}
	if e.amount > 0 {
		tx.AddTxOut(wire.NewTxOut(e.amount, e.to))
	}
	if p.change > 0 {
		tx.AddTxOut(wire.NewTxOut(p.change, c.script))
	}
	packet, err := psbt.NewFromUnsignedTx(tx)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("bitcoin: %w", err)
	}
	for i, k := range p.coins {
		packet.Inputs[i].WitnessUtxo = wire.NewTxOut(k.value, k.script)
	}
	var unsigned bytes.Buffer
	if err := packet.Serialize(&unsigned); err != nil {
		return chain.Attempt{}, fmt.Errorf("bitcoin: %w", err)
	}
	paper.Unsigned = unsigned.Bytes()
	raw, err := c.signer.Sign(ctx, paper)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("sign: %w", err)
	}
	return finished(raw, tx, p)
}

// finished proves that signed bytes are the transaction that was meant, at its fee.
func finished(raw []byte, meant *wire.MsgTx, p plan) (chain.Attempt, error) {
	tx, err := parseTx(raw)
	if err != nil {
		return chain.Attempt{}, err
	}
	if tx.TxHash() != meant.TxHash() { // it names every input and output
		return chain.Attempt{}, fmt.Errorf("%w: another one was signed", ErrBytes)
	}
	a := chain.Attempt{Tx: chain.TxID(tx.TxHash().String()), Raw: raw}
	var fee int64
	for i, k := range p.coins {
		fee += k.value
		a.Slots = append(a.Slots, slot(k.at))
		if len(tx.TxIn[i].Witness) != 2 {
			return chain.Attempt{}, fmt.Errorf("%w: an input is not signed", ErrBytes)
		}
	}
	var scripts [][]byte
	for _, o := range tx.TxOut {
		fee -= o.Value
		scripts = append(scripts, o.PkScript)
	}
	if fee != p.fee || virtual(tx) > sizeOf(len(tx.TxIn), scripts...) {
		return chain.Attempt{}, fmt.Errorf("%w: its fee is %d, and %d was meant", ErrBytes, fee, p.fee)
	}
	a.Fee = amount(fee)
	return a, nil
}

// virtual is how many virtual bytes a transaction has.
func virtual(tx *wire.MsgTx) int64 {
	return int64(3*tx.SerializeSizeStripped()+tx.SerializeSize()+3) / 4
}

// slot is the name of a coin.
func slot(o wire.OutPoint) chain.Slot {
	return chain.Slot("coin:" + o.Hash.String() + ":" + strconv.FormatUint(uint64(o.Index), 10))
}

// outpoint reads txid:vout.
func outpoint(s string) (wire.OutPoint, error) {
	tx, index, ok := strings.Cut(s, ":")
	hash, err := chainhash.NewHashFromStr(tx)
	if !ok || err != nil || len(tx) != 2*chainhash.HashSize {
		return wire.OutPoint{}, fmt.Errorf("bitcoin: %q is no coin", s)
	}
	n, err := strconv.ParseUint(index, 10, 32)
	if err != nil {
		return wire.OutPoint{}, fmt.Errorf("bitcoin: %q is no coin", s)
	}
	return wire.OutPoint{Hash: *hash, Index: uint32(n)}, nil
}
