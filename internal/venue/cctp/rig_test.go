package cctp_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	dev "ferry/internal/devnet/cctp"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/family/evm"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
	"ferry/internal/venue/cctp"
)

const finalDepth = 3

// Two local chains, whose domains are not their numbers.
var sides = [2]struct {
	id     chain.ID
	number uint64
	domain uint32
}{{"eip155:31501", 31_501, 0}, {"eip155:31506", 31_506, 6}}

var opened atomic.Uint64

func keyFor(name string) *ecdsa.PrivateKey {
	return must(crypto.ToECDSA(crypto.Keccak256([]byte(name))))
}

func addressOf(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }

func canonical(a common.Address) chain.Address {
	return chain.CanonicalAddress(chain.EVM, strings.ToLower(a.Hex()))
}

func toCommon(a chain.Address) common.Address { return common.HexToAddress(a.Text()) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func n(v uint64) money.Amount { return money.FromUint64(v) }

// local asks a node for what a test wants to know.
type local struct {
	t   testing.TB
	url string
	id  chain.ID
}

func (l *local) call(ctx context.Context, out any, method string, params ...any) error {
	body := must(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
	req := must(http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body)))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said := struct {
		Result any
		Error  *struct{ Message string }
	}{Result: out}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		return err
	}
	if said.Error != nil {
		return fmt.Errorf("%s: %s", method, said.Error.Message)
	}
	return nil
}

func (l *local) block(ctx context.Context, which string) (chain.Block, error) {
	var b *struct {
		Number, Timestamp hexutil.Uint64
		Hash              string
		ParentHash        string
	}
	if err := l.call(ctx, &b, "eth_getBlockByNumber", which, false); err != nil || b == nil {
		return chain.Block{}, fmt.Errorf("block %s: %w", which, err)
	}
	return chain.Block{Height: uint64(b.Number), Hash: b.Hash, Parent: b.ParentHash, Time: time.Unix(int64(b.Timestamp), 0)}, nil
}

func (l *local) Head(ctx context.Context) (chain.Head, error) {
	tip, err := l.block(ctx, "latest")
	if err != nil {
		return chain.Head{}, err
	}
	final, err := l.block(ctx, "finalized")
	return chain.Head{Tip: tip, Final: final}, err
}

func (l *local) View(ctx context.Context, to chain.Address, data []byte) ([]byte, error) {
	var out hexutil.Bytes
	err := l.call(ctx, &out, "eth_call", map[string]any{"to": to.Text(), "data": hexutil.Bytes(data)}, "latest")
	return out, err
}

func (l *local) Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error) {
	var r *types.Receipt
	if err := l.call(ctx, &r, "eth_getTransactionReceipt", tx); err != nil {
		return chain.Receipt{}, err
	}
	if r == nil {
		return chain.Receipt{Tx: tx, Fate: chain.Missing}, nil
	}
	head, err := l.Head(ctx)
	if err != nil {
		return chain.Receipt{}, err
	}
	at, err := l.block(ctx, hexutil.EncodeUint64(r.BlockNumber.Uint64()))
	if err != nil {
		return chain.Receipt{}, err
	}
	out := chain.Receipt{Tx: tx, Fate: chain.Included, Block: at}
	if at.Height <= head.Final.Height {
		if out.Fate = chain.Final; r.Status == 0 {
			out.Fate = chain.Reverted
		}
	}
	return out, nil
}

// nobody signs.
type nobody struct{}

func (nobody) Sign(context.Context, chain.Paper) ([]byte, error) { return nil, errDown }

func (nobody) Address(context.Context, chain.ID, chain.Key) (chain.Address, error) {
	return canonical(addressOf(keyFor("hot"))), nil
}

// cheap prices gas at nothing but a unit for each question.
type cheap struct{}

func (cheap) Gas(context.Context, chain.ID, uint64, chain.Asset, time.Time) (money.Amount, error) {
	return n(25_000), nil
}

// rig is a bridge between two real nodes.
type rig struct {
	t        testing.TB
	spec     dev.Spec
	at       dev.Contracts
	attester *dev.Attester
	iris     string
	nodes    map[chain.ID]*local
	chains   map[chain.ID]cctp.Chain // as the service reads them
	cfg      cctp.Config
	hot      *ecdsa.PrivateKey
}

