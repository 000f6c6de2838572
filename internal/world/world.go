package world

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/family/sim"
	"ferry/internal/house"
	"ferry/internal/order"
)

// Bounds of a world's life, in its own time.
const (
	workers   = 2
	orderGap  = 4 * time.Second // between two new orders, on average
	calmLimit = 12 * time.Hour  // by when everything must have come to an end
)

// world is one seeded history.
type world struct {
	ctx  context.Context
	cfg  Config
	plan planned
	r    *rand.Rand // chance of the world: users, chains, workers
	h    *house.House
	aud  *house.Auditor
	desk *daemon.Daemon // where users create orders and say things

	now     time.Time
	agenda  agenda
	due     map[chain.ID]time.Time // of the next block
	liar    map[chain.ID]bool      // where one of the nodes lies
	workers []*worker
	clients []*client
	unsure  []order.ID // orders that may have been made: the answer was lost
	broken  error      // something that must never happen
	calm    bool
	busy    int // appointments of users that are still to come

	out   outcome
	trace hash.Hash
	feed  int64
}

// live runs one world from its seed to its end.
func live(ctx context.Context, cfg Config, p planned) (o outcome) {
	w := &world{
		ctx: context.WithoutCancel(ctx), cfg: cfg, plan: p, r: rand.New(rand.NewPCG(p.seed, 1)),
		now: house.Start.Add(time.Hour), due: map[chain.ID]time.Time{}, liar: map[chain.ID]bool{}, trace: sha256.New(),
	}
	w.out = outcome{seed: p.seed, planned: p.orders, endings: map[string]int{}, faults: map[string]int{}, steps: map[string]int{}, conservation: map[string]string{}}
	func() {
		defer func() {
			if p := recover(); p != nil {
				w.out.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		w.out.err = w.run(ctx)
	}()
	w.out.trace = w.trace.Sum(nil)
	return w.out
}

func (w *world) run(ctx context.Context) (err error) {
	url := ""
	if w.cfg.Open != nil {
		if url, err = w.cfg.Open(ctx, w.plan.seed); err != nil {
			return err
		}
	}
	w.h, err = house.New(w.ctx, house.Options{URL: url, Seed: w.plan.seed, Poor: []chain.Asset{house.SOLUSD}, Sweep: true, Pools: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.h.Close()) }()
	w.aud = house.NewAuditor(w.h)
	if err := w.begin(); err != nil {
		return err
	}
	for !w.quiet() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := w.tick(); err != nil {
			return err
		}
	}
	if err := w.becalm(ctx); err != nil {
		return err
	}
	return w.judge()
}

// begin builds the desk and the workers and plans the orders.
func (w *world) begin() (err error) {
	if w.desk, err = w.h.Daemon(w.ctx, w.deskFault); err != nil {
		return err
	}
	for _, n := range w.h.Nets {
		w.due[n.ID()] = w.now.Add(n.Config().BlockTime)
		n.SetHook(w.nodeFault(n.ID()))
	}
	for i := range workers {
		w.workers = append(w.workers, start(w.ctx, i, w.h, w.clock, w.callFault))
	}
	calm := w.calm
	w.calm = true // the first look at every chain is undisturbed: nobody could have paid yet
	w.runAll()
	w.calm = calm || w.cfg.Calm
	at := w.now
	for i := range w.plan.orders {
		at = at.Add(time.Duration(w.r.Int64N(int64(2 * orderGap))))
		w.appoint(at, func() { w.newClient(i, 0) })
	}
	return nil
}

func (w *world) clock() time.Time { return w.now }

// appoint plans something that a user will do.
func (w *world) appoint(at time.Time, do func()) {
	w.busy++
	w.agenda.at(at, func() { w.busy--; do() })
}

// quiet reports whether the users are done and the wild time is over.
func (w *world) quiet() bool {
	return w.busy == 0
}

// note writes something into the trace.
func (w *world) note(format string, args ...any) { fmt.Fprintf(w.trace, format+"\n", args...) }

// chance is true once in n times.
func (w *world) chance(n int) bool { return w.r.IntN(n) == 0 }

// count counts a fault.
func (w *world) count(kind string) { w.out.faults[kind]++ }

// tick lets some time pass: blocks are made, users act, things fail, workers work.
func (w *world) tick() error {
	w.now = w.now.Add(time.Second + time.Duration(w.r.Int64N(int64(15*time.Second))))
	w.mine()
	w.agenda.run(w.now)
	if !w.calm {
		w.mischief()
	}
	w.labour()
	if w.broken != nil {
		return w.broken
	}
	if w.chance(150) {
		return w.audit(false)
	}
	return nil
}

// mine makes the blocks that are due.
func (w *world) mine() {
	for _, n := range w.h.Nets {
		for !w.due[n.ID()].After(w.now) {
			n.Tick(w.due[n.ID()])
			b := n.Mine(1)
			every := n.Config().BlockTime
			w.due[n.ID()] = w.due[n.ID()].Add(every/2 + time.Duration(w.r.Int64N(int64(every))))
			w.note("%s %d %s", n.ID(), b.Height, b.Hash)
		}
	}
}

// labour lets the workers make some of their calls.
func (w *world) labour() {
	for i := range w.workers {
		if w.workers[i].sleeps.After(w.now) {
			continue
		}
		for range w.r.IntN(800) {
			if w.one(i) == idle && w.chance(2) {
				break
			}
		}
	}
}

// runAll lets every worker finish a pass.
func (w *world) runAll() {
	for i := range w.workers {
		for w.one(i) != idle {
		}
	}
}

// one lets a worker go to its next crossing; a worker that died is started anew.
func (w *world) one(i int) string {
	c, alive := w.workers[i].resume()
	if !alive {
		w.workers[i] = start(w.ctx, i, w.h, w.clock, w.callFault)
		return idle
	}
	w.note("%d %s %s %v", i, c.Room, c.Name, c.After)
	if !w.calm && c.Name != idle && w.chance(3000) {
		w.workers[i].kill()
		w.out.crashes++
		w.workers[i] = start(w.ctx, i, w.h, w.clock, w.callFault)
		return idle
	}
	return c.Name
}

// audit compares the books with the chains, in the middle of everything.
func (w *world) audit(strict bool) error {
	f, err := w.aud.Audit(w.ctx, strict)
	if err != nil {
		return err
	}
	w.out.doublePayments = max(w.out.doublePayments, f.DoublePayments)
	w.out.drift = max(w.out.drift, f.Drift)
	if strict {
		w.out.entries = f.Entries
	}
	for asset, n := range f.Conservation {
		w.out.conservation[asset.String()] = n.String()
	}
	if err := f.Err(); err != nil {
		return fmt.Errorf("at %s: %w", w.now.Format(time.DateTime), err)
	}
	return nil
}

// becalm ends all faults and lets time pass until nothing is on its way.
func (w *world) becalm(ctx context.Context) error {
	w.calm = true
	for _, n := range w.h.Nets {
		n.SetHook(nil)
		for i := range n.Config().Nodes {
			n.Node(i).Heal()
		}
		n.Resume()
		n.SetFees(n.Config().MinFee)
	}
	for i := range w.workers {
		w.workers[i].sleeps, w.workers[i].skew = time.Time{}, 0
	}
	if err := w.topUp(); err != nil {
		return err
	}
	for end := w.now.Add(calmLimit); w.now.Before(end); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := errors.Join(w.resumeChains(), w.payAgain()); err != nil {
			return err
		}
		w.now = w.now.Add(30 * time.Second)
		w.mine()
		w.agenda.run(w.now)
		w.runAll()
		w.runAll() // the pass that each was in may have begun before the blocks were made
		if w.chance(8) {
			if done, err := w.over(); done || err != nil {
				return err
			}
		}
	}
	return nil
}

