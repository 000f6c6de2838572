package desk

import (
	"context"
	"errors"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// runner makes a transaction whatever is asked for.
type runner struct{}

func (runner) Begin(context.Context, string, quote.Trip, time.Time) ([]byte, error) { return nil, nil }

func (runner) Build(context.Context, quote.Trip, string, time.Time) ([]chain.Call, error) {
	return []chain.Call{{}}, nil
}

// TestNothingIsMadeThatWouldComeTooLate: a fee that is paid after its time goes back less
// what that costs, and what begins a bridge then is followed by nobody. Steps after the
// first have all the time there is.
func TestNothingIsMadeThatWouldComeTooLate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	steps := func(first, second quote.LegStatus) []order.BridgeStep {
		return []order.BridgeStep{
			{Leg: quote.Leg{ID: order.PayFee, Actor: quote.ByUser}, Status: quote.LegReady},
			{Leg: quote.Leg{ID: "burn", Actor: quote.ByUser}, Status: first},
			{Leg: quote.Leg{ID: "mint", Actor: quote.ByUser}, Status: second},
		}
	}
	begun := steps(quote.LegConfirmed, quote.LegReady)
	for _, one := range []struct {
		name, step string
		state      order.State
		steps      []order.BridgeStep
		after      time.Duration
		made       bool
	}{
		{"the fee in time", order.PayFee, order.Executing, begun, time.Hour - 1, true},
		{"the fee too late", order.PayFee, order.Executing, begun, time.Hour, false},
		{"the first step in time", "burn", order.Awaiting, steps(quote.LegReady, quote.LegPending), 0, true},
		{"the first step too late", "burn", order.Awaiting, steps(quote.LegReady, quote.LegPending), 2 * time.Hour, false},
		{"the last step", "mint", order.Executing, begun, 30 * 24 * time.Hour, true},
	} {
		id := OrderID()
		c := &counter{o: order.Order{
			ID: id, State: one.state, ExpiresAt: now.Add(time.Hour), Origin: order.Origin{Bridge: "b"},
			Bridge: &order.Bridge{Auto: true, Fee: order.Sum{Asset: chain.ID("sim:a").Native(), Amount: money.FromUint64(7)}, Steps: one.steps},
		}}
		d := &Desk{ports: Ports{Store: c, Proofs: c, Bridges: []*Bridge{{Bridge: quote.Bridge{ID: "b"}, Run: runner{}}}}}
		_, err := d.BuildStep(t.Context(), string(id), one.step, Seeker{Who: &access.Principal{}}, now.Add(one.after))
		var f *fault.Error
		if one.made != (err == nil) || err != nil && (!errors.As(err, &f) || f.Code != "step_not_ready") {
			t.Errorf("%s: %v", one.name, err)
		}
	}
}
