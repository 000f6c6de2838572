package desk

import (
	"context"
	"errors"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// counter is everything behind a desk that makes a new price.
type counter struct {
	Store
	o    order.Order
	err  error        // what the order says to what it is told
	open market.Offer // what an id holds
	back market.Offer // what stands of it
	no   error        // why an offer stands no more
	told []order.Event
}

func (c *counter) Order(context.Context, order.ID) (order.Order, error) { return c.o, nil }

func (c *counter) RightTo(order.ID, *order.Order, access.Proof) access.Right { return access.Act }

func (c *counter) Quote(context.Context, market.Ask, time.Time) (market.Offer, error) {
	return market.Offer{}, nil
}

func (c *counter) Accept(context.Context, market.Offer, time.Time) (market.Offer, error) {
	return c.back, c.no
}

func (c *counter) Close(market.Offer) (string, error) { return "quo_1", nil }

func (c *counter) Open(string, integrator.ID, time.Time) (market.Offer, error) {
	return c.open, nil
}

func (c *counter) Create(context.Context, order.Ask, time.Time) (order.Order, error) {
	return order.Order{}, nil
}

func (c *counter) Tell(_ context.Context, _ order.ID, ev order.Event, _ time.Time) (order.Order, error) {
	c.told = append(c.told, ev)
	return c.o, c.err
}

// TestANewPriceStandsWhateverTheOrderSaysOfIt: an order that has gone on meanwhile does
// not take the price away, trouble of the store does, and what was told is not told again.
func TestANewPriceStandsWhateverTheOrderSaysOfIt(t *testing.T) {
	t.Parallel()
	trouble := errors.New("no disk")
	held := order.Hold{Why: order.BelowMinimum, Since: 7}
	for name, c := range map[string]struct {
		hold  order.Hold
		says  error
		told  int
		fails error
	}{
		"the first":            {hold: held, told: 1},
		"the order has gone":   {hold: held, says: &order.OutOfTurn{State: order.Refunding}, told: 1},
		"told already":         {hold: order.Hold{Why: order.BelowMinimum, Since: 7, Offered: true}},
		"trouble of the store": {hold: held, says: trouble, told: 1, fails: trouble},
		"no price is waited for": {
			hold: order.Hold{Why: order.WrongToken, Since: 7}, fails: fault.New(fault.Conflict, "invalid_state", ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behind := &counter{o: order.Order{ID: "ord_1", State: order.Held, Hold: c.hold}, err: c.says}
			d := &Desk{ports: Ports{Market: behind, Seal: behind, Settler: behind, Store: behind, Proofs: behind}}
			offer, err := d.Requote(t.Context(), "ord_1", Seeker{Who: &access.Principal{}}, time.Now())
			switch {
			case c.fails == nil && (err != nil || offer.Quote.ID != "quo_1"):
				t.Errorf("%+v, %v", offer, err)
			case c.fails != nil && !errors.Is(err, c.fails) && fault.Of(err).Code != fault.Of(c.fails).Code:
				t.Errorf("%v", err)
			case c.fails != nil && offer.Quote.ID != "":
				t.Errorf("a price is shown with %v", err)
			}
			if len(behind.told) != c.told {
				t.Fatalf("told %v", behind.told)
			}
			if c.told > 0 && behind.told[0] != (order.RequoteOffered{Hold: 7}) {
				t.Errorf("told %+v", behind.told[0])
			}
		})
	}
}

// TestANewPriceIsPricedAgainWhenItIsAccepted: who waits until the price has moved his way
// does not have the old one.
func TestANewPriceIsPricedAgainWhenItIsAccepted(t *testing.T) {
	t.Parallel()
	fresh := market.Offer{Quote: quote.Quote{ID: "quo_1", Out: money.FromUint64(95)}}
	held := order.Order{ID: "ord_1", State: order.Held, Hold: order.Hold{Why: order.BelowMinimum, Since: 7}}
	for name, c := range map[string]struct {
		o    order.Order
		no   error
		code string
		out  uint64 // of what the order is told; zero is that it is told nothing
	}{
		"at the price of now":     {o: held, out: 95},
		"moved too far":           {o: held, no: fault.New(fault.Conflict, "price_moved", ""), code: "requote_expired"},
		"nobody has a price":      {o: held, no: fault.New(fault.Unavailable, "pair_unavailable", ""), code: "pair_unavailable"},
		"the order does not wait": {o: order.Order{ID: "ord_1", State: order.Executing}, no: fault.New(fault.Conflict, "price_moved", ""), out: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behind := &counter{o: c.o, back: fresh, no: c.no, open: market.Offer{Quote: quote.Quote{ID: "quo_1", Out: money.FromUint64(100)}}}
			d := &Desk{ports: Ports{Market: behind, Seal: behind, Settler: behind, Store: behind, Proofs: behind}}
			_, err := d.AcceptRequote(t.Context(), "ord_1", Seeker{Who: &access.Principal{}}, "quo_1", time.Now())
			if c.code == "" && err != nil || c.code != "" && (err == nil || fault.Of(err).Code != c.code) {
				t.Fatalf("%v, want %q", err, c.code)
			}
			if c.out == 0 {
				if len(behind.told) > 0 {
					t.Errorf("told %+v", behind.told)
				}
				return
			}
			if got := behind.told[0].(order.RequoteAccepted).Quote.Out; got != money.FromUint64(c.out) {
				t.Errorf("told of %s, want %d", got, c.out)
			}
		})
	}
}
