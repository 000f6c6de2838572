package evm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/family/familytest"
)

func TestEVMIsAFamily(t *testing.T) {
	t.Parallel()
	familytest.Run(t, func(t *testing.T) familytest.Bench { return newBench(t) })
}

// The suite is worth what the troubles are worth: each must be seen in some answer.
func TestTroublesAreSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Pay(payment(b.Address("one")))
	tx := b.Pay(familytest.Payment{From: "another", Outs: []familytest.Out{{To: b.Address("two"), Asset: chainID.Native(), Amount: amount}}})
	b.Mine(1)
	tip := b.tipBlock()
	look := func(p *proxy) []any {
		return []any{
			p.call("eth_getBlockByNumber", "latest", false), p.call("eth_getBlockByNumber", "finalized", false),
			p.call("eth_getBlockReceipts", tip.Hash), p.call("eth_getTransactionReceipt", tx), p.call("eth_getBalance", b.own, "latest"),
			p.call("debug_traceBlockByHash", tip.Hash, map[string]any{"tracer": "prestateTracer"}),
		}
	}
	want := look(b.direct)
	through := &proxy{up: b.urls[0]}
	if diff := cmp.Diff(want, look(through)); diff != "" {
		t.Fatal(diff)
	}
	for trouble := familytest.Deaf; trouble <= familytest.Shuffling; trouble++ {
		b.Break(0, trouble)
		if cmp.Equal(want, look(through)) {
			t.Errorf("trouble %d changes nothing", trouble)
		}
	}
}
