package settle_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ferry/internal/chain"
	"ferry/internal/house"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/settle"
	"ferry/internal/store"
	"ferry/internal/testseed"
)

// fates are what may happen to an order, as it truly happened.
var fates = []struct {
	ends      order.State
	facts     func(o order.Order) []order.Event
	happened  []string // by name, once each, with what the settlers find out
	transfers []string
}{
	{
		order.Completed, func(o order.Order) []order.Event {
			return []order.Event{seen(o, 1), final(o, 1), order.PayoutFinal{Landed: landed(o, "payout")}}
		},
		[]string{"created", "deposit_seen", "deposit_final", "payout_final"},
		[]string{"payout"},
	},
	{
		order.Completed, func(o order.Order) []order.Event { // a payment that flickers
			d := deposit(o)
			return []order.Event{
				seen(o, 1),
				order.DepositGone{Deposit: d, Sighting: 1},
				seen(o, 2),
				order.DepositGone{Deposit: d, Sighting: 2},
				final(o, 3),
				order.PayoutFinal{Landed: landed(o, "payout")},
			}
		},
		[]string{"created", "deposit_seen", "deposit_gone", "deposit_seen", "deposit_gone", "deposit_final", "payout_final"},
		[]string{"payout"},
	},
	{
		order.Refunded, func(o order.Order) []order.Event {
			return []order.Event{
				final(o, 1), order.PayoutFailed{Why: "no", Landed: landed(o, "payout")}, order.RefundFinal{Landed: landed(o, "refund")},
			}
		},
		[]string{"created", "deposit_final", "payout_failed", "refund_priced", "refund_final"},
		[]string{"payout", "refund"},
	},
	{
		order.Completed, func(o order.Order) []order.Event {
			return []order.Event{
				order.Stopped{Request: "s", Why: order.ScreeningHold},
				final(o, 1),
				order.Lifted{Request: "l"},
				order.PayoutFinal{Landed: landed(o, "payout")},
			}
		},
		[]string{"created", "stopped", "deposit_final", "lifted", "payout_final"},
		[]string{"payout"},
	},
	{
		order.Expired, func(order.Order) []order.Event { return []order.Event{order.Cancelled{}} },
		[]string{"created", "cancelled"},
		nil,
	},
}

// rivals are lies about how a transfer ended, told after the truth.
func rivals(o order.Order) []order.Event {
	return []order.Event{order.PayoutFinal{Landed: landed(o, "other")}, order.PayoutFailed{Why: "late", Landed: landed(o, "other")}}
}

// thread is an order whose facts are told by many.
type thread struct {
	o     order.Order
	facts []order.Event
	done  atomic.Int64 // how many of them are known to have been applied
}

const (
	threads = 200
	tellers = 16
)

