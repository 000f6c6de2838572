package sim

import (
	"context"
	"errors"
	"slices"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/watch"
)

var calls = []string{"Head", "Next", "Deposits", "Pending", "Price", "Count", "Balance", "Coins", "Status", "Spender", "Broadcast"}

// paidOut is a net with a transfer that has landed and is final.
func paidOut(t testing.TB, n *Net) chain.Attempt {
	t.Helper()
	c := n.Chain()
	a := must(c.Draft(t.Context(), chain.Call{
		Chain: n.ID(), From: Hot, To: n.Codec().Make("bob"), Asset: n.ID().Native(), Amount: amount(5000),
	}, nil, amount(1_000_000_000)))
	if err := c.Broadcast(t.Context(), a.Raw); err != nil {
		t.Fatal(err)
	}
	n.Mine(1)
	n.MineFinal()
	return a
}

// TestNoMajorityThatLagsInOneCallMakesADeadOne: more nodes than a quorum forgives
// lag or fail, in one call only. What landed may become unknown, never dead.
func TestNoMajorityThatLagsInOneCallMakesADeadOne(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		a := paidOut(t, n)
		if n.Shape() == Expiring { // past its end, where the unknown is dead
			n.MineEmpty(int(n.cfg.Window) + 5)
		}
		for _, bad := range calls {
			for _, nodes := range []int{1, 2, 3} {
				for back := 1; back < 70; back += 3 {
					for _, c := range []*Chain{n.Chain(), NewChain(n)} {
						n.SetHook(func(node int, call string) Fault {
							if node < nodes && call == bad {
								return Fault{Kind: Stale, Blocks: back}
							}
							return Fault{}
						})
						s, err := c.Fate(t.Context(), a)
						if err == nil && (s.Fate == chain.Dead || (nodes == 1 && s.Fate != chain.Final)) {
							t.Fatalf("%d nodes %d blocks behind in %s: it is %v", nodes, back, bad, s.Fate)
						}
						if err != nil && nodes == 1 {
							t.Fatal(err)
						}
					}
				}
			}
		}
	})
}

// TestFaultsDoWhatTheySay: a suite that passes under faults proves something only
// if the faults are there.
func TestFaultsDoWhatTheySay(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		d := n.Node(0)
		a := paidOut(t, n)
		dep := n.Codec().Deposit("ord")
		n.Pay("u", dep, n.ID().Native(), amount(1000))
		n.Pay("v", dep, n.ID().Native(), amount(2000))
		at := n.Mine(1)
		honest := must(d.deposits(at.Hash, only{dep}))
		final := n.Final()

		for kind, want := range map[Kind]error{FailBefore: ErrFailed, FailAfter: ErrFailed, Timeout: context.DeadlineExceeded, Partition: ErrUnreachable} {
			d.Set(Fault{Kind: kind})
			if _, err := d.head(); !errors.Is(err, want) {
				t.Errorf("kind %d: %v", kind, err)
			}
		}
		d.Set(Fault{Kind: Stale, Blocks: 2})
		if h := must(d.head()); h.Tip.Height != at.Height-2 {
			t.Errorf("it is at %d", h.Tip.Height)
		}
		if _, err := d.deposits(at.Hash, only{dep}); !errors.Is(err, ErrBehind) {
			t.Errorf("%v", err)
		}
		if _, err := d.standing(a.Tx, at.Hash); !errors.Is(err, ErrBehind) {
			t.Errorf("%v", err)
		}
		d.Set(Fault{Kind: Stale, Blocks: 20})
		if s := must(d.standing(a.Tx, n.canon[0].Hash)); s.landed {
			t.Error("it knows what landed later")
		}
		d.Set(Fault{Kind: Duplicate})
		if got := must(d.deposits(at.Hash, only{dep})); len(got) != 4 {
			t.Errorf("%v", got)
		}
		d.Set(Fault{Kind: Reorder})
		got := must(d.deposits(at.Hash, only{dep}))
		if slices.Reverse(got); !slices.Equal(got, honest) {
			t.Errorf("%v", got)
		}
		testLies(t, n, d, a, at, final, dep)
	})
}

