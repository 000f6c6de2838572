package order

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"ferry/internal/chain"
)

func deposited(id chain.DepositID, n uint64) DepositFinal {
	d := payment(n)
	d.ID = id
	return DepositFinal{Deposit: d, Sighting: 1, SeenAt: start}
}

// TestAnOfferIsToldOnceForEachHold: the second of a hold is known, the first of the next
// is news, and nothing of the order but its version says that there was one.
func TestAnOfferIsToldOnceForEachHold(t *testing.T) {
	held, _ := told(t, true, deposited("d", 400))
	if !held.Requotable() || held.Hold.Since != held.Version || held.Hold.Offered {
		t.Fatalf("held at version %d: %+v", held.Version, held.Hold)
	}
	offer := RequoteOffered{Hold: held.Hold.Since}
	c, err := held.Apply(offer, start.Add(2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	want := held.clone()
	want.Version, want.UpdatedAt, want.Hold.Offered = held.Version+1, start.Add(2*time.Minute), true
	if !reflect.DeepEqual(c.Now, want) || len(c.Effects) > 0 || len(c.Entry.Postings)+len(c.Entry.Reserve)+len(c.Entry.Voids) > 0 {
		t.Errorf("an offer changed more than the version: %+v", c)
	}
	if _, err := c.Now.Apply(offer, start.Add(3*time.Minute)); !errors.Is(err, ErrKnown) {
		t.Errorf("a second offer in one hold: %v", err)
	}

	again, err := c.Now.Apply(deposited("d2", 300), start.Add(4*time.Minute))
	if err != nil || !again.Now.Requotable() || again.Now.Hold.Since != again.Now.Version || again.Now.Hold.Offered {
		t.Fatalf("held with more in hand: %+v, %v", again.Now.Hold, err)
	}
	var turn *OutOfTurn
	if _, err := again.Now.Apply(offer, start.Add(5*time.Minute)); !errors.As(err, &turn) {
		t.Errorf("an offer of the hold before: %v", err)
	}
	next := RequoteOffered{Hold: again.Now.Hold.Since}
	if next.Key() == offer.Key() {
		t.Errorf("two holds have one key %s", next.Key())
	}
	if c, err = again.Now.Apply(next, start.Add(6*time.Minute)); err != nil || c.Now.Version != again.Now.Version+1 {
		t.Errorf("the first offer of another hold: version %d, %v", c.Now.Version, err)
	}
	if slices.ContainsFunc(c.Now.Keys, func(k string) bool { return k == offer.Key() || k == next.Key() }) {
		t.Errorf("the order grows by its offers: %v", c.Now.Keys)
	}
}

func TestAnOfferHasAPlaceOnlyWhereANewPriceIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		before []Event
		takes  bool
	}{
		"awaiting":            {nil, false},
		"confirming":          {[]Event{DepositSeen{payment(400), 1, start}}, false},
		"too little":          {[]Event{deposited("d", 400)}, true},
		"too much":            {[]Event{deposited("d", 9000)}, true},
		"no liquidity":        {[]Event{DepositFinal{payment(1000), 1, start, true}}, true},
		"stopped":             {[]Event{deposited("d", 400), Stopped{"r", ScreeningHold}}, false},
		"lifted again":        {[]Event{deposited("d", 400), Stopped{"r", ScreeningHold}, Lifted{"s", false}}, true},
		"held for a screen":   {[]Event{Stopped{"r", ScreeningHold}, deposited("d", 1000)}, false},
		"sending":             {[]Event{deposited("d", 1000)}, false},
		"refunding":           {[]Event{deposited("d", 400), RefundAsked{"r"}}, false},
		"completed":           {[]Event{deposited("d", 1000), PayoutFinal{}}, false},
		"its payout rejected": {[]Event{deposited("d", 1000), PayoutFailed{"w", Landed{}}}, false},
	} {
		o, _ := told(t, true, c.before...)
		_, err := o.Apply(RequoteOffered{Hold: o.Hold.Since}, start.Add(2*time.Minute))
		var turn *OutOfTurn
		if c.takes != (err == nil) || err != nil && !errors.As(err, &turn) {
			t.Errorf("%s (%s, held for %q): %v", name, o.State, o.Hold.Why, err)
		}
	}
}