// TestTwoSettlersMoveEveryOrderOnce tells two hundred orders what happened to
// them from sixteen goroutines, over and over, while both settlers work.
func TestTwoSettlersMoveEveryOrderOnce(t *testing.T) {
	t.Parallel()
	seed := testseed.Of(t)
	eachStore(t, func(t *testing.T, r *rig) {
		all := make([]*thread, threads)
		for i := range all {
			o := r.create()
			all[i] = &thread{o: o, facts: fates[i%len(fates)].facts(o)}
		}
		var clock atomic.Int64
		now := func() time.Time { return begin.Add(time.Duration(clock.Add(1)) * time.Millisecond) }
		var left atomic.Int64
		left.Store(threads)
		var tell, step sync.WaitGroup
		for n := range tellers {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			tell.Go(func() {
				for left.Load() > 0 && !t.Failed() {
					if r.tellOne(all[rng.IntN(threads)], rng, now()) {
						left.Add(-1)
					}
				}
			})
		}
		for _, s := range []*settle.Settler{r.a, r.b} {
			step.Go(func() {
				for left.Load() > 0 && !t.Failed() {
					if err := s.Step(t.Context(), now()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		tell.Wait()
		step.Wait()
		for r.work() > 0 && !t.Failed() {
			r.must(r.a.Step(t.Context(), now()))
		}
		r.checkThreads(all)
	})
}

// tellOne tells an order its next fact, or again one that it knows, or a rival of
// one. It reports whether that was the last one to be told.
func (r *rig) tellOne(th *thread, rng *rand.Rand, now time.Time) bool {
	s := []*settle.Settler{r.a, r.b}[rng.IntN(2)]
	next := int(th.done.Load())
	pick := rng.IntN(2 * (next + 1))
	paid := slices.ContainsFunc(th.facts[:next], func(ev order.Event) bool { return strings.HasPrefix(ev.Name(), "payout") })
	switch {
	case pick < next: // a fact that was applied is no error, whatever came since
		if _, err := s.Tell(r.t.Context(), th.o.ID, th.facts[pick], now); err != nil {
			r.t.Errorf("told again: %v", err)
		}
	case paid && rng.IntN(4) == 0: // a rival of what is known changes nothing
		if _, err := s.Tell(r.t.Context(), th.o.ID, rivals(th.o)[rng.IntN(2)], now); err != nil {
			r.t.Errorf("a rival: %v", err)
		}
	case next < len(th.facts):
		ev := th.facts[next]
		_, err := s.Tell(r.t.Context(), th.o.ID, ev, now)
		var turn *order.OutOfTurn
		if _, waits := ev.(order.RefundFinal); waits && errors.As(err, &turn) {
			return false // a settler has to price and wish it first
		}
		if err != nil {
			r.t.Error(err)
		}
		return th.done.CompareAndSwap(int64(next), int64(next+1)) && next+1 == len(th.facts)
	}
	return false
}

func (r *rig) checkThreads(all []*thread) {
	r.t.Helper()
	moves, wished := 0, 0
	transfers := r.transfers()
	for i, th := range all {
		want := fates[i%len(fates)]
		if o := r.order(th.o.ID); o.State != want.ends {
			r.t.Errorf("order %s is %s, not %s", o.ID, o.State, want.ends)
		}
		if diff := cmp.Diff(want.happened, r.checkHistory(th.o.ID)); diff != "" {
			r.t.Errorf("order %s: %s", th.o.ID, diff)
		}
		for _, kind := range want.transfers {
			if _, ok := transfers[send.ID(string(th.o.ID)+"/"+kind)]; !ok {
				r.t.Errorf("order %s: its %s was not wished", th.o.ID, kind)
			}
		}
		moves, wished = moves+len(want.happened), wished+len(want.transfers)
	}
	if head := r.checkFeed(); head != int64(moves) || len(transfers) != wished {
		r.t.Errorf("the feed has %d entries for %d moves, and %d transfers were wished, not %d", head, moves, len(transfers), wished)
	}
	books, err := r.DB.Books(r.t.Context())
	r.must(err)
	if len(books.Reservations) != 0 {
		r.t.Errorf("reserved for orders that have ended: %v", books.Reservations)
	}
}

// errands are the kinds of work, each with how it is left to be done and what
// shows that it was done.
var errands = []struct {
	name  string
	leave func(*rig) order.Order
	done  func(*rig, order.Order) bool
}{
	{
		"a wish",
		func(r *rig) order.Order { o := r.create(); return r.tell(o, final(o, 1), begin) },
		func(r *rig, o order.Order) bool { return len(r.transfers()) == 1 && r.order(o.ID).Version == o.Version },
	},
	{
		"a transfer that ended",
		func(r *rig) order.Order {
			o := r.create()
			o = r.tell(o, final(o, 1), begin)
			r.must(r.b.Step(r.t.Context(), begin))
			r.must(r.DB.End(r.t.Context(), send.ID(o.ID+"/payout"), send.Result{Fate: chain.Final, Tx: "tx", Block: chain.Block{Height: 1, Hash: "h"}}, begin))
			return o
		},
		func(r *rig, o order.Order) bool {
			now := r.order(o.ID)
			return now.State == order.Completed && now.Version == o.Version+1
		},
	},
	{
		"a price",
		func(r *rig) order.Order {
			o := r.create()
			o = r.tell(o, final(o, 1), begin)
			r.must(r.b.Step(r.t.Context(), begin))
			return r.tell(o, order.PayoutFailed{Why: "no"}, begin)
		},
		func(r *rig, o order.Order) bool { // priced, and then wished
			now := r.order(o.ID)
			return now.Refund.State == order.OutWished && now.Version == o.Version+1 && len(r.transfers()) == 2
		},
	},
}

func TestWorkOfAWorkerThatNeverReturnsIsTakenAgainAndDoneOnce(t *testing.T) {
	t.Parallel()
	lease := house.Settling().Lease
	for _, e := range errands {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			eachStore(t, func(t *testing.T, r *rig) {
				o := e.leave(r)
				taken, err := r.other.TakeWork(t.Context(), begin, lease, 10)
				if r.must(err); len(taken) != 1 {
					t.Fatalf("took %v", taken)
				}
				r.must(r.a.Step(t.Context(), begin.Add(lease-time.Millisecond)))
				if e.done(r, o) {
					t.Fatal("it was done by another while it was leased")
				}
				for range 3 { // what it leads to is done too, and nothing twice
					r.must(r.a.Step(t.Context(), begin.Add(lease)))
					r.must(r.b.Step(t.Context(), begin.Add(lease)))
				}
				if !e.done(r, o) || r.work() != 0 {
					t.Errorf("order is %+v with %d pieces of work left", r.order(o.ID), r.work())
				}
				r.checkHistory(o.ID)
				r.checkFeed()
			})
		})
	}
}

// TestASettlerThatSleptPastItsLeaseDoesNothingTwice stops a settler before every
// one of its calls until its lease is over and the other one has done everything.
func TestASettlerThatSleptPastItsLeaseDoesNothingTwice(t *testing.T) {
	t.Parallel()
	late := begin.Add(house.Settling().Lease + time.Second)
	for _, e := range errands {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			calls := 1
			for n := 1; n <= calls; n++ {
				r := newRig(t, "", house.Settling())
				o := e.leave(r)
				made := 0
				r.onA = func(string) {
					if made++; made == n {
						r.Net(house.EVM).SetFees(money.FromUint64(50)) // what was priced before is dearer now
						for range 3 {
							r.must(r.b.Step(t.Context(), late))
						}
					}
				}
				r.must(r.a.Step(t.Context(), begin))
				calls = max(calls, made)
				for range 3 {
					r.must(r.a.Step(t.Context(), late.Add(time.Hour/2)))
				}
				if !e.done(r, o) || r.work() != 0 {
					t.Fatalf("stopped before call %d: order is %+v with %d pieces of work left", n, r.order(o.ID), r.work())
				}
				r.checkHistory(o.ID)
				r.checkFeed()
			}
			if calls < 4 {
				t.Errorf("the settler made only %d calls", calls)
			}
		})
	}
}

// TestAClockThatIsSteppedMovesNothingTwice runs the whole house with a clock that
// goes an hour forth and back between steps. Orders may end in other ways than
// with a steady clock; they end once, and the books agree with the chains.
func TestAClockThatIsSteppedMovesNothingTwice(t *testing.T) {
	t.Parallel()
	seed := testseed.Of(t)
	for n := range uint64(4) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, n))
			r := newRig(t, "", house.Settling())
			d, err := r.Daemon(t.Context(), func(house.Crossing) error { return nil })
			r.must(err)
			auditor := house.NewAuditor(r.House)
			now := begin
			step := func(at time.Time) {
				t.Helper()
				r.must(d.Step(t.Context(), func() time.Time { return at }))
				f, err := auditor.Audit(t.Context(), false)
				r.must(errors.Join(err, f.Err()))
			}
			step(now)
			for range 40 {
				if rng.IntN(3) == 0 && r.made < 12 {
					o := r.create()
					if rng.IntN(6) > 0 {
						r.Net(house.EVM).Pay("payer", o.DepositTo, o.Quote.Give, o.Quote.In)
					}
				}
				now = now.Add(20 * time.Second)
				for _, n := range r.Nets {
					n.Tick(now)
					n.Mine(rng.IntN(3))
				}
				step(now.Add(time.Duration(rng.IntN(3)-1) * time.Hour))
			}
			for range 30 {
				now = now.Add(10 * time.Minute)
				for _, n := range r.Nets {
					n.Tick(now)
					n.Mine(5)
				}
				step(now)
			}
			f, err := auditor.Audit(t.Context(), true)
			r.must(errors.Join(err, f.Err()))
			for i := range r.made {
				id := order.ID(fmt.Sprintf("ord_%04d", i+1))
				r.checkHistory(id)
				if o := r.order(id); !o.State.Finished() && o.State != order.Held {
					t.Errorf("order %s is %s", id, o.State)
				}
			}
			r.checkFeed()
		})
	}
}

