package bitcoin_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/devnet"
	"ferry/internal/devnet/devnettest"
)

// chains counts the chains of this binary, which all run in one program.
var chains atomic.Int64

// local is a real node with its levers, and what is really on its chain.
type local struct {
	t     testing.TB
	chain *devnet.Chain

	mu    sync.Mutex
	stale bool
	truth truth
}

func newLocal(t testing.TB, spec map[string]any) *local {
	t.Helper()
	name := fmt.Sprintf("bitcoin-%d", chains.Add(1))
	c, err := devnettest.Host(t).Open(t.Context(), name, "bitcoin", false, spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // the program ends with us anyway
	return &local{t: t, chain: c, stale: true, truth: newTruth()}
}

type fields = map[string]any

// do moves a lever; whatever it was, the chain may be another one now.
func (l *local) do(op string, in any) (out fields) {
	l.t.Helper()
	if err := l.chain.Do(l.t.Context(), op, in, &out); err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	l.stale = true
	l.mu.Unlock()
	return out
}

// nodeError is a refusal of the node.
type nodeError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *nodeError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// call asks the node itself, past all proxies.
func (l *local) call(method string, params ...any) (json.RawMessage, error) {
	if params == nil {
		params = []any{}
	}
	text, err := json.Marshal(fields{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	resp, err := http.Post(l.chain.RPC, "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var said struct {
		Result json.RawMessage `json:"result"`
		Error  *nodeError      `json:"error"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		return nil, err
	}
	if said.Error != nil {
		return nil, said.Error
	}
	return said.Result, nil
}

func ask[T any](l *local, method string, params ...any) T {
	l.t.Helper()
	raw, err := l.call(method, params...)
	if err != nil {
		l.t.Fatalf("%s: %v", method, err)
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		l.t.Fatalf("%s: %v", method, err)
	}
	return v
}

// truth is the branch that counts, block by block, with its coins.
type truth struct {
	blocks []*wire.MsgBlock
	hashes []string
	made   map[wire.OutPoint]spot
	spent  map[wire.OutPoint]int // at which height
	landed map[string]int
}

// spot is an output with the height at which it was made.
type spot struct {
	*wire.TxOut
	height   int
	coinbase bool
}

func newTruth() truth {
	return truth{made: map[wire.OutPoint]spot{}, spent: map[wire.OutPoint]int{}, landed: map[string]int{}}
}

func (t *truth) tip() int { return len(t.blocks) - 1 }

// see is the truth as it is now.
func (l *local) see() *truth {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stale {
		return &l.truth
	}
	t := &l.truth
	height := ask[int](l, "getblockcount")
	for len(t.blocks) > 0 && (t.tip() > height || ask[string](l, "getblockhash", t.tip()) != t.hashes[t.tip()]) {
		t.undo()
	}
	for h := len(t.blocks); h <= height; h++ {
		hash := ask[string](l, "getblockhash", h)
		raw, err := hex.DecodeString(ask[string](l, "getblock", hash, 0))
		if err != nil {
			l.t.Fatal(err)
		}
		var b wire.MsgBlock
		if err := b.Deserialize(bytes.NewReader(raw)); err != nil {
			l.t.Fatal(err)
		}
		t.add(&b, hash)
	}
	l.stale = false
	return t
}

func (t *truth) add(b *wire.MsgBlock, hash string) {
	height := len(t.blocks)
	for i, tx := range b.Transactions {
		id := tx.TxHash()
		t.landed[id.String()] = height
		for _, in := range tx.TxIn {
			t.spent[in.PreviousOutPoint] = height
		}
		for j, o := range tx.TxOut {
			t.made[wire.OutPoint{Hash: id, Index: uint32(j)}] = spot{o, height, i == 0}
		}
	}
	t.blocks, t.hashes = append(t.blocks, b), append(t.hashes, hash)
}

func (t *truth) undo() {
	last := t.blocks[t.tip()]
	for _, tx := range last.Transactions {
		id := tx.TxHash()
		delete(t.landed, id.String())
		for _, in := range tx.TxIn {
			delete(t.spent, in.PreviousOutPoint)
		}
		for j := range tx.TxOut {
			delete(t.made, wire.OutPoint{Hash: id, Index: uint32(j)})
		}
	}
	t.blocks, t.hashes = t.blocks[:t.tip()], t.hashes[:t.tip()]
}

// coin is an output that is unspent at a height.
func (t *truth) coin(o wire.OutPoint, height int) (spot, bool) {
	s, ok := t.made[o]
	at, gone := t.spent[o]
	return s, ok && s.height <= height && (!gone || at > height)
}

func outPoint(tx string, n uint32) wire.OutPoint {
	h, err := chainhash.NewHashFromStr(tx)
	if err != nil {
		return wire.OutPoint{}
	}
	return wire.OutPoint{Hash: *h, Index: n}
}

func hexOf(raw []byte) string { return hex.EncodeToString(raw) }
