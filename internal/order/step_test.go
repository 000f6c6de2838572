package order

import (
	"errors"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// walk is one order with its books, told one fact after the other.
type walk struct {
	*testing.T
	o     Order
	books *ledger.Books
	now   time.Time
}

// newWalk makes an order over some steps, each of which brings nine tenths.
func newWalk(t *testing.T, steps ...quote.Step) *walk {
	t.Helper()
	return newWalkOf(t, func(q *quote.Quote) { q.Steps = steps })
}

func newWalkOf(t *testing.T, change func(*quote.Quote)) *walk {
	t.Helper()
	q := quote.Quote{
		ID: "quo_1", Give: give, Get: get, In: n(1000), Out: n(500), MinIn: n(1), MaxIn: n(5000), Mode: quote.Float,
		Tolerance: quote.Tolerance{
			Under: money.Whole / 100, Over: money.Whole / 100, UnderAction: quote.Hold, OverAction: quote.ProcessAll, WrongAsset: quote.Hold,
		},
		USD: money.Dollar, ExpiresAt: start.Add(2 * time.Hour),
	}
	change(&q)
	w := &walk{T: t, books: ledger.NewBooks(), now: start}
	for _, a := range []chain.Asset{give, hub, far, get} {
		w.ok(w.books.Apply(ledger.Entry{Postings: []ledger.Posting{{Debit: ledger.Hot(a.Chain), Credit: ledger.Capital, Asset: a, Amount: n(1_000_000)}}}))
	}
	c, err := New(Ask{ID: "ord_1", Quote: q, DepositTo: addr("dep"), PayTo: addr("pay"), FundingTime: time.Hour, Patience: patience()}, start)
	w.ok(err)
	w.take(c)
	return w
}

func leg(venue string, in, out chain.Asset) quote.Step {
	return quote.Step{Venue: venue, In: in, Out: out, Give: n(1000), Bring: n(900), MinOut: n(800)}
}

func (w *walk) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *walk) take(c Change) {
	w.Helper()
	w.ok(w.books.Apply(c.Entry))
	w.o = c.Now
}

// told applies facts that must be taken; some are known only when it is their turn.
func (w *walk) told(all ...any) {
	w.Helper()
	for _, x := range all {
		ev, now := x.(Event)
		if !now {
			ev = x.(func() Event)()
		}
		c, err := w.o.Apply(ev, w.now)
		if err != nil {
			w.Fatalf("%s in %s: %v", ev.Name(), w.o.State, err)
		}
		w.take(c)
	}
}

// refused is a fact that has no place now.
func (w *walk) refused(ev Event) {
	w.Helper()
	var turn *OutOfTurn
	if _, err := w.o.Apply(ev, w.now); !errors.As(err, &turn) {
		w.Fatalf("%s in %s was answered with %v", ev.Name(), w.o.State, err)
	}
}

func (w *walk) is(s State) {
	w.Helper()
	if w.o.State != s {
		w.Fatalf("the order is %s, not %s (%+v)", w.o.State, s, w.o.Hold)
	}
}

// owes fails unless the order's user is owed exactly so much of an asset.
func (w *walk) owes(a chain.Asset, amount uint64) {
	w.Helper()
	net, below := w.books.Balances[ledger.Key{Account: w.o.owed(), Asset: a}].Net()
	if net != n(amount) || !below && amount > 0 {
		w.Fatalf("%s of %s is owed, not %d", net, a, amount)
	}
}

func (w *walk) pays(id string, amount uint64) DepositFinal {
	return DepositFinal{Deposit: chain.Deposit{ID: chain.DepositID(id), Asset: give, Amount: n(amount), Tx: "t"}, Sighting: 1, SeenAt: w.now}
}

// call asks for a transaction of the running step that may take so much.
func (w *walk) call(amount uint64) func() Event {
	return func() Event {
		a := w.o.Quote.Steps[w.o.Step].In
		return StepAsked{Index: w.o.Step, N: w.o.Asked(w.o.Step), Call: chain.Call{Chain: a.Chain, To: addr("pool"), Asset: a, Amount: n(amount), Data: []byte("swap")}}
	}
}

// lands is the end of the newest transaction.
func (w *walk) lands(failed string) func() Event {
	return func() Event {
		return StepCalled{Index: w.o.Step, N: w.o.Asked(w.o.Step) - 1, On: w.o.Quote.Steps[w.o.Step].In.Chain, Landed: Landed{Tx: "x"}, Failed: failed}
	}
}

func (w *walk) done(in, out uint64) func() Event {
	return func() Event {
		return StepDone{Index: w.o.Step, Calls: w.o.Asked(w.o.Step), In: n(in), Out: n(out)}
	}
}

