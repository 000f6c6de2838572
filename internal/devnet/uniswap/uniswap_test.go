package uniswap_test

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"ferry/internal/devnet/devnettest"
	"ferry/internal/devnet/uniswap"
)

func TestRealContractsOnALocalChainSwap(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("somebody on a local chain")))
	ok(t, err)
	rich := map[string]any{"balance": "0x10000000000000000000000000"}
	node, err := devnettest.Host(t).Open(ctx, fmt.Sprintf("uniswap-%d", os.Getpid()), "evm", false, map[string]any{
		"chainId": 31337, "finalDepth": 2, "alloc": map[string]any{crypto.PubkeyToAddress(key.PublicKey).Hex(): rich},
	})
	ok(t, err)
	t.Cleanup(func() { _ = node.Close(context.WithoutCancel(ctx)) })
	w, err := uniswap.Open(ctx, node.RPC, key)
	ok(t, err)
	w.Mine = func(ctx context.Context) error { return node.Do(ctx, "mine", map[string]any{"n": 1}, nil) }
	kit, err := uniswap.Fetch(ctx)
	ok(t, err)
	u, err := uniswap.Deploy(ctx, kit, w)
	ok(t, err)
	// A second wrapped coin is as good a token as any.
	other, err := w.Send(ctx, uniswap.Tx{Data: kit["WETH9"].Code})
	ok(t, err)
	unit := big.NewInt(1e18)
	deposit := kit["WETH9"].ABI.Methods["deposit"].ID
	_, err = w.Send(ctx, uniswap.Tx{To: &other, Value: new(big.Int).Mul(unit, big.NewInt(1000)), Data: deposit})
	ok(t, err)
	ok(t, u.Wrap(ctx, new(big.Int).Mul(unit, big.NewInt(1000))))
	ok(t, u.Approve(ctx, u.WETH, other))
	pair, err := u.CreatePair(ctx, u.WETH, other)
	ok(t, err)
	ok(t, u.Add(ctx, uniswap.Stake{Token: u.WETH, Amount: unit}, uniswap.Stake{Token: other, Amount: new(big.Int).Mul(unit, big.NewInt(2))}))
	ok(t, u.SwapV2(ctx, big.NewInt(1e15), u.WETH, other))
	zero, one := uniswap.Sorted(u.WETH, other)
	for _, fee := range []uint32{100, 500, 3000, 10000} {
		pool, err := u.CreatePool(ctx, zero, one, fee, new(big.Int).Lsh(big.NewInt(1), 96))
		ok(t, err)
		ok(t, u.Mint(ctx, uniswap.Position{Zero: uniswap.Stake{Token: zero, Amount: unit}, One: uniswap.Stake{Token: one, Amount: unit}, Fee: fee, Low: -6000, High: 6000}))
		ok(t, u.Swap(ctx, uniswap.Stake{Token: one, Amount: big.NewInt(1e15)}, zero, fee))
		_, err = w.Wait(ctx)
		ok(t, err)
		has := balance(t, node.RPC, kit, zero, pool)
		if has.Sign() <= 0 || has.Cmp(unit) >= 0 {
			t.Errorf("the pool with fee %d has %s of the token that was bought, want less than the %s that were put in", fee, has, unit)
		}
	}
	ok(t, u.Burn(ctx, 1, big.NewInt(1e9)))
	_, err = w.Wait(ctx)
	ok(t, err)
	if got, want := balance(t, node.RPC, kit, u.WETH, pair), big.NewInt(1e18+1e15); got.Cmp(want) != 0 {
		t.Errorf("the pair has %s of what was sold to it, want %s", got, want)
	}
}

func balance(t *testing.T, url string, kit uniswap.Kit, token, who common.Address) *big.Int {
	t.Helper()
	data, err := kit["WETH9"].ABI.Pack("balanceOf", who)
	ok(t, err)
	client, err := ethclient.DialContext(t.Context(), url)
	ok(t, err)
	defer client.Close()
	out, err := client.CallContract(t.Context(), ethereum.CallMsg{To: &token, Data: data}, nil)
	ok(t, err)
	return new(big.Int).SetBytes(out)
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
