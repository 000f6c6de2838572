package world

import (
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/house"
	"ferry/internal/money"
)

// plenty is what an operator adds to a wallet that runs low.
var plenty = money.FromUint64(500_000_000_000_000)

// mischief is what chains, machines and operators do by themselves.
func (w *world) mischief() {
	for _, n := range w.h.Nets {
		w.chainMischief(n)
	}
	w.workerMischief()
	if w.chance(120) { // an operator looks at what was halted
		w.count("operator_resume")
		_ = w.resumeChains() // what fails is done again by the next look
	}
	if w.chance(4000) {
		w.count("operator_halt")
		n := w.h.Nets[w.r.IntN(len(w.h.Nets))]
		_ = w.h.DB.Halt(w.ctx, n.ID(), "an operator wants to look", w.now)
	}
}

func (w *world) chainMischief(n *sim.Net) {
	final := n.Config().FinalDepth
	switch {
	case w.chance(70):
		w.reorg(n, 1+w.r.IntN(2))
	case w.chance(400):
		w.reorg(n, 1+w.r.IntN(final))
	case w.chance(3000) && n.Shape() != sim.Expiring:
		w.reorg(n, final+1+w.r.IntN(4))
	}
	switch {
	case w.chance(300):
		w.count("evict")
		n.EvictAll()
	case w.chance(500):
		w.count("fee_spike")
		n.SetFees(times(n.Config().MinFee, uint64(2+w.r.IntN(12))))
		w.agenda.at(w.soon(20*time.Minute), func() { n.SetFees(n.Config().MinFee) })
	case w.chance(1500):
		w.count("chain_halt")
		n.Halt()
		w.agenda.at(w.soon(15*time.Minute), n.Resume)
	case w.chance(400) && n.Shape() == sim.Expiring:
		w.count("skipped_slots")
		_ = n.Skip(uint64(1 + w.r.IntN(5)))
	}
	if w.chance(200) {
		w.nodeMischief(n)
	}
	if w.chance(60) {
		w.push(n)
	}
}

// ills are what one node of a chain has for a while, while the others only flicker.
var ills = []struct {
	name string
	f    sim.Fault
}{
	{"lie", sim.Fault{Kind: sim.Lying, Lie: sim.AllLies}},
	{"lie_forge", sim.Fault{Kind: sim.Lying, Lie: sim.Forge}},
	{"lie_fate", sim.Fault{Kind: sim.Lying, Lie: sim.NotFound | sim.FakeFinal}},
	{"stale_node", sim.Fault{Kind: sim.Stale, Blocks: 4}},
	{"partition", sim.Fault{Kind: sim.Partition}},
	{"eclipse", sim.Fault{Kind: sim.Lying, Lie: sim.AllLies}}, // and the others cannot be reached
}

func (w *world) nodeMischief(n *sim.Net) {
	bad, ill := w.r.IntN(n.Config().Nodes), ills[w.r.IntN(len(ills))]
	w.count(ill.name)
	for i := range n.Config().Nodes {
		switch {
		case i == bad:
			n.Node(i).Set(ill.f)
		case ill.name == "eclipse":
			n.Node(i).Set(sim.Fault{Kind: sim.Partition})
		default:
			n.Node(i).Heal()
		}
	}
	w.liar[n.ID()] = ill.f.Kind == sim.Lying
	w.agenda.at(w.soon(5*time.Minute), func() {
		for i := range n.Config().Nodes {
			n.Node(i).Heal()
		}
	})
}

func (w *world) soon(d time.Duration) time.Time {
	return w.now.Add(time.Duration(w.r.Int64N(int64(d))))
}

func times(a money.Amount, n uint64) money.Amount {
	v, err := a.MulDiv(money.FromUint64(n), money.FromUint64(1), money.Down)
	if err != nil {
		return a
	}
	return v
}

func (w *world) reorg(n *sim.Net, depth int) {
	deep := depth > n.Config().FinalDepth
	if deep && w.swapped(n, depth) {
		return
	}
	o := sim.ReorgOptions{Empty: w.chance(3), DropAll: w.chance(6) || deep && w.chance(2), Extra: w.r.IntN(2)}
	if _, err := n.Reorg(depth, o); err != nil {
		return
	}
	w.out.reorgs++
	if deep {
		w.out.deepReorgs++
	}
	w.note("reorg %s %d", n.ID(), depth)
}

func (w *world) workerMischief() {
	for _, x := range w.workers {
		switch {
		case w.chance(150): // long past any lease
			w.count("pause")
			x.sleeps = w.now.Add(time.Duration(10+w.r.IntN(300)) * time.Second)
		case w.chance(600):
			w.count("clock_step")
			x.skew = time.Duration(w.r.Int64N(int64(2*time.Hour))) - time.Hour
			w.agenda.at(w.soon(3*time.Minute), func() { x.skew = 0 })
		}
	}
}

// nodeFault makes single calls to single nodes fail.
func (w *world) nodeFault(id chain.ID) sim.Hook {
	kinds := []struct {
		name string
		f    sim.Fault
	}{
		{"fail_before", sim.Fault{Kind: sim.FailBefore}},
		{"fail_after", sim.Fault{Kind: sim.FailAfter}},
		{"delay", sim.Fault{Kind: sim.Timeout}},
		{"duplicate", sim.Fault{Kind: sim.Duplicate}},
		{"reorder", sim.Fault{Kind: sim.Reorder}},
		{"stale", sim.Fault{Kind: sim.Stale, Blocks: 2}},
	}
	return func(int, string) sim.Fault {
		if w.calm || !w.chance(60) {
			return sim.Fault{}
		}
		k := kinds[w.r.IntN(len(kinds))]
		if k.f.Kind == sim.Stale && w.liar[id] {
			// Two of three that say what is not so are beyond what a quorum of two bears.
			return sim.Fault{}
		}
		w.count(k.name)
		return k.f
	}
}

// callFault makes calls of a worker fail: a disk that is full, a commit whose
// answer is lost, a database that is slow, a chain that does not answer.
func (w *world) callFault(_ *worker, c house.Crossing) error {
	if w.calm {
		return nil
	}
	switch {
	case c.Writes() && !c.After && w.chance(1500):
		w.count("disk_full")
		return errDisk
	case c.Room == "store" && c.After && w.chance(1500):
		w.count("commit_unknown")
		return errLost
	case c.Room == "store" && !c.After && w.chance(2000):
		w.count("slow_database")
		w.now = w.now.Add(time.Duration(w.r.IntN(20)) * time.Second)
	case c.Room == "chain" && c.Name == "Broadcast" && c.After && w.chance(30):
		w.count("broadcast_answer_lost")
		return errLost
	}
	return nil
}

// deskFault is callFault for the process where users are served.
func (w *world) deskFault(c house.Crossing) error { return w.callFault(nil, c) }
