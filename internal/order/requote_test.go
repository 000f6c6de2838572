package order

import (
	"testing"
	"time"

	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// A new price is made of what is left after the integrator's fee. With another fee than
// the order's, the payout would be for what the fee takes too, and be paid by us.
func TestANewPriceIsOfTheFeeThatWasAgreed(t *testing.T) {
	t.Parallel()
	fee := func(percent int, skipped bool) *quote.Fee {
		return &quote.Fee{Percent: money.Whole / 100 * money.Percent(percent), PayTo: addr("fee"), Skipped: skipped}
	}
	for name, c := range map[string]struct {
		order, offer *quote.Fee
		taken        bool
		left         uint64 // of 400, for us
	}{
		"none and none":           {nil, nil, true, 400},
		"the same":                {fee(5, false), fee(5, false), true, 380},
		"none any more":           {fee(5, false), nil, false, 0},
		"less":                    {fee(5, false), fee(1, false), false, 0},
		"more":                    {fee(1, false), fee(5, false), false, 0},
		"one that was not agreed": {nil, fee(5, false), false, 0},
		"too small to be sent":    {fee(5, false), fee(5, true), true, 400},
		"less, and too small":     {fee(5, false), fee(1, true), false, 0},
		"not charged, and none":   {fee(5, true), nil, true, 400},
		"not charged, and again":  {fee(5, true), fee(5, true), true, 400},
		"charged after all":       {fee(5, true), fee(5, false), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWalkOf(t, func(q *quote.Quote) { q.Fee, q.Integrator = c.order, "int_1" })
			w.told(w.pays("d1", 400))
			w.is(Held)
			q := w.o.Quote
			q.ID, q.In, q.Out, q.Fee, q.ExpiresAt = "quo_2", n(400), n(200), c.offer, w.now.Add(time.Minute)
			if !c.taken {
				w.refused(RequoteAccepted{Quote: q})
				return
			}
			had, _ := w.books.Balances[ledger.Key{Account: ledger.Liquidity, Asset: give}].Net()
			w.told(RequoteAccepted{Quote: q}, PayoutFinal{Landed: Landed{Tx: "p"}})
			w.is(Completed)
			w.owes(give, 0)
			has, _ := w.books.Balances[ledger.Key{Account: ledger.Liquidity, Asset: give}].Net()
			if got := has.Less0(had); got != n(c.left) {
				t.Errorf("%s of what was given is ours, want %d", got, c.left)
			}
			if want := c.left < 400; (w.o.FeeStatus == FeeProjected) != want {
				t.Errorf("the fee is %s", w.o.FeeStatus)
			}
		})
	}
}