func testLies(t *testing.T, n *Net, d *Node, a chain.Attempt, at, final chain.Block, dep chain.Address) {
	t.Helper()
	lie := func(l Lie) { d.Set(Fault{Kind: Lying, Lie: l}) }
	lie(Forge)
	if got := must(d.deposits(at.Hash, only{dep})); len(got) != 3 || got[0].Amount == amount(1000) {
		t.Errorf("%v", got)
	}
	if h := must(d.head()); h.Tip == at {
		t.Error("the tip is not forged")
	}
	if b := must(d.block(at.Height)); b.Hash == at.Hash {
		t.Error("the block is not forged")
	}
	lie(Hide)
	if got := must(d.deposits(at.Hash, only{dep})); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if b := must(d.block(at.Height)); b.ok {
		t.Error("the block is not hidden")
	}
	if err := d.broadcast([]byte("nonsense")); err != nil {
		t.Errorf("the broadcast was not swallowed: %v", err)
	}
	lie(NotFound)
	if s := must(d.standing(a.Tx, final.Hash)); s.landed {
		t.Error("it is found")
	}
	lie(FakeFinal)
	if h := must(d.head()); h.Final != h.Tip {
		t.Error("the tip is not called final")
	}
	if s := must(d.standing("unheard of", final.Hash)); !s.landed {
		t.Error("what is not there has not landed")
	}
	lie(Wrong)
	own := cell{n.Own(Hot).Text(), ""}
	if must(d.balance(own, at.Hash)) == n.Balance(n.Own(Hot), n.ID().Native()) {
		t.Error("the balance is right")
	}
	if must(d.price()) == n.going {
		t.Error("the price is right")
	}
	if n.Shape() == Coins && must(d.spender(ref{"nothing", 0}, at.Hash)) == "" {
		t.Error("the spender is right")
	}
	if n.Shape() == Nonces && must(d.count(own.addr, at.Hash)) != 1+7 {
		t.Error("the count is right")
	}
}

// TestABroadcastThatOneNodeSwallowsReachesTheNet, and one that all swallow does
// not, whatever they say: only the chain tells.
func TestABroadcastThatOneNodeSwallowsReachesTheNet(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		c := n.Chain()
		call := chain.Call{Chain: n.ID(), From: Hot, To: n.Codec().Make("bob"), Asset: n.ID().Native(), Amount: amount(5000)}
		a := must(c.Draft(t.Context(), call, nil, amount(1_000_000_000)))
		n.Node(0).Set(Fault{Kind: Lying, Lie: Hide})
		n.Node(1).Set(Fault{Kind: Partition})
		if err := c.Broadcast(t.Context(), a.Raw); err != nil || !n.Waits(a.Tx) {
			t.Fatalf("it did not reach the net: %v", err)
		}
	})
}

func TestAChainAfterARestartStillKnowsWhatIsThere(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		a := paidOut(t, n)
		c := NewChain(n)
		if s := must(c.Fate(t.Context(), a)); s.Fate != chain.Final {
			t.Fatalf("%v", s)
		}
		if _, err := c.Next(t.Context(), n.Height()+1); !errors.Is(err, watch.ErrNoBlock) {
			t.Fatal(err)
		}
		if _, err := c.Cost(t.Context(), chain.Call{}); err == nil {
			t.Fatal("nothing has a cost")
		}
	})
}

func TestAConfigWithoutSenseIsRefused(t *testing.T) {
	t.Parallel()
	good := Config{ID: "sim:1", Family: "sim", Shape: Nonces}
	must(New(good))
	for name, spoil := range map[string]func(c *Config){
		"no id":          func(c *Config) { c.ID = "" },
		"no family":      func(c *Config) { c.Family = "" },
		"no shape":       func(c *Config) { c.Shape = 0 },
		"quorum of none": func(c *Config) { c.Quorum = -1 },
		"quorum of more": func(c *Config) { c.Quorum = 4 },
		"foreign asset":  func(c *Config) { c.Assets = []chain.Asset{{Chain: "sim:2", Ref: "x"}} },
		"token on coins": func(c *Config) { c.Shape, c.Assets = Coins, []chain.Asset{{Chain: "sim:1", Ref: "x"}} },
		"short window":   func(c *Config) { c.Shape, c.Window, c.FinalDepth = Expiring, 5, 5 },
	} {
		c := good
		spoil(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	n := must(New(good))
	if err := n.Faucet(n.Own(Hot), n.ID().Native(), plus(maxMint, money.FromUint64(1))); err == nil {
		t.Error("a balance could overflow")
	}
	if err := n.Faucet(chain.Address{}, n.ID().Native(), money.FromUint64(1)); err == nil {
		t.Error("money was made for nobody")
	}
}
