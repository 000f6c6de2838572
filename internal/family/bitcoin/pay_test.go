package bitcoin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"ferry/internal/chain"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/familytest"
	"ferry/internal/money"
	"ferry/internal/send"
)

func sat(n uint64) money.Amount { return money.FromUint64(n) }

func (b *bench) callTo(to chain.Address, n uint64) chain.Call {
	return chain.Call{Chain: regtest, From: hot, To: to, Asset: regtest.Native(), Amount: sat(n), For: "t"}
}

func (b *bench) draft(c chain.Call, most uint64, held ...chain.Slot) chain.Attempt {
	b.t.Helper()
	a, err := b.sender.Draft(b.t.Context(), c, send.Holding(held...), sat(most))
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

func (b *bench) send(a chain.Attempt) {
	b.t.Helper()
	if err := b.family.Broadcast(b.t.Context(), a.Raw); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) fate(a chain.Attempt) chain.Fate {
	b.t.Helper()
	s, err := b.family.Fate(b.t.Context(), a)
	if err != nil {
		b.t.Fatal(err)
	}
	return s.Fate
}

func (b *bench) has(a chain.Address) uint64 {
	b.t.Helper()
	n, _ := b.Balance(a, regtest.Native()).Uint64()
	return n
}

func decode(t testing.TB, raw []byte) *wire.MsgTx {
	t.Helper()
	var tx wire.MsgTx
	if err := tx.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return &tx
}

func TestEveryKindOfDestinationIsPaidToTheLastUnit(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{})
	hash, wide := bytes.Repeat([]byte{9}, 20), bytes.Repeat([]byte{9}, 32)
	var held []chain.Slot
	want := map[chain.Address]uint64{}
	for i, s := range [][]byte{
		slices.Concat([]byte{0, 20}, hash),
		slices.Concat([]byte{0, 32}, wide),
		slices.Concat([]byte{0x51, 32}, wide),
		slices.Concat([]byte{0xa9, 20}, hash, []byte{0x87}),
		slices.Concat([]byte{0x76, 0xa9, 20}, hash, []byte{0x88, 0xac}),
	} {
		to := b.codec.AddressOf(s)
		want[to] = uint64(12_345 + i)
		a := b.draft(b.callTo(to, want[to]), 10_000, held...)
		held = append(held, a.Slots...)
		b.send(a)
	}
	b.Mine(1)
	for to, n := range want {
		if got := b.has(to); got != n {
			t.Errorf("%s has %d, want %d", to.Text(), got, n)
		}
	}
	for kind, least := range map[string]uint64{"p2wpkh": 294, "p2wsh": 330, "p2tr": 330, "p2sh": 540, "p2pkh": 546} {
		for to := range want {
			if b.codec.Kind(to) != kind {
				continue
			}
			if _, err := b.sender.Draft(t.Context(), b.callTo(to, least-1), send.Holding(held...), sat(10_000)); !errors.Is(err, send.ErrRefused) {
				t.Errorf("dust to %s: %v", kind, err)
			}
			if _, err := b.sender.Cost(t.Context(), b.callTo(to, least)); err != nil {
				t.Errorf("%d to %s: %v", least, kind, err)
			}
		}
	}
}

// TestABumpThatItsCoinsCannotPayTakesAnother: what the recipient gets never changes.
func TestABumpThatItsCoinsCannotPayTakesAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{coins: 2}) // of 1,000,000 each
	bob := b.Address("bob")
	c := b.callTo(bob, 999_001)
	a := b.draft(c, 705) // one coin pays that, and has the least change there can be
	if len(a.Slots) != 1 || len(decode(t, a.Raw).TxOut) != 2 {
		t.Fatalf("it spends %v", a.Slots)
	}
	b.send(a)
	b.Price(5)
	row := []chain.Attempt{a}
	for _, slots := range []int{1, 2} { // first the change goes, and then another coin comes
		next, err := b.sender.Redraft(t.Context(), c, row[len(row)-1], sat(20_000))
		if err != nil {
			t.Fatal(err)
		}
		if len(next.Slots) != slots || !slices.Contains(next.Slots, a.Slots[0]) {
			t.Fatalf("it spends %v, and before %v", next.Slots, a.Slots)
		}
		b.send(next)
		row = append(row, next)
	}
	b.Mine(1 + depth)
	if b.fate(row[2]) != chain.Final || b.fate(row[1]) != chain.Dead || b.fate(a) != chain.Dead || b.has(bob) != 999_001 {
		t.Fatalf("they are %v, %v and %v, and bob has %d", b.fate(row[2]), b.fate(row[1]), b.fate(a), b.has(bob))
	}
}

