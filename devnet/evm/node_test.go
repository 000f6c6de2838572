package evm

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

func open(t *testing.T, dir string) *Node {
	t.Helper()
	n, err := Open(t.Context(), dir, json.RawMessage(`{"chainId":7,"finalDepth":2}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func do(t *testing.T, n *Node, op, in string) any {
	t.Helper()
	out, err := n.Do(t.Context(), op, json.RawMessage(in))
	if err != nil {
		t.Fatalf("%s %s: %v", op, in, err)
	}
	return out
}

func (n *Node) has(t *testing.T, a common.Address) string {
	t.Helper()
	s, err := n.eth.BlockChain().State()
	if err != nil {
		t.Fatal(err)
	}
	return s.GetBalance(a).Dec()
}

func TestAChainThatIsKeptGoesOnWhereItStopped(t *testing.T) {
	dir, bob := t.TempDir(), common.Address{0xb0}
	n := open(t, dir)
	do(t, n, "fund", fmt.Sprintf(`{"address":%q,"amount":5}`, bob))
	before := do(t, n, "mine", `{"n":5}`)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = open(t, dir)
	defer func() { _ = n.Close() }()
	if after := do(t, n, "head", `{}`); after != before {
		t.Fatalf("it was at %v and is at %v", before, after)
	}
	if got := n.has(t, bob); got != "5" {
		t.Fatalf("bob has %s", got)
	}
	do(t, n, "fund", fmt.Sprintf(`{"address":%q,"amount":5}`, bob))
	do(t, n, "mine", `{"n":1}`)
	if got := n.has(t, bob); got != "10" {
		t.Fatalf("bob has %s", got)
	}
}

func TestAReorganisationLosesOrKeepsWhatItOrphans(t *testing.T) {
	for _, lose := range []bool{false, true} {
		n := open(t, "")
		bob := common.Address{0xb0}
		do(t, n, "fund", fmt.Sprintf(`{"address":%q,"amount":5}`, bob))
		was := do(t, n, "mine", `{"n":2}`).(Place)
		is := do(t, n, "reorg", fmt.Sprintf(`{"depth":2,"lose":%v}`, lose)).(Place)
		if is.Height != was.Height+1 || is.Final != is.Height-2 || n.has(t, bob) != "0" {
			t.Fatalf("after %v it is at %v, and bob has %s", was, is, n.has(t, bob))
		}
		do(t, n, "mine", `{"n":1}`)
		if got, want := n.has(t, bob), map[bool]string{false: "5", true: "0"}[lose]; got != want {
			t.Fatalf("with lose=%v bob has %s", lose, got)
		}
		_ = n.Close()
	}
}

func TestWhoTipsTooLittleWaits(t *testing.T) {
	n := open(t, "")
	defer func() { _ = n.Close() }()
	bob := common.Address{0xb0}
	do(t, n, "fund", fmt.Sprintf(`{"address":%q,"amount":5}`, bob))
	do(t, n, "price", `{"k":3}`)
	do(t, n, "mine", `{"n":2}`)
	if got := n.has(t, bob); got != "0" {
		t.Fatalf("bob has %s", got)
	}
	do(t, n, "price", `{"k":1}`)
	do(t, n, "mine", `{"n":1}`)
	if got := n.has(t, bob); got != "5" {
		t.Fatalf("bob has %s", got)
	}
}

func TestItMinesByItselfUntilItIsToldNotTo(t *testing.T) {
	n := open(t, "")
	defer func() { _ = n.Close() }()
	do(t, n, "auto", `{"everyMs":5}`)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for do(t, n, "head", `{}`).(Place).Height < 3 {
		if ctx.Err() != nil {
			t.Fatal("it does not mine")
		}
		time.Sleep(time.Millisecond)
	}
	at := do(t, n, "auto", `{"everyMs":0}`)
	if is := do(t, n, "head", `{}`); is != at {
		t.Fatalf("it was at %v and is at %v", at, is)
	}
}
