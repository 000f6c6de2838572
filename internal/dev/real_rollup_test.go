package dev

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/venue/opbridge"
)

// bridge is the one between the EVM chains, as a client of the service's own would see
// it.
func (r *real) bridge(t *testing.T) *opbridge.Bridge {
	t.Helper()
	at := r.Network.Rollup()
	if at == nil {
		t.Fatal("no chain is a rollup of another")
	}
	eyes := func(slug string) opbridge.Above {
		seen, ok := r.on[slug].Reader.(opbridge.Above)
		if !ok {
			t.Fatalf("%s can not be read as a bridge must", slug)
		}
		return seen
	}
	b, err := opbridge.New(opbridge.Config{
		Below: Ethereum, Above: Base, Portal: evmAddress(at.Portal), Messenger: evmAddress(at.Messenger),
		Bridge: evmAddress(at.Bridge), Oracle: evmAddress(at.Oracle),
	}, eyes("ethereum"), eyes("base"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func evmAddress(text string) chain.Address { return chain.CanonicalAddress(chain.EVM, text) }

// TestAnOrderIsPaidThroughTheRollupsBridgeOnRealNodes pays on Ethereum what an order asks
// for on Base: the bridge pays its deposit address, in a transaction that nobody signed.
func TestAnOrderIsPaidThroughTheRollupsBridgeOnRealNodes(t *testing.T) {
	t.Parallel()
	r := stage{dir: t.TempDir(), prefix: networkPrefix(), only: []chain.ID{Ethereum, Base}, blocks: fewBlocks, change: calm}.begin(t)
	r.closeChains(t)
	r.key = r.company(t, "nobody", nil)
	b := r.bridge(t)
	w := r.open(t, r.key, baseETH, usd)
	call, err := b.Deposit(opbridge.Transfer{To: w.order.DepositTo, Amount: w.order.Quote.In})
	if err != nil {
		t.Fatal(err)
	}
	tx := r.faucetSends(t, call)
	// Another is paid past the bridge, by the portal itself: its coins are made by the
	// very transaction that pays them.
	past := r.open(t, r.key, baseETH, usd)
	r.faucetSends(t, chain.Call{
		Chain: Ethereum, To: evmAddress(r.Network.Rollup().Portal), Asset: Ethereum.Native(), Amount: past.order.Quote.In,
		Data: portalPays(past.order.DepositTo, past.order.Quote.In),
	})
	w.until("completed")
	past.until("completed")
	found, err := b.Deposits(t.Context(), tx)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d deposits, %v", len(found), err)
	}
	if a, err := b.Arrived(t.Context(), found[0]); err != nil || a.Stage != opbridge.Paid || a.Amount != w.order.Quote.In {
		t.Fatalf("it is %s with %s, %v", a.Stage, a.Amount, err)
	}
	for _, w := range []*trade{w, past} {
		r.wait(t, "the deposit is swept", func() bool {
			return r.Network.has(t, Base.Native(), w.order.DepositTo.Text()) == money.Amount{}
		})
	}
	r.booksAreChains(t)
}

// portalPays is depositTransaction, with gas for a payment and nothing else.
func portalPays(to chain.Address, n money.Amount) []byte {
	data := crypto.Keccak256([]byte("depositTransaction(address,uint256,uint64,bool,bytes)"))[:4]
	value, _ := new(big.Int).SetString(n.String(), 10)
	for _, word := range []*big.Int{common.HexToAddress(to.Text()).Big(), value, big.NewInt(100_000), new(big.Int), big.NewInt(5 * 32), new(big.Int)} {
		data = append(data, word.FillBytes(make([]byte, 32))...)
	}
	return data
}

// faucetSends has the faucet of a chain make a call.
func (r *real) faucetSends(t *testing.T, c chain.Call) chain.TxID {
	t.Helper()
	value, ok := new(big.Int).SetString(c.Amount.String(), 10)
	if !ok || !c.Asset.IsNative() {
		t.Fatalf("%s of %s can not be sent", c.Amount, c.Asset)
	}
	var out sent
	in := fields{"to": c.To.Text(), "value": fmt.Sprintf("0x%x", value), "data": "0x" + hex.EncodeToString(c.Data)}
	if err := nodeOf(r.Network.grounds[c.Chain]).on.Do(t.Context(), "send", in, &out); err != nil {
		t.Fatal(err)
	}
	return out.Tx
}
