package operator

import (
	"net/url"

	"ferry/internal/hooks"
)

// Webhooks are those of an integrator.
type Webhooks struct {
	Webhooks []Webhook `json:"webhooks"`
}

// Webhook is an endpoint as operators see it. Of its address only the host is shown: the
// rest may hold what only its owner should know.
type Webhook struct {
	ID           string   `json:"webhookId"`
	Host         string   `json:"host"`
	Events       []string `json:"events"`
	Status       string   `json:"status"` // active, failing, or why it is off
	LastSeq      int64    `json:"lastSeq"`
	FailingSince *string  `json:"failingSince"`
	LastError    string   `json:"lastError,omitzero"`
	LastStatus   int      `json:"lastHttpStatus,omitzero"`
	CreatedAt    string   `json:"createdAt"`
}

func webhookView(e hooks.Endpoint) Webhook {
	v := Webhook{
		ID: string(e.ID), Events: e.Events, Status: "active", LastSeq: e.Cursor, FailingSince: stampOrNull(e.FailingSince), CreatedAt: stamp(e.CreatedAt),
	}
	if u, err := url.Parse(e.URL); err == nil {
		v.Host = u.Host
	}
	if len(v.Events) == 0 {
		v.Events = []string{hooks.All}
	}
	if !e.FailingSince.IsZero() {
		v.Status, v.LastError, v.LastStatus = "failing", string(e.LastTrouble), e.LastStatus
	}
	if e.Off != "" {
		v.Status = "off: " + e.Off
	}
	return v
}
