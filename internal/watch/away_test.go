package watch_test

import (
	"testing"
	"time"

	"ferry/internal/family/sim"
	"ferry/internal/order"
)

// A payment that was mined in time is in time, however late the watcher comes to read it:
// an order must not be refunded because we were away.
func TestAPaymentThatWasMinedWhileWeWereAwayIsInTime(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, s sim.Shape) {
		r := deepRig(t, s)
		id := r.create()
		over := r.order(id).ExpiresAt
		r.pay(id, orderCents)
		r.net.Mine(1)
		if mined := r.net.Tip().Time; mined.After(over) {
			t.Fatalf("it was mined at %s, and the time was over at %s", mined, over)
		}
		r.now = over.Add(time.Hour) // nobody looked
		r.restart()
		r.net.Mine(6)
		r.quiet()
		if o := r.order(id); o.State != order.Sending {
			t.Errorf("the order is %s, its deposit %s because of %q", o.State, o.Deposits[0].State, o.Deposits[0].Why)
		}
	})
}

// One that was mined too late stays late.
func TestAPaymentThatWasMinedTooLateWhileWeWereAwayIsLate(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, s sim.Shape) {
		r := deepRig(t, s)
		id := r.create()
		over := r.order(id).ExpiresAt
		r.pay(id, orderCents)
		r.net.Tick(over.Add(time.Second))
		r.net.Mine(7)
		r.now = over.Add(time.Hour)
		r.restart()
		r.quiet()
		if o := r.order(id); o.State != order.Awaiting || o.Deposits[0].Why != order.LateDeposit {
			t.Errorf("the order is %s, its deposit %s because of %q", o.State, o.Deposits[0].State, o.Deposits[0].Why)
		}
	})
}
