package wire

import (
	"time"

	"ferry/internal/hooks"
)

// Webhooks are the endpoints of an integration.
type Webhooks struct {
	Webhooks []Webhook `json:"webhooks"`
}

// Webhook is an endpoint that is told of an integration's orders.
type Webhook struct {
	WebhookID       string   `json:"webhookId" example:"whk_0123456789ABCDEFGHJKMNPQRS"`
	URL             string   `json:"url" maxLength:"2048" example:"https://example.com/ferry"`
	Events          []string `json:"events" doc:"Names of events; * is all." example:"[\"*\"]"`
	Description     *string  `json:"description" example:"orders of the shop"`
	Status          string   `json:"status" doc:"An endpoint that is off is sent nothing until it is replayed." enum:"active,failing,off" example:"active"`
	OffReason       *string  `json:"offReason" doc:"gone: it answered 410. failing: it took nothing for days." enum:"gone,failing" example:"null"`
	FailingSince    *Time    `json:"failingSince" doc:"Since when nothing was taken; null while it is." example:"null"`
	LastError       *string  `json:"lastError" doc:"What came of the last try that failed, while they do." enum:"status,timeout,forbidden,dns,tls,connection,event" example:"null"`
	LastHTTPStatus  *int     `json:"lastHttpStatus" example:"null"`
	LastSeq         int      `json:"lastSeq" doc:"Up to this number of the integration's log it was delivered or is on its way." example:"1842"`
	OldSecretEndsAt *Time    `json:"oldSecretEndsAt" doc:"Until when the secret before signs, too." example:"null"`
	CreatedAt       Time     `json:"createdAt" example:"2026-01-01T00:00:00.000Z"`
}

// NewWebhook is an endpoint that somebody wants.
type NewWebhook struct {
	URL         string   `json:"url" doc:"HTTPS, on a public address." maxLength:"2048" example:"https://example.com/ferry"`
	Events      []string `json:"events,omitzero" doc:"Names of events, or *; all unless given." maxItems:"50" example:"[\"*\"]"`
	Description string   `json:"description,omitzero" maxLength:"200" example:"orders of the shop"`
}

// MadeWebhook is an endpoint with its secret, which is shown here only.
type MadeWebhook struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret" doc:"Shown once. It signs every request." example:"whsec_…"`
}

// RotateWebhook asks for another secret.
type RotateWebhook struct {
	EndOld bool `json:"endOld,omitzero" doc:"End the old secret now, and make no new one." example:"false"`
}

// RotatedWebhook is an endpoint with its new secret.
type RotatedWebhook struct {
	Webhook Webhook `json:"webhook"`
	Secret  *string `json:"secret" doc:"Shown once; null where the old one was ended." example:"whsec_…"`
}

// ReplayWebhook asks for everything after a number again.
type ReplayWebhook struct {
	After int `json:"after" doc:"The last number that you have." minimum:"0" example:"1800"`
}

// Deliveries are what was sent to an endpoint, the newest first.
type Deliveries struct {
	Deliveries []Delivery `json:"deliveries"`
	NextBefore *int       `json:"nextBefore" doc:"Ask for what came before this; null at the end." example:"1743"`
}

// Delivery is one event for one endpoint.
type Delivery struct {
	Seq        int     `json:"seq" doc:"The number in the integration's log." example:"1842"`
	Event      string  `json:"event" example:"order.status_changed"`
	OrderID    string  `json:"orderId" example:"ord_0123456789ABCDEFGHJKMNPQRS"`
	Status     string  `json:"status" doc:"waiting: for an earlier event of its order." enum:"waiting,due,delivered,failed" example:"delivered"`
	Tries      int     `json:"tries" example:"1"`
	TakenUpAt  Time    `json:"takenUpAt" example:"2026-01-01T00:05:00.000Z"`
	FirstTryAt *Time   `json:"firstTryAt" example:"2026-01-01T00:05:00.000Z"`
	NextTryAt  *Time   `json:"nextTryAt" doc:"Not before this; null when it is ended or waits." example:"null"`
	EndedAt    *Time   `json:"endedAt" example:"2026-01-01T00:05:00.000Z"`
	HTTPStatus *int    `json:"httpStatus" doc:"Of the last try; null where there was no answer." example:"200"`
	Error      *string `json:"error" doc:"Why the last try failed." enum:"status,timeout,forbidden,dns,tls,connection,event" example:"null"`
}