func TestTheCapPerHourPutsAPayoutOff(t *testing.T) {
	t.Parallel()
	cfg := house.Settling()
	cfg.PerHour = 250 * money.Dollar // two payouts of some hundred dollars
	r := newRig(t, "", cfg)
	for range 5 {
		o := r.create()
		r.tell(o, final(o, 1), begin)
	}
	for _, c := range []struct {
		after  time.Duration
		wished int
	}{{0, 2}, {30 * time.Minute, 2}, {59 * time.Minute, 2}, {62 * time.Minute, 4}, {100 * time.Minute, 4}, {125 * time.Minute, 5}} {
		for range 2 {
			r.must(r.a.Step(t.Context(), begin.Add(c.after)))
			r.must(r.b.Step(t.Context(), begin.Add(c.after)))
		}
		if got := len(r.transfers()); got != c.wished {
			t.Errorf("after %s %d payouts are wished, not %d", c.after, got, c.wished)
		}
	}
	for i := range r.made {
		if o := r.order(order.ID(fmt.Sprintf("ord_%04d", i+1))); o.State != order.Sending || o.Failure != "" {
			t.Errorf("order %s is %s (%s)", o.ID, o.State, o.Failure)
		}
	}
	if r.work() != 0 {
		t.Errorf("%d pieces of work are left", r.work())
	}
}

