package treasury_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
	"ferry/internal/treasury"
	"ferry/internal/watch"
)

// views are the chains of a house through their nodes, as a daemon looks at them.
func views(t *testing.T, h *house.House) *treasury.Auditor {
	t.Helper()
	var all []treasury.Audited
	for _, n := range h.Nets {
		c := treasury.Audited{ID: n.ID(), View: n.Chain()}
		for _, a := range h.Assets {
			if a.Chain == n.ID() {
				c.Assets = append(c.Assets, a)
			}
		}
		all = append(all, c)
	}
	auditor, err := treasury.NewAuditor(order.HotWallet, h.DB, all...)
	if err != nil {
		t.Fatal(err)
	}
	return auditor
}

func tale(t *testing.T, url string, story func(*house.Tale)) {
	t.Helper()
	tl, err := house.Tell(t.Context(), house.Options{URL: url, Sweep: true, Chains: []chain.ID{house.EVM, house.SOL}}, house.Cut{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tl.Close() })
	if err := tl.Run(story); err != nil {
		t.Fatal(err)
	}
}

// line is one account of one audit.
func line(t *testing.T, a *treasury.Auditor, where string, x chain.Asset) treasury.Line {
	t.Helper()
	all, err := a.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		for _, l := range f.Lines {
			if l.Where == where && l.Asset == x {
				return l
			}
		}
	}
	t.Fatalf("no line of %s in %s", where, x)
	return treasury.Line{}
}

func reasons(l treasury.Line) string {
	var all []string
	for _, r := range l.Reasons {
		all = append(all, fmt.Sprintf("%s %s", r.Amount, r.What))
	}
	return strings.Join(all, "; ")
}

// TestEveryDifferenceIsExplained looks at each thing that is on its way.
func TestEveryDifferenceIsExplained(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func() string{"SQLite": func() string { return "" }, "PostgreSQL": func() string { return pgtest.URL(t) }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tale(t, url(), func(tl *house.Tale) {
				a := views(t, tl.House)
				expect := func(where string, x chain.Asset, diff int64, why string) {
					t.Helper()
					l := line(t, a, where, x)
					got := new(big.Int).Sub(l.Chain, l.Books)
					if got.Int64() != diff || l.Unexplained.Sign() != 0 || !strings.Contains(reasons(l), why) || (diff == 0) != (len(l.Reasons) == 0) {
						t.Errorf("%s in %s: the chain has %s more, explained by %q, unexplained %s; want %d by %q", where, x, got, reasons(l), l.Unexplained, diff, why)
					}
				}
				id := tl.Create(house.Terms{Give: house.EVMUSD, Get: house.Sol, In: 1_200_000_000})
				tl.Pay(id, house.EVMUSD, 1_200_000_000)
				expect(treasury.OnDeposit, house.EVMUSD, 0, "")
				tl.Mine(house.EVM, 3) // twelve hundred dollars wait for four blocks
				expect(treasury.OnDeposit, house.EVMUSD, 0, "")
				tl.Mine(house.EVM, 2)
				expect(treasury.OnDeposit, house.EVMUSD, -1_200_000_000, "booked and not on the chain there")
				tl.Mine(house.EVM, 5)
				expect(treasury.OnDeposit, house.EVMUSD, 0, "")
				tl.Mine(house.SOL, 3)
				tl.Net(house.EVM).Mine(9) // the sweep is final, and nobody has looked yet
				if err := tl.DB.Caught(t.Context(), house.EVM, 1, tl.Now); err != nil {
					t.Fatal(err)
				}
				tl.Quiet()
				expect(treasury.OnDeposit, house.EVMUSD, 0, "")
				expect(treasury.AtHome, house.EVMUSD, 0, "")
				expect(treasury.AtHome, house.Sol, 0, "")
			})
		})
	}
}

// TestWhatLandedAndIsNotBookedIsExplained stops the house between the chain and the
// books, for a payment and for a sweep.
func TestWhatLandedAndIsNotBookedIsExplained(t *testing.T) {
	t.Parallel()
	tale(t, "", func(tl *house.Tale) {
		a := views(t, tl.House)
		id := tl.Create(house.Terms{Give: house.EVMUSD, Get: house.Sol, In: 2_000_000_000})
		tl.Pay(id, house.EVMUSD, 2_000_000_000)
		tl.Mine(house.EVM, 10) // credited, and the sweep and the payout are on their way
		tl.MustBe(id, order.Sending)
		for _, n := range tl.Nets {
			n.Mine(n.Config().FinalDepth + 1)
		}
		// The watchers alone go on: the blocks are read, and nothing is booked.
		for _, n := range tl.Nets {
			follow(t, tl.DB, n)
		}
		home, lying, paid := line(t, a, treasury.AtHome, house.EVMUSD), line(t, a, treasury.OnDeposit, house.EVMUSD), line(t, a, treasury.AtHome, house.Sol)
		for name, l := range map[string]treasury.Line{"home": home, "lying": lying, "paid": paid} {
			if l.Unexplained.Sign() != 0 || !strings.Contains(reasons(l), "landed and is not booked yet") {
				t.Errorf("%s: %q, unexplained %s", name, reasons(l), l.Unexplained)
			}
		}
		if !strings.Contains(reasons(home), "2000000000 sweep/") || !strings.Contains(reasons(lying), "-2000000000 sweep/") {
			t.Errorf("the sweep: %q and %q", reasons(home), reasons(lying))
		}
		if l := line(t, a, treasury.AtHome, house.ETH); l.Unexplained.Sign() != 0 || !strings.Contains(reasons(l), "the cost of sweep/") {
			t.Errorf("the cost: %q, unexplained %s", reasons(l), l.Unexplained)
		}
		if err := a.Step(t.Context(), tl.Now); err != nil {
			t.Errorf("what is explained is trouble: %v", err)
		}
	})
}