// A hold after a step has another asset in hand than the order was quoted for. A new
// price for the quoted pair would pay for what is not there.
func TestAHoldAfterAStepTakesNoNewPrice(t *testing.T) {
	t.Parallel()
	w := newWalk(t, leg("v", give, hub), leg(quote.Inventory, hub, get))
	w.told(w.pays("d1", 1000), w.call(1000), w.lands(""))
	short, _ := WithoutLiquidity(w.done(1000, 900)())
	w.told(short)
	w.is(Held)
	w.owes(hub, 900)
	if w.o.Requotable() {
		t.Error("a new price is offered for it")
	}
	q := w.o.Quote
	q.ID, q.In, q.Steps, q.ExpiresAt = "quo_2", w.o.InHand.Amount, nil, w.now.Add(time.Minute)
	w.refused(RequoteAccepted{Quote: q})
	w.refused(RequoteOffered{Hold: w.o.Hold.Since})
}

// A second payment must not be counted on top of what a step has exchanged already.
func TestAHoldAfterAStepIsNotToppedUp(t *testing.T) {
	t.Parallel()
	nothing := leg(quote.Inventory, hub, get)
	nothing.Give, nothing.Bring = n(1_000_000), n(1)
	w := newWalk(t, leg("v", give, hub), nothing)
	w.told(w.pays("d1", 1000), w.call(1000), w.lands(""), w.done(1000, 900))
	w.is(Held)
	w.told(w.pays("d2", 500))
	if w.o.InHand != (Sum{hub, n(900)}) || w.o.deposit("d2").State != AwaitingAddress {
		t.Errorf("in hand is %+v, the second payment is %s", w.o.InHand, w.o.deposit("d2").State)
	}
	w.owes(hub, 900)
	w.owes(give, 0)
}

// The end of a step is told once: a step that ran again could never end.
func TestAStepThatFailedIsNeverRunAgain(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]quote.Step{
		"at once":             {leg("v", give, get)},
		"after the inventory": {leg(quote.Inventory, give, far), leg("v", far, get)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWalk(t, steps...)
			w.told(DepositSeen{Deposit: w.pays("d2", 2).Deposit, Sighting: 1, At: w.now}, w.pays("d1", 998))
			if w.o.State == Confirming { // the rest is waited for
				w.told(w.pays("d2", 2))
			}
			w.is(Executing)
			w.told(StepFailed{Index: w.o.Step, Why: "w"})
			w.is(Held)
			first := w.o.deposit("d1")
			w.told(DepositGone{Deposit: chain.Deposit{ID: "d1", Asset: give, Amount: first.Amount}, Sighting: 1, SeenAt: w.now})
			w.told(DepositFinal{Deposit: chain.Deposit{ID: "d3", Asset: give, Amount: n(1000), Tx: "t"}, Sighting: 1, SeenAt: w.now})
			if w.o.State == Executing {
				t.Fatal("it runs again")
			}
			if w.o.Cross.Done {
				t.Error("the crossing stands")
			}
		})
	}
}

// What all transactions of a step may take together is what the step has: a venue that
// forgot what it did can not spend it twice.
func TestAStepTakesNoMoreThanItHas(t *testing.T) {
	t.Parallel()
	w := newWalk(t, leg("v", give, get))
	w.told(w.pays("d1", 1000))
	w.refused(w.call(1001)())
	w.told(w.call(1000), w.lands("it reverted"), w.call(600), w.lands(""))
	w.refused(w.call(401)())
	w.told(w.call(400), w.lands(""))
	w.refused(w.call(1)())
	w.told(w.call(0), w.lands("")) // it may still do what takes nothing
	w.told(w.done(1000, 900))
	w.is(Sending)
	w.owes(get, 900)
}

// A payment that its chain took back is not sent back as if it were here.
func TestALostDepositIsNotRefunded(t *testing.T) {
	t.Parallel()
	w := newWalk(t, leg("v", give, get))
	w.told(RefundAddressGiven{To: addr("back")}, w.pays("d1", 1000), w.call(1000))
	w.told(DepositGone{Deposit: w.pays("d1", 1000).Deposit, Sighting: 1, SeenAt: w.now})
	w.told(w.lands("it reverted"), StepFailed{Index: 0, Calls: 1, Why: "w"})
	w.is(Held)
	w.refused(RefundAsked{Request: "r"})
	w.now = w.o.Deadline
	w.told(DeadlinePassed{Of: w.o.Deadline})
	w.is(Held)
	back := w.pays("d1", 1000)
	back.Sighting = 2
	w.told(back, RefundAsked{Request: "r2"})
	w.is(Refunding)
}
