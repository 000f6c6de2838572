package evm_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/family/familytest"
	"ferry/internal/family/rpc"
	"ferry/internal/money"
)

func payment(to chain.Address) familytest.Payment {
	return familytest.Payment{From: "stranger", Outs: []familytest.Out{{To: to, Asset: chainID.Native(), Amount: amount}}}
}

// object is an object of JSON as a lie changes it.
type object = map[string]any

// of gives the answer to a method to a lie, and leaves all others as they are.
func of(method string, lie func(result any) any) func(q *question, result any) any {
	return func(q *question, result any) any {
		if q.Method != method || result == nil {
			return result
		}
		return lie(result)
	}
}

// each changes every object of a list.
func each(change func(o object)) func(result any) any {
	return func(result any) any {
		list, _ := result.([]any)
		for _, x := range list {
			if o, ok := x.(object); ok {
				change(o)
			}
		}
		return result
	}
}

// full reports whether a block is asked for with its transactions.
func full(q *question) bool {
	return q.Method == "eth_getBlockByHash" && len(q.Params) == 2 && string(q.Params[1]) == "true"
}

// transactions changes the transactions of a block.
func transactions(change func(list []any) []any) func(q *question, result any) any {
	return func(q *question, result any) any {
		if o, ok := result.(object); ok && full(q) {
			list, _ := o["transactions"].([]any)
			o["transactions"] = change(list)
		}
		return result
	}
}

// logs changes the logs of every receipt.
func logs(change func(list []any) []any) func(q *question, result any) any {
	return of("eth_getBlockReceipts", each(func(o object) {
		list, _ := o["logs"].([]any)
		o["logs"] = change(list)
	}))
}

// lies are what nodes say of a block in which an address got coins and tokens and a
// payment to it failed. All nodes say the same, so only what can be proven helps.
var lies = []struct {
	name string
	bend func(q *question, result any) any
	why  evm.Reason
}{
	{"a log too many", logs(func(l []any) []any {
		for _, x := range l {
			more := maps.Clone(x.(object))
			more["logIndex"] = "0x63"
			l = append(l, more)
		}
		return l
	}), evm.ReceiptForged},
	{"another amount in a log", logs(func(l []any) []any {
		for _, x := range l {
			x.(object)["data"] = "0x" + strings.Repeat("00", 24) + "00ffffffffffffff"
		}
		return l
	}), evm.ReceiptForged},
	{"another emitter of a log", logs(func(l []any) []any {
		for _, x := range l {
			x.(object)["address"] = "0x00000000000000000000000000000000000000aa"
		}
		return l
	}), evm.ReceiptForged},
	{"logs of a block that was taken back", logs(func(l []any) []any {
		for _, x := range l {
			x.(object)["removed"] = true
		}
		return l
	}), evm.ReceiptForged},
	{"no logs", logs(func([]any) []any { return []any{} }), evm.ReceiptForged},
	{"logs that are null", logs(func(l []any) []any { return append(l, nil) }), evm.ReceiptForged},
	{"a failure that is told as a success", of("eth_getBlockReceipts", each(func(o object) { o["status"] = "0x1" })), evm.ReceiptForged},
	{"successes that are told as failures", of("eth_getBlockReceipts", each(func(o object) { o["status"] = "0x0" })), evm.ReceiptForged},
	{"a receipt too few", of("eth_getBlockReceipts", func(r any) any { return r.([]any)[1:] }), evm.ReceiptForged},
	{"receipts in each other's place", of("eth_getBlockReceipts", each(func(o object) {
		o["transactionIndex"] = hexutil.EncodeUint64(9 - number(o["transactionIndex"]))
	})), evm.ReceiptForged},
	{"no receipts", of("eth_getBlockReceipts", func(any) any { return []any{} }), evm.ReceiptForged},
	{"a transaction too many", transactions(func(l []any) []any { return append(l, l[0]) }), evm.TxsForged},
	{"no transactions", transactions(func([]any) []any { return []any{} }), evm.TxsForged},
	{"a transaction with another value", transactions(func(l []any) []any {
		l[0].(object)["value"] = "0xfffffffffffffff"
		return l
	}), evm.TxsForged},
	{"a transaction to somebody else", transactions(func(l []any) []any {
		l[0].(object)["to"] = "0x00000000000000000000000000000000000000aa"
		return l
	}), evm.TxsForged},
	{"a header with another root", of("eth_getBlockByHash", func(r any) any {
		r.(object)["receiptsRoot"] = "0x" + strings.Repeat("ab", 32)
		return r
	}), evm.HeaderForged},
	{"another block", func(q *question, result any) any {
		if q.Method != "eth_getBlockByHash" {
			return result
		}
		result.(object)["extraData"] = "0xbad0"
		return rehash(result.(object))
	}, evm.HeaderForged},
	{"a trace that makes everybody richer", of("debug_traceBlockByHash", func(r any) any { forgeTrace(r); return r }), evm.TraceForged},
	{"a trace in which nothing happens", of("debug_traceBlockByHash", each(func(o object) {
		o["result"] = object{"pre": object{}, "post": object{}}
	})), evm.TraceForged},
	{"a proof of another balance", of("eth_getProof", func(r any) any {
		nodes := r.(object)["accountProof"].([]any)
		last := nodes[len(nodes)-1].(string)
		nodes[len(nodes)-1] = last[:len(last)-140] + "ffff" + last[len(last)-136:]
		return r
	}), evm.ProofForged},
	{"no proof", of("eth_getProof", func(r any) any { r.(object)["accountProof"] = []any{}; return r }), evm.ProofForged},
}

