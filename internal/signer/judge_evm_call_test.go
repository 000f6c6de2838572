package signer_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
	"ferry/internal/signer"
)

const (
	routerText = "0x68b3465833fb72a70ecdf485e0e4c7bd8665fc45"
	asideText  = "0x0000000000000000000000000000000000000002"
	nobodyText = "0x0000000000000000000000000000000000000000"
)

// routerABI is what a router of pools understands, as far as tests go.
var routerABI = func() abi.ABI {
	a, err := abi.JSON(strings.NewReader(`[
	{"type":"function","name":"swap","inputs":[{"name":"p","type":"tuple","components":[{"name":"token","type":"address"},{"name":"to","type":"address"},{"name":"amount","type":"uint256"}]}]},
	{"type":"function","name":"unwrap","inputs":[{"name":"least","type":"uint256"},{"name":"to","type":"address"}]},
	{"type":"function","name":"multicall","inputs":[{"name":"calls","type":"bytes[]"}]},
	{"type":"function","name":"approve","inputs":[{"name":"who","type":"address"},{"name":"amount","type":"uint256"}]},
	{"type":"function","name":"burn","inputs":[{"name":"n","type":"uint256"},{"name":"domain","type":"uint32"},{"name":"to","type":"bytes32"},{"name":"by","type":"bytes32"}]},
	{"type":"function","name":"drain","inputs":[{"name":"to","type":"address"}]}]`))
	if err != nil {
		panic(err)
	}
	return a
}()

type swapArgs struct {
	Token, To common.Address
	Amount    *big.Int
}

func evmAddr(text string) chain.Address { return chain.CanonicalAddress(chain.EVM, text) }

// callRig is a rig whose policy lets a router and the approval of it be called.
func callRig(t *testing.T) *rig {
	r := newRig(t)
	r.policy.Contracts = map[chain.ID][]chain.Contract{ether: {
		{Address: evmAddr(routerText), Methods: []chain.Method{
			{Signature: "swap((address,address,uint256))", Own: []string{"0.1"}, Also: []chain.Address{evmAddr(asideText)}, Amount: "0.2"},
			{Signature: "unwrap(uint256,address)", Own: []string{"1"}},
			{Signature: "multicall(bytes[])", Inner: "0"},
			{
				Signature: "burn(uint256,uint32,bytes32,bytes32)", Own: []string{"2"}, Only: map[string][]chain.Address{"3": {evmAddr(nobodyText)}},
				Few: map[string][]uint64{"1": {0, 6}}, Amount: "0",
			},
		}},
		{Address: evmAddr(tokenText), Methods: []chain.Method{
			{Signature: "approve(address,uint256)", Only: map[string][]chain.Address{"0": {evmAddr(routerText)}}},
		}},
	}}
	r.remake()
	return r
}

