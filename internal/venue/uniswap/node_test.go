package uniswap_test

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"ferry/internal/chain"
	"ferry/internal/devnet"
	"ferry/internal/devnet/devnettest"
	contracts "ferry/internal/devnet/uniswap"
	"ferry/internal/money"
	"ferry/internal/venue/uniswap"
)

const (
	chainID    = chain.ID("eip155:31337")
	finalDepth = 2
)

func canonical(a common.Address) chain.Address {
	return chain.CanonicalAddress(chain.EVM, "0x"+hex.EncodeToString(a[:]))
}

func plain(a chain.Address) common.Address { return common.HexToAddress(a.Text()) }

// port is the venue's chain over one node that is believed.
type port struct{ *ethclient.Client }

func block(h *types.Header) chain.Block {
	return chain.Block{Height: h.Number.Uint64(), Hash: h.Hash().Hex(), Parent: h.ParentHash.Hex(), Time: time.Unix(int64(h.Time), 0)}
}

func (p port) Head(ctx context.Context) (chain.Head, error) {
	h, err := p.HeaderByNumber(ctx, nil)
	if err != nil {
		return chain.Head{}, err
	}
	return chain.Head{Tip: block(h)}, nil
}

func (p port) Next(ctx context.Context, from uint64) (chain.Block, error) {
	h, err := p.HeaderByNumber(ctx, new(big.Int).SetUint64(from))
	if err != nil {
		return chain.Block{}, err
	}
	return block(h), nil
}

func (p port) View(ctx context.Context, to chain.Address, data []byte) ([]byte, error) {
	at := plain(to)
	return p.CallContract(ctx, ethereum.CallMsg{To: &at, Data: data}, nil)
}

func (p port) ViewAt(ctx context.Context, to chain.Address, data []byte, b chain.Block) ([]byte, error) {
	at := plain(to)
	return p.CallContractAtHash(ctx, ethereum.CallMsg{To: &at, Data: data}, common.HexToHash(b.Hash))
}

func toLog(l *types.Log) chain.Log {
	out := chain.Log{
		Address: canonical(l.Address), Data: l.Data, Tx: chain.TxID(l.TxHash.Hex()),
		Block: chain.Block{Height: l.BlockNumber, Hash: l.BlockHash.Hex()}, Index: uint64(l.Index),
	}
	for _, t := range l.Topics {
		out.Topics = append(out.Topics, chain.Word(t))
	}
	return out
}

func (p port) Logs(ctx context.Context, q chain.LogQuery) (out []chain.Log, err error) {
	f := ethereum.FilterQuery{FromBlock: new(big.Int).SetUint64(q.From), ToBlock: new(big.Int).SetUint64(q.To), Topics: [][]common.Hash{nil}}
	for _, a := range q.Addresses {
		f.Addresses = append(f.Addresses, plain(a))
	}
	for _, t := range q.Topics {
		f.Topics[0] = append(f.Topics[0], common.Hash(t))
	}
	logs, err := p.FilterLogs(ctx, f)
	for i := range logs {
		out = append(out, toLog(&logs[i]))
	}
	return out, err
}

func (p port) Receipt(ctx context.Context, tx chain.TxID) (chain.Receipt, error) {
	hash := common.HexToHash(string(tx))
	r, err := p.TransactionReceipt(ctx, hash)
	if errors.Is(err, ethereum.NotFound) {
		return chain.Receipt{Tx: tx}, nil
	}
	if err != nil {
		return chain.Receipt{}, err
	}
	sent, _, err := p.TransactionByHash(ctx, hash)
	if err != nil {
		return chain.Receipt{}, err
	}
	from, err := types.Sender(types.LatestSignerForChainID(sent.ChainId()), sent)
	if err != nil {
		return chain.Receipt{}, err
	}
	head, err := p.BlockNumber(ctx)
	if err != nil {
		return chain.Receipt{}, err
	}
	out := chain.Receipt{Tx: tx, Fate: chain.Included, From: canonical(from), Data: sent.Data(), Value: money.MustParse(sent.Value().String())}
	if sent.To() != nil {
		out.To = canonical(*sent.To())
	}
	if head >= r.BlockNumber.Uint64()+finalDepth {
		if out.Fate = chain.Final; r.Status == types.ReceiptStatusFailed {
			out.Fate = chain.Reverted
		}
	}
	for _, l := range r.Logs {
		out.Logs = append(out.Logs, toLog(l))
	}
	return out, nil
}

func (p port) Cost(context.Context, chain.Call) (money.Amount, error) {
	return money.FromUint64(21_000 * 1_000_000_000), nil
}

