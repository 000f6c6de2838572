package house

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/family/sim"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// Cut kills the daemon at one crossing of a story: the N-th of those that match.
// The zero cut never comes.
type Cut struct {
	Room  string
	After bool
	N     int
}

// errCut is what a daemon sees that was killed.
var errCut = errors.New("house: the daemon was killed here")

// Tale is a story told on a house: what users and chains do, with the daemon
// stepped in between and audited after every step. The first trouble ends it: verbs are
// called inside Run.
type Tale struct {
	*House
	Auditor *Auditor
	Now     time.Time
	// Crossings counts how often the daemon crossed, by room.
	Crossings map[string]int
	// Names are what it crossed for, by room.
	Names map[string][]string
	// WasCut says whether the cut has come.
	WasCut bool

	ctx    context.Context
	cut    Cut
	killed bool
	moved  bool // something did in this pass
	daemon *daemon.Daemon
	seq    int
}

// Tell begins a tale.
func Tell(ctx context.Context, o Options, cut Cut) (*Tale, error) {
	h, err := New(ctx, o)
	if err != nil {
		return nil, err
	}
	t := &Tale{House: h, Auditor: NewAuditor(h), Now: Start.Add(time.Hour), ctx: ctx, cut: cut, Crossings: map[string]int{}, Names: map[string][]string{}}
	if err := t.restart(); err != nil {
		return t, err
	}
	return t, t.Run((*Tale).Step) // the watchers find their feet before anybody pays
}

// endOfTale is how the first trouble leaves a story.
type endOfTale struct{ err error }

// Run tells a story and returns the first trouble in it.
func (t *Tale) Run(story func(*Tale)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			end, ok := p.(endOfTale)
			if !ok {
				panic(p)
			}
			err = end.err
		}
	}()
	story(t)
	return nil
}

// fail ends the tale where there is trouble.
func (t *Tale) fail(err error) {
	if err != nil {
		panic(endOfTale{err})
	}
}

// hook counts the crossings and kills the daemon at the cut.
func (t *Tale) hook(c Crossing) error {
	if !c.After {
		t.Crossings[c.Room]++
		t.Names[c.Room] = append(t.Names[c.Room], c.Name)
	}
	if t.killed {
		return errCut
	}
	t.moved = t.moved || c.moves()
	if !t.WasCut && t.cut.N > 0 && c.Room == t.cut.Room && c.After == t.cut.After && t.Crossings[c.Room] == t.cut.N {
		t.WasCut, t.killed = true, true
		return errCut
	}
	return nil
}

// restart builds the daemon anew, as after a crash.
func (t *Tale) restart() error {
	for {
		t.killed = false
		d, err := t.Daemon(t.ctx, t.hook)
		if t.killed {
			continue
		}
		t.daemon = d
		return err
	}
}

// Step lets the daemon work until it has nothing more to do for now, and audits.
// A daemon that was killed is started again and goes on.
func (t *Tale) Step() {
	for i := 0; i < 2 || len(t.Pools) > 0 && t.moved && i < maxPasses; i++ {
		t.moved = false
		t.pass()
	}
	if t.cut.N > 0 && !t.WasCut {
		return // up to its cut a story is the one that was audited uncut
	}
	f, err := t.Auditor.Audit(t.ctx, false)
	if err == nil {
		err = f.Err()
	}
	if err != nil {
		t.fail(fmt.Errorf("at %s: %w", t.Now.Format(time.TimeOnly), err))
	}
}

// maxPasses is how many passes it takes from the end of a step's transaction to the wish
// of the next; what happens without steps happens in two.
const maxPasses = 6

func (t *Tale) pass() {
	for {
		err := t.daemon.Step(t.ctx, func() time.Time { return t.Now })
		if !t.killed {
			t.fail(err)
			return
		}
		t.again()
	}
}

// again starts a killed daemon after the time that its leases take to run out.
func (t *Tale) again() {
	t.Now = t.Now.Add(Settling().Lease + time.Second)
	t.fail(t.restart())
}

// Wait lets time pass on all chains: k blocks on each, then a step.
func (t *Tale) Wait(d time.Duration, k int) {
	t.Now = t.Now.Add(d)
	for _, n := range t.Nets {
		n.Tick(t.Now)
		n.Mine(k)
	}
	t.Step()
}

// Mine makes k blocks on one chain, then steps.
func (t *Tale) Mine(id chain.ID, k int) {
	n := t.Net(id)
	t.Now = t.Now.Add(time.Duration(k) * n.Config().BlockTime)
	n.Tick(t.Now)
	n.Mine(k)
	t.Step()
}

