package kyber_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/family/evm"
	"ferry/internal/family/rpc"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/send"
	"ferry/internal/signer"
	"ferry/internal/venue/kyber"
)

const (
	localNumber = 31_661
	local       = chain.ID("eip155:31661")
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// compiled is a contract of the tests, ready to be put on a chain.
func compiled(t testing.TB, file string, args ...any) []byte {
	t.Helper()
	var c struct {
		ABI  abi.ABI       `json:"abi"`
		Code hexutil.Bytes `json:"code"`
	}
	if err := json.Unmarshal(must(os.ReadFile(file)), &c); err != nil {
		t.Fatal(err)
	}
	return append(c.Code, must(c.ABI.Pack("", args...))...)
}

// wishes is a store that holds what was wished.
type wishes struct {
	mu  sync.Mutex
	all map[send.ID]send.Record
}

func (w *wishes) Transfer(_ context.Context, id send.ID) (send.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, ok := w.all[id]
	if !ok {
		return r, send.ErrUnknown
	}
	return r, nil
}

func (w *wishes) Halted(context.Context, chain.ID) (string, error) { return "", nil }

// town is a real node with a router on it, a signer whose list is the venue's own, and
// an aggregator that knows both.
type town struct {
	t        testing.TB
	rpc      string
	on       *evm.Chain
	wishes   *wishes
	service  *service
	cfg      kyber.Config
	venue    *kyber.Venue
	executor common.Address
	one, two chain.Asset
	names    int
}

func newTown(t testing.TB) *town {
	t.Helper()
	b := &town{t: t, wishes: &wishes{all: map[send.ID]send.Record{}}, service: newService(t)}
	ring := must(signer.NewRing([]byte("a seed of thirty-two bytes ......"), map[chain.ID]signer.Net{local: {Family: chain.EVM}}))
	own := must(ring.Address(t.Context(), local, chain.Key{Account: signer.Hot}))
	rich := map[string]any{"balance": hexutil.EncodeBig(new(big.Int).Lsh(big.NewInt(1), 80))}
	node := must(devnettest.Host(t).Open(t.Context(), fmt.Sprintf("kyber-%d", os.Getpid()), "evm", false, map[string]any{
		"chainId": localNumber, "finalDepth": 3, "alloc": map[string]any{own.Text(): rich, crypto.PubkeyToAddress(stranger().PublicKey).Hex(): rich},
	}))
	t.Cleanup(func() { _ = node.Close(context.Background()) })
	b.rpc = node.RPC
	deploy := func(file string, args ...any) common.Address {
		var out struct{ Address common.Address }
		b.ok(node.Do(t.Context(), "deploy", map[string]any{"data": hexutil.Bytes(compiled(t, file, args...))}, &out))
		return out.Address
	}
	const token = "../../family/evm/contract/TestToken.json"
	one, two := deploy(token, "One", "ONE", uint8(6)), deploy(token, "Two", "TWO", uint8(8))
	at := deploy("testdata/StandInRouter.json")
	b.executor = deploy("testdata/StandInExecutor.json")
	b.ok(node.Do(t.Context(), "auto", map[string]any{"everyMs": 20}, nil))
	lower := func(a common.Address) string { return hexutil.Encode(a[:]) }
	b.one, b.two = chain.Asset{Chain: local, Ref: lower(one)}, chain.Asset{Chain: local, Ref: lower(two)}
	b.service.router, b.service.executor = lower(at), b.executor

	b.cfg = settings()
	b.cfg.Chain, b.cfg.Own, b.cfg.Router, b.cfg.Poll = local, own, addr(lower(at)), 20*time.Millisecond
	b.cfg.Executors, b.cfg.Assets = []chain.Address{addr(lower(b.executor))}, []chain.Asset{b.one, b.two, local.Native()}
	keys := must(signer.New(ring, signer.Policy{
		PerPayment: 1000 * money.Dollar, PerHour: 100_000 * money.Dollar, FeeShare: money.Whole / 10, Now: time.Now,
		Contracts: map[chain.ID][]chain.Contract{local: b.cfg.Contracts()},
	}, b.wishes, b.wishes))
	b.on = must(evm.New(t.Context(), evm.Config{
		ID: local, Nodes: rpc.Config{URLs: []string{b.rpc}, Need: 1, Timeout: time.Minute}, Tag: "finalized", MinTip: money.FromUint64(1e9),
		Tokens: []evm.Token{{Asset: b.one, Decimals: 6}, {Asset: b.two, Decimals: 8}},
	}, keys))
	client := must(kyber.NewClient(kyber.ClientConfig{URL: b.service.url, ID: "ferry-test", PerSecond: 1000, Now: time.Now}))
	b.venue = must(kyber.New(b.cfg, b.on, client))
	for code := (hexutil.Bytes{}); len(code) == 0; b.ok(t.Context().Err()) { // the last that was put there
		b.ask(&code, "eth_getCode", b.executor, "latest")
	}
	// The stranger fills the hot wallet and the executor.
	b.stranger(one, nil, append(common.FromHex("0x40c10f19"), words(b.common(own), big.NewInt(1e12))...))
	b.stranger(b.executor, big.NewInt(1e18), nil)
	return b
}

func (b *town) common(a chain.Address) *big.Int {
	return new(big.Int).SetBytes(kyber.ToCommon(a).Bytes())
}

func words(ns ...*big.Int) (out []byte) {
	for _, n := range ns {
		out = append(out, common.BigToHash(n).Bytes()...)
	}
	return out
}

func (b *town) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *town) ask(out any, method string, params ...any) {
	b.t.Helper()
	body := must(json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
	req := must(http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.rpc, bytes.NewReader(body)))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	b.ok(err)
	defer resp.Body.Close()
	said := struct {
		Result any
		Error  *struct{ Message string }
	}{Result: out}
	b.ok(json.NewDecoder(resp.Body).Decode(&said))
	if said.Error != nil {
		b.t.Fatalf("%s: %s", method, said.Error.Message)
	}
}

