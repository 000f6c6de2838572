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

// A rollup may take less for a unit of gas than the rules of the base fee would have it
// take: what the receipts say is what left the account.
func TestWhatARollupTakesForGasIsCounted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rollup := b.open(func(c *evm.Config) { c.NoVerify = true })
	a := b.draft(b.call(b.Address("bob"), chainID.Native(), amount))
	b.ok(b.chain.Broadcast(t.Context(), a.Raw))
	b.Mine(1 + finalDepth)
	by, err := rollup.Fate(t.Context(), a)
	b.ok(err)
	if proven, err := b.chain.Fate(t.Context(), a); err != nil || proven != by {
		t.Errorf("by the receipts it is %v, by the rules %v, %v", by, proven, err)
	}
	for _, p := range b.proxies {
		p.lie(of("eth_getBlockReceipts", each(func(o object) { o["effectiveGasPrice"] = "0x64" })))
	}
	got, err := rollup.Fate(t.Context(), a)
	b.ok(err)
	if want := money.FromUint64(21_000 * 100); got.Fate != chain.Final || got.Fee != want {
		t.Errorf("it cost %s, want %s", got.Fee, want)
	}
	if proven, err := b.chain.Fate(t.Context(), a); err == nil && proven != by {
		t.Errorf("where blocks are proven, a node that says otherwise changed %v to %v", by, proven)
	}
}
