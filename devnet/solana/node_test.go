package solana

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	sol "github.com/gagliardetto/solana-go"
)

func open(t *testing.T, dir string) *Node {
	t.Helper()
	n, err := Open(t.Context(), dir, json.RawMessage(`{"depth":3}`))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func do(t *testing.T, n *Node, op string, in any) map[string]any {
	t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	v, err := n.Do(t.Context(), op, text)
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	out, _ := v.(map[string]any)
	return out
}

func asks(t *testing.T, n *Node, method string, params ...any) string {
	t.Helper()
	q := question{Method: method}
	for _, p := range params {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q.Params = append(q.Params, text)
	}
	text, err := json.Marshal(n.reply(context.Background(), q, 0))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAKeptChainIsTheSameWhenItIsOpenedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := open(t, dir)
	bob := sol.NewWallet().PublicKey().String()
	tx := do(t, n, "fund", object{"address": bob, "amount": 7_000_000})["tx"].(string)
	mint := do(t, n, "token", object{"name": "gold", "decimals": 6})["mint"].(string)
	do(t, n, "mine", object{"n": 2})
	do(t, n, "skip", object{"n": 3})
	do(t, n, "mint", object{"mint": mint, "owner": bob, "amount": 55})
	do(t, n, "mine", object{"n": 5})
	questions := func(n *Node) (out []string) {
		var head struct{ Result uint64 }
		if err := json.Unmarshal([]byte(asks(t, n, "getSlot", newest)), &head); err != nil {
			t.Fatal(err)
		}
		for slot := range head.Result + 1 {
			out = append(out, asks(t, n, "getBlock", slot, object{"commitment": "confirmed", "encoding": "json", "transactionDetails": "accounts", "maxSupportedTransactionVersion": 0}))
		}
		return append(out, asks(t, n, "getBalance", bob), asks(t, n, "getSignatureStatuses", []string{tx}), asks(t, n, "getLatestBlockhash", newest), asks(t, n, "getGenesisHash"))
	}
	want := questions(n)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = open(t, dir)
	defer func() { _ = n.Close() }()
	got := questions(n)
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("answer %d was\n%s\nand is\n%s", i, want[i], got[i])
		}
	}
	before := do(t, n, "head", nil)["height"].(uint64)
	do(t, n, "fund", object{"address": bob, "amount": 1})
	if after := do(t, n, "mine", object{"n": 1})["height"].(uint64); after != before+1 {
		t.Fatalf("height went from %d to %d", before, after)
	}
	if got := asks(t, n, "getBalance", bob, newest); !json.Valid([]byte(got)) || !strings.Contains(got, `"value":7000001`) {
		t.Fatalf("bob has %s", got)
	}
	if got := asks(t, n, "getBalance", bob); !strings.Contains(got, `"value":7000000`) {
		t.Fatalf("what is not final shows as final: %s", got)
	}
}

func TestAMachineWithoutNodeIsToldWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var p process
	_, err := p.ask(t.Context(), map[string]any{"op": "start"})
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "Node.js 18") {
		t.Fatalf("got %v", err)
	}
}

func TestBlocksComeByThemselvesWhenTheClockRuns(t *testing.T) {
	t.Parallel()
	n, err := Open(t.Context(), "", json.RawMessage(`{"depth":2,"every":5}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close() }()
	bob := sol.NewWallet().PublicKey().String()
	do(t, n, "fund", object{"address": bob, "amount": 7_000_000})
	for !strings.Contains(asks(t, n, "getBalance", bob), `"value":7000000`) {
		if t.Context().Err() != nil {
			t.Fatal("the payment never became final")
		}
	}
	do(t, n, "auto", object{"every": 0})
	before := do(t, n, "head", nil)["height"].(uint64)
	if after := do(t, n, "mine", object{"n": 1})["height"].(uint64); after != before+1 {
		t.Fatalf("the clock was stopped, and height went from %d to %d", before, after)
	}
}

func TestAChainGoesOnForThousandsOfBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := open(t, dir)
	do(t, n, "mine", object{"n": 3000})
	want := do(t, n, "head", nil)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = open(t, dir)
	defer func() { _ = n.Close() }()
	if got := do(t, n, "head", nil); got["height"] != uint64(3000) || got["slot"] != want["slot"] {
		t.Fatalf("it is at %v, and was at %v", got, want)
	}
}

func TestTheFrontAnswersAsARealNode(t *testing.T) {
	t.Parallel()
	n := open(t, "")
	defer func() { _ = n.Close() }()
	do(t, n, "mine", object{"n": 2})
	do(t, n, "skip", object{"n": 2})
	do(t, n, "mine", object{"n": 4})
	for _, row := range []struct {
		method string
		params []any
		want   string
	}{
		{"getSlot", []any{newest}, `"result":39`},
		{"getSlot", nil, `"result":36`},
		{"getBlockHeight", nil, `"result":3`},
		{"getBlocks", []any{0, 100, newest}, `[0,32,33,36,37,38,39]`},
		{"getBlocks", []any{0, 100}, `[0,32,33,36]`},
		{"getBlocksWithLimit", []any{34, 1, newest}, `[36]`},
		{"getBlock", []any{34}, `-32007`},
		{"getBlock", []any{37}, `-32004`},
		{"getBlock", []any{36}, `"parentSlot":33`},
		{"getSignatureStatuses", []any{[]string{"nobody"}}, `"value":[null]`},
		{"sendTransaction", []any{"AAAA"}, `-32602`},
		{"getBalance", []any{sol.NewWallet().PublicKey().String()}, `"value":0`},
		{"getAccountInfo", []any{sol.NewWallet().PublicKey().String()}, `"value":null`},
		{"getMinimumBalanceForRentExemption", []any{0}, `"result":890880`},
	} {
		if got := asks(t, n, row.method, row.params...); !strings.Contains(got, row.want) {
			t.Errorf("%s %v: %s, want %s", row.method, row.params, got, row.want)
		}
	}
}
