package evm_test

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/family/familytest"
	"ferry/internal/money"
)

var (
	shopFile = compiledFrom("testdata/Shop.json")

	_ familytest.Trader = (*bench)(nil)
)

// store is the bench's shop, which has both of what it exchanges; it is opened when it is
// first asked for.
func (b *bench) store() common.Address {
	b.t.Helper()
	if b.shop == (common.Address{}) {
		b.shop = b.deploy(append(append([]byte{}, shopFile().Code...), must(shopFile().ABI.Pack("", b.token))...))
		b.Mine(1)
		b.from("shopkeeper", wish{to: b.shop, value: big.NewInt(1_000_000)})
		b.do("fund", map[string]any{"address": b.shop, "token": b.token, "amount": big.NewInt(1_000_000)})
		b.Mine(finalDepth + 1)
	}
	return b.shop
}

// Allow implements familytest.Trader.
func (b *bench) Allow(n money.Amount) []chain.Call {
	return []chain.Call{{
		Chain: chainID, From: evm.Hot, To: canonical(b.token), Asset: chainID.Native(), Data: pack(tokenFile(), "approve", b.store(), toBig(n)),
	}}
}

// Trade implements familytest.Trader.
func (b *bench) Trade(give chain.Asset, n, least money.Amount) chain.Call {
	data := pack(shopFile(), "sell", toBig(n), toBig(least))
	if give.IsNative() {
		data = pack(shopFile(), "buy", toBig(least))
	}
	return chain.Call{Chain: chainID, From: evm.Hot, To: canonical(b.store()), Asset: give, Amount: n, Data: data}
}

// Spoil implements familytest.Trader.
func (b *bench) Spoil() {
	b.t.Helper()
	b.from("trickster", wish{to: b.store(), data: pack(shopFile(), "setRate", new(big.Int))})
	b.Mine(1)
}
