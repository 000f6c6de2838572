package evm_test

import (
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/family/evm"
	"ferry/internal/family/familytest"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/signer"
)

const (
	chainNumber = 31_415
	finalDepth  = 3
	nodes       = 3
	need        = 2
	gwei        = 1_000_000_000
)

var (
	chainID = chain.ID(fmt.Sprintf("eip155:%d", chainNumber))
	rules   = types.LatestSignerForChainID(big.NewInt(chainNumber))
	amount  = money.MustParse("2000000000000000") // of a coin with eighteen decimals
	budget  = money.MustParse("500000000000000000")

	// grumpy takes nothing: its code reverts.
	grumpy = common.HexToAddress("0x00000000000000000000000000000bad00000001")

	// oracle says what data cost on a rollup.
	oracle  = common.HexToAddress("0x00000000000000000000000000000bad00000002")
	dataFee = money.FromUint64(0x100000)

	opened atomic.Uint64
)

// people have coins from the first block, so that they can pay at once.
var people = sync.OnceValue(func() []*ecdsa.PrivateKey {
	out := make([]*ecdsa.PrivateKey, 160)
	for i := range out {
		out[i] = keyFor(fmt.Sprint("person ", i))
	}
	return out
})

var ring = sync.OnceValue(func() *signer.Ring {
	return must(signer.NewRing([]byte("a seed of thirty-two bytes ......"), map[chain.ID]signer.Net{chainID: {Family: chain.EVM}}))
})

func keyFor(name string) *ecdsa.PrivateKey {
	return must(crypto.ToECDSA(crypto.Keccak256([]byte(name))))
}

func addressOf(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }

func canonical(a common.Address) chain.Address {
	return chain.CanonicalAddress(chain.EVM, strings.ToLower(a.Hex()))
}

func toCommon(a chain.Address) common.Address { return common.HexToAddress(a.Text()) }

func toBig(a money.Amount) *big.Int {
	n, _ := new(big.Int).SetString(a.String(), 10)
	return n
}

// compiled is a contract of the tests.
type compiled struct {
	ABI  abi.ABI       `json:"abi"`
	Code hexutil.Bytes `json:"code"`
}

func compiledFrom(file string) func() compiled {
	return sync.OnceValue(func() (c compiled) {
		must0(json.Unmarshal(must(os.ReadFile(file)), &c))
		return c
	})
}

var (
	trickFile = compiledFrom("testdata/Trick.json")
	liarFile  = compiledFrom("testdata/LyingToken.json")
	tokenFile = compiledFrom("contract/TestToken.json")

	intakeFile = compiledFrom("contract/Intake.json")
)

// bench is a real node behind proxies.
type bench struct {
	t       testing.TB
	node    *devnet.Chain
	direct  *proxy // the node as it is
	proxies []*proxy
	urls    []string
	chain   *evm.Chain
	own     common.Address

	token, foreign, liar, trick, sweeper, intake, shop common.Address

	mu       sync.Mutex
	names    map[string]*ecdsa.PrivateKey // who pays
	keys     map[chain.Address]*ecdsa.PrivateKey
	sent     map[chain.TxID]sent
	suspects []evm.Suspect
}

// sent is a transaction of a stranger.
type sent struct {
	key   *ecdsa.PrivateKey
	nonce uint64
	outs  []familytest.Out
	kind  familytest.PaymentKind
}

