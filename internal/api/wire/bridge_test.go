package wire

import (
	"testing"
	"time"

	"ferry/internal/desk"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// TestTheFirstStepOfABridgeHasADeadline also where a fee may be paid before it: what is
// begun after the order's time is followed by nobody.
func TestTheFirstStepOfABridgeHasADeadline(t *testing.T) {
	t.Parallel()
	a, err := desk.NewAtlas(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	step := func(id string, s quote.LegStatus) order.BridgeStep {
		return order.BridgeStep{Leg: quote.Leg{ID: id}, Status: s}
	}
	for _, steps := range [][]order.BridgeStep{
		{step("burn", quote.LegReady), step("mint", quote.LegPending)},
		{step(order.PayFee, quote.LegReady), step("burn", quote.LegReady), step("mint", quote.LegReady)},
	} {
		o := order.Order{State: order.Awaiting, ExpiresAt: time.Unix(1, 0), Bridge: &order.Bridge{Steps: steps}}
		for _, s := range stepsOf(o, a) {
			if want := s.StepID != "mint"; want != (s.Deadline != nil) {
				t.Errorf("%s of %d steps has the deadline %v", s.StepID, len(steps), s.Deadline)
			}
		}
	}
}
