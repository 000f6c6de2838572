package order

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// told applies events one after the other and returns the order and its books.
func told(t *testing.T, refund bool, evs ...Event) (Order, *witness) {
	t.Helper()
	q := terms(rand.New(rand.NewPCG(1, 1)))
	q.Steps, q.Fee, q.Integrator = nil, nil, ""
	q.Tolerance.UnderAction = quote.Hold
	a := Ask{ID: "ord_1", Quote: q, DepositTo: addr("dep"), PayTo: addr("pay"), FundingTime: time.Hour, Patience: patience()}
	if refund {
		a.RefundTo = addr("back")
	}
	c, err := New(a, start)
	if err != nil {
		t.Fatal(err)
	}
	w := newWitness(t, 0)
	w.see(c)
	o := c.Now
	for _, ev := range evs {
		c, err := o.Apply(ev, start.Add(time.Minute))
		if errors.Is(err, ErrKnown) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", ev.Name(), err)
		}
		w.see(c)
		o = c.Now
	}
	return o, w
}

func payment(n uint64) chain.Deposit {
	return chain.Deposit{ID: "d", Asset: give, Amount: money.FromUint64(n), Tx: "t"}
}

func (w *witness) loss() string {
	return w.books.Balances[ledger.Key{Account: ledger.ReorgLoss, Asset: give}].String()
}

func TestALossIsUndoneWhenThePaymentComesBack(t *testing.T) {
	d := payment(1000)
	lost := []Event{DepositFinal{d, 1, start, false}, DepositGone{d, 1, start, true, false}}
	if o, w := told(t, false, lost...); !o.Deposits[0].Lost || w.loss() != "1000" || o.State != Sending {
		t.Fatalf("%s, lost %t, loss %s", o.State, o.Deposits[0].Lost, w.loss())
	}
	for name, more := range map[string][]Event{
		"final":             {DepositFinal{d, 2, start, false}},
		"seen, final":       {DepositSeen{d, 2, start}, DepositFinal{d, 2, start, false}},
		"seen, gone, final": {DepositSeen{d, 2, start}, DepositGone{d, 2, start, false, false}, DepositFinal{d, 3, start, false}},
	} {
		o, w := told(t, false, append(lost[:2:2], more...)...)
		if o.Deposits[0].Lost || w.loss() != "0" {
			t.Errorf("%s: lost %t, loss %s", name, o.Deposits[0].Lost, w.loss())
		}
	}
}

func TestWhatASleeperSaysOfAGonePaymentIsKnown(t *testing.T) {
	d := payment(1000)
	o, _ := told(t, false, DepositGone{d, 1, start, false, false}, DepositSeen{d, 1, start}, DepositFinal{d, 1, start, false})
	if o.State != Awaiting || o.Deposits[0].State != DepositDrop {
		t.Fatalf("%s with a deposit that is %s", o.State, o.Deposits[0].State)
	}
	o, _ = told(t, false, DepositGone{d, 1, start, false, false}, DepositFinal{d, 2, start, false})
	if o.State != Sending {
		t.Fatalf("a payment that came back left the order %s", o.State)
	}
}

func TestAPaymentTakenBackBeforeItsMoneyWentOnNeverCame(t *testing.T) {
	d := payment(400)
	o, w := told(t, false, DepositFinal{d, 1, start, false}, DepositGone{d, 1, start, true, false})
	if o.State != Awaiting || w.loss() != "0" || !o.InHand.Amount.IsZero() {
		t.Fatalf("%s with %s in hand, loss %s", o.State, o.InHand.Amount, w.loss())
	}
}

func TestAFloodOfPaymentsIsBookedAndNotRemembered(t *testing.T) {
	var evs []Event
	for i := range MaxDeposits + 5 {
		d := chain.Deposit{ID: chain.DepositID(rune('a' + i)), Asset: wrong, Amount: n(1), Tx: "t"}
		evs = append(evs, DepositFinal{d, 1, start.Add(2 * time.Hour), false})
	}
	last := evs[len(evs)-1].(DepositFinal).Deposit
	evs = append(evs, DepositGone{last, 1, start, true, false})
	w := newWitness(t, 0)
	c := newOrder(t, rand.New(rand.NewPCG(1, 1)))
	o := c.Now
	for _, ev := range evs {
		c, err := o.Apply(ev, start)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.books.Apply(c.Entry); err != nil {
			t.Fatal(err)
		}
		o = c.Now
	}
	balance := func(a ledger.Account) string { return w.books.Balances[ledger.Key{Account: a, Asset: wrong}].String() }
	if len(o.Deposits) != MaxDeposits || balance(ledger.Unclaimed) != "-5" || balance(ledger.ReorgLoss) != "1" {
		t.Errorf("%d remembered, %s unclaimed, %s lost", len(o.Deposits), balance(ledger.Unclaimed), balance(ledger.ReorgLoss))
	}
}

func TestTheOnlyPaymentOfAnOrderThatEndedIsLateAndNotASecondOne(t *testing.T) {
	d := payment(1000)
	for name, evs := range map[string][]Event{
		"cancelled, then paid": {Cancelled{}, DepositFinal{d, 1, start, false}},
		"seen, then cancelled": {DepositSeen{d, 1, start}, DepositGone{d, 1, start, false, false}, Cancelled{}, DepositFinal{d, 2, start, false}},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := told(t, true, evs...)
			if got := o.Deposits[0]; o.State != Expired || got.State != Detected || got.Why != LateDeposit {
				t.Errorf("the order is %s, the payment %s because of %s", o.State, got.State, got.Why)
			}
		})
	}
}