func TestAPayoutAboveTheCapPerPaymentIsNeverWished(t *testing.T) {
	t.Parallel()
	cfg := house.Settling()
	cfg.PerPayment = 99 * money.Dollar // a hundred dollars less one percent are paid
	r := newRig(t, "", cfg)
	within, above := r.createFor(99_000_000), r.createFor(101_000_000)
	r.tell(within, final(within, 1), begin)
	r.tell(above, final(above, 1), begin)
	for i := range 100 {
		r.must(r.a.Step(t.Context(), begin.Add(time.Duration(i)*30*time.Minute)))
	}
	all := r.transfers()
	if _, ok := all[send.ID(within.ID+"/payout")]; !ok || len(all) != 1 {
		t.Errorf("wished: %v", all)
	}
	if o := r.order(above.ID); o.State != order.Sending || !o.Delayed || r.work() != 1 {
		t.Errorf("order is %s, delayed %t, with %d pieces of work", o.State, o.Delayed, r.work())
	}
	queue, err := r.DB.Queue(t.Context(), 10)
	r.must(err)
	if !slices.ContainsFunc(queue, func(q store.Question) bool { return q.Order == above.ID }) {
		t.Error("nobody was asked")
	}
}

func TestASettlerWithForgottenValuesIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", house.Settling())
	for name, change := range map[string]func(*settle.Config, *settle.Ports){
		"no cap per hour":        func(c *settle.Config, _ *settle.Ports) { c.PerHour = 0 },
		"a cap below zero":       func(c *settle.Config, _ *settle.Ports) { c.PerHour = -1 },
		"no cap per payment":     func(c *settle.Config, _ *settle.Ports) { c.PerPayment = 0 },
		"no fee factor":          func(c *settle.Config, _ *settle.Ports) { c.FeeFactor = 0 },
		"no hurry":               func(c *settle.Config, _ *settle.Ports) { c.Hurry = 0 },
		"never given up":         func(c *settle.Config, _ *settle.Ports) { c.GiveUp = 0 },
		"given up before hurry":  func(c *settle.Config, _ *settle.Ports) { c.GiveUp = c.Hurry },
		"no lease":               func(c *settle.Config, _ *settle.Ports) { c.Lease = 0 },
		"no wait between prices": func(c *settle.Config, _ *settle.Ports) { c.PriceWait = 0 },
		"tries below zero":       func(c *settle.Config, _ *settle.Ports) { c.PriceTries = -1 },
		"no chains":              func(_ *settle.Config, p *settle.Ports) { p.Costs = nil },
		"no assets":              func(_ *settle.Config, p *settle.Ports) { p.Listed = map[chain.Asset]bool{} },
	} {
		cfg, ports := house.Settling(), r.ports(r.DB)
		change(&cfg, &ports)
		if s, err := settle.New(cfg, ports); err == nil || s != nil || !strings.HasPrefix(err.Error(), "settle: ") {
			t.Errorf("%s: got %v, %v", name, s, err)
		}
	}
}

