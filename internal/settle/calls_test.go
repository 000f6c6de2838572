package settle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/send"
	"ferry/internal/settle"
)

// shelf holds one order whose step runs, and hears what it is told.
type shelf struct {
	settle.Store
	order order.Order
	told  order.Event
	put   string // why the work was put off
}

var errHeard = errors.New("heard")

func (s *shelf) Order(context.Context, order.ID) (order.Order, error) { return s.order, nil }

func (s *shelf) Transfer(context.Context, send.ID) (send.Record, error) {
	return send.Record{Result: send.Result{Fate: chain.Final}}, nil
}

func (s *shelf) Move(_ context.Context, _ order.ID, decide settle.Decide) (order.Order, error) {
	c, err := decide(s.order)
	if s.told = c.Event; err != nil {
		return order.Order{}, err
	}
	return order.Order{}, errHeard
}

func (s *shelf) TakeWork(context.Context, time.Time, time.Duration, int) ([]settle.Work, error) {
	return []settle.Work{{ID: "w", Order: s.order.ID, Effect: order.RunStep{}}}, nil
}

func (s *shelf) LaterWork(_ context.Context, _ string, _ time.Time, why string) error {
	s.put = why
	return nil
}

func (s *shelf) DoneWork(context.Context, string) error { return nil }

func (s *shelf) DueOrders(context.Context, time.Time, time.Duration, int) ([]order.ID, error) {
	return nil, nil
}

func (s *shelf) Synced(context.Context, chain.ID) (time.Time, error) { return begin, nil }

// says is a venue that says one thing.
type says struct{ move quote.Move }

func (s says) Next(context.Context, quote.Step, quote.Progress) (quote.Move, error) {
	return s.move, nil
}

// A venue is asked also where there is no room for another transaction: the last one may
// have done it, and a refund of what is gone would pay twice.
func TestAStepThatAskedForAllItMayIsStillAsked(t *testing.T) {
	t.Parallel()
	in, out := chain.Asset{Chain: "sim:a"}, chain.Asset{Chain: "sim:b"}
	full := order.Order{
		ID: "ord_1", State: order.Executing, InHand: order.Sum{Asset: in, Amount: money.FromUint64(7)},
		Quote: quote.Quote{ID: "quo_1", Give: in, Get: out, Steps: []quote.Step{{Venue: "v", In: in, Out: out}}},
	}
	for n := range order.MaxCalls {
		full.Calls = append(full.Calls, order.StepCall{N: n, Outflow: order.Outflow{Asset: in, State: order.OutFinal}})
	}
	for name, c := range map[string]struct {
		move quote.Move
		want string
	}{
		"done":    {quote.Done{In: money.FromUint64(7), Out: money.FromUint64(6)}, "step_done"},
		"waiting": {quote.Wait{For: time.Minute, Why: "it is on its way"}, ""},
		"failed":  {quote.Fail{Why: "no"}, "step_failed"},
		"more":    {quote.Send{Call: chain.Call{Chain: "sim:a"}}, "step_failed"},
	} {
		store := &shelf{order: full}
		s, err := settle.New(settle.Config{
			PerHour: 1, PerPayment: 1, FeeFactor: 1, Hurry: 1, GiveUp: 2, Lease: 1, PriceWait: 1,
		}, settle.Ports{Store: store, Costs: map[chain.ID]settle.Coster{"sim:a": nil}, Listed: map[chain.Asset]bool{in: true}, Venues: map[string]settle.Venue{"v": says{c.move}}})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Step(t.Context(), begin)
		got := ""
		if store.told != nil {
			got = store.told.Name()
		}
		if got != c.want || (c.want == "") != (store.put == "it is on its way") {
			t.Errorf("%s: told %q, put off %q, %v", name, got, store.put, err)
		}
	}
}