// TestABumpThatNothingPaysForIsTooDear: M72.
func TestABumpThatNothingPaysForIsTooDear(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{coins: 1})
	bob := b.Address("bob")
	c := b.callTo(bob, 999_050) // what is left pays once, and its change would be dust
	a := b.draft(c, 1_500)
	if tx := decode(t, a.Raw); len(tx.TxOut) != 1 || a.Fee != sat(950) {
		t.Fatalf("it has %d outputs and costs %s", len(tx.TxOut), a.Fee)
	}
	b.send(a)
	if _, err := b.sender.Redraft(t.Context(), c, a, sat(50_000)); !errors.Is(err, send.ErrTooDear) {
		t.Fatalf("a bump gave %v", err)
	}
	// A cancel pays from what the recipient would have got.
	cancel := chain.Call{Chain: regtest, From: hot, To: b.family.Own(hot), Asset: regtest.Native(), For: "t"}
	x, err := b.sender.Redraft(t.Context(), cancel, a, sat(50_000))
	if err != nil {
		t.Fatal(err)
	}
	b.send(x)
	b.Mine(1 + depth)
	if b.fate(x) != chain.Final || b.fate(a) != chain.Dead || b.has(bob) != 0 {
		t.Fatal("it was not cancelled")
	}
}

// lifted is the sweep of an attempt's change.
func (b *bench) lifted(a chain.Attempt) chain.Call {
	b.t.Helper()
	tx := decode(b.t, a.Raw)
	own := b.family.Own(hot)
	return chain.Call{
		Chain: regtest, From: hot, To: own, Asset: regtest.Native(), Amount: sat(uint64(tx.TxOut[1].Value)), For: "lift",
		Sources: []chain.Source{{
			Address: own, Amount: sat(uint64(tx.TxOut[1].Value)),
			Deposits: []chain.DepositID{chain.DepositID(string(regtest) + ":" + string(a.Tx) + ":1")},
		}},
	}
}

// TestAWaitingPaymentIsLiftedByItsChange: the recipient has spent on what he was
// sent, so that a replacement would have to pay for that too; its child lifts it.
func TestAWaitingPaymentIsLiftedByItsChange(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{coins: 3})
	bob := b.Address("bob")
	a := b.draft(b.callTo(bob, 500_000), 10_000)
	b.send(a)
	b.Price(8)
	b.Mine(2)
	if b.fate(a) != chain.Pending {
		t.Fatal("it landed at an eighth of the price")
	}
	child := b.draft(b.lifted(a), 50_000, a.Slots...)
	if len(child.Slots) != 2 || slices.Contains(child.Slots, a.Slots[0]) {
		t.Fatalf("the child spends %v", child.Slots)
	}
	b.send(child)
	b.Mine(1 + depth)
	if b.fate(a) != chain.Final || b.fate(child) != chain.Final || b.has(bob) != 500_000 {
		t.Fatalf("they are %v and %v", b.fate(a), b.fate(child))
	}
	fees, _ := sum(a.Fee, child.Fee).Uint64()
	if got := b.has(b.family.Own(hot)); got != 3_000_000-500_000-fees {
		t.Fatalf("we have %d, and paid %d", got, fees)
	}
}

// TestALiftOfWhatWasReplacedCanBeCancelled: its change is gone, its other coin is not.
func TestALiftOfWhatWasReplacedCanBeCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{coins: 3})
	c := b.callTo(b.Address("bob"), 500_000)
	a := b.draft(c, 10_000)
	b.send(a)
	child := b.draft(b.lifted(a), 50_000, a.Slots...)
	b.send(child)
	next, err := b.sender.Redraft(t.Context(), c, a, sat(40_000))
	if err != nil {
		t.Fatal(err)
	}
	b.send(next)
	b.Mine(1 + depth)
	if b.fate(next) != chain.Final || b.fate(a) != chain.Dead || b.fate(child).Settled() {
		t.Fatalf("they are %v, %v and %v", b.fate(next), b.fate(a), b.fate(child))
	}
	cancel := chain.Call{Chain: regtest, From: hot, To: b.family.Own(hot), Asset: regtest.Native(), For: "lift"}
	x, err := b.sender.Redraft(t.Context(), cancel, child, sat(50_000))
	if err != nil {
		t.Fatal(err)
	}
	b.send(x)
	b.Mine(1 + depth)
	if b.fate(x) != chain.Final || b.fate(child) != chain.Dead {
		t.Fatalf("they are %v and %v", b.fate(x), b.fate(child))
	}
}

