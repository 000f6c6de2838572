package order

import (
	"errors"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
)

// gone is that a chain took back a payment that the order was told of.
func (w *walk) gone(id string) DepositGone {
	rec := w.o.deposit(chain.DepositID(id))
	return DepositGone{
		Deposit: chain.Deposit{ID: rec.ID, Asset: rec.Asset, Amount: rec.Amount, Tx: rec.Tx}, Sighting: rec.Sighting, SeenAt: w.now, WasFinal: true,
	}
}

// again is that a payment was seen and believed once more.
func (w *walk) again(id string, amount uint64) DepositFinal {
	ev := w.pays(id, amount)
	ev.Sighting = 2
	return ev
}

// inTwo pays the order by two payments, of which the second alone would do.
func (w *walk) inTwo() {
	second := w.pays("d2", 998)
	w.told(DepositSeen{Deposit: second.Deposit, Sighting: 1, At: w.now}, w.pays("d1", 2), second)
}

// A payout is tried once. What its chain takes back after that is taken out of what is in
// hand, and nothing that comes or goes makes the order try again.
func TestAPaymentTakenBackAfterADeadPayoutIsNotRefused(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]bool{"held": false, "refunding": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWalk(t)
			if back {
				w.told(RefundAddressGiven{To: addr("back")})
			}
			w.inTwo()
			w.is(Sending)
			w.told(PayoutFailed{Why: "w"})
			w.told(w.gone("d1"))
			w.owes(give, 998)
			if w.o.InHand.Amount != n(998) {
				t.Fatalf("%s is in hand", w.o.InHand.Amount)
			}
			if back {
				w.is(Refunding)
			} else {
				w.is(Held)
			}
		})
	}
	t.Run("another comes", func(t *testing.T) {
		t.Parallel()
		w := newWalk(t)
		w.inTwo()
		w.told(PayoutFailed{Why: "w"}, w.gone("d2"), w.pays("d3", 1000))
		w.is(Held)
	})
	t.Run("a stop is lifted", func(t *testing.T) {
		t.Parallel()
		w := newWalk(t)
		w.inTwo()
		w.told(PayoutFailed{Why: "w"}, Stopped{Request: "s", Why: ScreeningHold}, w.gone("d1"), Lifted{Request: "l"})
		w.is(Held)
	})
}

// What is in hand after a payment was taken back may be enough, and the books short of
// its payout: the loss counts all the same.
func TestAPaymentTakenBackWhileTheBooksAreShortIsTold(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	most := w.pays("d2", 5000)
	w.told(DepositSeen{Deposit: most.Deposit, Sighting: 1, At: w.now}, w.pays("d1", 100), most)
	w.is(Held)
	w.ok(w.books.Apply(ledger.Entry{Reserve: []ledger.Reservation{
		{Name: "ord_2/payout", From: ledger.Hot(get.Chain), Asset: get, Amount: n(1_000_000), Must: true},
	}}))
	c, err := w.o.Apply(w.gone("d1"), w.now)
	w.ok(err)
	if err := w.books.Apply(c.Entry); !errors.Is(err, ledger.ErrShort) {
		t.Fatalf("the books say %v", err)
	}
	poorer, ok := WithoutLiquidity(w.gone("d1"))
	if !ok {
		t.Fatal("nobody can tell the order that its payment is gone")
	}
	w.told(poorer)
	w.is(Held)
	w.owes(give, 5000)
}

// A late payment that its chain takes back before it was sent on is not sent on.
func TestARecoveredPaymentTakenBackIsNotReturned(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.told(RefundAddressGiven{To: addr("back")}, w.pays("d1", 1000), w.pays("d2", 1000), RefundAsked{Request: "r"})
	if got := w.o.deposit("d2").State; got != Returning {
		t.Fatalf("the second payment is %s", got)
	}
	w.told(w.gone("d2"))
	w.refused(RecoveryPriced{Deposit: "d2", Cost: n(1)})
	if loss := w.books.Balances[ledger.Key{Account: ledger.ReorgLoss, Asset: give}]; !loss.IsZero() {
		t.Errorf("a loss of %s is booked, and nothing went out", loss)
	}
	w.told(w.again("d2", 1000), RefundAsked{Request: "r2"}, RecoveryPriced{Deposit: "d2", Cost: n(1)}, RecoveryFinal{Deposit: "d2"})
}

