package solana_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	sol "github.com/gagliardetto/solana-go"
	ata "github.com/gagliardetto/solana-go/programs/associated-token-account"

	"ferry/internal/chain"
	"ferry/internal/family/quorum"
	"ferry/internal/family/solana"
	"ferry/internal/money"
	"ferry/internal/watch"
)

// told changes how a node tells the transactions of a block.
func told(change func(tx, meta object)) func(string, []any, any) (any, object) {
	return func(method string, _ []any, v any) (any, object) {
		if o, ok := v.(object); ok && method == "getBlock" && o["transactions"] != nil {
			for _, x := range o["transactions"].([]any) {
				tx := x.(object)
				meta, _ := tx["meta"].(object)
				change(tx, meta)
			}
		}
		return v, nil
	}
}

// listed changes the list of transactions that a node tells of a block.
func listedAs(change func(all []any) []any) func(string, []any, any) (any, object) {
	return func(method string, _ []any, v any) (any, object) {
		if o, ok := v.(object); ok && method == "getBlock" && o["transactions"] != nil {
			o["transactions"] = change(o["transactions"].([]any))
		}
		return v, nil
	}
}

func copied(v any) any {
	text, _ := json.Marshal(v)
	var out any
	_ = json.Unmarshal(text, &out)
	return out
}

// raise gives every account more than it has.
func raise(by int64) func(tx, meta object) {
	return func(_, meta object) {
		post := meta["postBalances"].([]any)
		for i := range post {
			post[i] = number(post[i]) + by
		}
	}
}

func excuse(_, meta object) { meta["err"] = nil }

func rename(name string) func(tx, meta object) {
	return func(tx, _ object) {
		tx["transaction"].(object)["signatures"] = []any{name}
	}
}

// lies are what nodes say of a block that holds a payment of SOL, one of gold, and one
// of both that failed. The first two are real.
var lies = []struct {
	id, name string
	liars    int // the first so many nodes
	bend     []func(string, []any, any) (any, object)
	found    int             // of the two
	fails    bool            // nothing is known
	notices  []solana.Reason // at least
}{
	{id: "R02", name: "a larger balance, by one node", liars: 1, bend: bend(told(raise(5))), found: 2, notices: []solana.Reason{solana.Disputed}},
	{id: "R02", name: "larger balances, by two nodes that do not agree", liars: 2, bend: bend(told(raise(5)), told(raise(6))), fails: true, notices: []solana.Reason{solana.Disputed}},
	{id: "M39", name: "that what failed did not, by one node", liars: 1, bend: bend(told(func(tx, meta object) { raise(7)(tx, meta); excuse(tx, meta) })), found: 2, notices: []solana.Reason{solana.Disputed}},
	{id: "M39", name: "that what failed moved something all the same, by all", liars: 3, bend: bend(told(func(tx, meta object) {
		if meta["err"] != nil {
			raise(7)(tx, meta)
			for _, t := range meta["postTokenBalances"].([]any) {
				t.(object)["uiTokenAmount"] = object{"amount": "987654"}
			}
		}
	})), found: 2, notices: []solana.Reason{solana.Failed}},
	{id: "M50", name: "another signature, by one node", liars: 1, bend: bend(told(rename("forged"))), found: 2, notices: []solana.Reason{solana.Disputed}},
	{id: "M50", name: "everything twice, by all", liars: 3, bend: bend(listedAs(func(all []any) []any { return append(slices.Clone(all), all...) })), found: 2},
	{id: "M50", name: "a payment twice, and not the same, by two", liars: 2, bend: bend(listedAs(func(all []any) []any {
		twin := copied(all[len(all)-1]).(object)
		for i, x := range all {
			if len(x.(object)["transaction"].(object)["accountKeys"].([]any)) == 4 {
				twin = copied(all[i]).(object)
			}
		}
		post := twin["meta"].(object)["postBalances"].([]any)
		for i := range post {
			post[i] = post[i].(float64) + 1e6
		}
		return append(slices.Clone(all), twin)
	})), fails: true},
	{id: "M39", name: "nothing of what became of a transaction, by two", liars: 2, bend: bend(told(func(tx, _ object) { tx["meta"] = nil })), fails: true},
	{id: "M41", name: "another token program, by all", liars: 3, bend: bend(told(tokens(func(t object) { t["programId"] = sol.Token2022ProgramID.String() }))), found: 1, notices: []solana.Reason{solana.WrongProgram}},
	{id: "M41", name: "no owner, by two", liars: 2, bend: bend(told(tokens(func(t object) { delete(t, "owner") }))), fails: true},
	{id: "M44", name: "an amount that is none, by two", liars: 2, bend: bend(told(tokens(func(t object) { t["uiTokenAmount"] = object{"amount": "-5"} }))), fails: true},
	{id: "M46", name: "less than an account can have, by all", liars: 3, bend: bend(told(func(_, meta object) {
		post := meta["postBalances"].([]any)
		pre := meta["preBalances"].([]any)
		for i := range post {
			if number(pre[i]) == 0 && number(post[i]) > 0 {
				post[i] = 1000
			}
		}
	})), found: 1, notices: []solana.Reason{solana.BelowRent}},
	{id: "M45", name: "that a transaction has an unknown version, by all", liars: 3, bend: bend(errored(-32015)), fails: true, notices: []solana.Reason{solana.UnknownVersion}},
	{id: "M48", name: "that the block was thrown away, by two", liars: 2, bend: bend(errored(-32001)), fails: true},
	{id: "M48", name: "that the slot was skipped, by two", liars: 2, bend: bend(errored(-32007)), fails: true},
	{id: "M48", name: "that the slot was skipped, by one", liars: 1, bend: bend(errored(-32009)), found: 2},
	{id: "M40", name: "another block in its slot, by two", liars: 2, bend: bend(func(method string, _ []any, v any) (any, object) {
		if o, ok := v.(object); ok && method == "getBlock" {
			o["blockhash"] = "another"
		}
		return v, nil
	}), fails: true},
	{id: "R04", name: "a block without its transactions, by two", liars: 2, bend: bend(func(method string, _ []any, v any) (any, object) {
		if o, ok := v.(object); ok && method == "getBlock" {
			delete(o, "transactions")
		}
		return v, nil
	}), fails: true},
	{id: "R04", name: "no block, by two", liars: 2, bend: bend(func(method string, _ []any, v any) (any, object) {
		if method == "getBlock" {
			return nil, nil
		}
		return v, nil
	}), fails: true},
}