// follow notes the blocks of a net as read, with no deposits in them.
func follow(t *testing.T, db *store.DB, n *sim.Net) {
	t.Helper()
	track, err := db.Track(t.Context(), n.ID())
	if err != nil {
		t.Fatal(err)
	}
	for at := track.Cursor; at.Height < n.Height(); {
		next, err := n.Chain().Next(t.Context(), at.Height+1)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Advance(t.Context(), n.ID(), watch.Advance{After: at, Block: next, Now: start}); err != nil {
			t.Fatal(err)
		}
		at = next
	}
}

func TestMissingMoneyHaltsItsChainAndMoreThanThereShouldBeDoesNot(t *testing.T) {
	t.Parallel()
	tale(t, "", func(tl *house.Tale) {
		a := views(t, tl.House)
		if err := a.Step(t.Context(), tl.Now); err != nil {
			t.Fatalf("with nothing wrong: %v", err)
		}
		gift := money.FromUint64(7)
		if err := tl.Net(house.SOL).Faucet(tl.Net(house.SOL).Own(order.HotWallet), house.Sol, gift); err != nil {
			t.Fatal(err)
		}
		tl.Net(house.SOL).Mine(6)
		follow(t, tl.DB, tl.Net(house.SOL))
		l := line(t, a, treasury.AtHome, house.Sol)
		if l.Unexplained.Int64() != 7 {
			t.Errorf("a gift of 7 is %s", l.Unexplained)
		}
		if err := a.Step(t.Context(), tl.Now); err != nil {
			t.Errorf("more than there should be is trouble: %v", err)
		}
		// The books believe in money that is not there: the same as a thief.
		if err := tl.DB.Fund(t.Context(), house.EVMUSD, money.FromUint64(5), tl.Now); err != nil {
			t.Fatal(err)
		}
		err := a.Step(t.Context(), tl.Now)
		if !errors.Is(err, treasury.ErrMissing) {
			t.Errorf("got %v", err)
		}
		for id, want := range map[chain.ID]string{house.EVM: "an audit found that 5 of sim:evm/usd is missing from the wallet", house.SOL: ""} {
			if why, err := tl.DB.Halted(t.Context(), id); err != nil || why != want {
				t.Errorf("%s is halted because %q (%v)", id, why, err)
			}
		}
	})
}

// TestNotKnowingIsNoFinding: nodes that do not answer, and a chain that was not read.
func TestNotKnowingIsNoFinding(t *testing.T) {
	t.Parallel()
	tale(t, "", func(tl *house.Tale) {
		a := views(t, tl.House)
		n := tl.Net(house.EVM)
		tl.Mine(house.EVM, 20)
		if err := tl.DB.Fund(t.Context(), house.EVMUSD, money.FromUint64(5), tl.Now); err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"Head", "Balance"} {
			n.SetHook(func(_ int, got string) sim.Fault {
				if got == call {
					return sim.Fault{Kind: sim.FailBefore}
				}
				return sim.Fault{}
			})
			if err := a.Step(t.Context(), tl.Now); err == nil || errors.Is(err, treasury.ErrMissing) {
				t.Errorf("without %s: %v", call, err)
			}
		}
		n.SetHook(nil)
		if _, err := n.Reorg(12, sim.ReorgOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Audit(t.Context()); !errors.Is(err, treasury.ErrUnread) {
			t.Errorf("a branch that nobody read: %v", err)
		}
		if err := a.Step(t.Context(), tl.Now); err != nil {
			t.Errorf("a branch that nobody read is trouble: %v", err)
		}
		if why, err := tl.DB.Halted(t.Context(), house.EVM); err != nil || why != "" {
			t.Errorf("halted because %q (%v)", why, err)
		}
	})
}

func TestAnAuditOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	n := net(t, sim.Nonces)
	good := treasury.Audited{ID: on, Assets: []chain.Asset{on.Native()}, View: n.Chain()}
	for name, c := range map[string]treasury.Audited{
		"no view":   {ID: on, Assets: good.Assets},
		"no assets": {ID: on, View: good.View},
		"no coin":   {ID: on, View: good.View, Assets: []chain.Asset{{Chain: on, Ref: "usd"}}},
	} {
		if _, err := treasury.NewAuditor("hot", nil, c); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := treasury.NewAuditor("hot", nil); err == nil {
		t.Error("no chains were taken")
	}
	if _, err := treasury.NewAuditor("", nil, good); err == nil {
		t.Error("no account was taken")
	}
	a, err := treasury.NewAuditor("hot", openStore(t, ""), good)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Audit(context.Background()); !errors.Is(err, treasury.ErrUnread) {
		t.Errorf("a chain that was never read: %v", err)
	}
}
