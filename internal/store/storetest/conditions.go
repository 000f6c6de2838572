package storetest

import (
	"errors"
	"sync"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/order"
)

// served asks for an order as the settler does: on chains that are served.
func (b *bench) served(change ...func(*order.Ask)) (order.Order, error) {
	b.Helper()
	a := b.ask()
	for _, f := range change {
		f(&a)
	}
	c := must[order.Change](b.T)(order.New(a, start))
	c.Open, c.Watched = []chain.ID{a.Quote.Give.Chain, a.Quote.Get.Chain}, a.Quote.Give.Chain
	return c.Now, b.db.Create(b.Context(), c)
}

func createClosed(t *testing.T, b *bench) {
	refused := func(by chain.ID) {
		t.Helper()
		o, err := b.served()
		var closed *order.Closed
		if !errors.As(err, &closed) || closed.Chain != by {
			t.Fatalf("got %v, want a refusal by %s", err, by)
		}
		if _, err := b.db.Order(t.Context(), o.ID); err == nil {
			t.Errorf("order %s is there", o.ID)
		}
	}
	refused(give) // nobody has read it yet
	ok(t, b.db.Caught(t.Context(), give, 0, start))
	_, err := b.served()
	ok(t, err)
	for _, id := range []chain.ID{give, getAsset.Chain} {
		ok(t, b.db.Halt(t.Context(), id, "stopped", start))
		refused(id)
		ok(t, b.db.Resume(t.Context(), id))
		_, err := b.served()
		ok(t, err)
	}
}

func createOurs(t *testing.T, b *bench) {
	ok(t, b.db.Caught(t.Context(), give, 0, start))
	// One order is paid on each chain.
	there, err := b.served()
	ok(t, err)
	back := b.ask()
	back.Quote.Give, back.Quote.Get = back.Quote.Get, back.Quote.Give
	here := b.create(back)
	for name, c := range map[string]struct {
		change func(*order.Ask)
		want   *order.Ours
	}{
		"a payout to a deposit address":  {func(a *order.Ask) { a.PayTo = here.DepositTo }, &order.Ours{}},
		"a refund to a deposit address":  {func(a *order.Ask) { a.RefundTo = there.DepositTo }, &order.Ours{Refund: true}},
		"the same text on another chain": {func(a *order.Ask) { a.PayTo, a.RefundTo = there.DepositTo, here.DepositTo }, nil},
		"no refund address":              {func(a *order.Ask) { a.RefundTo = chain.Address{} }, nil},
	} {
		_, err := b.served(c.change)
		var ours *order.Ours
		if is := errors.As(err, &ours); is != (c.want != nil) || (is && *ours != *c.want) || (!is && err != nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// What is asked once for a batch is judged for each order in it.
func createMixed(t *testing.T, b *bench) {
	ok(t, b.db.Caught(t.Context(), give, 0, start))
	there, err := b.served()
	ok(t, err)
	const callers = 90
	asks := make([]order.Change, callers)
	bad := func(i int) bool { return i%3 == 0 }
	for i := range asks {
		a := b.ask()
		if bad(i) {
			a.RefundTo = there.DepositTo
		}
		asks[i] = must[order.Change](t)(order.New(a, start))
	}
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range asks {
		wg.Go(func() { errs[i] = b.db.Create(t.Context(), asks[i]) })
	}
	wg.Wait()
	for i, err := range errs {
		var ours *order.Ours
		if errors.As(err, &ours) != bad(i) || (!bad(i) && err != nil) {
			t.Errorf("order %d: %v", i, err)
		}
	}
}