func TestAWishOnAHaltedChainWaitsAndGoesOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", house.Settling())
	o := r.create()
	r.tell(o, final(o, 1), begin)
	r.must(r.DB.Halt(t.Context(), house.SOL, "an operator looks", begin))
	for i := range 10 {
		r.must(r.a.Step(t.Context(), begin.Add(time.Duration(i)*time.Minute)))
	}
	if len(r.transfers()) != 0 || r.work() != 1 || r.order(o.ID).State != order.Sending {
		t.Fatalf("%v wished, order is %s", r.transfers(), r.order(o.ID).State)
	}
	q, err := r.Terms("quo_2", house.EVMUSD, house.Sol, money.FromUint64(1_000_000), begin)
	r.must(err)
	if _, err := r.a.Create(t.Context(), r.Ask("ord_x", q, r.Net(house.SOL).User("x"), chain.Address{}), begin); err == nil {
		t.Error("an order was made on a halted chain")
	}
	r.must(r.DB.Resume(t.Context(), house.SOL))
	r.must(r.a.Step(t.Context(), begin.Add(20*time.Minute)))
	if len(r.transfers()) != 1 || r.work() != 0 {
		t.Errorf("%v wished, %d pieces of work left", r.transfers(), r.work())
	}
}

func TestAnOrderIsNotClosedBeforeItsChainWasReadBeyondItsDeadline(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", house.Settling())
	paid, unpaid := r.create(), r.create()
	over := unpaid.ExpiresAt
	at := func(now time.Time, want order.State) {
		t.Helper()
		r.must(r.a.Step(t.Context(), now))
		if o := r.order(unpaid.ID); o.State != want {
			t.Fatalf("at %s the order is %s, not %s", now.Sub(over), o.State, want)
		}
	}
	at(over.Add(-time.Microsecond), order.Awaiting)
	at(over, order.Awaiting) // the watcher stands where it stood at the beginning
	at(over.Add(time.Hour), order.Awaiting)
	r.must(r.DB.Caught(t.Context(), house.SOL, 1, over.Add(2*time.Hour))) // another chain
	at(over.Add(2*time.Hour), order.Awaiting)
	r.must(r.DB.Caught(t.Context(), house.EVM, 1, over.Add(-time.Microsecond)))
	at(over.Add(3*time.Hour), order.Awaiting)
	r.tell(paid, order.DepositSeen{Deposit: deposit(paid), Sighting: 1, At: over.Add(-time.Minute)}, over.Add(3*time.Hour))
	r.must(r.DB.Caught(t.Context(), house.EVM, 1, over))
	at(over.Add(4*time.Hour), order.Expired)
	if o := r.order(paid.ID); o.State != order.Confirming {
		t.Errorf("an order that was paid in time is %s", o.State)
	}
}

// plain lets go-cmp look at amounts and addresses, which hide their insides.
var plain = cmp.Options{cmp.AllowUnexported(ledgers{}), cmpopts.EquateComparable(chain.Address{}, money.Amount{})}

// ledgers are everything that a refusal must leave as it was.
type ledgers struct {
	order    order.Order
	head     int64
	counts   store.Counts
	books    map[ledger.Key]string
	reserved map[string]ledger.Reservation
	kept     map[ledger.Key]ledger.Balance
}

func (r *rig) ledgers(id order.ID) (l ledgers) {
	r.t.Helper()
	var err error
	l.order = r.order(id)
	l.head, err = r.DB.Head(r.t.Context())
	r.must(err)
	l.counts, err = r.DB.Counts(r.t.Context())
	r.must(err)
	books, err := r.DB.Books(r.t.Context())
	r.must(err)
	l.books, l.reserved = map[ledger.Key]string{}, books.Reservations
	for k, b := range books.Balances {
		l.books[k] = b.String() + "/" + b.Reserved.String()
	}
	l.kept, err = r.DB.Balances(r.t.Context())
	r.must(err)
	return l
}