func TestNodesThatAllLieAreNotBelieved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := b.Address("deposit")
	b.Pay(payment(to))
	b.Pay(familytest.Payment{From: "another", Outs: []familytest.Out{{To: to, Asset: b.asset(b.token), Amount: amount}}})
	all, amounts := one(to)
	b.tricked(amount, "payAndFail", all, amounts)
	b.Mine(1)
	tip := b.tipBlock()
	want := b.inTip(to)
	if len(want) != 2 {
		t.Fatalf("found %v", want)
	}
	for _, l := range lies {
		b.forget()
		for _, p := range b.proxies {
			p.lie(l.bend)
		}
		list, err := b.chain.Deposits(t.Context(), tip, set{to})
		if err == nil {
			t.Errorf("%s: believed, found %v", l.name, list)
		}
		if got := b.noticed(to); !slices.Contains(got, l.why) {
			t.Errorf("%s: noticed %v, want %s (%v)", l.name, got, l.why, err)
		}
		for i, p := range b.proxies { // one alone is noticed too, or does not matter
			if i > 0 {
				p.lie(nil)
			}
		}
		list, err = b.chain.Deposits(t.Context(), tip, set{to})
		if err != nil || !slices.Equal(list, want) {
			t.Errorf("%s: with one liar found %v, %v", l.name, list, err)
		}
		b.proxies[0].lie(nil)
	}
}

func TestATokenThatLiesHasNoHelpFromOneNode(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := b.Address("deposit")
	b.lied(1, to, 1000) // it tells a thousand and moves nothing
	b.Mine(1)
	tip := b.tipBlock()
	said := 0
	b.proxies[1].lie(func(q *question, result any) any {
		var by struct{ BlockHash string }
		if q.Method == "eth_call" && json.Unmarshal(q.Params[1], &by) == nil && by.BlockHash == tip.Hash {
			said++
			return "0x" + strings.Repeat("00", 30) + "03e8"
		}
		return result
	})
	if list := b.inTip(to); len(list) != 0 || said == 0 {
		t.Errorf("found %v", list)
	}
	if got := b.noticed(to); !slices.Contains(got, evm.BalanceOff) {
		t.Errorf("noticed %v", got)
	}
}

func TestANodeOfAnotherChainIsNotAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tip := b.tipBlock()
	for _, p := range b.proxies {
		p.lie(of("eth_chainId", func(any) any { return "0x1" }))
	}
	c := b.open()
	if _, err := c.Head(t.Context()); !errors.Is(err, rpc.ErrWrongChain) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Deposits(t.Context(), tip, set{b.Address("deposit")}); !errors.Is(err, rpc.ErrWrongChain) {
		t.Errorf("got %v", err)
	}
}