func sum(as ...money.Amount) money.Amount {
	v, err := money.Sum(as...)
	if err != nil {
		panic(err)
	}
	return v
}

func TestASweepOfTooManyCoinsHasNoCost(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{})
	c := chain.Call{Chain: regtest, From: hot, To: b.family.Own(hot), Asset: regtest.Native(), Amount: sat(100_000)}
	src := chain.Source{Address: b.Deposit(1), Index: 1, Amount: c.Amount}
	for i := range 101 {
		src.Deposits = append(src.Deposits, chain.DepositID(fmt.Sprint(i)))
	}
	for n, refused := range map[int]bool{100: false, 101: true} {
		src := src
		src.Deposits = src.Deposits[:n]
		c.Sources = []chain.Source{src}
		if _, err := b.sender.Cost(t.Context(), c); errors.Is(err, send.ErrRefused) != refused || err != nil && !refused {
			t.Errorf("%d coins: %v", n, err)
		}
	}
}

func TestASweepThatIsWorthLessThanItCostsIsTooDear(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{})
	to := b.Deposit(4)
	tx := b.Pay(familytest.Payment{Outs: []familytest.Out{{To: to, Amount: sat(700)}}})
	b.Mine(1 + depth)
	d := b.Received(to)[0]
	c := chain.Call{
		Chain: regtest, From: hot, To: b.family.Own(hot), Asset: regtest.Native(), Amount: d.Amount,
		Sources: []chain.Source{{Address: to, Index: 4, Amount: d.Amount, Deposits: []chain.DepositID{d.ID}}},
	}
	if d.Tx != tx {
		t.Fatalf("found %v", d)
	}
	if _, err := b.sender.Draft(t.Context(), c, nil, sat(50_000)); !errors.Is(err, send.ErrTooDear) {
		t.Fatalf("got %v", err)
	}
	held := chain.Slot("coin:" + strings.TrimPrefix(string(d.ID), string(regtest)+":"))
	if _, err := b.sender.Draft(t.Context(), c, send.Holding(held), sat(50_000)); !errors.Is(err, send.ErrNoFunds) {
		t.Fatalf("what is held gave %v", err)
	}
}