// newBench opens a chain with our account funded and the contracts deployed.
func newBench(t testing.TB, change ...func(c *evm.Config)) *bench {
	t.Helper()
	b := &bench{t: t, names: map[string]*ecdsa.PrivateKey{}, keys: map[chain.Address]*ecdsa.PrivateKey{}, sent: map[chain.TxID]sent{}}
	b.own = toCommon(must(ring().Address(t.Context(), chainID, chain.Key{Account: evm.Hot})))
	rich := hexutil.EncodeBig(new(big.Int).Lsh(big.NewInt(1), 80))
	alloc := map[string]any{
		b.own.Hex():  map[string]any{"balance": rich},
		grumpy.Hex(): map[string]any{"code": "0x5f5ffd"},
		oracle.Hex(): map[string]any{"code": "0x6210000060005260206000f3"}, // it answers dataFee
	}
	for _, k := range people() {
		alloc[addressOf(k).Hex()] = map[string]any{"balance": rich}
	}
	name := fmt.Sprintf("evm-%d-%d", os.Getpid(), opened.Add(1))
	spec := map[string]any{"chainId": chainNumber, "finalDepth": finalDepth, "alloc": alloc}
	var err error
	b.node, err = devnettest.Host(t).Open(t.Context(), name, "evm", false, spec)
	b.ok(err)
	t.Cleanup(func() { _ = b.node.Close(t.Context()) })
	b.direct = &proxy{up: b.node.RPC}
	b.token = b.deploy(must(evm.TestTokenCode("Gold", "GLD", 18)))
	b.foreign = b.deploy(must(evm.TestTokenCode("Gold", "GLD", 18)))
	b.trick = b.deploy(trickFile().Code)
	b.liar = b.deploy(liarFile().Code)
	b.sweeper = b.deploy(evm.SweeperCode(b.own))
	b.intake = b.deploy(evm.IntakeCode(b.own))
	b.do("mine", map[string]any{"n": 1})
	b.do("fund", map[string]any{"address": b.own, "token": b.token, "amount": big.NewInt(1_000_000)})
	b.do("mine", map[string]any{"n": finalDepth + 2})
	for range nodes {
		p, url := newProxy(t, b.node.RPC)
		b.proxies, b.urls = append(b.proxies, p), append(b.urls, url)
	}
	b.chain = b.open(change...)
	return b
}

// open makes a chain over the nodes.
func (b *bench) open(change ...func(c *evm.Config)) *evm.Chain {
	b.t.Helper()
	cfg := evm.Config{
		ID: chainID, Nodes: rpc.Config{URLs: b.urls, Need: need, Rest: time.Nanosecond, Grace: time.Minute, Timeout: time.Minute},
		Tokens: []evm.Token{{Asset: b.asset(b.token), Decimals: 18}, {Asset: b.asset(b.liar), Decimals: 6}},
		Tag:    "finalized", MinTip: money.FromUint64(gwei), Sweeper: canonical(b.sweeper), Intake: canonical(b.intake),
		Noticed: func(s evm.Suspect) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.suspects = append(b.suspects, s)
		},
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := evm.New(b.t.Context(), cfg, ring())
	b.ok(err)
	return c
}

func (b *bench) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) asset(token common.Address) chain.Asset {
	return chain.Asset{Chain: chainID, Ref: canonical(token).Text()}
}

func (b *bench) do(op string, in any) {
	b.t.Helper()
	b.ok(b.node.Do(b.t.Context(), op, in, nil))
}

func (b *bench) deploy(code []byte) common.Address {
	b.t.Helper()
	var out struct{ Address common.Address }
	b.ok(b.node.Do(b.t.Context(), "deploy", map[string]any{"data": hexutil.Bytes(code)}, &out))
	return out.Address
}

// person has coins; the same name is the same person.
func (b *bench) person(name string) *ecdsa.PrivateKey {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.names[name] == nil {
		if len(b.names) == len(people()) {
			b.t.Fatal("there are too few people")
		}
		b.names[name] = people()[len(b.names)]
	}
	return b.names[name]
}

// wish is a transaction of a stranger.
type wish struct {
	to    common.Address
	value *big.Int
	data  []byte
	tip   int64
	gas   uint64
	auths []types.SetCodeAuthorization
}

// send puts a stranger's transaction into the pool.
func (b *bench) send(key *ecdsa.PrivateKey, nonce uint64, w wish) chain.TxID {
	b.t.Helper()
	tip, gas := big.NewInt(3*gwei+w.tip*gwei), uint64(2_000_000)
	if w.gas > 0 {
		gas = w.gas
	}
	if w.value == nil {
		w.value = new(big.Int)
	}
	most := new(big.Int).Mul(tip, big.NewInt(10))
	var body types.TxData = &types.DynamicFeeTx{
		ChainID: big.NewInt(chainNumber), Nonce: nonce, To: &w.to, Value: w.value, Data: w.data, Gas: gas, GasTipCap: tip, GasFeeCap: most,
	}
	if len(w.auths) > 0 {
		body = &types.SetCodeTx{
			ChainID: uint256.NewInt(chainNumber), Nonce: nonce, To: w.to, Value: uint256.MustFromBig(w.value), Data: w.data, Gas: gas,
			GasTipCap: uint256.MustFromBig(tip), GasFeeCap: uint256.MustFromBig(most), AuthList: w.auths,
		}
	}
	tx := must(types.SignNewTx(key, rules, body))
	next := b.nonce(addressOf(key)) == nonce
	b.offer(must(tx.MarshalBinary()))
	// The pool counts it a moment after it took it; who sends two in a row must not have
	// one number for both.
	for next && b.nonce(addressOf(key)) == nonce && b.t.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return chain.TxID(tx.Hash().Hex())
}