// Two chains may have one number, as a private copy and the chain it was copied from
// have; how they began tells them apart.
func TestANodeOfAChainThatBeganOtherwiseIsNotAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var first struct{ Hash string }
	pool, err := rpc.New(rpc.Config{URLs: b.urls[:1], Need: 1})
	b.ok(err)
	b.ok(pool.Nodes()[0].Call(t.Context(), &first, "eth_getBlockByNumber", "0x0", false))
	began := func(hash string) func(c *evm.Config) { return func(c *evm.Config) { c.Genesis = hash } }
	head := func(c *evm.Chain) error {
		_, err := c.Head(t.Context())
		return err
	}
	b.ok(head(b.open(began(first.Hash))))
	other := "0x" + strings.Repeat("1f", 32)
	if err := head(b.open(began(other))); !errors.Is(err, rpc.ErrWrongChain) || !strings.Contains(err.Error(), first.Hash) {
		t.Errorf("got %v", err)
	}
	first0 := func(is any) func(q *question, result any) any {
		return func(q *question, result any) any {
			if q.Method == "eth_getBlockByNumber" && string(q.Params[0]) == `"0x0"` {
				return is
			}
			return result
		}
	}
	b.proxies[0].lie(first0(nil))
	b.ok(head(b.open(began(first.Hash)))) // the others are enough
	b.proxies[1].lie(first0(nil))
	if err := head(b.open(began(first.Hash))); err == nil || !strings.Contains(err.Error(), "does not show its first block") {
		t.Errorf("nodes that do not say how their chain began are believed: %v", err)
	}
	b.ok(head(b.open())) // whoever does not ask is not told
	for _, bad := range []string{"0x1", strings.ToUpper(other), other[2:]} {
		if _, err := evm.New(t.Context(), evm.Config{ID: chainID, Tag: "finalized", Genesis: bad, Nodes: rpc.Config{URLs: b.urls, Need: 1}}, ring()); err == nil {
			t.Errorf("%q was taken for a hash", bad)
		}
	}
}

func TestATokenWithOtherDecimalsStopsTheStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ok(b.chain.Check(t.Context()))
	b.from("trickster", wish{to: b.liar, data: pack(liarFile(), "setDecimals", uint8(18))})
	b.Mine(1)
	if err := b.chain.Check(t.Context()); !errors.Is(err, evm.ErrDecimals) {
		t.Errorf("got %v", err)
	}
}

func TestWithoutProofsAQuorumMustAgree(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *evm.Config) { c.NoVerify = true })
	to := b.Address("deposit")
	b.Pay(payment(to))
	b.Pay(familytest.Payment{From: "another", Outs: []familytest.Out{{To: to, Asset: b.asset(b.token), Amount: money.FromUint64(7)}}})
	b.Mine(1)
	want := b.inTip(to)
	if len(want) != 2 {
		t.Fatalf("found %v", want)
	}
	for _, method := range []string{"eth_getBalance", "debug_traceBlockByHash", "eth_getBlockReceipts", "eth_getBlockByHash"} {
		// Two that each tell something else leave no quorum.
		b.proxies[0].lie(func(q *question, result any) any {
			if q.Method == method {
				return (&view{proxy: b.proxies[0]}).forge(q, result)
			}
			return result
		})
		if list, err := b.chain.Deposits(t.Context(), want[0].Block, set{to}); err != nil || !slices.Equal(list, want) {
			t.Errorf("%s: with one liar found %v, %v", method, list, err)
		}
		b.proxies[1].set(familytest.Deaf)
		if list, err := b.chain.Deposits(t.Context(), want[0].Block, set{to}); err == nil {
			t.Errorf("%s: without a quorum found %v", method, list)
		}
		b.proxies[1].set(familytest.None)
		b.proxies[0].lie(nil)
	}
}

func TestWithoutATagTheDepthDecidesIfThereIsOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, p := range b.proxies {
		p.lie(func(q *question, result any) any {
			if q.Method == "eth_getBlockByNumber" && string(q.Params[0]) == `"finalized"` {
				return nil
			}
			return result
		})
	}
	if h, err := b.chain.Head(t.Context()); err == nil {
		t.Errorf("nobody said what is final, and the head is %v", h)
	}
	for _, tag := range []string{"finalized", ""} {
		h, err := b.open(func(c *evm.Config) { c.Tag, c.Depth = tag, 5 }).Head(t.Context())
		if err != nil || h.Tip.Height-h.Final.Height != 5 {
			t.Errorf("with tag %q the head is %v, %v", tag, h, err)
		}
	}
	for _, spoil := range []func(c *evm.Config){
		func(c *evm.Config) { c.Tag = "" },
		func(c *evm.Config) { c.Tag = "latest" },
		func(c *evm.Config) { c.ID = "eip155:01" },
		func(c *evm.Config) { c.Nodes.Need = 9 },
		func(c *evm.Config) { c.Tokens = []evm.Token{{Asset: chain.Asset{Chain: chainID, Ref: "gold"}}} },
		func(c *evm.Config) { c.Sweeper = chain.CanonicalAddress(chain.EVM, "nobody") },
		func(c *evm.Config) { c.MinTip, c.MaxTip = money.FromUint64(2), money.FromUint64(1) },
	} {
		cfg := evm.Config{ID: chainID, Nodes: rpc.Config{URLs: b.urls, Need: need}, Tag: "finalized"}
		spoil(&cfg)
		if _, err := evm.New(t.Context(), cfg, ring()); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}
