package settle_test

import (
	"context"
	"testing"
	"time"

	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
)

// TestAnOrderIsExpiredWithinSecondsOfItsChainBeingRead: the first look at an order that
// is due finds its chain behind. The order's lease must not hold it back after that.
func TestAnOrderIsExpiredWithinSecondsOfItsChainBeingRead(t *testing.T) {
	t.Parallel()
	const most = 5 * time.Second
	eachStore(t, func(t *testing.T, r *rig) {
		paid, unpaid := r.create(), r.create()
		over := unpaid.ExpiresAt
		r.must(r.a.Step(t.Context(), over)) // both are leased now
		r.tell(paid, order.DepositSeen{Deposit: deposit(paid), Sighting: 1, At: over.Add(-time.Minute)}, over)
		r.must(r.DB.Caught(t.Context(), house.EVM, 1, over.Add(time.Second)))
		r.must(r.a.Step(t.Context(), over.Add(most)))
		if o := r.order(unpaid.ID); o.State != order.Expired {
			t.Errorf("%s after its time, with its chain read beyond it, the order is %s", most, o.State)
		}
		if o := r.order(paid.ID); o.State != order.Confirming {
			t.Errorf("an order that was paid in time is %s", o.State)
		}
	})
}

// TestTroubleDoesNotHoldAnOrderBackForItsLease: the store answers nothing at the first
// look at an order that is due.
func TestTroubleDoesNotHoldAnOrderBackForItsLease(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", house.Settling())
	o := r.create()
	over := o.ExpiresAt
	r.must(r.DB.Caught(t.Context(), house.EVM, 1, over.Add(time.Second)))
	ctx, cancel := context.WithCancel(t.Context())
	r.onA = func(call string) {
		if call == "Order" {
			cancel()
		}
	}
	if err := r.a.Step(ctx, over); err == nil {
		t.Fatal("the order could be read")
	}
	r.must(r.a.Step(t.Context(), over.Add(time.Second)))
	if o := r.order(o.ID); o.State != order.Expired {
		t.Errorf("a second after the trouble the order is %s", o.State)
	}
}

// TestOrdersThatWaitForOneChainDoNotHoldUpAnother: many more are due than a step tells,
// and none of them can be told.
func TestOrdersThatWaitForOneChainDoNotHoldUpAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", house.Settling())
	var many []order.Order
	for range 200 {
		many = append(many, r.createFor(1_000_000))
	}
	r.made++
	q, err := r.Terms("quo_1", house.Sol, house.EVMUSD, money.FromUint64(1_000_000_000), begin)
	r.must(err)
	other, err := r.b.Create(t.Context(), r.Ask("ord_other", q, r.Net(house.EVM).User("to"), r.Net(house.SOL).User("back")), begin.Add(time.Second))
	r.must(err)
	over := other.ExpiresAt
	r.must(r.DB.Caught(t.Context(), house.SOL, 1, over))
	r.must(r.a.Step(t.Context(), over))
	if o := r.order(other.ID); o.State != order.Expired {
		t.Errorf("behind %d orders that wait for another chain it is %s", len(many), o.State)
	}
	r.must(r.DB.Caught(t.Context(), house.EVM, 1, over))
	for range 200/64 + 1 {
		r.must(r.a.Step(t.Context(), over.Add(time.Second)))
	}
	for _, o := range many {
		if o := r.order(o.ID); o.State != order.Expired {
			t.Fatalf("order %s is %s when its chain was read", o.ID, o.State)
		}
	}
}
