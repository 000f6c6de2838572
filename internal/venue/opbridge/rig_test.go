package opbridge_test

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/family/evm"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/venue/opbridge"
)

// How the rollup of the tests runs.
const (
	deep      = 2
	every     = 3
	challenge = 3600 // longer than a busy machine may take

	belowID chain.ID = "eip155:901"
	aboveID chain.ID = "eip155:902"
)

// places is where the rollup's contracts stand.
type places struct {
	Portal    common.Address `json:"optimismPortal"`
	Oracle    common.Address `json:"l2OutputOracle"`
	Games     common.Address `json:"disputeGameFactory"`
	Messenger common.Address `json:"l1CrossDomainMessenger"`
	Bridge    common.Address `json:"l1StandardBridge"`
}

// side is one of the two chains: its node, and what Ferry reads of it.
type side struct {
	id   chain.ID
	node *devnet.Chain
	read *evm.Chain
	raw  *rpc.Node
}

// rig is a chain and a rollup of it on real nodes, and somebody with money on both.
type rig struct {
	*testing.T
	games       bool
	l1, l2      side
	key         *ecdsa.PrivateKey
	me          common.Address
	at          places
	bridge      *opbridge.Bridge
	token, twin common.Address
}

var rigs atomic.Int64

// twice runs a test on a rollup of each kind: with an oracle, and with games.
func twice(t *testing.T, test func(t *testing.T, r *rig)) {
	for name, games := range map[string]bool{"oracle": false, "games": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newRig(t, games))
		})
	}
}

func newRig(t *testing.T, games bool) *rig {
	t.Helper()
	host, n := devnettest.Host(t), rigs.Add(1)
	key, err := crypto.ToECDSA(crypto.Keccak256(fmt.Appendf(nil, "somebody %d", n)))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, games: games, key: key, me: crypto.PubkeyToAddress(key.PublicKey)}
	name := fmt.Sprintf("opbridge-%d-below", n)
	r.l1 = r.open(host, belowID, name, map[string]any{"chainId": 901, "finalDepth": deep})
	r.l2 = r.open(host, aboveID, fmt.Sprintf("opbridge-%d-above", n), map[string]any{
		"chainId": 902, "finalDepth": deep, "rollup": map[string]any{"of": name, "every": every, "challengeSeconds": challenge, "games": games},
	})
	r.do(r.l2, "rollup", struct{}{}, &r.at)
	for _, s := range []side{r.l1, r.l2} {
		r.do(s, "fund", map[string]any{"address": r.me, "amount": json.Number(ether(1000).String())}, nil)
		r.mine(s, 1)
	}
	r.makeTokens()
	r.bridge = r.over(r.l1.read, r.l2.read)
	return r
}

// over is the bridge as it is seen through other eyes.
func (r *rig) over(below opbridge.Below, above opbridge.Above) *opbridge.Bridge {
	r.Helper()
	cfg := opbridge.Config{Below: belowID, Above: aboveID, Portal: canon(r.at.Portal), Messenger: canon(r.at.Messenger), Bridge: canon(r.at.Bridge)}
	if r.games {
		cfg.Games = canon(r.at.Games)
	} else {
		cfg.Oracle = canon(r.at.Oracle)
	}
	b, err := opbridge.New(cfg, below, above)
	if err != nil {
		r.Fatal(err)
	}
	return b
}

func (r *rig) open(host *devnet.Host, id chain.ID, name string, spec any) side {
	r.Helper()
	on, err := host.Open(r.Context(), name, "evm", false, spec)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = on.Close(context.WithoutCancel(r.Context())) })
	read, err := evm.New(r.Context(), evm.Config{
		ID: id, Nodes: rpc.Config{URLs: []string{on.RPC}, Need: 1}, Tag: "finalized", NoVerify: id == aboveID,
	}, nobody{})
	if err != nil {
		r.Fatal(err)
	}
	pool, err := rpc.New(rpc.Config{URLs: []string{on.RPC}, Need: 1})
	if err != nil {
		r.Fatal(err)
	}
	return side{id, on, read, pool.Nodes()[0]}
}

// nobody signs nothing.
type nobody struct{}

func (nobody) Sign(context.Context, chain.Paper) ([]byte, error) {
	return nil, errors.New("nothing is signed here")
}

func (nobody) Address(context.Context, chain.ID, chain.Key) (chain.Address, error) {
	return canon(common.Address{0x0a}), nil
}

func canon(a common.Address) chain.Address {
	return chain.CanonicalAddress(chain.EVM, "0x"+hex.EncodeToString(a[:]))
}

