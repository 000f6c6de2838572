package signer_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/signer"
)

const (
	coinText  = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
	otherText = "0x6131b5fae19ea4f9d964eac0408e4408b66337b5"
)

// traderABI is a router that names what it takes, whom it pays beside, and how.
var traderABI = func() abi.ABI {
	a, err := abi.JSON(strings.NewReader(`[{"type":"function","name":"trade","inputs":[{"name":"p","type":"tuple","components":[
	{"name":"run","type":"bytes"},{"name":"desc","type":"tuple","components":[{"name":"src","type":"address"},{"name":"paid","type":"address[]"},
	{"name":"to","type":"address"},{"name":"amount","type":"uint256"},{"name":"flags","type":"uint256"},{"name":"permit","type":"bytes"}]}]}]}]`))
	if err != nil {
		panic(err)
	}
	return a
}()

type tradeDesc struct {
	Src           common.Address
	Paid          []common.Address
	To            common.Address
	Amount, Flags *big.Int
	Permit        []byte
}

type trade struct {
	Run  []byte
	Desc tradeDesc
}

func tradeRig(t *testing.T) *rig {
	r := newRig(t)
	approve := func(router string) chain.Contract {
		return chain.Contract{Address: evmAddr(tokenText), Methods: []chain.Method{
			{Signature: "approve(address,uint256)", Only: map[string][]chain.Address{"0": {evmAddr(router)}}},
		}}
	}
	r.policy.Contracts = map[chain.ID][]chain.Contract{ether: {
		approve(routerText), approve(otherText),
		{Address: evmAddr(otherText), Methods: []chain.Method{{
			Signature: "trade((bytes,(address,address[],address,uint256,uint256,bytes)))",
			Own:       []string{"0.1.2"}, Amount: "0.1.3", Token: "0.1.0", Coin: evmAddr(coinText),
			Empty: []string{"0.1.1", "0.1.5"}, Few: map[string][]uint64{"0.1.4": {0, 0x200}},
		}}},
	}}
	r.remake()
	return r
}

// What a call takes is the wish's asset and no other, nobody is paid beside, and its
// flags are among those that are known.
func TestACallIsHeldToWhatItsPartsMayBe(t *testing.T) {
	t.Parallel()
	usdc := chain.Asset{Ref: tokenText}
	for _, c := range []struct {
		name  string
		asset chain.Asset
		spoil func(*trade)
		want  signer.Reason // empty: it is signed
	}{
		{"as it should be", usdc, func(*trade) {}, ""},
		{"with the flag that may be set", usdc, func(d *trade) { d.Desc.Flags = big.NewInt(0x200) }, ""},
		{"coins", chain.Asset{}, func(d *trade) { d.Desc.Src = common.HexToAddress(coinText) }, ""},
		{"another token than was wished", usdc, func(d *trade) { d.Desc.Src = common.HexToAddress(routerText) }, signer.Amount},
		{"coins that were not wished", usdc, func(d *trade) { d.Desc.Src = common.HexToAddress(coinText) }, signer.Amount},
		{"a token where coins were wished", chain.Asset{}, func(*trade) {}, signer.Amount},
		{"somebody is paid beside", usdc, func(d *trade) { d.Desc.Paid = []common.Address{common.HexToAddress(aliceText)} }, signer.Method},
		{"a permit", usdc, func(d *trade) { d.Desc.Permit = []byte{1} }, signer.Method},
		{"another flag", usdc, func(d *trade) { d.Desc.Flags = big.NewInt(0x201) }, signer.Method},
		{"a flag far above", usdc, func(d *trade) { d.Desc.Flags = new(big.Int).Lsh(big.NewInt(1), 200) }, signer.Method},
		{"to another", usdc, func(d *trade) { d.Desc.To = common.HexToAddress(aliceText) }, signer.Recipient},
		{"more of it", usdc, func(d *trade) { d.Desc.Amount = big.NewInt(5001) }, signer.Amount},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := tradeRig(t)
			call := trade{Run: []byte{1, 2}, Desc: tradeDesc{
				Src: token, To: common.HexToAddress(r.address(ether, hotKey()).Text()), Amount: big.NewInt(5000), Flags: new(big.Int), Paid: []common.Address{},
			}}
			c.spoil(&call)
			data, err := traderABI.Pack("trade", call)
			if err != nil {
				t.Fatal(err)
			}
			p := invoked(r, otherText, c.asset, 5000, data)
			if c.want != "" {
				r.refused(p, c.want)
				return
			}
			r.sign(p)
		})
	}
}

// Two who use one token list each their own approval of it.
func TestAContractMayBeListedByTwo(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]signer.Reason{routerText: "", otherText: "", aliceText: signer.Recipient} {
		t.Run(to, func(t *testing.T) {
			t.Parallel()
			r := tradeRig(t)
			p := invoked(r, tokenText, chain.Asset{}, 0, packed(t, "approve", common.HexToAddress(to), big.NewInt(7)))
			if want != "" {
				r.refused(p, want)
				return
			}
			r.sign(p)
		})
	}
}

func TestRulesMustFitTheirMethod(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]chain.Method{
		"a token that is a number":  {Signature: "swap(uint256)", Token: "0"},
		"a number of an address":    {Signature: "swap(address)", Few: map[string][]uint64{"0": {1}}},
		"empty that is an address":  {Signature: "swap(address)", Empty: []string{"0"}},
		"empty that is not there":   {Signature: "swap(address[])", Empty: []string{"0.0"}},
		"a fixed list is not empty": {Signature: "swap(address[2])", Empty: []string{"0"}},
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
