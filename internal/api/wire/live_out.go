package wire

import (
	"ferry/internal/chain"
	"ferry/internal/order"
)

// What the server says on the live socket.

// Welcome answers hello.
type Welcome struct {
	Type             string     `json:"type" enum:"welcome" example:"welcome"`
	ReplyTo          string     `json:"replyTo" example:"1"`
	ConnectionID     string     `json:"connectionId" doc:"To name this connection to the operator." example:"con_0123456789ABCDEFGHJKMNPQRS"`
	ServerTime       Time       `json:"serverTime" example:"2026-01-01T00:00:00.000Z"`
	HeartbeatSeconds int        `json:"heartbeatSeconds" doc:"How often the server pings; a client that hears nothing for twice as long should connect again." example:"20"`
	Limits           LiveLimits `json:"limits"`
}

// LiveLimits bound a connection.
type LiveLimits struct {
	Subscriptions  int `json:"subscriptions" example:"100"`
	MessagesPerMin int `json:"messagesPerMin" example:"120"`
}

// Subscribed answers subscribe. What the channel has to tell comes after it.
type Subscribed struct {
	Type           string `json:"type" enum:"subscribed" example:"subscribed"`
	ReplyTo        string `json:"replyTo" example:"2"`
	SubscriptionID string `json:"subscriptionId" example:"s1"`
	Channel        string `json:"channel" example:"order"`
	Seq            int    `json:"seq" doc:"The newest number of the channel's log; 0 for channels without one." example:"12"`
	Replayed       int    `json:"replayed" doc:"How many events after yours are sent again." example:"5"`
}

// Unsubscribed answers unsubscribe, or says that a subscription ended by itself.
type Unsubscribed struct {
	Type           string  `json:"type" enum:"unsubscribed" example:"unsubscribed"`
	ReplyTo        *string `json:"replyTo" doc:"null where you did not ask for it." example:"8"`
	SubscriptionID string  `json:"subscriptionId" example:"s1"`
	Reason         string  `json:"reason" enum:"requested,expired,refused" example:"requested"`
}

// Pong answers ping.
type Pong struct {
	Type       string `json:"type" enum:"pong" example:"pong"`
	ReplyTo    string `json:"replyTo" example:"9"`
	ServerTime Time   `json:"serverTime" example:"2026-01-01T00:00:00.000Z"`
}

// LiveError is a refusal. Nothing was done; the connection goes on unless a close frame
// follows.
type LiveError struct {
	Type              string    `json:"type" enum:"error" example:"error"`
	ReplyTo           *string   `json:"replyTo" doc:"null where the message had no id that could be read." example:"2"`
	SubscriptionID    string    `json:"subscriptionId,omitzero" doc:"Which subscription it is about, if it is not an answer." example:"s1"`
	Code              string    `json:"code" doc:"Of the catalogue at GET /v2/errors." example:"order_not_found"`
	Message           string    `json:"message" example:"No such order, or no access to it."`
	RetryAfterSeconds *int      `json:"retryAfterSeconds" example:"null"`
	Errors            []Problem `json:"errors,omitzero" doc:"Every field that was refused."`
}

// ResyncRequired says that what was missed cannot be sent. A snapshot follows, or after
// a slow consumer the end of the connection.
type ResyncRequired struct {
	Type           string `json:"type" enum:"resync_required" example:"resync_required"`
	SubscriptionID string `json:"subscriptionId" example:"s1"`
	Reason         string `json:"reason" enum:"retention_exceeded,unknown_seq,slow_consumer" example:"retention_exceeded"`
	Seq            int    `json:"seq" doc:"The newest number of the log; after a slow consumer the last that was sent." example:"12"`
}

// Goodbye comes before the server ends a connection of its own accord.
type Goodbye struct {
	Type             string `json:"type" enum:"goodbye" example:"goodbye"`
	Reason           string `json:"reason" enum:"deploy" example:"deploy"`
	ReconnectAfterMs int    `json:"reconnectAfterMs" doc:"Different for each client, so that not all come at once." example:"1500"`
}