// topUp fills the wallets of which there was little, on the chain and in the books.
func (w *world) topUp() error {
	for _, n := range w.h.Nets {
		for _, a := range w.h.Assets {
			if a.Chain != n.ID() || n.Shape() == sim.Coins {
				continue
			}
			if err := n.Faucet(n.Own(order.HotWallet), a, plenty); err != nil {
				return err
			}
			if err := w.h.DB.Fund(w.ctx, a, plenty, w.now); err != nil {
				return err
			}
		}
		n.Tick(w.now)
		n.Mine(1 + n.Config().FinalDepth) // the books believe it
	}
	return nil
}

// payAgain offers the deposits again on which the sweeps rest that are on their way. A
// sweep of coins that are gone for good waits for ever, and no machine may say that
// they will never come back.
func (w *world) payAgain() error {
	for _, n := range w.h.Nets {
		if n.Shape() != sim.Coins {
			continue
		}
		jobs, err := w.h.DB.Live(w.ctx, n.ID(), order.HotWallet)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			for _, s := range j.Transfer.Call.Sources {
				for _, d := range s.Deposits {
					n.PayAgain(d)
				}
			}
		}
	}
	return nil
}

// resumeChains lifts halts, as an operator does who has looked.
func (w *world) resumeChains() error {
	for _, n := range w.h.Nets {
		why, err := w.h.DB.Halted(w.ctx, n.ID())
		if err != nil {
			return err
		}
		if why != "" {
			w.note("resume %s", n.ID())
			if err := w.h.DB.Resume(w.ctx, n.ID()); err != nil {
				return err
			}
		}
	}
	return nil
}
