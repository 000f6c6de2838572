package order

import (
	"testing"

	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// A new price is for what is in hand after the fee that was agreed. One that was made for
// another fee, or for none, would be paid by us beside that fee.
func TestANewPriceIsForTheFeeThatWasAgreed(t *testing.T) {
	t.Parallel()
	fee := func(percent int64, skipped bool) *quote.Fee {
		return &quote.Fee{Percent: money.Percent(percent) * money.Whole / 100, PayTo: addr("fee"), Skipped: skipped}
	}
	for name, c := range map[string]struct {
		was, is *quote.Fee
		taken   bool
		status  FeeStatus
	}{
		"the same":                   {fee(5, false), fee(5, false), true, FeeProjected},
		"none on both":               {nil, nil, true, FeeNone},
		"left out":                   {fee(5, false), nil, false, FeeProjected},
		"less":                       {fee(5, false), fee(1, false), false, FeeProjected},
		"more":                       {fee(4, false), fee(5, false), false, FeeProjected},
		"not worth its way any more": {fee(5, false), fee(5, true), true, FeeSkip},
		"not worth its way, another": {fee(5, false), fee(1, true), false, FeeProjected},
		"never worth its way":        {fee(5, true), nil, true, FeeSkip},
		"worth its way now":          {fee(5, true), fee(5, false), false, FeeSkip},
		"none before":                {nil, fee(5, false), false, FeeNone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWalk(t)
			q := w.o.Quote
			q.Integrator, q.Fee = "int_1", c.was
			made, err := New(Ask{ID: "ord_2", Quote: q, DepositTo: addr("dep2"), PayTo: addr("pay"), FundingTime: 1, Patience: patience()}, start)
			w.ok(err)
			w.take(made)
			w.told(w.pays("d", 400))
			w.is(Held)
			next := q
			next.ID, next.In, next.Out, next.Fee, next.ExpiresAt = "quo_2", n(400), n(200), c.is, w.now.Add(1)
			if !c.taken {
				w.refused(RequoteAccepted{Quote: next})
				return
			}
			w.told(RequoteAccepted{Quote: next})
			if w.o.FeeStatus != c.status {
				t.Fatalf("the fee is %s", w.o.FeeStatus)
			}
			w.told(PayoutFinal{})
			owed, _ := w.books.Balances[ledger.Key{Account: ledger.Fees("int_1"), Asset: give}].Net()
			if want := map[FeeStatus]money.Amount{FeeProjected: n(20)}[c.status]; owed != want {
				t.Errorf("%s is owed to the integrator, not %s", owed, want)
			}
		})
	}
}