// TestAnAdapterThatStartsAnewSeesTheSame: all that is remembered can be found again.
func TestAnAdapterThatStartsAnewSeesTheSame(t *testing.T) {
	t.Parallel()
	var cfg bitcoin.Config
	b := newBench(t, setting{change: func(c *bitcoin.Config) { cfg = *c }})
	bob := b.Address("bob")
	a := b.draft(b.callTo(bob, 100_000), 10_000)
	next, err := b.sender.Redraft(t.Context(), b.callTo(bob, 100_000), a, sat(9_000))
	if err != nil {
		t.Fatal(err)
	}
	b.send(next)
	waiting := b.draft(b.callTo(bob, 100_000), 10_000, a.Slots...)
	b.send(waiting)
	b.Price(9)
	again := func() []chain.Fate {
		b.start(cfg)
		return []chain.Fate{b.fate(a), b.fate(next), b.fate(waiting)}
	}
	if got := again(); !slices.Equal(got, []chain.Fate{chain.Missing, chain.Pending, chain.Pending}) {
		t.Fatalf("they are %v", got)
	}
	b.Mine(1)
	if got := again(); !slices.Equal(got, []chain.Fate{chain.Missing, chain.Included, chain.Pending}) {
		t.Fatalf("they are %v", got)
	}
	b.Mine(depth)
	if got := again(); !slices.Equal(got, []chain.Fate{chain.Dead, chain.Final, chain.Pending}) {
		t.Fatalf("they are %v", got)
	}
	// A bump after a restart knows what the coins are worth.
	if _, err := b.sender.Redraft(t.Context(), b.callTo(bob, 100_000), waiting, sat(30_000)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.sender.Redraft(t.Context(), b.callTo(bob, 100_000), a, sat(30_000)); !errors.Is(err, send.ErrLive) {
		t.Fatalf("what landed was replaced: %v", err)
	}
}

// TestCoinsOfABranchThatCameToNothingAreFoundAgain: the purse was found by a scan of
// a tip on which a coin was spent, and that tip was orphaned.
func TestCoinsOfABranchThatCameToNothingAreFoundAgain(t *testing.T) {
	t.Parallel()
	var cfg bitcoin.Config
	b := newBench(t, setting{coins: 2, change: func(c *bitcoin.Config) { cfg = *c }})
	a := b.draft(b.callTo(b.Address("bob"), 100_000), 10_000)
	b.send(a)
	b.Mine(1)
	b.start(cfg)
	if _, err := b.sender.Draft(t.Context(), b.callTo(b.Address("eve"), 1_500_000), nil, sat(50_000)); !errors.Is(err, send.ErrNoFunds) {
		t.Fatalf("with one coin it gave %v", err)
	}
	b.Reorg(1, true)
	b.Mine(depth)
	x := b.draft(b.callTo(b.Address("eve"), 1_500_000), 50_000)
	if len(x.Slots) != 2 {
		t.Fatalf("it spends %v", x.Slots)
	}
}

// TestNodesThatMustNotBeBelieved: each is the whole network but for one honest node.
func TestNodesThatMustNotBeBelieved(t *testing.T) {
	t.Parallel()
	change := func(method string, f func(fields)) func(string, []any, json.RawMessage, error) (json.RawMessage, error) {
		return func(m string, _ []any, raw json.RawMessage, err error) (json.RawMessage, error) {
			if m == method {
				return edit(raw, f), err
			}
			return raw, err
		}
	}
	for name, twist := range map[string]func(string, []any, json.RawMessage, error) (json.RawMessage, error){
		"still catching up": change("getblockchaininfo", func(f fields) { f["initialblockdownload"] = true }),
		"hardly verified":   change("getblockchaininfo", func(f fields) { f["verificationprogress"] = 0.4 }),
		"without an index":  change("getindexinfo", func(f fields) { delete(f, "txindex") }),
		"of another network": func(m string, p []any, raw json.RawMessage, err error) (json.RawMessage, error) {
			if m == "getblockhash" && p[0] == float64(0) {
				return pack("000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"), nil
			}
			return raw, err
		},
		"that answers with something else": func(string, []any, json.RawMessage, error) (json.RawMessage, error) {
			return pack([]int{1, 2, 3}), nil
		},
		"that answers with nothing": func(string, []any, json.RawMessage, error) (json.RawMessage, error) { return nil, nil },
		"with numbers too large": change("getblockchaininfo", func(f fields) {
			f["blocks"] = json.Number("99999999999999999999999999")
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cfg bitcoin.Config
			b := newBench(t, setting{change: func(c *bitcoin.Config) { cfg = *c }})
			for _, p := range b.proxies[1:] {
				p.mu.Lock()
				p.twist = twist
				p.mu.Unlock()
			}
			fresh, err := bitcoin.New(t.Context(), cfg, b.ring)
			if err != nil {
				t.Fatal(err)
			}
			if h, err := fresh.Head(t.Context()); err == nil {
				t.Fatalf("the head is %v", h)
			}
			b.twist(nil)
			for { // until those that were refused are let in again
				if _, err := fresh.Head(t.Context()); err == nil {
					return
				}
				if t.Context().Err() != nil {
					t.Fatal("they are never believed again")
				}
			}
		})
	}
}

func TestATipThatIsTooOldIsNotBelieved(t *testing.T) {
	t.Parallel()
	b := newBench(t, setting{change: func(c *bitcoin.Config) { c.MaxTipAge = time.Hour }})
	b.tip()
	// The first block of every regtest is from 2011.
	b.twist(func(m string, _ []any, raw json.RawMessage, err error) (json.RawMessage, error) {
		if m == "getblockchaininfo" {
			return edit(raw, func(f fields) { f["blocks"] = 0 }), err
		}
		return raw, err
	})
	if h, err := b.family.Head(t.Context()); !errors.Is(err, bitcoin.ErrStale) {
		t.Fatalf("the head is %v, %v", h, err)
	}
}
