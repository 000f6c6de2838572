package evm_test

import (
	"errors"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/money"
	"ferry/internal/send"
)

// On a rollup the data of a transaction cost something beside the gas: it is set aside
// before, and counted as the receipt tells it.
func TestWhatARollupTakesForDataIsCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rollup := b.open(func(c *evm.Config) { c.NoVerify, c.Oracle = true, canonical(oracle) })
	c := b.call(b.Address("bob"), chainID.Native(), amount)
	plain := b.draft(c)
	a, err := rollup.Draft(t.Context(), c, nil, budget)
	b.ok(err)
	aside := must(dataFee.Add(dataFee))
	if want := must(plain.Fee.Add(aside)); a.Fee != want {
		t.Errorf("it may cost %s, want %s", a.Fee, want)
	}
	if cost, err := rollup.Cost(t.Context(), c); err != nil || cost != a.Fee {
		t.Errorf("its cost is %s, %v", cost, err)
	}
	if _, err := rollup.Draft(t.Context(), c, nil, aside); !errors.Is(err, send.ErrTooDear) {
		t.Errorf("a budget for the data alone gave %v", err)
	}
	next, err := rollup.Redraft(t.Context(), c, a, must(a.Fee.Add(a.Fee)))
	b.ok(err)
	if most := must(a.Fee.Add(a.Fee)); most.Less(next.Fee) || !a.Fee.Less(next.Fee) {
		t.Errorf("the replacement costs %s of %s", next.Fee, most)
	}
	b.ok(rollup.Broadcast(t.Context(), a.Raw))
	b.Mine(1 + finalDepth)
	before, err := rollup.Fate(t.Context(), a)
	b.ok(err)
	for _, p := range b.proxies {
		p.lie(of("eth_getBlockReceipts", each(func(o object) { o["l1Fee"] = "0x64" })))
	}
	after, err := rollup.Fate(t.Context(), a)
	b.ok(err)
	if want := must(before.Fee.Add(money.FromUint64(100))); after.Fate != chain.Final || after.Fee != want {
		t.Errorf("it cost %s, want %s", after.Fee, want)
	}
	b.proxies[0].lie(nil) // one node that does not tell is outvoted
	if got, err := rollup.Fate(t.Context(), a); err != nil || got != after {
		t.Errorf("it ended as %v, %v", got, err)
	}
}
