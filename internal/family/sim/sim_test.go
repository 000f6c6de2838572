package sim

import (
	"fmt"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
)

type everyone struct{}

func (everyone) Has(chain.Address) bool { return true }

type only struct{ a chain.Address }

func (o only) Has(a chain.Address) bool { return a == o.a }

func amount(n uint64) money.Amount { return money.FromUint64(n) }

func newNet(t testing.TB, s Shape) *Net {
	t.Helper()
	id := chain.ID("sim:" + s.String())
	c := Config{ID: id, Family: chain.Family(s.String()), Shape: s, FinalDepth: 4}
	if s != Coins {
		c.Assets = []chain.Asset{{Chain: id, Ref: "gold"}}
	}
	n, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := n.Faucet(n.Own(Hot), id.Native(), amount(1_000_000_000)); err != nil {
			t.Fatal(err)
		}
	}
	if s != Coins {
		if err := n.Faucet(n.Own(Hot), c.Assets[0], amount(1_000_000)); err != nil {
			t.Fatal(err)
		}
	}
	n.Mine(5)
	return n
}

func eachShape(t *testing.T, f func(t *testing.T, n *Net)) {
	for _, s := range []Shape{Nonces, Coins, Expiring} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			f(t, newNet(t, s))
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("%+v", err))
	}
	return v
}

func TestAPayoutAndADepositSurviveAReorg(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		ctx, c, id := t.Context(), n.Chain(), n.ID()
		to := n.Codec().Make("bob")
		call := chain.Call{Chain: id, From: Hot, To: to, Asset: id.Native(), Amount: amount(5000)}
		a := must(c.Draft(ctx, call, nil, amount(1_000_000_000)))
		if err := c.Broadcast(ctx, a.Raw); err != nil {
			t.Fatal(err)
		}
		dep := must(c.DepositAddress(ctx, id, "ord_1"))
		tx := n.Pay("alice", dep, id.Native(), amount(7777))
		if got := must(c.Pending(ctx, only{dep})); len(got) != 1 || got[0].Tx != tx {
			t.Fatalf("pending: %v", got)
		}
		b := n.Mine(1)
		before := must(c.Deposits(ctx, b, only{dep}))
		if s := must(c.Fate(ctx, a)); s.Fate != chain.Included || len(before) != 1 {
			t.Fatalf("fate %v, deposits %v", s, before)
		}
		must(n.Reorg(2, ReorgOptions{Empty: true}))
		if s := must(c.Fate(ctx, a)); s.Fate != chain.Pending {
			t.Fatalf("fate %v", s)
		}
		b = n.Mine(1)
		after := must(c.Deposits(ctx, b, only{dep}))
		if len(after) != 1 || after[0].ID != before[0].ID || after[0].Block != b {
			t.Fatalf("deposits %v", after)
		}
		n.MineFinal()
		if s := must(c.Fate(ctx, a)); s.Fate != chain.Final || n.Balance(to, id.Native()) != amount(5000) {
			t.Fatalf("fate %v", s)
		}
		if got := n.Sent(Hot, 0); len(got) != 1 || got[0].Amount != amount(5000) || got[0].To != to {
			t.Fatalf("sent %v", got)
		}
	})
}