// A refund that was not wished yet waits for an operator when its payment is taken back.
func TestARefundOfALostPaymentIsNotWished(t *testing.T) {
	t.Parallel()
	w := newWalk(t, leg("v", give, hub), leg("w", hub, get))
	w.told(RefundAddressGiven{To: addr("back")}, w.pays("d1", 1000), w.call(1000), w.lands(""), w.done(1000, 900), StepFailed{Index: 1, Why: "w"})
	w.is(Refunding)
	w.told(w.gone("d1"))
	w.refused(RefundPriced{Cost: n(1)})
	w.told(w.again("d1", 1000), RefundAsked{Request: "r"}, RefundPriced{Cost: n(1)})
	w.is(Refunding)
}

// The time of a recovered payment comes again with the payment.
func TestTheTimeOfAPaymentThatCameBackComesAgain(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.told(w.pays("d1", 1000), w.pays("d2", 1000))
	due := func() {
		t.Helper()
		w.now = w.now.Add(2 * time.Hour)
		for range 4 { // the order's own deadline may be first
			ev, ok := w.o.Due(w.now)
			if !ok {
				return
			}
			_, err := w.o.Apply(ev, w.now)
			if errors.Is(err, ErrKnown) {
				t.Fatalf("%s is due, and known", ev.Key())
			}
			w.told(ev)
		}
	}
	due()
	w.told(w.gone("d2"), w.again("d2", 1000), RefundAddressGiven{To: addr("back")})
	due()
	if got := w.o.deposit("d2").State; got != Returning {
		t.Fatalf("it is %s", got)
	}
}

// What came due while an order was stopped is done when the stop is lifted: nothing else
// would ever move it.
func TestWhatAStopHeldUpGoesOnWhenItIsLifted(t *testing.T) {
	t.Parallel()
	stop, lift := Stopped{Request: "s", Why: ScreeningHold}, Lifted{Request: "l"}
	t.Run("its time passed", func(t *testing.T) {
		t.Parallel()
		w := newWalk(t)
		w.told(RefundAddressGiven{To: addr("back")}, w.pays("d1", 100), stop)
		w.is(Held)
		w.now = w.o.Deadline
		w.told(DeadlinePassed{Of: w.o.Deadline}, lift)
		if w.o.State == Held && w.o.NextDue().IsZero() {
			t.Fatal("it is held for ever")
		}
		w.is(Refunding)
	})
	t.Run("its address came", func(t *testing.T) {
		t.Parallel()
		w := newWalk(t)
		w.told(w.pays("d1", 1000), PayoutFailed{Why: "w"}, stop, RefundAddressGiven{To: addr("back")}, lift)
		w.is(Refunding)
	})
	t.Run("it waits for its owner", func(t *testing.T) {
		t.Parallel()
		w := newWalk(t)
		w.told(RefundAddressGiven{To: addr("back")}, w.pays("d1", 100), stop, lift)
		w.is(Held)
	})
}

// A payment and an order whose time passed while nobody knew where to send them back go
// back when that is known.
func TestWhatWaitedForAnAddressAloneGoesBackWhenItIsGiven(t *testing.T) {
	t.Parallel()
	w := newWalk(t)
	w.told(w.pays("d1", 100), DepositFinal{Deposit: chain.Deposit{ID: "d2", Asset: wrong, Amount: n(7), Tx: "t"}, Sighting: 1, SeenAt: w.now})
	w.is(Held)
	w.now = w.now.Add(2 * time.Hour)
	for ev, ok := w.o.Due(w.now); ok; ev, ok = w.o.Due(w.now) {
		w.told(ev)
	}
	if w.is(Held); !w.o.NextDue().IsZero() {
		t.Fatalf("time will still move it, at %s", w.o.NextDue())
	}
	w.told(RefundAddressGiven{To: addr("back")})
	if w.is(Refunding); w.o.deposit("d2").State != Returning {
		t.Fatalf("the other payment is %s", w.o.deposit("d2").State)
	}
}