// TestedWebhook is what came of a test.
type TestedWebhook struct {
	EventID    string  `json:"eventId" example:"evt_0123456789ABCDEFGHJKMNPQRS"`
	Delivered  bool    `json:"delivered" example:"true"`
	HTTPStatus *int    `json:"httpStatus" example:"200"`
	Error      *string `json:"error" enum:"status,timeout,forbidden,dns,tls,connection,event" example:"null"`
}

// IntegratorEvents are what happened to an integration's orders.
type IntegratorEvents struct {
	Events []IntegratorEvent `json:"events"`
}

// TestEvent is an event that tells nothing.
type TestEvent struct {
	Type       string        `json:"type"`
	Seq        int           `json:"seq"`
	EventID    string        `json:"eventId"`
	Event      string        `json:"event"`
	OccurredAt Time          `json:"occurredAt"`
	Data       TestEventData `json:"data"`
}

// TestEventData says which endpoint is tested.
type TestEventData struct {
	WebhookID string `json:"webhookId"`
}

// TestEventOf is a test of an endpoint at a time.
func TestEventOf(id hooks.ID, now time.Time) TestEvent {
	return TestEvent{
		Type: "event", EventID: EventIDOf("webhook/" + string(id) + "/" + now.Format(time.RFC3339Nano)), Event: "webhook.test",
		OccurredAt: Time{now}, Data: TestEventData{WebhookID: string(id)},
	}
}

// WebhookOf is an endpoint as its integrator sees it.
func WebhookOf(e hooks.Endpoint, now time.Time) Webhook {
	w := Webhook{
		WebhookID: string(e.ID), URL: e.URL, Events: e.Events, Status: "active", FailingSince: moment(e.FailingSince), LastSeq: int(e.Cursor),
		OldSecretEndsAt: moment(e.OldUntil(now)), CreatedAt: Time{e.CreatedAt},
	}
	if len(w.Events) == 0 {
		w.Events = []string{hooks.All}
	}
	if e.Description != "" {
		w.Description = text(e.Description)
	}
	if !e.FailingSince.IsZero() {
		w.Status, w.LastHTTPStatus, w.LastError = "failing", status(e.LastStatus), trouble(e.LastTrouble)
	}
	if e.Off != "" {
		w.Status, w.OffReason = "off", text(e.Off)
	}
	return w
}

// DeliveryOf is a delivery as its integrator sees it.
func DeliveryOf(d hooks.Delivery) Delivery {
	w := Delivery{
		Seq: int(d.Number), Event: d.Event, OrderID: string(d.Order), Status: string(d.State), Tries: int(d.Tries), TakenUpAt: Time{d.TakenAt},
		FirstTryAt: moment(d.FirstAt), EndedAt: moment(d.EndedAt), HTTPStatus: status(d.Status), Error: trouble(d.Trouble),
	}
	switch d.State {
	case hooks.Done:
		w.Status = "delivered"
	case hooks.Due:
		w.NextTryAt = moment(d.DueAt)
	}
	return w
}

// TestedOf is what came of a test.
func TestedOf(r hooks.Result) TestedWebhook {
	return TestedWebhook{EventID: r.Event, Delivered: r.Trouble == "", HTTPStatus: status(r.Status), Error: trouble(r.Trouble)}
}

func status(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

func trouble(t hooks.Trouble) *string {
	if t == "" {
		return nil
	}
	return text(string(t))
}
