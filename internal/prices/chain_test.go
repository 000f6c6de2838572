package prices_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/family/evm"
	"ferry/internal/family/rpc"
	"ferry/internal/signer"
)

const chainID chain.ID = "eip155:31337"

var opened atomic.Int64

// local is a real local chain. It makes blocks only when it is told to, each a second
// after the one before.
type local struct {
	t    *testing.T
	node *devnet.Chain
	on   *evm.Chain
	who  common.Address // has coins
}

func newLocal(t *testing.T) *local {
	t.Helper()
	l := &local{t: t, who: crypto.PubkeyToAddress(somebody(t).PublicKey)}
	spec := map[string]any{"chainId": 31337, "finalDepth": 2, "alloc": map[string]any{l.who.Hex(): map[string]any{"balance": "0x10000000000000000000000000"}}}
	var err error
	l.node, err = devnettest.Host(t).Open(t.Context(), fmt.Sprintf("prices-%d-%d", os.Getpid(), opened.Add(1)), "evm", false, spec)
	l.ok(err)
	t.Cleanup(func() { _ = l.node.Close(context.WithoutCancel(t.Context())) })
	keys, err := signer.NewRing([]byte("a seed of thirty-two bytes ......"), map[chain.ID]signer.Net{chainID: {Family: chain.EVM}})
	l.ok(err)
	l.on, err = evm.New(t.Context(), evm.Config{ID: chainID, Tag: "finalized", Nodes: rpc.Config{URLs: []string{l.node.RPC}, Need: 1}}, keys)
	l.ok(err)
	return l
}

func (l *local) ok(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// mine makes blocks, and says what time the chain has then.
func (l *local) mine(n int) time.Time {
	l.t.Helper()
	l.ok(l.node.Do(l.t.Context(), "mine", map[string]any{"n": n}, nil))
	return l.now()
}

func (l *local) now() time.Time {
	l.t.Helper()
	h, err := l.on.Head(l.t.Context())
	l.ok(err)
	return h.Tip.Time
}

func (l *local) deploy(code []byte) common.Address {
	l.t.Helper()
	var out struct{ Address common.Address }
	l.ok(l.node.Do(l.t.Context(), "deploy", map[string]any{"data": hexutil.Bytes(code)}, &out))
	return out.Address
}

func (l *local) send(to common.Address, data []byte) {
	l.t.Helper()
	l.ok(l.node.Do(l.t.Context(), "send", map[string]any{"to": to, "data": hexutil.Bytes(data)}, nil))
}

func named(a common.Address) chain.Address {
	return chain.CanonicalAddress(chain.EVM, strings.ToLower(a.Hex()))
}

// feeds are what the oracle's contract is made of.
type feeds struct {
	ABI  abi.ABI       `json:"abi"`
	Code hexutil.Bytes `json:"code"`
}

func feedFile(t *testing.T) (f feeds) {
	t.Helper()
	text, err := os.ReadFile("../dev/contract/PriceFeed.json")
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f feeds) pack(t *testing.T, method string, args ...any) []byte {
	t.Helper()
	data, err := f.ABI.Pack(method, args...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// feed makes an oracle that answers with so many decimals.
func (l *local) feed(f feeds, decimals uint8, answer int64) common.Address {
	l.t.Helper()
	return l.deploy(append(append([]byte{}, f.Code...), f.pack(l.t, "", "a price", decimals, big.NewInt(answer))...))
}

func unix(at time.Time) *big.Int { return big.NewInt(at.Unix()) }