type bender = func(string, []any, any) (any, object)

func bend(f ...bender) []bender { return f }

func tokens(change func(t object)) func(tx, meta object) {
	return func(_, meta object) {
		for _, kind := range []string{"preTokenBalances", "postTokenBalances"} {
			for _, t := range meta[kind].([]any) {
				change(t.(object))
			}
		}
	}
}

func errored(code int) bender {
	return func(method string, _ []any, v any) (any, object) {
		if method == "getBlock" {
			return nil, object{"code": code, "message": "no"}
		}
		return v, nil
	}
}

func TestNodesThatLieAboutABlockCreditNothing(t *testing.T) {
	t.Parallel()
	s := &stage{rig: newRig(t), eve: key("eve")}
	s.fund(s.eve.PublicKey(), 10*oneSOL)
	s.give(s.gold, s.eve.PublicKey(), 1000)
	s.mine(1)
	sols, gold, fails := s.depositAddress(1), s.depositAddress(2), s.depositAddress(3)
	s.play(ata.NewCreateIdempotentInstruction(s.eve.PublicKey(), pub(fails), s.gold).Build())
	s.mine(1)
	s.play(s.pays(pub(sols), ordinary))
	s.play(moveUnits(s.eve, s.gold, pub(gold), 900)...)
	s.play(append(moveUnits(s.eve, s.gold, pub(fails), 50), s.pays(pub(fails), ordinary), s.fail())...)
	s.mine(1)
	head, err := s.chain.Head(t.Context())
	s.ok(err)
	ours := everyone{sols: true, gold: true, fails: true}
	want, err := s.chain.Deposits(t.Context(), head.Tip, ours)
	s.ok(err)
	if len(want) != 2 {
		t.Fatalf("found %v", want)
	}
	for _, row := range lies {
		s.noticed.drain()
		for i := range row.liars {
			s.nodes[i].bends(row.bend[min(i, len(row.bend)-1)])
		}
		got, err := s.chain.Deposits(t.Context(), head.Tip, ours)
		for i := range row.liars {
			s.nodes[i].bends(nil)
		}
		if row.fails != (err != nil) || len(got) != row.found {
			t.Errorf("%s: nodes say %s: found %v, %v", row.id, row.name, got, err)
		}
		if errors.Is(err, watch.ErrNoBlock) {
			t.Errorf("%s: nodes say %s, and that is taken for no block", row.id, row.name)
		}
		for _, d := range got {
			if !slices.Contains(want, d) {
				t.Errorf("%s: nodes say %s, and %v is credited", row.id, row.name, d)
			}
		}
		noticed := s.noticed.drain()
		for _, r := range row.notices {
			if !slices.ContainsFunc(noticed, func(n solana.Suspect) bool { return n.Reason == r }) {
				t.Errorf("%s: nodes say %s: %v was noticed, and not %s", row.id, row.name, noticed, r)
			}
		}
	}
	again, err := s.chain.Deposits(t.Context(), head.Tip, ours)
	if err != nil || !slices.Equal(again, want) {
		t.Fatalf("found %v, %v", again, err)
	}
}

