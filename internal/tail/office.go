package tail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"ferry/internal/api/operator"
	"ferry/internal/fault"
)

// Office follows a service through its operators' API: everything, one order, or one
// integrator. Its numbers are those of the whole log.
type Office struct {
	Client            *operator.Client
	Order, Integrator string
}

// Hear implements Source.
func (o Office) Hear(ctx context.Context, from From, tell func(Item) error) error {
	ask := operator.Follow{Order: o.Order, Integrator: o.Integrator, After: from.After}
	if from.After == nil && from.Last > 0 {
		ask.Last = &from.Last
	}
	err := o.Client.Events(ctx, ask, func(line []byte) error {
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			return fmt.Errorf("the stream was cut: %w", err)
		}
		switch m.Type {
		case "event":
			return tell(Item{Kind: Event, Seq: m.Seq, Text: line})
		case "heartbeat":
			return tell(Item{Kind: Mark, Seq: m.Seq, Finished: m.Finished})
		case "goodbye":
			return m.goodbye()
		}
		return nil // what a later version tells
	})
	if f, is := errors.AsType[*fault.Error](err); is {
		return ofFault(f)
	}
	return err
}

// message is what is read of what a service says, on either way.
type message struct {
	Type             string  `json:"type"`
	ReplyTo          *string `json:"replyTo"`
	SubscriptionID   string  `json:"subscriptionId"`
	Seq              int64   `json:"seq"`
	Finished         bool    `json:"finished"`
	Reason           string  `json:"reason"`
	ReconnectAfterMs int     `json:"reconnectAfterMs"`
	HeartbeatSeconds int     `json:"heartbeatSeconds"`
	Code             string  `json:"code"`
	Message          string  `json:"message"`
	RetryAfter       *int    `json:"retryAfterSeconds"`
}

// goodbye is the end of a connection that the service wants.
func (m *message) goodbye() error {
	return &laterError{why: errors.New("the service restarts"), wait: time.Duration(m.ReconnectAfterMs) * time.Millisecond}
}