func (b *bench) offer(raw []byte) {
	b.t.Helper()
	body := must(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "eth_sendRawTransaction", "params": []any{hexutil.Bytes(raw)}}))
	if said := string(b.direct.post(body)); strings.Contains(said, `"error"`) {
		b.t.Fatal(said)
	}
}

func (b *bench) nonce(a common.Address) uint64 {
	return number(b.direct.call("eth_getTransactionCount", a, "pending"))
}

// from sends a stranger's transaction with the next nonce.
func (b *bench) from(name string, w wish) chain.TxID {
	b.t.Helper()
	k := b.person(name)
	return b.send(k, b.nonce(addressOf(k)), w)
}

func pack(c compiled, method string, args ...any) []byte { return must(c.ABI.Pack(method, args...)) }

// The Bench of the suite.

func (b *bench) ID() chain.ID { return chainID }

func (b *bench) Ports() familytest.Ports {
	return familytest.Ports{Reader: b.chain, Sender: b.chain, Scales: b.chain}
}

func (b *bench) Powers() familytest.Powers {
	return familytest.Powers{
		Token: b.asset(b.token), Amount: amount, Budget: budget, FinalDepth: finalDepth,
		Bumps: true, Reverts: true, DeepReorgs: true, Faults: true, Nodes: nodes, Quorum: need,
		Sums: true, Foresees: true, Worlds: 1, Sweeps: true, Calls: true,
	}
}

func (b *bench) Mine(n int)      { b.t.Helper(); b.do("mine", map[string]any{"n": n}) }
func (b *bench) MineEmpty(n int) { b.t.Helper(); b.do("mine", map[string]any{"n": n, "empty": true}) }
func (b *bench) Skip(int)        { b.t.Helper(); b.t.Fatal("heights have no gaps") }

func (b *bench) Reorg(depth int, lose bool) {
	b.t.Helper()
	b.do("reorg", map[string]any{"depth": depth, "lose": lose})
}

func (b *bench) Evict(tx chain.TxID) { b.t.Helper(); b.do("evict", map[string]any{"tx": tx}) }
func (b *bench) Price(k uint64)      { b.t.Helper(); b.do("price", map[string]any{"k": k}) }

func (b *bench) Break(node int, t familytest.Trouble) { b.proxies[node].set(t) }

func (b *bench) Pay(p familytest.Payment) chain.TxID {
	b.t.Helper()
	k := b.person(p.From)
	s := sent{key: k, nonce: b.nonce(addressOf(k)), outs: p.Outs, kind: p.Kind}
	tx := b.send(k, s.nonce, b.payment(p))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent[tx] = s
	return tx
}

func (b *bench) payment(p familytest.Payment) wish {
	first := p.Outs[0]
	switch {
	case p.Kind == familytest.Foreign:
		return wish{to: b.foreign, data: pack(tokenFile(), "mint", toCommon(first.To), toBig(first.Amount))}
	case !first.Asset.IsNative():
		return wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(first.To), toBig(first.Amount))}
	case p.Kind == familytest.Plain && len(p.Outs) == 1:
		return wish{to: toCommon(first.To), value: toBig(first.Amount), gas: 100_000}
	}
	var to []common.Address
	var amounts []*big.Int
	total := new(big.Int)
	for _, o := range p.Outs {
		to, amounts = append(to, toCommon(o.To)), append(amounts, toBig(o.Amount))
		total.Add(total, toBig(o.Amount))
	}
	method := "pay"
	if p.Kind == familytest.Failing {
		method = "payAndFail"
	}
	return wish{to: b.trick, value: total, data: pack(trickFile(), method, to, amounts)}
}