// Reorg orphans the newest blocks of a chain, then steps.
func (t *Tale) Reorg(id chain.ID, depth int, o sim.ReorgOptions) {
	_, err := t.Net(id).Reorg(depth, o)
	t.fail(err)
	t.Step()
}

// Terms of a new order in a tale.
type Terms struct {
	Give, Get  chain.Asset
	In         uint64
	Back       bool // a refund address is given
	FeePercent money.Percent
	Change     func(*quote.Quote)
	Pools      bool // it goes through pools
}

// Create makes an order.
func (t *Tale) Create(w Terms) order.ID {
	t.seq++
	id := order.ID(fmt.Sprintf("ord_%02d", t.seq))
	q, err := t.House.Terms(quote.ID("quo_"+string(id)), w.Give, w.Get, money.FromUint64(w.In), t.Now)
	t.fail(err)
	if w.FeePercent > 0 {
		q.Integrator, q.Fee = "int_1", &quote.Fee{Percent: w.FeePercent, PayTo: t.Net(w.Give.Chain).User("integrator")}
	}
	if w.Pools {
		t.fail(t.Through(t.ctx, &q, t.Now))
	}
	if w.Change != nil {
		w.Change(&q)
	}
	var back chain.Address
	if w.Back {
		back = t.Net(w.Give.Chain).User("back-" + string(id))
	}
	ask := t.Ask(id, q, t.Net(w.Get.Chain).User("recipient-"+string(id)), back)
	for {
		_, err = t.daemon.Settler.Create(t.ctx, ask, t.Now)
		if !t.killed {
			break
		}
		// Whoever asked does not know whether the order was made, and looks.
		t.again()
		if _, err = t.DB.Order(t.ctx, id); err == nil {
			break
		}
	}
	t.fail(err)
	return id
}

// Order reads an order.
func (t *Tale) Order(id order.ID) order.Order {
	o, err := t.DB.Order(t.ctx, id)
	t.fail(err)
	return o
}

// Pay sends an amount of an asset to an order's address; it is in the mempool.
func (t *Tale) Pay(id order.ID, a chain.Asset, n uint64) chain.TxID {
	tx, err := t.Net(a.Chain).Send(sim.Payment{
		From: "payer-" + string(id),
		Outs: []sim.Out{{To: t.Order(id).DepositTo, Asset: a, Amount: money.FromUint64(n)}},
	})
	t.fail(err)
	return tx
}

// Say tells an order something, as its owner or an operator does.
func (t *Tale) Say(id order.ID, ev order.Event) error {
	for {
		_, err := t.daemon.Settler.Tell(t.ctx, id, ev, t.Now)
		if !t.killed {
			return err
		}
		t.again()
	}
}

// MustSay is Say that ends the tale where it is refused.
func (t *Tale) MustSay(id order.ID, ev order.Event) { t.fail(t.Say(id, ev)) }

// MustBe ends the tale unless the order is in that state.
func (t *Tale) MustBe(id order.ID, want order.State) {
	if o := t.Order(id); o.State != want {
		t.fail(fmt.Errorf("order %s is %s, not %s (hold %q, failure %q)", id, o.State, want, o.Hold.Why, o.Failure))
	}
}

// MustHave ends the tale unless an address has that much.
func (t *Tale) MustHave(a chain.Address, asset chain.Asset, n money.Amount) {
	if got := t.Net(asset.Chain).Balance(a, asset); got != n {
		t.fail(fmt.Errorf("%s has %s of %s, not %s", a.Text(), got, asset, n))
	}
}

// Must ends the tale with a sentence unless ok.
func (t *Tale) Must(ok bool, format string, args ...any) {
	if !ok {
		t.fail(fmt.Errorf(format, args...))
	}
}

// Quiet lets time pass until nothing is on its way, and audits strictly.
func (t *Tale) Quiet() {
	for range 12 {
		t.Wait(2*time.Minute, 9)
		if f, err := t.Auditor.Audit(t.ctx, true); err == nil && f.Err() == nil && t.idle() {
			return
		}
	}
	f, err := t.Auditor.Audit(t.ctx, true)
	t.fail(errors.Join(err, f.Err()))
	t.Must(t.idle(), "something is still on its way")
}

// idle reports whether no transfer is open and no fee waits.
func (t *Tale) idle() bool {
	for _, n := range t.Nets {
		jobs, err := t.DB.Live(t.ctx, n.ID(), order.HotWallet)
		t.fail(err)
		if len(jobs) > 0 {
			return false
		}
	}
	return true
}