// rig is a local chain with the contracts, three tokens and pools between them.
type rig struct {
	*testing.T
	node   *devnet.Chain
	wallet *contracts.Wallet
	u      *contracts.Uniswap
	kit    contracts.Kit
	tokens []common.Address // WETH is the first
	port   port
}

var opened atomic.Int64

func whole(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

func newRig(t *testing.T) *rig {
	t.Helper()
	ctx := t.Context()
	r := &rig{T: t}
	key := must(crypto.ToECDSA(crypto.Keccak256([]byte("hot account of a local chain"))))(t)
	r.node = must(devnettest.Host(t).Open(ctx, fmt.Sprintf("pools-%d-%d", os.Getpid(), opened.Add(1)), "evm", false, map[string]any{
		"chainId": 31337, "finalDepth": finalDepth,
		"alloc": map[string]any{address(key).Hex(): map[string]any{"balance": "0x10000000000000000000000000"}},
	}))(t)
	t.Cleanup(func() { _ = r.node.Close(context.WithoutCancel(ctx)) })
	r.wallet = must(contracts.Open(ctx, r.node.RPC, key))(t)
	r.wallet.Mine = func(context.Context) error { r.mine(1); return nil }
	r.port = port{must(ethclient.DialContext(ctx, r.node.RPC))(t)}
	r.kit = must(contracts.Fetch(ctx))(t)
	r.u = must(contracts.Deploy(ctx, r.kit, r.wallet))(t)
	r.ok(r.u.Wrap(ctx, whole(1_000_000)))
	r.tokens = []common.Address{r.u.WETH}
	for range 2 { // another wrapped coin is as good a token as any
		at := must(r.wallet.Send(ctx, contracts.Tx{Data: r.kit["WETH9"].Code}))(t)
		must(r.wallet.Send(ctx, contracts.Tx{To: &at, Value: whole(1_000_000), Data: r.kit["WETH9"].ABI.Methods["deposit"].ID}))(t)
		r.tokens = append(r.tokens, at)
	}
	must(r.wallet.Wait(ctx))(t)
	return r
}

// fill makes the pools: of both versions, and some pairs by one of them alone.
func (r *rig) fill() {
	ctx := r.Context()
	r.ok(r.u.Approve(ctx, r.tokens...))
	for _, p := range []struct {
		a, b int
		fee  uint32
		size int64
	}{{0, 1, 0, 900}, {0, 1, 3000, 2000}, {0, 1, 500, 500}, {1, 2, 0, 1500}, {1, 2, 3000, 700}, {0, 2, 10000, 300}} {
		a, b := r.tokens[p.a], r.tokens[p.b]
		if p.fee == 0 {
			must(r.u.CreatePair(ctx, a, b))(r.T)
			r.ok(r.u.Add(ctx, contracts.Stake{Token: a, Amount: whole(p.size)}, contracts.Stake{Token: b, Amount: whole(p.size)}))
			continue
		}
		must(r.u.CreatePool(ctx, a, b, p.fee, new(big.Int).Lsh(big.NewInt(1), 96)))(r.T)
		r.mint(a, b, p.fee, p.size, 6000)
		r.mint(a, b, p.fee, p.size, 1800)
	}
	must(r.wallet.Wait(ctx))(r.T)
}

func (r *rig) mint(a, b common.Address, fee uint32, size int64, wide int32) {
	r.Helper()
	zero, one := contracts.Sorted(a, b)
	r.ok(r.u.Mint(r.Context(), contracts.Position{
		Zero: contracts.Stake{Token: zero, Amount: whole(size)}, One: contracts.Stake{Token: one, Amount: whole(size)}, Fee: fee, Low: -wide, High: wide,
	}))
}

func (r *rig) config() uniswap.Config {
	cfg := uniswap.Config{
		Chain: chainID, Own: canonical(r.wallet.Address()), Router: canonical(r.u.Router), Wrapped: canonical(r.u.WETH), Multicall: canonical(r.u.Multicall),
		MaxAge: time.Hour, Poll: time.Second, Check: time.Nanosecond, Patience: time.Hour,
		Noticed: func(n uniswap.Notice) { r.Errorf("noticed: %+v", n) },
	}
	for _, t := range r.tokens {
		cfg.Tokens = append(cfg.Tokens, canonical(t))
	}
	return cfg
}

func (r *rig) mine(n int) { r.ok(r.node.Do(r.Context(), "mine", map[string]any{"n": n}, nil)) }

func (r *rig) asset(i int) chain.Asset {
	return chain.Asset{Chain: chainID, Ref: canonical(r.tokens[i]).Text()}
}

func (r *rig) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

func must[T any](x T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

func address(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }
