package desk

import (
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/order"
)

// TestMoneyThatCameAfterARefundCanBeAskedBack: that the order itself is refunded, or is
// being, says nothing of what came afterwards.
func TestMoneyThatCameAfterARefundCanBeAskedBack(t *testing.T) {
	t.Parallel()
	for _, state := range []order.State{order.Refunding, order.Refunded} {
		for of, c := range map[order.DepositState]struct{ told int }{
			order.DepositCounted: {0}, order.Returning: {0}, order.Returned: {0}, order.Detected: {1},
		} {
			behind := &counter{o: order.Order{ID: "ord_1", State: state, Deposits: []order.Deposit{{State: order.DepositCounted}, {State: of}}}}
			d := &Desk{ports: Ports{Market: behind, Seal: behind, Settler: behind, Store: behind, Proofs: behind}}
			_, err := d.Refund(t.Context(), "ord_1", Seeker{Who: &access.Principal{}}, "req_1", time.Now())
			if len(behind.told) != c.told || (err == nil) != (c.told == 1) {
				t.Errorf("%s with a deposit that is %s: told %v, %v", state, of, behind.told, err)
			}
			if err != nil && fault.Of(err).Code != "refund_already_started" {
				t.Errorf("%s with a deposit that is %s: %v", state, of, err)
			}
		}
	}
}
