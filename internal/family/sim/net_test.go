package sim

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/send"
)

// storm does random things to a net; everything that happens comes from the seed.
type storm struct {
	t    testing.TB
	n    *Net
	rng  *rand.Rand
	held []chain.Slot
	sent []chain.Attempt
	pays []chain.TxID
	step int
}

func newStorm(t testing.TB, n *Net, seed uint64) *storm {
	return &storm{t: t, n: n, rng: rand.New(rand.NewPCG(seed, 1))}
}

func (s *storm) blow() {
	n, c := s.n, s.n.Chain()
	s.step++
	name := fmt.Sprint("x", s.step)
	switch s.rng.IntN(10) {
	case 0, 1:
		n.Mine(1)
	case 2:
		n.MineEmpty(1)
	case 3:
		depth := 1 + s.rng.IntN(4)
		_, err := n.Reorg(depth, ReorgOptions{Empty: s.rng.IntN(2) == 0, DropAll: s.rng.IntN(3) == 0})
		if err != nil && !errors.Is(err, ErrTooDeep) {
			s.t.Fatal(err)
		}
	case 4, 5, 6:
		s.pays = append(s.pays, n.Pay(name, n.Codec().Make(name), n.ID().Native(), amount(1000+s.rng.Uint64N(9000))))
	case 7:
		if n.Shape() != Expiring && len(s.pays) > 0 {
			_, _ = n.Replace(s.pays[len(s.pays)-1]) // it may have landed
		}
	default:
		a, err := c.Draft(s.t.Context(), chain.Call{
			Chain: n.ID(), From: Hot, To: n.Codec().Make(name), Asset: n.ID().Native(), Amount: amount(5000),
		}, send.Holding(s.held...), amount(1_000_000_000))
		if errors.Is(err, send.ErrNoFunds) {
			return
		}
		s.sent, s.held = append(s.sent, must(a, err)), append(s.held, a.Slots...)
		_ = c.Broadcast(s.t.Context(), a.Raw)
	}
}

func TestTheSameCallsGiveTheSameChain(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		trace := func(n *Net) string {
			s := newStorm(t, n, 42)
			h := sha256.New()
			for range 300 {
				s.blow()
				fmt.Fprintln(h, n.Tip(), n.Balance(n.Own(Hot), n.ID().Native()))
			}
			fmt.Fprintln(h, n.Sent(Hot, 0), s.sent)
			return fmt.Sprintf("%x", h.Sum(nil))
		}
		if a, b := trace(n), trace(newNet(t, n.Shape())); a != b {
			t.Fatalf("%s and %s", a, b)
		}
	})
}

// TestTheStateAtEveryBlockIsKept notes all balances whenever a block is the tip,
// and asks for them again later, on whatever branch the block then is.
func TestTheStateAtEveryBlockIsKept(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		for seed := range uint64(3) {
			n := newNet(t, n.Shape())
			s := newStorm(t, n, seed)
			notes := make(map[string]map[cell]money.Amount)
			for range 120 {
				s.blow()
				now := make(map[cell]money.Amount)
				for c, v := range n.cells {
					now[c] = v
				}
				notes[n.Tip().Hash] = now
			}
			checked := 0
			for hash, cells := range notes {
				b := n.blocks[hash]
				if b == nil {
					continue
				}
				if _, err := n.balanceAt(b, cell{}); errors.Is(err, ErrTooDeep) && n.tip().n-b.n > n.cfg.Keep/2 {
					continue
				}
				checked++
				for c, want := range cells {
					got, err := n.balanceAt(b, c)
					if err != nil || got != want {
						t.Fatalf("seed %d: at %s %v has %s, %v, and had %s", seed, hash, c, got, err, want)
					}
				}
			}
			if checked < 20 {
				t.Fatalf("seed %d: only %d blocks were looked at", seed, checked)
			}
		}
	})
}

