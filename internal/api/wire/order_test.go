package wire

import (
	"slices"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/order"
)

// Whatever an order fails for or is held for has a code that the catalogue lists.
func TestFailuresAreInTheCatalogue(t *testing.T) {
	t.Parallel()
	for why := range failures {
		for _, o := range []order.Order{{State: order.Failed, Failure: why}, {State: order.Held, Hold: order.Hold{Why: why}}, {State: order.Held, Stop: why}} {
			f := failureOf(o)
			if f == nil || f.Message == "" || !slices.Contains(FailureCodes, f.Code) {
				t.Errorf("%s of a %s order is shown as %+v", why, o.State, f)
			}
		}
	}
	if f := failureOf(order.Order{State: order.Failed, Failure: "something_new"}); f == nil || f.Code != "unknown" {
		t.Errorf("got %+v", f)
	}
	if f := failureOf(order.Order{State: order.Completed}); f != nil {
		t.Errorf("a completed order failed for %+v", f)
	}
}

// Every state has its phase, what it waits for and where the money is.
func TestEveryStateIsShown(t *testing.T) {
	t.Parallel()
	phases := []string{"funding", "executing", "delivering", "recovering", "done"}
	for _, s := range order.States() {
		o := order.Order{State: s}
		if p := phaseOf(s); !slices.Contains(phases, p) || (p == "done") != s.Finished() {
			t.Errorf("%s is in phase %q", s, p)
		}
		n := nextOf(o)
		if (n.Kind == "none") != s.Finished() {
			t.Errorf("%s waits for %q", s, n.Kind)
		}
		if n.By == "user" && len(n.Options) == 0 {
			t.Errorf("%s waits for its user, who can do nothing", s)
		}
	}
	for _, c := range []struct {
		o    order.Order
		kind string
		by   string
	}{
		{order.Order{State: order.Held, Hold: order.Hold{Why: order.BelowMinimum}}, "accept_requote", "user"},
		{order.Order{State: order.Held, Hold: order.Hold{Why: order.WrongToken}}, "provide_refund_address", "user"},
		{order.Order{State: order.Held, Hold: order.Hold{Why: order.BelowMinimum}, Stop: order.ScreeningHold}, "wait", "operator"},
		{order.Order{State: order.Completed, Deposits: []order.Deposit{{State: order.AwaitingAddress}}}, "provide_refund_address", "user"},
		{order.Order{State: order.Expired, Deposits: []order.Deposit{{State: order.Detected}}}, "wait", "user"},
	} {
		if n := nextOf(c.o); n.Kind != c.kind || n.By != c.by {
			t.Errorf("%+v: got %s by %s, want %s by %s", c.o.Hold, n.Kind, n.By, c.kind, c.by)
		}
	}
}

// TestOnlyAPaymentInSightHasConfirmations: it may be in no block, and where nobody looked
// it is not said to be.
func TestOnlyAPaymentInSightHasConfirmations(t *testing.T) {
	t.Parallel()
	deep := map[chain.DepositID]uint64{"d": 3}
	for _, c := range []struct {
		state  order.DepositState
		depths map[chain.DepositID]uint64
		want   int // -1 is null
	}{
		{order.DepositPending, deep, 3},
		{order.DepositPending, map[chain.DepositID]uint64{}, 0},
		{order.DepositPending, nil, -1},
		{order.DepositCounted, deep, -1},
		{order.DepositDrop, deep, -1},
		{order.Detected, deep, -1},
	} {
		got := depositOf(order.Deposit{ID: "d", State: c.state}, order.Order{}, c.depths).Confirmations
		if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("%s with %v: %v, want %d", c.state, c.depths, got, c.want)
		}
		told := ConfirmationsOf(&order.Order{ID: "o", Deposits: []order.Deposit{{ID: "d", State: c.state}}}, c.depths)
		if sight := c.state == order.DepositPending; sight != (len(told.Deposits) == 1) || sight && c.want >= 0 && told.Deposits[0].Confirmations != c.want {
			t.Errorf("%s with %v: told %+v", c.state, c.depths, told)
		}
	}
}
