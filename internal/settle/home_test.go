package settle_test

import (
	"testing"

	"ferry/internal/chain"
	"ferry/internal/house"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// drain promises all that is free of an asset to another order.
func (r *stepping) drain(a chain.Asset) {
	r.t.Helper()
	books, err := r.DB.Books(r.t.Context())
	r.must(err)
	q, err := r.Terms("quo_drain", house.Sol, a, money.FromUint64(1_000_000_000), begin)
	r.must(err)
	q.Out, q.Tolerance.Over = books.Balances[ledger.Key{Account: ledger.Hot(a.Chain), Asset: a}].Free(), 0
	_, err = r.b.Create(r.t.Context(), r.Ask("ord_drain", q, r.Net(a.Chain).User("to"), r.Net(house.SOL).User("back")), begin)
	r.must(err)
}

// What lies in the wallet for other orders is not what was deposited for this one. A step
// and a refund wait until there is enough for both.
func TestWhatIsNotHomeIsNotSpent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say   func(quote.Progress) quote.Move
		spent func(order.Order) bool
	}{
		"by a step": {
			func(k quote.Progress) quote.Move { return take(k, k.In) },
			func(o order.Order) bool { return o.Asked(0) == 1 },
		},
		"by a refund": {
			func(quote.Progress) quote.Move { return quote.Fail{Why: "the pool moved away"} },
			func(o order.Order) bool { return o.Refund.State == order.OutWished },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newStepping(t, oracle(func(_ quote.Step, k quote.Progress) quote.Move { return c.say(k) }))
			r.drain(house.EVMUSD)
			for range 5 {
				r.must(r.step())
			}
			if o := r.order(r.o.ID); c.spent(o) || len(r.transfers()) > 0 {
				t.Fatalf("it was spent: the order is %s with %d calls, its refund %q", o.State, o.Asked(0), o.Refund.State)
			}
			// The sweep comes home.
			r.must(r.DB.Fund(t.Context(), house.EVMUSD, r.o.Quote.In, r.now))
			for i := 0; !c.spent(r.order(r.o.ID)); i++ {
				if i == 5 {
					t.Fatal("it waits although all is home")
				}
				r.must(r.step())
			}
		})
	}
}