// TestNothingIsMadeOrLost: what is there is what was minted less the fees, and on
// Coins the coins are worth the balances.
func TestNothingIsMadeOrLost(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		s := newStorm(t, n, 9)
		var base money.Amount
		for c, v := range n.cells {
			if c.asset == "" {
				base = plus(base, v)
			}
		}
		first := n.tip().n
		for range 300 {
			s.blow()
			if s.step%10 != 0 || n.tip().n <= first { // a reorg went behind the count
				continue
			}
			var there money.Amount
			for c, v := range n.cells {
				if c.asset == "" {
					there = plus(there, v)
				}
			}
			want := base
			for _, b := range n.canon[first+1:] {
				for _, m := range b.mints {
					if m.to.asset == "" {
						want = plus(want, m.amount)
					}
				}
			}
			for _, b := range n.canon[first+1:] {
				for _, r := range b.receipts {
					want = minus(want, r.fee)
				}
			}
			if n.tip().n-first < n.cfg.Keep && there != want {
				t.Fatalf("step %d: there is %s, want %s", s.step, there, want)
			}
			if n.Shape() != Coins {
				continue
			}
			worth := make(map[string]money.Amount)
			for _, c := range n.coins {
				if c.spent == nil {
					worth[c.owner] = plus(worth[c.owner], c.amount)
				}
			}
			for c, v := range n.cells {
				if worth[c.addr] != v {
					t.Fatalf("step %d: %s has %s in coins of %s", s.step, c.addr, worth[c.addr], v)
				}
			}
		}
	})
}

func TestReorgOptions(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		id := n.ID().Native()
		pay := func(name string) chain.TxID { return n.Pay(name, n.Codec().Make(name), id, amount(1000)) }
		a, b, c := pay("a"), pay("b"), pay("c")
		n.Mine(1)
		old := n.Tip()
		o := ReorgOptions{Extra: 2, Drop: []chain.TxID{a}}
		if n.Shape() != Expiring {
			o.Replaced = []chain.TxID{b}
		}
		fork := must(n.Reorg(1, o))
		if n.Tip().Height < old.Height+2 || fork.Hash != old.Parent {
			t.Fatalf("from %v on %v to %v", old, fork, n.Tip())
		}
		if n.Canonical(a) || n.Waits(a) || !n.Canonical(c) || n.Canonical(b) != (n.Shape() == Expiring) {
			t.Fatal("the wrong ones came back")
		}
		if v := must(n.BalanceAt(old.Hash, n.Codec().Make("a"), id)); v != amount(1000) {
			t.Fatalf("on the orphan a has %s", v)
		}
		if v := n.Balance(n.Codec().Make("a"), id); !v.IsZero() {
			t.Fatalf("a has %s", v)
		}
	})
}

func TestALostPaymentIsSentAgain(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		tx := n.Pay("a", n.Codec().Make("x"), n.ID().Native(), amount(1000))
		n.Mine(1)
		must(n.Reorg(1, ReorgOptions{DropAll: true}))
		n.Evict(tx)
		for range 2 {
			if err := n.Resend(tx); err != nil || !n.Waits(tx) {
				t.Fatal(err)
			}
		}
		n.Mine(1)
		if err := n.Resend(tx); err != nil || !n.Canonical(tx) || len(n.Received(n.Codec().Make("x"))) != 1 {
			t.Fatal(err)
		}
		if n.Resend("unheard of") == nil {
			t.Fatal("what nobody sent was sent again")
		}
	})
}

func TestHowDeepAReorgGoes(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		n.Mine(200)
		_, err := n.Reorg(n.cfg.FinalDepth+1, ReorgOptions{})
		if n.Shape() == Expiring != errors.Is(err, ErrTooDeep) {
			t.Fatal(err)
		}
		for _, depth := range []int{0, -1, n.cfg.Keep, 1000} {
			if _, err := n.Reorg(depth, ReorgOptions{}); !errors.Is(err, ErrTooDeep) {
				t.Fatalf("%d: %v", depth, err)
			}
		}
		if n.Shape() != Expiring {
			must(n.Reorg(n.cfg.Keep-1, ReorgOptions{}))
		}
		n.Halt()
		if _, err := n.Reorg(1, ReorgOptions{}); err == nil {
			t.Fatal("a halted net was reorganised")
		}
	})
}

func TestAHaltedNetMakesNoBlocks(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		tip := n.Tip()
		n.Halt()
		if n.Mine(3) != tip || n.MineEmpty(3) != tip {
			t.Fatal("it made blocks")
		}
		n.Resume()
		later := tip.Time.Add(time.Hour)
		n.Tick(later)
		if b := n.Mine(1); b.Time != later || b.Parent != tip.Hash {
			t.Fatalf("%v", b)
		}
		n.Tick(tip.Time)
		if b := n.Mine(1); b.Time != later.Add(n.cfg.BlockTime) {
			t.Fatalf("time went to %v", b.Time)
		}
	})
}

