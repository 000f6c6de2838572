package tail

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"ferry/internal/api/wire"
	"ferry/internal/order"
)

// heard takes one message of the live socket.
func (h *hearing) heard(m *message, text []byte) error {
	switch m.Type {
	case "welcome":
		if m.HeartbeatSeconds > 0 {
			h.silence = 2*time.Duration(m.HeartbeatSeconds)*time.Second + time.Second
		}
	case "subscribed":
		return h.subscribed(m)
	case "error":
		if m.SubscriptionID == "" || m.SubscriptionID == h.id {
			return refused(m.Code, m.Message, m.RetryAfter)
		}
	case "unsubscribed":
		if m.SubscriptionID == h.id {
			return errors.New("the service ended the subscription")
		}
	case "goodbye":
		return m.goodbye()
	case "resync_required":
		if m.SubscriptionID == h.id {
			return h.resync(m)
		}
	case "snapshot", "event":
		if m.SubscriptionID == h.id && h.id != "" {
			return h.told(m, text)
		}
	}
	return nil
}

// subscribed begins what was asked for. Who wants the last few of a log, or the log of an
// integration from now on, asks again once it is known where that ends: a snapshot of many
// orders would stand for events which would then be missing.
func (h *hearing) subscribed(m *message) error {
	if m.ReplyTo == nil || *m.ReplyTo != strconv.Itoa(h.asked) {
		return nil
	}
	if after := h.from.After; after != nil && *after > m.Seq {
		return &Refusal{Code: "unknown_seq", Text: fmt.Sprintf("the log ends with number %d, and %d was never given; leave --after out, or give one that was.", m.Seq, *after)}
	}
	if h.from.After == nil && (h.from.Last > 0 || h.socket.Order == "") {
		after := max(0, m.Seq-h.from.Last)
		h.from = From{After: &after}
		if err := h.tell(Item{Kind: Mark, Seq: after}); err != nil {
			return err
		}
		if err := h.say(wire.Unsubscribe{Type: "unsubscribe", ID: "end", SubscriptionID: m.SubscriptionID}); err != nil {
			return err
		}
		return h.subscribe(&after)
	}
	h.id, h.head = m.SubscriptionID, m.Seq
	if h.from.After == nil {
		return nil // the snapshot of the order says where it begins
	}
	return h.tell(Item{Kind: Mark, Seq: *h.from.After})
}

// resync is told where events are missing that nobody can tell any more.
func (h *hearing) resync(m *message) error {
	switch m.Reason {
	case "slow_consumer":
		return errors.New("events came faster than they were shown")
	case "unknown_seq":
		return &Refusal{Code: m.Reason, Text: fmt.Sprintf("the log ends with number %d; leave --after out, or give a number of this log.", m.Seq)}
	}
	return &Refusal{Code: m.Reason, Text: fmt.Sprintf("what came after the number that was asked for is not kept any more; the log is at %d. Go on from there with --after %d.", m.Seq, m.Seq)}
}

// told passes on an event or a snapshot.
func (h *hearing) told(m *message, text []byte) error {
	var b body
	if err := json.Unmarshal(text, &b); err != nil {
		return fmt.Errorf("the service said what is no event: %w", err)
	}
	if b.Seq == nil {
		return nil // how deep a payment is: it passes, and what is shown here is the log
	}
	i := Item{Kind: Event, Seq: m.Seq, Text: text}
	if m.Type == "snapshot" {
		i.Kind = Snapshot
	}
	i.Finished = h.socket.Order != "" && m.Seq >= h.head && order.State(b.status()).Finished()
	return h.tell(i)
}