// stranger makes a transaction of somebody else, and waits for it.
func (b *town) stranger(to common.Address, coins *big.Int, data []byte) {
	b.t.Helper()
	key := stranger()
	var nonce hexutil.Uint64
	b.ask(&nonce, "eth_getTransactionCount", crypto.PubkeyToAddress(key.PublicKey), "pending")
	tx := must(types.SignNewTx(key, types.LatestSignerForChainID(big.NewInt(localNumber)), &types.DynamicFeeTx{
		ChainID: big.NewInt(localNumber), Nonce: uint64(nonce), To: &to, Value: coins, Data: data, Gas: 500_000, GasTipCap: big.NewInt(3e9), GasFeeCap: big.NewInt(1e12),
	}))
	b.ask(nil, "eth_sendRawTransaction", hexutil.Bytes(must(tx.MarshalBinary())))
	for {
		r, err := b.on.Receipt(b.t.Context(), chain.TxID(tx.Hash().Hex()))
		b.ok(b.t.Context().Err())
		if err == nil && r.Fate.Settled() { // a node that has just begun says that it does not know yet
			if r.Fate != chain.Final {
				b.t.Fatal("the stranger's transaction failed")
			}
			return
		}
	}
}

// balance is what we have of an asset.
func (b *town) balance(a chain.Asset) *big.Int {
	b.t.Helper()
	if a.IsNative() {
		var n hexutil.Big
		b.ask(&n, "eth_getBalance", b.cfg.Own.Text(), "latest")
		return n.ToInt()
	}
	var out hexutil.Bytes
	b.ask(&out, "eth_call", object{"to": a.Ref, "data": hexutil.Bytes(append(common.FromHex("0x70a08231"), words(b.common(b.cfg.Own))...))}, "latest")
	return new(big.Int).SetBytes(out)
}

// gives is how the aggregator's calls pay: so much, whatever was promised.
func (b *town) gives(n *big.Int) {
	b.service.set(func() {
		b.service.bendBuild = func(e *kyber.Execution, _ object) {
			token := e.Desc.DstToken
			if token == kyber.Coin {
				token = common.Address{}
			}
			e.TargetData = words(new(big.Int).SetBytes(token[:]), new(big.Int).SetBytes(e.Desc.DstReceiver[:]), n)
		}
	})
}

// carry signs, sends and follows a call to its end.
func (b *town) carry(c chain.Call) (quote.Sent, error) {
	b.t.Helper()
	b.names++
	id := send.ID(fmt.Sprintf("step/%d", b.names))
	budget := money.MustParse("500000000000000000")
	b.wishes.mu.Lock()
	b.wishes.all[id] = send.Record{Open: true, Job: send.Job{Transfer: send.Transfer{ID: id, Call: c, USD: 10 * money.Dollar, MaxFee: budget, WishedAt: time.Now()}}}
	b.wishes.mu.Unlock()
	named := c
	named.For = string(id)
	a, err := b.on.Draft(b.t.Context(), named, nil, budget)
	if err != nil {
		return quote.Sent{}, err
	}
	b.ok(b.on.Broadcast(b.t.Context(), a.Raw))
	for {
		s, err := b.on.Fate(b.t.Context(), a)
		b.ok(err)
		if s.Fate.Settled() {
			return quote.Sent{Call: c, Tx: a.Tx, Fate: s.Fate, Cost: s.Fee}, nil
		}
	}
}