func TestTheBestPriceLandsFirst(t *testing.T) {
	t.Parallel()
	n := must(New(Config{ID: "sim:1", Family: "sim", Shape: Nonces, Capacity: 1}))
	send := func(from string, price uint64) chain.TxID {
		return must(n.Send(Payment{From: from, Price: amount(price), Outs: []Out{{To: n.Codec().Make("x"), Asset: n.ID().Native(), Amount: amount(1)}}}))
	}
	low, high, second := send("a", 2), send("b", 3), send("b", 9)
	for _, want := range []chain.TxID{high, second, low} {
		n.Mine(1)
		if !n.Canonical(want) {
			t.Fatalf("%s did not land", want)
		}
	}
}

func TestTheMempoolKeepsItsRules(t *testing.T) {
	t.Parallel()
	n := newNet(t, Coins)
	to := n.Codec().Make("x")
	if _, err := n.Send(Payment{From: "a", Outs: []Out{{To: to, Asset: n.ID().Native(), Amount: amount(545)}}}); err == nil {
		t.Fatal("dust was relayed")
	}
	if _, err := n.Send(Payment{From: "a", Fail: true, Outs: []Out{{To: to, Asset: n.ID().Native(), Amount: amount(1000)}}}); err == nil {
		t.Fatal("a payment in coins failed")
	}
	m := newNet(t, Nonces)
	native := m.ID().Native()
	tx := m.Pay("a", m.Codec().Make("x"), native, amount(5))
	m.Mine(1)
	if _, err := m.Replace(tx); err == nil {
		t.Fatal("what has landed was replaced")
	}
	if _, err := m.Send(Payment{From: "a", Outs: []Out{{To: m.Codec().Make("x"), Asset: chain.Asset{Chain: "other:1"}, Amount: amount(1)}}}); !errors.Is(err, ErrOtherChain) {
		t.Fatal(err)
	}
}

func TestRevertsStrikeWhereTheyShould(t *testing.T) {
	t.Parallel()
	for _, shape := range []Shape{Nonces, Expiring} {
		n := newNet(t, shape)
		bob, native := n.Codec().Make("bob"), n.ID().Native()
		n.RevertNext(Match{To: bob})
		pay := func() bool {
			tx := n.Pay("a", bob, native, amount(5))
			n.Mine(1)
			l, _ := n.Landed(tx)
			return l.Reverted
		}
		if !pay() || pay() {
			t.Fatal("not the first only failed")
		}
		n.Reject(Match{Asset: native})
		for range 2 {
			if !pay() {
				t.Fatal("not all failed")
			}
		}
		n.Accept()
		if pay() {
			t.Fatal("it still fails")
		}
		must(n.Send(Payment{From: "b", Contract: true, Outs: []Out{{To: bob, Asset: native, Amount: amount(7), Void: true}, {To: bob, Asset: native, Amount: amount(9)}}}))
		n.Mine(1)
		list := n.Received(bob)
		if got := list[len(list)-1]; len(list) != 3 || got.Amount != amount(9) || n.Balance(bob, native) != amount(19) {
			t.Fatalf("%v", list)
		}
	}
}

func TestTheHookDecidesCallByCall(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		calls := make(map[string]int)
		n.SetHook(func(node int, call string) Fault {
			calls[call]++
			if call == "Head" && node == 1 {
				return Fault{Kind: Timeout}
			}
			return Fault{}
		})
		n.Node(0).Set(Fault{Kind: FailBefore})
		if _, err := n.Chain().Head(t.Context()); err == nil {
			t.Fatal("one node is enough")
		}
		n.Node(0).Heal()
		must(n.Chain().Head(t.Context()))
		if calls["Head"] != 2+3 {
			t.Fatalf("%v", calls)
		}
	})
}

func TestSeveralMayUseANetAtOnce(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, n *Net) {
		c, ctx := n.Chain(), t.Context()
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for j := range 30 {
					name := fmt.Sprint(i, "/", j)
					n.Pay(name, n.Codec().Make(name), n.ID().Native(), amount(1000))
					n.Mine(1)
					_, _ = c.Head(ctx)
					_, _ = c.Pending(ctx, everyone{})
					_, _ = c.Deposits(ctx, n.Tip(), everyone{})
					_, _ = n.Reorg(1, ReorgOptions{})
					n.Node(i % 3).Set(Fault{Kind: Kind(j % 9), Lie: AllLies})
				}
			})
		}
		wg.Wait()
	})
}