// OrderSnapshot is an order as it is.
type OrderSnapshot struct {
	Type           string        `json:"type" enum:"snapshot" example:"snapshot"`
	SubscriptionID string        `json:"subscriptionId" example:"s1"`
	Seq            int           `json:"seq" doc:"Events go on after this number." example:"12"`
	Data           SnapshotOrder `json:"data"`
}

// SnapshotOrder is the order of a snapshot.
type SnapshotOrder struct {
	Order Order `json:"order"`
}

// SessionSnapshot is the newest orders of a session.
type SessionSnapshot struct {
	Type           string `json:"type" enum:"snapshot" example:"snapshot"`
	SubscriptionID string `json:"subscriptionId" example:"s2"`
	Seq            int    `json:"seq" example:"41"`
	Data           Orders `json:"data"`
}

// IntegratorSnapshot is the orders of an integration that changed last.
type IntegratorSnapshot struct {
	Type           string           `json:"type" enum:"snapshot" example:"snapshot"`
	SubscriptionID string           `json:"subscriptionId" example:"s3"`
	Seq            int              `json:"seq" example:"1841"`
	Data           AttributedOrders `json:"data"`
}

// StatusSnapshot is how everything is.
type StatusSnapshot struct {
	Type           string `json:"type" enum:"snapshot" example:"snapshot"`
	SubscriptionID string `json:"subscriptionId" example:"s4"`
	Seq            int    `json:"seq" example:"0"`
	Data           Status `json:"data"`
}

// OrderEvent is a change of an order, as its owner sees it.
type OrderEvent struct {
	Type           string      `json:"type" enum:"event" example:"event"`
	SubscriptionID string      `json:"subscriptionId" example:"s1"`
	Seq            int         `json:"seq" doc:"Durable: the order's own number, in the channel session that of the integration's log. Ask for what came after it." example:"8"`
	EventID        string      `json:"eventId" doc:"The same for the same event wherever it is told." example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event          string      `json:"event" enum:"order.created,order.status_changed,order.deposit_seen,order.deposit_confirmed,order.held,order.requote_available,order.step_changed,order.step_ready,order.payout_sent,order.refund_started,order.refund_sent,order.recovery_changed,order.delayed,order.fee_status_changed" example:"order.status_changed"`
	OccurredAt     Time        `json:"occurredAt" example:"2026-01-01T00:05:00.000Z"`
	Data           OrderChange `json:"data"`
}

// ConfirmationsEvent says how deep the payments of an order are buried that may still
// vanish. It is in no log: one for each block would make logs grow with chains.
type ConfirmationsEvent struct {
	Type           string        `json:"type" enum:"event" example:"event"`
	SubscriptionID string        `json:"subscriptionId" example:"s1"`
	Seq            *int          `json:"seq" doc:"Always null: it has no number, is never sent again, and changes nothing about the number you keep." example:"null"`
	EventID        string        `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event          string        `json:"event" enum:"order.confirmations" example:"order.confirmations"`
	OccurredAt     Time          `json:"occurredAt" doc:"When it was looked." example:"2026-01-01T00:05:00.000Z"`
	Data           Confirmations `json:"data"`
}

// Confirmations are how deep payments of an order are.
type Confirmations struct {
	OrderID  string         `json:"orderId" example:"ord_0123456789ABCDEFGHJKMNPQRS"`
	Version  int            `json:"version" doc:"Of the order whose payments they are; it does not rise by this." example:"2"`
	Deposits []DepositDepth `json:"deposits" doc:"All that may still vanish, and no others."`
}

// DepositDepth is how deep a payment is.
type DepositDepth struct {
	TxHash                string `json:"txHash" example:"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"`
	Confirmations         int    `json:"confirmations" doc:"How many blocks stand on and with its own; 0 while it is in none. It falls where a chain takes blocks back." example:"1"`
	RequiredConfirmations int    `json:"requiredConfirmations" doc:"As in the order. A payment of more value than was quoted may need more." example:"2"`
}