func TestAnIllegalFactIsRefusedByNameAndChangesNothing(t *testing.T) {
	t.Parallel()
	land := func(o order.Order) order.Landed { return landed(o, "x") }
	reach := map[order.State]func(r *rig, o order.Order){
		order.Awaiting:   func(*rig, order.Order) {},
		order.Confirming: func(r *rig, o order.Order) { r.tell(o, seen(o, 1), begin) },
		order.Sending:    func(r *rig, o order.Order) { r.tell(o, final(o, 1), begin) },
		order.Held: func(r *rig, o order.Order) {
			r.tell(o, order.Stopped{Request: "s", Why: order.ScreeningHold}, begin)
			r.tell(o, final(o, 1), begin)
		},
		order.Refunding: func(r *rig, o order.Order) {
			r.tell(o, final(o, 1), begin)
			r.tell(o, order.PayoutFailed{Why: "no"}, begin)
		},
		order.Completed: func(r *rig, o order.Order) {
			r.tell(o, final(o, 1), begin)
			r.tell(o, order.PayoutFinal{Landed: land(o)}, begin)
		},
		order.Expired: func(r *rig, o order.Order) { r.tell(o, order.Cancelled{}, begin) },
	}
	const (
		early = order.Awaiting + " " + order.Confirming
		ended = order.Completed + " " + order.Expired
		back  = order.Held + " " + order.Refunding
	)
	for _, c := range []struct {
		ev order.Event
		in order.State // several, with spaces between
	}{
		{order.FundingClosed{}, order.Awaiting}, // its time is not over
		{order.Cancelled{}, order.Confirming + " " + order.Sending + " " + back + " " + order.Completed},
		{order.StepDone{}, early + " " + order.Sending + " " + back + " " + ended},
		{order.StepFailed{}, early + " " + order.Sending + " " + back + " " + ended},
		{order.PayoutFinal{}, early + " " + order.Held + " " + order.Expired},
		{order.PayoutFailed{Why: "x"}, early + " " + order.Held + " " + order.Expired},
		{order.RefundPriced{}, early + " " + order.Sending + " " + order.Held + " " + ended},
		{order.RefundBelowCost{}, early + " " + order.Sending + " " + order.Held + " " + ended},
		{order.RefundFinal{}, early + " " + order.Sending + " " + back + " " + ended},
		{order.RefundFailed{}, early + " " + order.Sending + " " + back + " " + ended},
		{order.FeePriced{}, early + " " + order.Sending + " " + back + " " + ended},
		{order.FeePaid{}, early + " " + order.Sending + " " + back + " " + ended},
		{order.RecoveryPriced{Deposit: "d"}, early + " " + order.Sending + " " + back + " " + ended},
		{order.RecoveryFinal{Deposit: "d"}, early + " " + order.Sending + " " + back + " " + ended},
		{order.RecoveryDue{Deposit: "d"}, early + " " + order.Sending + " " + back + " " + ended},
		{order.RefundAddressGiven{To: chain.CanonicalAddress(chain.EVM, "0x1")}, early + " " + order.Sending + " " + back + " " + ended},
		{order.RefundAsked{Request: "r"}, early + " " + order.Sending + " " + back + " " + ended},
		{order.RequoteOffered{}, early + " " + order.Sending + " " + back + " " + ended},
		{order.RequoteAccepted{}, early + " " + order.Sending + " " + back + " " + ended},
		{order.DeadlinePassed{Of: begin}, early + " " + order.Sending + " " + back + " " + ended},
		{order.Stopped{Request: "x", Why: order.ScreeningHold}, order.Sending + " " + order.Refunding + " " + ended},
		{order.Lifted{Request: "x"}, early + " " + order.Sending + " " + order.Refunding + " " + ended},
	} {
		t.Run(c.ev.Name(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "", house.Settling())
			for _, state := range strings.Fields(string(c.in)) {
				o := r.create()
				reach[order.State(state)](r, o)
				before := r.ledgers(o.ID)
				_, err := r.a.Tell(t.Context(), o.ID, c.ev, begin)
				var turn *order.OutOfTurn
				if !errors.As(err, &turn) {
					t.Errorf("in %s: got %v", state, err)
					continue
				}
				if turn.Order != o.ID || string(turn.State) != state || turn.Event != c.ev.Name() {
					t.Errorf("in %s: the refusal names %s, %s and %s", state, turn.Order, turn.State, turn.Event)
				}
				for _, word := range []string{string(o.ID), state, c.ev.Name()} {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("in %s: %q does not say %s", state, err, word)
					}
				}
				if diff := cmp.Diff(before, r.ledgers(o.ID), plain); diff != "" {
					t.Errorf("in %s: something was changed: %s", state, diff)
				}
			}
		})
	}
}