// without is a node that has lost a block: it leaves it out of its lists, and says that
// the slot was skipped.
func without(slot uint64, next uint64) bender {
	return func(method string, params []any, v any) (any, object) {
		switch first, _ := params[0].(float64); {
		case method == "getBlock" && uint64(first) == slot:
			return nil, object{"code": -32007, "message": "Slot was skipped, or missing due to ledger jump to recent snapshot"}
		case method == "getBlocksWithLimit" && uint64(first) <= slot:
			return []any{next}, nil
		}
		return v, nil
	}
}

func TestASkippedSlotIsSteppedOverAndALostBlockIsNot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := t.Context()
	r.mine(1)
	head, err := r.chain.Head(ctx)
	r.ok(err)
	before := head.Tip
	r.do("skip", object{"n": 2}, nil)
	r.mine(2)
	skipped, err := r.chain.Next(ctx, before.Height+1)
	r.ok(err)
	if skipped.Height != before.Height+3 || skipped.Parent != before.Hash {
		t.Fatalf("after %v comes %v", before, skipped)
	}
	lost := without(skipped.Height, skipped.Height+1)
	for liars := 1; liars <= nodes; liars++ {
		for i := range liars {
			r.nodes[i].bends(lost)
		}
		b, err := r.chain.Next(ctx, before.Height+1)
		switch {
		case liars == 1 && (err != nil || b != skipped):
			t.Errorf("one node lost it: %v, %v", b, err)
		case liars > 1 && err == nil:
			t.Errorf("%d nodes lost the block, and %v comes next", liars, b)
		case liars > 1 && errors.Is(err, watch.ErrNoBlock):
			t.Errorf("%d nodes lost the block, and that is taken for the end", liars)
		}
	}
}

func TestANodeOfAnotherClusterIsNotBelieved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 2 {
		r.nodes[i].bends(func(method string, _ []any, v any) (any, object) {
			if method == "getGenesisHash" {
				return "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", nil
			}
			return v, nil
		})
	}
	c := r.open() // it has not asked them yet
	if _, err := c.Head(t.Context()); !errors.Is(err, quorum.ErrUnknown) {
		t.Fatalf("two of three are on another cluster: %v", err)
	}
}

func TestWhatIsFinalNeverGoesBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	head, err := r.chain.Head(t.Context())
	r.ok(err)
	for _, n := range r.nodes {
		n.bends(func(method string, params []any, v any) (any, object) {
			if o, ok := params[0].(object); method == "getSlot" && ok && o["commitment"] == "finalized" {
				return number(v) - 1, nil
			}
			return v, nil
		})
	}
	if again, err := r.chain.Head(t.Context()); err == nil {
		t.Fatalf("final went from %v to %v", head.Final, again.Final)
	}
}

func TestAFloodOfPaymentsInOneBlockIsFoundWhole(t *testing.T) {
	t.Parallel()
	s := &stage{rig: newRig(t), eve: key("eve")}
	s.fund(s.eve.PublicKey(), 100*oneSOL)
	s.mine(1)
	var ours []chain.Address
	for i := range uint32(60) {
		to := s.depositAddress(i)
		ours = append(ours, to)
		s.play(s.pays(pub(to), ordinary+uint64(i)))
	}
	s.mine(1)
	found := s.found(ours...)
	got := map[chain.Address]money.Amount{}
	for _, d := range found {
		got[d.To] = d.Amount
	}
	for i, to := range ours {
		if got[to] != money.FromUint64(ordinary+uint64(i)) || len(found) != len(ours) {
			t.Fatalf("address %d got %s, and there are %d payments", i, got[to], len(found))
		}
	}
}