// ConfirmationsOf are those of an order, as the order itself shows them.
func ConfirmationsOf(o *order.Order, depths map[chain.DepositID]uint64) Confirmations {
	c := Confirmations{OrderID: string(o.ID), Version: int(o.Version), Deposits: []DepositDepth{}}
	for _, d := range o.Deposits {
		if d.State == order.DepositPending {
			c.Deposits = append(c.Deposits, DepositDepth{
				TxHash: string(d.Tx), Confirmations: int(depths[d.ID]), RequiredConfirmations: int(o.Quote.Shown.Confirmations),
			})
		}
	}
	return c
}

// OrderChange is what happened to an order, and the order after it.
type OrderChange struct {
	OrderID string `json:"orderId" example:"ord_0123456789ABCDEFGHJKMNPQRS"`
	From    string `json:"from" doc:"Its status before; empty for a new order." minLength:"0" example:"confirming"`
	To      string `json:"to" example:"executing"`
	Version int    `json:"version" example:"8"`
	Order   Order  `json:"order"`
}

// IntegratorEvent is a change of an order, as its integrator sees it. It is also the
// body of a webhook, without subscriptionId.
type IntegratorEvent struct {
	Type           string           `json:"type" enum:"event" example:"event"`
	SubscriptionID string           `json:"subscriptionId,omitzero" example:"s3"`
	Seq            int              `json:"seq" doc:"The number in the integration's log: durable, without a gap." example:"1842"`
	EventID        string           `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event          string           `json:"event" example:"order.status_changed"`
	OccurredAt     Time             `json:"occurredAt" example:"2026-01-01T00:05:00.000Z"`
	Data           AttributedChange `json:"data"`
}

// AttributedChange is what happened to an order, and what its integrator sees of it.
type AttributedChange struct {
	OrderID string          `json:"orderId" example:"ord_0123456789ABCDEFGHJKMNPQRS"`
	From    string          `json:"from" minLength:"0" example:"confirming"`
	To      string          `json:"to" example:"executing"`
	Version int             `json:"version" example:"8"`
	Order   AttributedOrder `json:"order"`
}

// QuoteEvent is a new price.
type QuoteEvent struct {
	Type           string `json:"type" enum:"event" example:"event"`
	SubscriptionID string `json:"subscriptionId" example:"s5"`
	Seq            int    `json:"seq" doc:"Of this subscription." example:"1"`
	EventID        string `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event          string `json:"event" enum:"quote.updated" example:"quote.updated"`
	OccurredAt     Time   `json:"occurredAt" example:"2026-01-01T00:05:00.000Z"`
	Data           Quote  `json:"data"`
}

// StatusEvent says that a chain is not as it was.
type StatusEvent struct {
	Type           string      `json:"type" enum:"event" example:"event"`
	SubscriptionID string      `json:"subscriptionId" example:"s4"`
	Seq            int         `json:"seq" doc:"Of this subscription." example:"1"`
	EventID        string      `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event          string      `json:"event" enum:"status.changed" example:"status.changed"`
	OccurredAt     Time        `json:"occurredAt" example:"2026-01-01T00:05:00.000Z"`
	Data           ChainStatus `json:"data"`
}

// UsageEvent is what is left of an integration's limits, that one is used up, or that
// its settings changed.
type UsageEvent struct {
	Type           string `json:"type" enum:"event" example:"event"`
	SubscriptionID string `json:"subscriptionId" example:"s6"`
	Seq            int    `json:"seq" doc:"Of this subscription." example:"1"`
	EventID        string `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Event          string `json:"event" enum:"usage.updated,limit.exhausted,config.changed" example:"usage.updated"`
	OccurredAt     Time   `json:"occurredAt" example:"2026-01-01T00:05:00.000Z"`
	Data           Usage  `json:"data"`
}

// Usage is what is left of limits.
type Usage struct {
	ConfigVersion int          `json:"configVersion" doc:"Rises with every change of the integration's settings." example:"42"`
	Exhausted     *string      `json:"exhausted" doc:"The limit that is used up." example:"null"`
	Limits        []LimitUsage `json:"limits"`
}

// LimitUsage is one limit.
type LimitUsage struct {
	Resource string `json:"resource" doc:"As in X-RateLimit-Resource." example:"company_requests"`
	Limit    int    `json:"limit" example:"600"`
	Left     int    `json:"left" example:"598"`
}
