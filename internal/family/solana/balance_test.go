package solana_test

import (
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// TestBalancesBelowWhatIsFinalHangOnEveryBlock: a node that leaves out a block, or what is
// in it, says nothing of what lay there before; a block that is not final has no balances.
func TestBalancesBelowWhatIsFinalHangOnEveryBlock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	own := r.chain.Own(hot)
	spots := []chain.Spot{
		{Address: own, Asset: testID.Native()},
		{Address: own, Asset: chain.Asset{Chain: testID, Ref: r.gold.String()}},
	}
	head, err := r.chain.Head(t.Context())
	r.ok(err)
	before, err := r.chain.Balances(t.Context(), spots, head.Final)
	r.ok(err)
	r.fund(r.own(), 5)
	r.give(r.gold, r.own(), 7)
	r.mine(2)
	r.settle()
	again, err := r.chain.Balances(t.Context(), spots, head.Final)
	r.ok(err)
	if again[0] != before[0] || again[1] != before[1] {
		t.Errorf("in slot %d there was %v, and later %v", head.Final.Height, before, again)
	}
	now, err := r.chain.Head(t.Context())
	r.ok(err)
	after, err := r.chain.Balances(t.Context(), spots, now.Final)
	r.ok(err)
	for i, n := range []uint64{5, 7} {
		if want, err := before[i].Add(money.FromUint64(n)); err != nil || after[i] != want {
			t.Errorf("there is %s, want %s, %v", after[i], want, err)
		}
	}
	if got, err := r.chain.Balances(t.Context(), spots, now.Tip); err == nil {
		t.Errorf("what is not final has balances: %v", got)
	}
	other := head.Final
	other.Hash = now.Final.Hash
	if got, err := r.chain.Balances(t.Context(), spots, other); err == nil {
		t.Errorf("a block that never was has balances: %v", got)
	}
	for name, bend := range map[string]func(method string, params []any, v any) (any, object){
		"a block left out": func(method string, _ []any, v any) (any, object) {
			if list, ok := v.([]any); ok && method == "getBlocks" {
				return list[1:], nil
			}
			return v, nil
		},
		"the last block left out": func(method string, _ []any, v any) (any, object) {
			if list, ok := v.([]any); ok && method == "getBlocks" {
				return list[:len(list)-1], nil
			}
			return v, nil
		},
		"no transactions": func(method string, _ []any, v any) (any, object) {
			if o, ok := v.(object); ok && method == "getBlock" {
				delete(o, "transactions")
			}
			return v, nil
		},
		"an account left out": func(method string, _ []any, v any) (any, object) {
			if list, ok := value(v).([]any); ok && method == "getMultipleAccounts" {
				return withValue(v, list[1:]), nil
			}
			return v, nil
		},
	} {
		for _, n := range r.nodes {
			n.bends(bend)
		}
		if got, err := r.chain.Balances(t.Context(), spots, head.Final); err == nil {
			t.Errorf("%s: there are balances %v", name, got)
		}
	}
}