func (b *bench) Divert(tx chain.TxID) chain.TxID {
	b.t.Helper()
	b.mu.Lock()
	s := b.sent[tx]
	b.mu.Unlock()
	return b.send(s.key, s.nonce, wish{to: common.Address{0xdd}, tip: 10})
}

func (b *bench) Usurp(a chain.Attempt) chain.TxID {
	b.t.Helper()
	old := new(types.Transaction)
	b.ok(old.UnmarshalBinary(a.Raw))
	tip := big.NewInt(50 * gwei)
	other := types.NewTx(&types.DynamicFeeTx{
		ChainID: big.NewInt(chainNumber), Nonce: old.Nonce(), To: &common.Address{0xee}, Value: big.NewInt(1), Gas: 30_000,
		GasTipCap: tip, GasFeeCap: new(big.Int).Mul(tip, big.NewInt(10)),
	})
	raw, err := ring().Sign(b.t.Context(), chain.Paper{Chain: chainID, Unsigned: must(other.MarshalBinary()), Keys: []chain.Key{{Account: evm.Hot}}})
	b.ok(err)
	b.offer(raw)
	signed := new(types.Transaction)
	b.ok(signed.UnmarshalBinary(raw))
	return chain.TxID(signed.Hash().Hex())
}

// Reject makes an address obey code that takes nothing.
func (b *bench) Reject(to chain.Address) {
	b.t.Helper()
	b.obey(to, grumpy)
	b.Mine(1)
}

// obey has an address of the bench delegate to a contract, as EIP-7702 lets it.
func (b *bench) obey(who chain.Address, code common.Address) {
	b.t.Helper()
	b.mu.Lock()
	k := b.keys[who]
	b.mu.Unlock()
	auth := types.SetCodeAuthorization{ChainID: *uint256.NewInt(chainNumber), Address: code, Nonce: b.nonce(toCommon(who))}
	b.from("notary", wish{to: common.Address{0xcc}, auths: []types.SetCodeAuthorization{must(types.SignSetCode(k, auth))}})
}

func (b *bench) Address(name string) chain.Address {
	k := keyFor("address of " + name)
	a := canonical(addressOf(k))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keys[a] = k
	return a
}

func (b *bench) Deposit(index uint32) chain.Address {
	return must(ring().Address(b.t.Context(), chainID, chain.Key{Account: chain.DepositKeys, Index: index}))
}

func (b *bench) Balance(a chain.Address, x chain.Asset) money.Amount {
	b.t.Helper()
	var said any
	if x.IsNative() {
		said = b.direct.call("eth_getBalance", a.Text(), "latest")
	} else {
		data := hexutil.Bytes(pack(tokenFile(), "balanceOf", toCommon(a)))
		said = b.direct.call("eth_call", map[string]any{"to": x.Ref, "data": data}, "latest")
	}
	text, ok := said.(string)
	if !ok {
		b.t.Fatalf("the node answered %v", said)
	}
	n, _ := new(big.Int).SetString(strings.TrimPrefix(text, "0x"), 16)
	return money.MustParse(n.String())
}

func (b *bench) receipt(tx chain.TxID) map[string]any {
	r, _ := b.direct.call("eth_getTransactionReceipt", tx).(map[string]any)
	return r
}

func (b *bench) Landed(tx chain.TxID) bool { return b.receipt(tx) != nil }

// Received are the payments that the bench sent and that landed.
func (b *bench) Received(a chain.Address) []chain.Deposit {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []chain.Deposit
	for tx, s := range b.sent {
		total := new(big.Int)
		for _, o := range s.outs {
			if o.To == a {
				total.Add(total, toBig(o.Amount))
			}
		}
		r := b.receipt(tx)
		if total.Sign() == 0 || r == nil || r["status"] != "0x1" {
			continue
		}
		m, _ := b.direct.call("eth_getBlockByHash", r["blockHash"], false).(map[string]any)
		out = append(out, chain.Deposit{
			ID: chain.DepositID(fmt.Sprintf("%s:%s:native:%s", chainID, tx, a.Text())), To: a, Asset: chainID.Native(),
			Amount: money.MustParse(total.String()), Tx: tx,
			Block: chain.Block{
				Height: number(m["number"]), Hash: m["hash"].(string), Parent: m["parentHash"].(string),
				Time: time.Unix(int64(number(m["timestamp"])), 0).UTC(),
			},
		})
	}
	return out
}