// run carries a step out until it is done.
func (b *town) run(s quote.Step, in money.Amount) (done quote.Done, calls []quote.Sent) {
	b.t.Helper()
	for {
		m, err := b.venue.Next(b.t.Context(), s, quote.Progress{In: in, Calls: calls, At: time.Now()})
		b.ok(err)
		switch m := m.(type) {
		case quote.Send:
			c, err := b.carry(m.Call)
			b.ok(err)
			calls = append(calls, c)
		case quote.Done:
			return m, calls
		case quote.Fail:
			b.t.Fatal(m.Why)
		case quote.Wait:
			b.t.Fatalf("after %d calls it waits: %s", len(calls), m.Why)
		}
	}
}

// On a real node, with a real signer whose list is the venue's own: a quote, an approval,
// a swap, and what really moved.
func TestAQuoteBecomesASwapOnARealNode(t *testing.T) {
	t.Parallel()
	b := newTown(t)
	coin := local.Native()
	for _, c := range []struct {
		name     string
		give     chain.Asset
		get      chain.Asset
		in, pays string
		calls    int
	}{
		{"a token for a token", b.one, b.two, "2500000000", "2490000", 2},
		{"again, within what was allowed", b.one, b.two, "2500000000", "2499000", 1},
		{"coins for a token", coin, b.two, "1000000000000", "999000000", 1},
		{"a token for coins", b.one, coin, "2500000000", "2480000", 1},
		{"back", b.two, b.one, "900000000", "895000", 2},
	} {
		n := must(b.venue.Best(t.Context(), market.PoolAsk{Give: c.give, Get: c.get, Side: market.From, Amount: amount(c.in), At: time.Now()}))
		s := quote.Step{Venue: b.venue.Name(), In: c.give, Out: c.get, Give: n.In, Bring: n.Out, Plan: n.Plan}
		s.MinOut = n.Out.Less0(must(n.Out.Share(money.Whole/100, money.Down)))
		pays, _ := new(big.Int).SetString(c.pays, 10)
		b.gives(pays)
		hadIn, hadOut := b.balance(c.give), b.balance(c.get)
		done, calls := b.run(s, amount(c.in))
		if len(calls) != c.calls || done != (quote.Done{In: amount(c.in), Out: amount(c.pays)}) {
			t.Errorf("%s: %d calls, %+v", c.name, len(calls), done)
		}
		cost := new(big.Int)
		for _, k := range calls {
			n, _ := new(big.Int).SetString(k.Cost.String(), 10)
			cost.Add(cost, n)
		}
		left, came := hadIn.Sub(hadIn, b.balance(c.give)), hadOut.Sub(b.balance(c.get), hadOut)
		if c.give.IsNative() {
			left.Sub(left, cost)
		}
		if c.get.IsNative() {
			came.Add(came, cost)
		}
		if left.String() != c.in || came.String() != c.pays {
			t.Errorf("%s: %s left and %s came", c.name, left, came)
		}
	}
	// A call that would bring too little is refused before it costs anything, and one that
	// was changed on its way is not signed.
	s := quote.Step{Venue: kyber.Name, In: b.one, Out: b.two, Give: amount("1000000"), Bring: amount("1000"), MinOut: amount("990"), Plan: []byte{1}}
	b.gives(big.NewInt(500))
	m := must(b.venue.Next(t.Context(), s, quote.Progress{In: amount("1000000"), At: time.Now()}))
	if _, err := b.carry(sent(t, m)); !errors.Is(err, send.ErrRefused) {
		t.Errorf("too little: %v", err)
	}
	b.gives(big.NewInt(2000))
	call := sent(t, must(b.venue.Next(t.Context(), s, quote.Progress{In: amount("1000000"), At: time.Now()})))
	e := must(kyber.ReadSwap(call.Data))
	e.Desc.FeeReceivers, e.Desc.FeeAmounts = []common.Address{bad}, []*big.Int{big.NewInt(1)}
	changed := call
	changed.Data = kyber.PackSwap(e)
	if _, err := b.carry(changed); !errors.Is(err, signer.ErrRefused) {
		t.Errorf("a fee on its way: %v", err)
	}
	if c, err := b.carry(call); err != nil || c.Fate != chain.Final {
		t.Errorf("as it was: %+v, %v", c, err)
	}
}

func stranger() *ecdsa.PrivateKey {
	return must(crypto.ToECDSA(crypto.Keccak256([]byte("a stranger"))))
}