func ether(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

func (r *rig) do(s side, op string, in, out any) {
	r.Helper()
	if err := s.node.Do(r.Context(), op, in, out); err != nil {
		r.Fatal(err)
	}
}

func (r *rig) mine(s side, n int) { r.Helper(); r.do(s, "mine", map[string]int{"n": n}, nil) }

// both makes blocks on both chains, as their clocks would.
func (r *rig) both(n int) {
	r.Helper()
	for range n {
		r.mine(r.l1, 1)
		r.mine(r.l2, 1)
	}
}

// act sends a call as somebody and makes a block with it.
func (r *rig) act(c chain.Call) chain.TxID {
	r.Helper()
	s := r.l1
	if c.Chain == r.l2.id {
		s = r.l2
	}
	value := new(big.Int)
	if c.Asset.IsNative() {
		value.SetString(c.Amount.String(), 10)
	}
	return r.send(s, common.HexToAddress(c.To.Text()), value, c.Data)
}

func (r *rig) send(s side, to common.Address, value *big.Int, data []byte) chain.TxID {
	r.Helper()
	var nonce hexutil.Uint64
	r.ask(s, &nonce, "eth_getTransactionCount", r.me, "pending")
	id, _ := new(big.Int).SetString(strings.TrimPrefix(string(s.id), "eip155:"), 10)
	tx, err := types.SignNewTx(r.key, types.LatestSignerForChainID(id), &types.DynamicFeeTx{
		ChainID: id, Nonce: uint64(nonce), To: &to, Value: value, Data: data, Gas: 3_000_000, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(1e11),
	})
	if err != nil {
		r.Fatal(err)
	}
	text, err := tx.MarshalBinary()
	if err != nil {
		r.Fatal(err)
	}
	r.ask(s, new(common.Hash), "eth_sendRawTransaction", hexutil.Bytes(text))
	r.mine(s, 1)
	return chain.TxID(tx.Hash().Hex())
}

func (r *rig) ask(s side, out any, method string, params ...any) {
	r.Helper()
	if err := s.raw.Call(r.Context(), out, method, params...); err != nil {
		r.Fatal(err)
	}
}

// has is what somebody has of the coin or a token.
func (r *rig) has(s side, token, who common.Address) string {
	r.Helper()
	if token == (common.Address{}) {
		var n hexutil.Big
		r.ask(s, &n, "eth_getBalance", who, "latest")
		return n.ToInt().String()
	}
	out, err := s.read.View(r.Context(), canon(token), pack(r.T, "balanceOf(address)", who))
	if err != nil {
		r.Fatal(err)
	}
	return new(big.Int).SetBytes(out).String()
}

// pack is a call of a function by its signature.
func pack(t *testing.T, signature string, args ...any) []byte {
	t.Helper()
	var in abi.Arguments
	_, list, _ := strings.Cut(strings.TrimSuffix(signature, ")"), "(")
	for _, name := range strings.Split(list, ",") {
		kind, err := abi.NewType(name, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, abi.Argument{Type: kind})
	}
	data, err := in.Pack(args...)
	if err != nil {
		t.Fatal(err)
	}
	return append(crypto.Keccak256([]byte(signature))[:4], data...)
}

// makeTokens makes a token below, of which somebody has some, and its twin above.
func (r *rig) makeTokens() {
	r.Helper()
	code, err := evm.TestTokenCode("Dollar", "USD", 6)
	if err != nil {
		r.Fatal(err)
	}
	var made struct {
		Address common.Address `json:"address"`
	}
	r.do(r.l1, "deploy", map[string]string{"data": "0x" + hex.EncodeToString(code)}, &made)
	r.mine(r.l1, 1)
	r.token = made.Address
	r.do(r.l1, "fund", map[string]any{"address": r.me, "amount": 1_000_000, "token": r.token}, nil)
	r.do(r.l2, "pair", map[string]any{"below": r.token, "name": "Dollar above", "symbol": "USD", "decimals": 6}, &made)
	r.twin = made.Address
	r.both(1)
}

func (r *rig) coins(to common.Address, n *big.Int) opbridge.Transfer {
	return opbridge.Transfer{From: canon(r.me), To: canon(to), Amount: money.MustParse(n.String())}
}

func (r *rig) tokens(to common.Address, n uint64) opbridge.Transfer {
	return opbridge.Transfer{Token: canon(r.token), Twin: canon(r.twin), From: canon(r.me), To: canon(to), Amount: money.FromUint64(n)}
}

// must1 is the only one of a list.
func must1[T any](t *testing.T) func(list []T, err error) T {
	return func(list []T, err error) T {
		t.Helper()
		if err != nil || len(list) != 1 {
			t.Fatalf("got %v, %v", list, err)
		}
		return list[0]
	}
}

func ok[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// selector is how a call of a function begins.
func selector(signature string) string { return string(crypto.Keccak256([]byte(signature))[:4]) }
