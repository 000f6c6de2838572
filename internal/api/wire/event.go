package wire

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strconv"

	"ferry/internal/feed"
	"ferry/internal/order"
)

// Crockford is base32 without letters that look like digits.
var Crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// EventID is the id of an event of an order: the same wherever it is shown.
func EventID(id order.ID, version int64) string {
	return EventIDOf("event/" + string(id) + "/" + strconv.FormatInt(version, 10))
}

// EventIDOf is the id of any event that has a name of its own.
func EventIDOf(name string) string {
	h := sha256.Sum256([]byte(name))
	return "evt_" + Crockford.EncodeToString(h[:16])
}

// eventNames are what callers call what happened to an order, where that is more
// than that its status changed.
var eventNames = map[string]string{
	"created": "order.created", "deposit_seen": "order.deposit_seen", "deposit_final": "order.deposit_confirmed",
	"payout_final": "order.payout_sent", "refund_priced": "order.refund_started", "refund_final": "order.refund_sent",
	"fee_priced": "order.fee_status_changed", "fee_skipped": "order.fee_status_changed", "fee_paid": "order.fee_status_changed", "fee_failed": "order.fee_status_changed",
	"recovery_priced": "order.recovery_changed", "recovery_dust": "order.recovery_changed", "recovery_final": "order.recovery_changed",
	"recovery_failed": "order.recovery_changed", "recovery_due": "order.recovery_changed", "deadline_passed": "order.delayed",
	"step_asked": "order.step_changed", "step_called": "order.step_changed", "step_done": "order.step_changed", "step_failed": "order.step_changed",
	"requote_offered": "order.requote_available", "step_ready": "order.step_ready", "step_changed": "order.step_changed", "step_submitted": "order.step_changed",
}

// EventName is what callers call an event of an order.
func EventName(name string, from, to order.State) string {
	if to == order.Held && from != order.Held {
		return "order.held"
	}
	if public, ok := eventNames[name]; ok {
		return public
	}
	return "order.status_changed"
}

// IntegratorEventOf is a change of an order as its integrator is told of it.
func IntegratorEventOf(e *feed.Entry, o AttributedOrder) IntegratorEvent {
	return IntegratorEvent{
		Type: "event", Seq: int(e.Number), EventID: EventID(e.Order, e.Version), Event: EventName(e.Event, e.From, e.State),
		OccurredAt: Time{e.At},
		Data:       AttributedChange{OrderID: string(e.Order), From: string(e.From), To: string(e.State), Version: int(e.Version), Order: o},
	}
}

// EventNames are what the events of orders are called, in order.
func EventNames() []string {
	all := []string{"order.held", "order.status_changed"}
	for _, name := range eventNames {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}
