package evm_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/family/familytest"
	"ferry/internal/family/quorum"
	"ferry/internal/money"
)

var addresses = cmp.Comparer(func(a, b chain.Address) bool { return a == b })

func (b *bench) receiptOf(tx chain.TxID) chain.Receipt {
	b.t.Helper()
	r, err := b.chain.Receipt(b.t.Context(), tx)
	b.ok(err)
	return r
}

func TestAReceiptFollowsATransactionToItsEnd(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		b := newBench(t, func(c *evm.Config) { c.NoVerify = plain })
		to := b.Address("holder")
		if r := b.receiptOf(chain.TxID("0x" + strings.Repeat("12", 32))); r.Fate != chain.Missing {
			t.Errorf("nobody sent it, and it is %s", r.Fate)
		}
		b.from("minter", wish{to: b.token, tip: 2, data: pack(tokenFile(), "mint", toCommon(to), big.NewInt(1))})
		b.Mine(1)
		other := b.from("other", wish{to: b.token, tip: 2, data: pack(tokenFile(), "mint", toCommon(to), big.NewInt(1))})
		data := pack(tokenFile(), "mint", toCommon(to), big.NewInt(5))
		tx := b.from("minter", wish{to: b.token, data: data})
		if r := b.receiptOf(tx); r.Fate != chain.Pending {
			t.Errorf("it is in the pool, and it is %s", r.Fate)
		}
		fails := b.from("poor", wish{to: b.token, data: pack(tokenFile(), "transfer", toCommon(to), big.NewInt(9))})
		b.Mine(1)
		tip := b.tipBlock()
		want := chain.Receipt{
			Tx: tx, Fate: chain.Included, Block: tip, From: canonical(addressOf(b.person("minter"))), To: canonical(b.token), Value: money.Amount{}, Data: data,
			Logs: []chain.Log{{
				Address: canonical(b.token), Data: word(5), Tx: tx, Block: tip, Index: 1, // the other's stands before it
				Topics: []chain.Word{
					chain.Word(common.HexToHash("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")), {}, chain.Word(common.BytesToHash(toCommon(to).Bytes())),
				},
			}},
		}
		got := b.receiptOf(tx)
		if len(b.receiptOf(other).Logs) != 1 || b.receiptOf(other).Logs[0].Index != 0 {
			want.Logs[0].Index = 0 // the node put them in the other order
		}
		if diff := cmp.Diff(want, got, addresses, cmp.Comparer(func(a, b money.Amount) bool { return a == b })); diff != "" {
			t.Error(diff)
		}
		if r := b.receiptOf(fails); r.Fate != chain.Included || len(r.Logs) != 0 {
			t.Errorf("got %+v", r)
		}
		b.Mine(finalDepth + 1)
		if r := b.receiptOf(tx); r.Fate != chain.Final || len(r.Logs) != 1 {
			t.Errorf("got %+v", r)
		}
		if r := b.receiptOf(fails); r.Fate != chain.Reverted || len(r.Logs) != 0 {
			t.Errorf("got %+v", r)
		}
	}
}

func TestAReceiptIsProvenAndNotBelieved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := b.Address("holder")
	tx := b.from("minter", wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(to), big.NewInt(5))})
	other := b.from("other", wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(to), big.NewInt(6))})
	b.Mine(finalDepth + 2)
	want := b.receiptOf(tx)
	for _, l := range []struct {
		name string
		bend func(q *question, result any) any
	}{
		{"no logs", logs(func([]any) []any { return []any{} })},
		{"another amount in a log", logs(func(l []any) []any {
			for _, x := range l {
				x.(object)["data"] = "0x" + strings.Repeat("00", 24) + "00ffffffffffffff"
			}
			return l
		})},
		{"a receipt of another transaction", of("eth_getTransactionReceipt", func(any) any { return b.receipt(other) })},
		{"no such transaction in the block", transactions(func([]any) []any { return []any{} })},
		{"a failure", of("eth_getBlockReceipts", each(func(o object) { o["status"] = "0x0" }))},
	} {
		for _, p := range b.proxies {
			p.lie(l.bend)
		}
		if r, err := b.chain.Receipt(t.Context(), tx); err == nil {
			t.Errorf("%s: believed %+v", l.name, r)
		}
		for _, p := range b.proxies[1:] {
			p.lie(nil)
		}
		if r := b.receiptOf(tx); !cmp.Equal(r, want, addresses, cmp.Comparer(func(a, b money.Amount) bool { return a == b })) {
			t.Errorf("%s: one liar changes it to %+v", l.name, r)
		}
		b.proxies[0].lie(nil)
	}
}

func TestNotKnowingAReceiptIsNotMissingIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tx := b.from("minter", wish{to: b.token, data: pack(tokenFile(), "mint", toCommon(b.Address("holder")), big.NewInt(5))})
	b.Mine(1)
	for _, trouble := range []familytest.Trouble{familytest.Behind, familytest.Deaf, familytest.Down, familytest.Hiding, familytest.Forgetting} {
		b.Break(0, trouble)
		if r := b.receiptOf(tx); r.Fate != chain.Included {
			t.Errorf("with trouble %d of one node it is %s", trouble, r.Fate)
		}
		b.Break(0, familytest.None)
	}
	b.Break(0, familytest.Deaf)
	b.Break(1, familytest.Forgetting)
	if r, err := b.chain.Receipt(t.Context(), tx); !errors.Is(err, quorum.ErrUnknown) {
		t.Errorf("without a quorum it is %s, %v", r.Fate, err)
	}
	if _, err := b.chain.Receipt(t.Context(), "gold"); err == nil {
		t.Error("what is no transaction was looked for")
	}
}