// newRig starts both chains, which make blocks by themselves, and puts the bridge on them.
func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, nodes: map[chain.ID]*local{}, chains: map[chain.ID]cctp.Chain{}, hot: keyFor("hot")}
	rich := hexutil.EncodeBig(new(big.Int).Lsh(big.NewInt(1), 80))
	alloc := map[string]any{}
	for _, who := range []string{"hot", "deployer", "user", "stranger"} {
		alloc[addressOf(keyFor(who)).Hex()] = map[string]any{"balance": rich}
	}
	keys := dev.Keys(3)
	r.spec = dev.Spec{Key: keyFor("deployer"), Threshold: 2, Limit: big.NewInt(10_000_000_000_000)}
	for _, k := range keys {
		r.spec.Attesters = append(r.spec.Attesters, addressOf(k))
	}
	for _, s := range sides {
		name := fmt.Sprintf("cctp-%d-%d", os.Getpid(), opened.Add(1))
		spec := map[string]any{"chainId": s.number, "finalDepth": finalDepth, "alloc": alloc}
		c := must(devnettest.Host(t).Open(t.Context(), name, "evm", false, spec))
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		if err := c.Do(t.Context(), "auto", map[string]any{"everyMs": 20}, nil); err != nil {
			t.Fatal(err)
		}
		r.nodes[s.id] = &local{t: t, url: c.RPC, id: s.id}
		r.chains[s.id] = must(evm.New(t.Context(), evm.Config{
			ID: s.id, Nodes: rpc.Config{URLs: []string{c.RPC, c.RPC}, Need: 2, Timeout: time.Minute}, Tag: "finalized",
		}, nobody{}))
		r.spec.Sides = append(r.spec.Sides, dev.Side{RPC: c.RPC, Domain: s.domain})
	}
	var err error
	if r.at, err = dev.Deploy(t.Context(), r.spec); err != nil {
		t.Fatal(err)
	}
	r.attester = dev.NewAttester(r.spec, keys[1:], finalDepth)
	server := httptest.NewServer(r.attester)
	t.Cleanup(server.Close)
	r.iris = server.URL
	r.cfg = cctp.Config{Service: 1000, Min: n(1_000_000), Max: n(5_000_000_000_000), Poll: 20 * time.Millisecond, Fresh: time.Minute}
	for _, s := range sides {
		r.cfg.Domains = append(r.cfg.Domains, cctp.Domain{
			Chain: s.id, Number: s.domain, Token: chain.Asset{Chain: s.id, Ref: canonical(r.at.USDC).Text()},
			Messenger: canonical(r.at.Messenger), Transmitter: canonical(r.at.Transmitter), Own: canonical(addressOf(r.hot)), Attested: 30 * time.Millisecond,
		})
	}
	return r
}

// venue is one that has just been started.
func (r *rig) venue() *cctp.Venue {
	r.t.Helper()
	v, err := cctp.New(r.cfg, r.chains, must(cctp.NewIris(r.iris, time.Now)), cheap{})
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

func (r *rig) give(side int, who common.Address, amount int64) {
	r.t.Helper()
	if err := r.spec.Give(r.t.Context(), r.spec.Sides[side], who, big.NewInt(amount)); err != nil {
		r.t.Fatal(err)
	}
}

// send signs and offers a call, and says what its transaction is called.
func (r *rig) send(key *ecdsa.PrivateKey, on chain.ID, to chain.Address, data []byte) chain.TxID {
	r.t.Helper()
	l := r.nodes[on]
	var nonce, id hexutil.Uint64
	r.ok(l.call(r.t.Context(), &nonce, "eth_getTransactionCount", addressOf(key), "pending"))
	r.ok(l.call(r.t.Context(), &id, "eth_chainId"))
	number, where := new(big.Int).SetUint64(uint64(id)), toCommon(to)
	tx := must(types.SignNewTx(key, types.LatestSignerForChainID(number), &types.DynamicFeeTx{
		ChainID: number, Nonce: uint64(nonce), To: &where, Data: data, Gas: 1_000_000, GasTipCap: big.NewInt(3e9), GasFeeCap: big.NewInt(1e12),
	}))
	r.ok(l.call(r.t.Context(), nil, "eth_sendRawTransaction", hexutil.Bytes(must(tx.MarshalBinary()))))
	return chain.TxID(tx.Hash().Hex())
}

// settled waits until a transaction can change no more.
func (r *rig) settled(on chain.ID, tx chain.TxID) chain.Fate {
	r.t.Helper()
	for {
		got, err := r.nodes[on].Receipt(r.t.Context(), tx)
		r.ok(err)
		if got.Fate.Settled() {
			return got.Fate
		}
		r.tick()
	}
}

// tick lets a moment pass between two looks at a condition.
func (r *rig) tick() {
	r.t.Helper()
	select {
	case <-r.t.Context().Done():
		r.t.Fatal("it took too long")
	case <-time.After(10 * time.Millisecond):
	}
}

func (r *rig) balance(on chain.ID, who common.Address) money.Amount {
	r.t.Helper()
	data := append(crypto.Keccak256([]byte("balanceOf(address)"))[:4], common.LeftPadBytes(who[:], 32)...)
	out, err := r.nodes[on].View(r.t.Context(), canonical(r.at.USDC), data)
	r.ok(err)
	return money.MustParse(new(big.Int).SetBytes(out).String())
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}
