package storetest

import (
	"errors"
	"testing"
	"time"

	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/settle"
)

// bridgeCases are those of bridges that owners run.
var bridgeCases = []kase{
	{"a bridge is read back as it was made, and looked at", bridgeRoundTrip},
	{"what began a bridge begins no other", bridgeClaims},
}

func (b *bench) bridge() order.Order {
	b.Helper()
	a := b.ask()
	a.Quote.Fee = nil
	a.Origin.Bridge = "span"
	a.Bridge = &order.BridgeAsk{
		Plan: []byte{1, 2}, From: addr("me"), Auto: true, Fee: amount(5),
		Legs: []quote.Leg{
			{ID: "burn", Title: "Burn", Actor: quote.ByUser, Chain: give},
			{ID: "mint", Title: "Mint", Actor: quote.ByUser, Chain: get, Claim: true, Takes: time.Second},
		},
	}
	c := must[order.Change](b.T)(order.New(a, start))
	ok(b.T, b.db.Create(b.Context(), c))
	return c.Now
}

func bridgeRoundTrip(t *testing.T, b *bench) {
	o := b.bridge()
	same(t, must[order.Order](t)(b.db.Order(t.Context(), o.ID)), o)
	now := b.told(o.ID, order.StepSubmitted{Step: "burn", Tx: "0xa"}, start.Add(time.Second))
	same(t, must[order.Order](t)(b.db.Order(t.Context(), o.ID)), now)
	work := must[[]settle.Work](t)(b.db.TakeWork(t.Context(), start.Add(time.Minute), time.Minute, 10))
	if len(work) != 1 || work[0].Order != o.ID || work[0].Effect != (order.LookBridge{Turn: 1}) {
		t.Fatalf("the work is %+v", work)
	}
}

// began says that a bridge began by a proof.
func began(o order.Order, proof string) order.Event {
	ev, _ := o.SeenAs(quote.Standing{Legs: []quote.LegStands{{ID: "burn", Status: quote.LegConfirmed}}, Moved: o.Quote.In}, proof)
	return ev
}

func bridgeClaims(t *testing.T, b *bench) {
	one, two := b.bridge(), b.bridge()
	one = b.told(one.ID, order.StepSubmitted{Step: "burn", Tx: "0xa"}, start)
	two = b.told(two.ID, order.StepSubmitted{Step: "burn", Tx: "0xa"}, start)
	first := b.told(one.ID, began(one, "sim:give/0xa/0"), start.Add(time.Second))
	if first.State != order.Executing {
		t.Fatalf("it is %s", first.State)
	}
	_, err := b.tell(two.ID, began(two, "sim:give/0xa/0"), start.Add(time.Second))
	var claimed *order.Claimed
	if !errors.As(err, &claimed) {
		t.Fatalf("the same proof began another order: %v", err)
	}
	same(t, must[order.Order](t)(b.db.Order(t.Context(), two.ID)), two)
	if got := b.told(two.ID, began(two, "sim:give/0xa/1"), start.Add(time.Second)); got.State != order.Executing {
		t.Fatalf("by a proof of its own it is %s", got.State)
	}
}