func packed(t *testing.T, name string, args ...any) []byte {
	t.Helper()
	data, err := routerABI.Pack(name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// invoked wishes a call and gives the paper that makes exactly it.
func invoked(r *rig, to string, asset chain.Asset, amount uint64, data []byte) chain.Paper {
	r.wish("t", chain.Call{Chain: ether, To: evmAddr(to), Asset: asset, Amount: money.FromUint64(amount), Data: data}, evmBudget)
	tx := evmTx()
	addr := common.HexToAddress(to)
	tx.To, tx.Data, tx.Value = &addr, data, new(big.Int)
	if asset.Ref == "" {
		tx.Value = new(big.Int).SetUint64(amount)
	}
	return evmPaper(r, tx)
}

func TestACallOfAContractIsHeldToTheListAndTheWish(t *testing.T) {
	t.Parallel()
	usdc := chain.Asset{Ref: tokenText}
	mallory := common.HexToAddress("0x00000000000000000000000000000000000bad00")
	own := func(r *rig) common.Address { return common.HexToAddress(r.address(ether, hotKey()).Text()) }
	swap := func(to common.Address, n int64) []byte {
		return packed(t, "swap", swapArgs{token, to, big.NewInt(n)})
	}
	burn := func(domain uint32, to, by [32]byte) []byte {
		return packed(t, "burn", big.NewInt(5000), domain, to, by)
	}
	wide := func(a common.Address) [32]byte { return common.BytesToHash(a[:]) }
	for _, c := range []struct {
		name  string
		paper func(r *rig) chain.Paper
		want  signer.Reason // empty: it is signed
	}{
		{"a burn for us elsewhere", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, burn(6, wide(own(r)), [32]byte{}))
		}, ""},
		{"a burn for another", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, burn(6, wide(mallory), [32]byte{}))
		}, signer.Recipient},
		{"a burn for more than an address", func(r *rig) chain.Paper {
			to := wide(own(r))
			to[0] = 1
			return invoked(r, routerText, usdc, 5000, burn(6, to, [32]byte{}))
		}, signer.Recipient},
		{"a burn that another must end", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, burn(6, wide(own(r)), wide(mallory)))
		}, signer.Recipient},
		{"a burn for a chain that is not listed", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, burn(5, wide(own(r)), [32]byte{}))
		}, signer.Method},
		{"a swap to us", func(r *rig) chain.Paper { return invoked(r, routerText, usdc, 5000, swap(own(r), 5000)) }, ""},
		{"to the router itself, which gives it to us", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, packed(t, "multicall", [][]byte{
				swap(common.HexToAddress(asideText), 2000), swap(own(r), 3000), packed(t, "unwrap", big.NewInt(1), own(r)),
			}))
		}, ""},
		{"coins along", func(r *rig) chain.Paper { return invoked(r, routerText, chain.Asset{}, 5000, swap(own(r), 5000)) }, ""},
		{"an approval of the router", func(r *rig) chain.Paper {
			return invoked(r, tokenText, chain.Asset{}, 0, packed(t, "approve", common.HexToAddress(routerText), abi.MaxUint256))
		}, ""},
		{"a swap to another", func(r *rig) chain.Paper { return invoked(r, routerText, usdc, 5000, swap(mallory, 5000)) }, signer.Recipient},
		{"one of many to another", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, packed(t, "multicall", [][]byte{swap(own(r), 4999), swap(mallory, 1)}))
		}, signer.Recipient},
		{"unwrapped to another", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, packed(t, "multicall", [][]byte{swap(own(r), 5000), packed(t, "unwrap", big.NewInt(1), mallory)}))
		}, signer.Recipient},
		{"it takes more", func(r *rig) chain.Paper { return invoked(r, routerText, usdc, 5000, swap(own(r), 5001)) }, signer.Amount},
		{"together they take more", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, packed(t, "multicall", [][]byte{swap(own(r), 5000), swap(own(r), 1)}))
		}, signer.Amount},
		{"an approval of another", func(r *rig) chain.Paper {
			return invoked(r, tokenText, chain.Asset{}, 0, packed(t, "approve", mallory, big.NewInt(1)))
		}, signer.Recipient},
		{"a method that is not listed", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, packed(t, "drain", own(r)))
		}, signer.Method},
		{"one within a list", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, packed(t, "multicall", [][]byte{packed(t, "drain", own(r))}))
		}, signer.Method},
		{"a method of another contract", func(r *rig) chain.Paper {
			return invoked(r, tokenText, usdc, 5000, swap(own(r), 5000))
		}, signer.Method},
		{"a contract that is not listed", func(r *rig) chain.Paper {
			return invoked(r, aliceText, usdc, 5000, swap(own(r), 5000))
		}, signer.Recipient},
		{"lists in lists", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, packed(t, "multicall", [][]byte{packed(t, "multicall", [][]byte{swap(own(r), 5000)})}))
		}, signer.Method},
		{"less than a method", func(r *rig) chain.Paper { return invoked(r, routerText, usdc, 5000, []byte{1, 2, 3}) }, signer.Method},
		{"half an argument", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, swap(own(r), 5000)[:60])
		}, signer.Unreadable},
		{"more than its arguments", func(r *rig) chain.Paper {
			return invoked(r, routerText, usdc, 5000, append(swap(own(r), 5000), 0))
		}, signer.Unreadable},
		{"another call than was wished", func(r *rig) chain.Paper {
			p := invoked(r, routerText, usdc, 5000, swap(own(r), 5000))
			r.change("t", func(rec *send.Record) { rec.Transfer.Call.Data = swap(own(r), 4000) })
			return p
		}, signer.Method},
		{"another contract than was wished", func(r *rig) chain.Paper {
			p := invoked(r, routerText, usdc, 5000, swap(own(r), 5000))
			r.change("t", func(rec *send.Record) { rec.Transfer.Call.To = evmAddr(tokenText) })
			return p
		}, signer.Recipient},
		{"coins along that were not wished", func(r *rig) chain.Paper {
			p := invoked(r, routerText, chain.Asset{}, 5000, swap(own(r), 5000))
			r.change("t", func(rec *send.Record) { rec.Transfer.Call.Amount = money.FromUint64(4000) })
			return p
		}, signer.Amount},
		{"a payment instead of the call", func(r *rig) chain.Paper {
			invoked(r, routerText, usdc, 5000, swap(own(r), 5000))
			return evmPaper(r, tokenTx())
		}, signer.Recipient},
		{"above the cap", func(r *rig) chain.Paper {
			p := invoked(r, routerText, usdc, 5000, swap(own(r), 5000))
			r.change("t", func(rec *send.Record) { rec.Transfer.USD = 1001 * money.Dollar })
			return p
		}, signer.Capped},
		{"worth that is not known", func(r *rig) chain.Paper {
			p := invoked(r, routerText, usdc, 5000, swap(own(r), 5000))
			r.change("t", func(rec *send.Record) { rec.Transfer.USD = 0 })
			return p
		}, signer.Capped},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := callRig(t)
			p := c.paper(r)
			if c.want != "" {
				r.refused(p, c.want)
				return
			}
			tx := new(types.Transaction)
			if err := tx.UnmarshalBinary(r.sign(p)); err != nil || string(tx.Data()) != string(r.book.records["t"].Transfer.Call.Data) {
				t.Fatalf("another transaction: %+v, %v", tx, err)
			}
		})
	}
}

// A list that could never be read stops the signer from starting: an order would find
// out halfway.
func TestAListOfContractsMustMakeSense(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]chain.Method{
		"no signature":       {Signature: "swap"},
		"an unknown type":    {Signature: "swap(coin)"},
		"no such argument":   {Signature: "swap(address)", Own: []string{"1"}},
		"no address":         {Signature: "swap(uint256)", Own: []string{"0"}},
		"no part":            {Signature: "swap((address,uint256))", Own: []string{"0.2"}},
		"no such list":       {Signature: "multicall(bytes)", Inner: "0"},
		"no amount":          {Signature: "swap(address)", Amount: "0"},
		"no place":           {Signature: "swap(address)", Own: []string{"first"}},
		"only of no address": {Signature: "swap(uint256)", Only: map[string][]chain.Address{"0": nil}},
		"few of no number":   {Signature: "swap(address)", Few: map[string][]uint64{"0": {1}}},
		"few of too large":   {Signature: "swap(uint256)", Few: map[string][]uint64{"0": {1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.policy.Contracts = map[chain.ID][]chain.Contract{ether: {{Address: evmAddr(routerText), Methods: []chain.Method{m}}}}
			if _, err := signer.New(r.ring, r.policy, r.book, r.book); err == nil {
				t.Error("it was taken")
			}
		})
	}
}
