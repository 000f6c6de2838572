package watch_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/testseed"
)

// treesPerStore is after how many trees a store is made anew: opening one costs
// as much as a tree.
const treesPerStore = 100

// TestForkTreesSweep grows random fork trees under the watcher. No branch goes
// back behind what may be believed, so nothing may ever be lost; in the end the
// credited payments are exactly those on the chain.
func TestForkTreesSweep(t *testing.T) {
	seed := testseed.Of(t)
	var next, grown, forks, paid int
	var mu sync.Mutex
	claim := func() int {
		mu.Lock()
		defer mu.Unlock()
		next += treesPerStore
		return next - treesPerStore
	}
	t.Run("grow", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("trees", func(t *testing.T) {
				t.Parallel()
				for from := claim(); from < forkTrees; from = claim() {
					db := openStore(t)
					for n := from; n < min(from+treesPerStore, forkTrees) && !t.Failed(); n++ {
						f := newForest(t, db, n, seed)
						f.grow()
						mu.Lock()
						grown, forks, paid = grown+1, forks+f.forks, paid+f.deposits
						mu.Unlock()
					}
					if err := db.Audit(t.Context()); err != nil {
						t.Fatal(err)
					}
					db.Close()
				}
			})
		}
	})
	t.Logf("%d trees with %d forks and %d payments in the end", grown, forks, paid)
	if grown != forkTrees || forks < forkTrees || paid < forkTrees {
		t.Error("the trees were not worth looking at")
	}
}

// forest is one tree on its way.
type forest struct {
	*rig
	name     string
	rng      *rand.Rand
	txs      []chain.TxID
	forks    int
	deposits int
}

var errDeaf = errors.New("the order can not be told now")

func newForest(t *testing.T, db *store.DB, n int, seed uint64) *forest {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	few := 1 + rng.Uint64N(3)
	return &forest{
		name: fmt.Sprintf("tree %d of seed %d", n, seed), rng: rng,
		rig: newRig(t, db, sim.Config{
			ID: chain.ID(fmt.Sprintf("sim:%d", n)), Shape: shapes[n%len(shapes)], FinalDepth: 1 + rng.IntN(6),
			Nodes: 1, Quorum: 1, Seed: uint64(n),
		}, few, few+rng.Uint64N(4)),
	}
}

// grow lets random things happen, then lets everything settle and looks.
func (f *forest) grow() {
	for range 1 + f.rng.IntN(3) {
		f.create()
	}
	f.refuse = func(order.Event) error {
		if f.rng.IntN(10) == 0 { // told again at the next step
			return errDeaf
		}
		return nil
	}
	for range 15 + f.rng.IntN(25) {
		f.act()
	}
	f.refuse = nil
	f.net.Mine(10 + f.net.Config().FinalDepth)
	f.quiet()
	for _, id := range f.orders {
		f.deposits += len(f.net.Received(f.address(id)))
	}
	f.checkCredited()
	f.checkPending()
	if why := f.halted(); why != "" {
		f.t.Errorf("halted: %s", why)
	}
	if f.t.Failed() {
		f.t.Fatalf("%s: %s, tiers %+v, final after %d\ntold: %q", f.name, f.net.Shape(), f.cfg.Tiers, f.net.Config().FinalDepth, f.told)
	}
}

func (f *forest) act() {
	switch n := f.rng.IntN(100); {
	case n < 24:
		f.send()
	case n < 44:
		f.net.Mine(1 + f.rng.IntN(3))
	case n < 48:
		f.net.MineEmpty(1 + f.rng.IntN(2))
	case n < 62:
		f.reorg()
	case n < 67:
		f.replace()
	case n < 71 && len(f.txs) > 0:
		f.net.Evict(f.tx())
	case n < 74 && len(f.txs) > 0:
		_ = f.net.Resend(f.tx()) // what it spends may be gone
	case n < 76:
		f.create()
	case n < 79 && f.net.Shape() == sim.Expiring:
		if err := f.net.Skip(1 + f.rng.Uint64N(3)); err != nil {
			f.t.Error(err)
		}
	case n < 83:
		f.restart()
	default:
		f.now = f.now.Add(time.Duration(f.rng.IntN(60)) * time.Second)
		if err := f.tryStep(); err != nil && !errors.Is(err, errDeaf) {
			f.t.Error(err)
		}
	}
}

func (f *forest) tx() chain.TxID { return f.txs[f.rng.IntN(len(f.txs))] }

// cents is an amount in one of the three tiers, and no dust.
func (f *forest) cents() money.Amount {
	return money.FromUint64([]uint64{1_000, 100_000, 10_000_000}[f.rng.IntN(3)] + f.rng.Uint64N(1_000))
}

func (f *forest) out() sim.Out {
	a := f.net.ID().Native()
	if f.net.Shape() != sim.Coins && f.rng.IntN(3) == 0 {
		a.Ref = "usd"
	}
	return sim.Out{To: f.address(f.orders[f.rng.IntN(len(f.orders))]), Asset: a, Amount: f.cents()}
}

// send pays one or more orders by one transaction.
func (f *forest) send() {
	p := sim.Payment{From: fmt.Sprintf("user-%d", f.rng.IntN(4)), Outs: []sim.Out{f.out()}}
	if f.rng.IntN(4) == 0 {
		p.Outs = append(p.Outs, f.out())
	}
	if f.net.Shape() != sim.Coins {
		p.Fail = f.rng.IntN(12) == 0
		p.Outs[0].Void = f.rng.IntN(12) == 0
	}
	id, err := f.net.Send(p)
	if err != nil {
		f.t.Error(err)
	}
	f.txs = append(f.txs, id)
}

// replace puts another payment, or none to us, in the place of one that waits.
func (f *forest) replace() {
	if len(f.txs) == 0 || f.net.Shape() == sim.Expiring {
		return
	}
	var outs []sim.Out
	if f.rng.IntN(2) == 0 {
		o := f.out()
		o.Asset.Ref = ""
		outs = append(outs, o)
	}
	if id, err := f.net.Replace(f.tx(), outs...); err == nil { // it may have landed
		f.txs = append(f.txs, id)
	}
}

// reorg orphans some blocks, but none with a payment that may be believed.
func (f *forest) reorg() {
	depth := f.shallow()
	if depth == 0 {
		return
	}
	o := sim.ReorgOptions{Extra: 1 + f.rng.IntN(3), Empty: f.rng.IntN(3) == 0, DropAll: f.rng.IntN(4) == 0}
	for _, tx := range f.txs {
		switch f.rng.IntN(6) {
		case 0:
			o.Drop = append(o.Drop, tx)
		case 1:
			o.Replaced = append(o.Replaced, tx)
		}
	}
	if _, err := f.net.Reorg(1+f.rng.IntN(depth), o); err != nil {
		f.t.Error(err)
	}
	f.forks++
}

// shallow is how many blocks may be orphaned: those above the newest payment that
// is deep enough to be believed, and above what the chain calls final.
func (f *forest) shallow() int {
	tip, floor := f.net.Height(), f.net.Final().Height
	for _, id := range f.orders {
		for _, d := range f.net.Received(f.address(id)) {
			tier := f.tier(d)
			if tip-d.Block.Height+1 >= tier.Confirmations && !tier.Finalized {
				floor = max(floor, d.Block.Height)
			}
		}
	}
	blocks := 0
	for from := floor + 1; from <= tip; blocks++ {
		b, err := f.net.Chain().Next(f.t.Context(), from)
		if err != nil {
			f.t.Error(err)
			return 0
		}
		from = b.Height + 1
	}
	return blocks
}
