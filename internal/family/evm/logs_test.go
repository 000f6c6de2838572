package evm_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/family/familytest"
	"ferry/internal/family/quorum"
)

// told is a bench whose token said something in each of some blocks.
func told(t *testing.T, blocks int) (b *bench, first, last uint64) {
	t.Helper()
	b = newBench(t)
	first = b.tipBlock().Height + 1
	for i := range blocks {
		for range 2 {
			b.from("minter", wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(b.Address("holder")), big.NewInt(int64(i+1)))})
		}
		b.from("other", wish{to: b.foreign, data: pack(tokenFile(), "mint", toCommon(b.Address("holder")), big.NewInt(9))})
		b.Mine(1)
	}
	return b, first, b.tipBlock().Height
}

func TestLogsAreThoseThatWereAskedForInTheirOrder(t *testing.T) {
	t.Parallel()
	b, first, last := told(t, 4)
	all := chain.LogQuery{From: first, To: last, Addresses: []chain.Address{canonical(b.token)}}
	want, err := b.chain.Logs(t.Context(), all)
	b.ok(err)
	if len(want) != 8 {
		t.Fatalf("got %d logs", len(want))
	}
	for i, l := range want {
		r := b.receiptOf(l.Tx)
		if l.Block.Height != first+uint64(i/2) || l.Address != canonical(b.token) || len(r.Logs) != 1 ||
			l.Index != r.Logs[0].Index || !cmp.Equal(l.Topics, r.Logs[0].Topics) || l.Block.Hash != r.Block.Hash {
			t.Errorf("log %d is %+v and its receipt %+v", i, l, r)
		}
	}
	for _, c := range []struct {
		name   string
		change func(q *chain.LogQuery)
		many   int
	}{
		{"of everybody", func(q *chain.LogQuery) { q.Addresses = nil }, 12},
		{"of two", func(q *chain.LogQuery) { q.Addresses = append(q.Addresses, canonical(b.foreign)) }, 12},
		{"one block", func(q *chain.LogQuery) { q.To = q.From }, 2},
		{"one topic of two", func(q *chain.LogQuery) { q.Topics = []chain.Word{{1}, want[0].Topics[0]} }, 8},
		{"another topic", func(q *chain.LogQuery) { q.Topics = []chain.Word{{1}} }, 0},
		{"nobody's", func(q *chain.LogQuery) { q.Addresses = []chain.Address{b.Address("silent")} }, 0},
	} {
		q := all
		c.change(&q)
		if got, err := b.chain.Logs(t.Context(), q); err != nil || len(got) != c.many {
			t.Errorf("%s: %d logs, %v", c.name, len(got), err)
		}
	}
	for _, bad := range []chain.LogQuery{
		{From: last, To: first}, {From: first, To: last + 1}, {From: first, To: last, Addresses: []chain.Address{chain.CanonicalAddress(chain.EVM, "gold")}},
	} {
		if got, err := b.chain.Logs(t.Context(), bad); err == nil {
			t.Errorf("blocks %d to %d have %d logs", bad.From, bad.To, len(got))
		}
	}
}

func TestALogThatOneNodeLeavesOutOrAddsChangesNothing(t *testing.T) {
	t.Parallel()
	b, first, last := told(t, 2)
	q := chain.LogQuery{From: first, To: last, Addresses: []chain.Address{canonical(b.token)}}
	want, err := b.chain.Logs(t.Context(), q)
	b.ok(err)
	bend := func(change func(l []any) []any) func(q *question, result any) any {
		return of("eth_getLogs", func(r any) any { return change(r.([]any)) })
	}
	set := func(key string, v any) func(q *question, result any) any {
		return bend(func(l []any) []any { l[0].(object)[key] = v; return l })
	}
	for name, lie := range map[string]func(q *question, result any) any{
		"left out":        bend(func(l []any) []any { return l[1:] }),
		"none":            bend(func([]any) []any { return []any{} }),
		"null":            bend(func(l []any) []any { return append(l, nil) }),
		"another amount":  set("data", "0x"+strings.Repeat("00", 31)+"ff"),
		"another emitter": set("address", "0x00000000000000000000000000000000000000aa"),
		"taken back":      set("removed", true),
		"another block":   set("blockNumber", "0x1"),
		"another hash":    set("blockHash", "0x"+strings.Repeat("ab", 32)),
	} {
		b.proxies[2].lie(lie)
		if got, err := b.chain.Logs(t.Context(), q); err != nil || !cmp.Equal(got, want, addresses) {
			t.Errorf("%s: one liar makes %d logs, %v", name, len(got), err)
		}
		b.proxies[1].set(familytest.Deaf)
		if got, err := b.chain.Logs(t.Context(), q); !errors.Is(err, quorum.ErrUnknown) {
			t.Errorf("%s: without a quorum there are %d logs, %v", name, len(got), err)
		}
		b.proxies[1].set(familytest.None)
		b.proxies[2].lie(nil)
	}
	b.proxies[2].lie(bend(func(l []any) []any { return append(l, l...) }))
	b.proxies[1].set(familytest.Deaf)
	if got, err := b.chain.Logs(t.Context(), q); err != nil || !cmp.Equal(got, want, addresses) {
		t.Errorf("told twice there are %d logs, %v", len(got), err)
	}
}

func TestANodeThatIsBehindHasNoVoteInLogs(t *testing.T) {
	t.Parallel()
	b, first, last := told(t, 3)
	q := chain.LogQuery{From: first, To: last, Addresses: []chain.Address{canonical(b.token)}}
	b.Break(0, familytest.Behind)
	if got, err := b.chain.Logs(t.Context(), q); err != nil || len(got) != 6 {
		t.Errorf("got %d logs, %v", len(got), err)
	}
	b.Break(1, familytest.Behind)
	if got, err := b.chain.Logs(t.Context(), q); !errors.Is(err, evm.ErrBehind) {
		t.Errorf("nodes that are behind have %d logs, %v", len(got), err)
	}
}

func TestASpanThatANodeRefusesIsHalved(t *testing.T) {
	t.Parallel()
	b, first, last := told(t, 7)
	q := chain.LogQuery{From: first, To: last, Addresses: []chain.Address{canonical(b.token)}}
	want, err := b.chain.Logs(t.Context(), q)
	b.ok(err)
	// wide refuses what spans more blocks than most, as public nodes do.
	wide := func(most uint64) func(q *question, result any) any {
		return func(q *question, result any) any {
			if q.Method != "eth_getLogs" {
				return result
			}
			var span struct{ FromBlock, ToBlock string }
			must0(json.Unmarshal(q.Params[0], &span))
			if number(span.ToBlock)-number(span.FromBlock)+1 > most {
				return rebuff{"code": -32005, "message": "query returned more than 10000 results"}
			}
			return result
		}
	}
	for _, most := range []uint64{1, 2, 3} {
		for _, p := range b.proxies {
			p.lie(wide(most))
		}
		if got, err := b.chain.Logs(t.Context(), q); err != nil || !cmp.Equal(got, want, addresses) {
			t.Errorf("by %d: %d logs, %v", most, len(got), err)
		}
	}
	for _, p := range b.proxies {
		p.lie(wide(0))
	}
	if got, err := b.chain.Logs(t.Context(), q); err == nil {
		t.Errorf("refused to the last block, and there are %d logs", len(got))
	}
}
