package routes

import (
	"context"
	"errors"
	"math"
	"net/http"

	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/feed"
	"ferry/internal/hooks"
	"ferry/internal/integrator"
	"ferry/internal/secret"
)

// Hooks keeps the webhooks of integrators.
type Hooks interface {
	List(ctx context.Context, whose integrator.ID) ([]hooks.Endpoint, error)
	Create(ctx context.Context, whose integrator.ID, w hooks.Wish) (hooks.Endpoint, secret.Text, error)
	Remove(ctx context.Context, whose integrator.ID, id hooks.ID) error
	Rotate(ctx context.Context, whose integrator.ID, id hooks.ID, end bool) (hooks.Endpoint, secret.Text, error)
	Replay(ctx context.Context, whose integrator.ID, id hooks.ID, after int64) (hooks.Endpoint, error)
	Deliveries(ctx context.Context, whose integrator.ID, id hooks.ID, before int64, n int) ([]hooks.Delivery, error)
	Test(ctx context.Context, whose integrator.ID, id hooks.ID) (hooks.Result, error)
}

// Log is the log of integrators' orders.
type Log interface {
	IntegratorLog(ctx context.Context, id integrator.ID, after int64, n int) ([]feed.Entry, error)
}

const (
	deliveryPage, maxDeliveryPage = 100, 500
	webhooksPath                  = "/v2/integrator/webhooks"
	webhookPath                   = webhooksPath + "/{webhookId}"
)

// webhooks are the rows of webhooks, and of the events that they tell.
func (r Rooms) webhooks() []api.Operation {
	row := func(method, path string, o api.Operation) api.Operation {
		o.Method, o.Path, o.Tag, o.Key, o.Spends, o.Hidden = method, path, "integrator", api.ServerKey, api.Requests, true
		if path != webhooksPath {
			o.Codes = append(o.Codes, "webhook_not_found")
		}
		return o
	}
	events := row(http.MethodGet, "/v2/integrator/events", api.Operation{
		ID: "listIntegratorEvents", Summary: "What happened to your orders",
		Description: "Everything that happened to orders of the integration after a number of its log, oldest first: what webhooks and live events tell, with the same numbers.",
		Out:         wire.IntegratorEvents{}, Do: r.integratorEvents,
		Query: []api.Param{{Name: "after", Kind: api.WholeParam, Doc: "The last number you have.", Example: "0"}, limitParam("500")},
	})
	events.Codes = nil
	return []api.Operation{
		events,
		row(http.MethodGet, webhooksPath, api.Operation{
			ID: "listWebhooks", Summary: "Your webhooks", Out: wire.Webhooks{}, Do: r.listWebhooks,
			Description: "Endpoints that are told of your orders, and how they do.",
		}),
		row(http.MethodPost, webhooksPath, api.Operation{
			ID: "createWebhook", Summary: "Add a webhook", In: wire.NewWebhook{}, Out: wire.MadeWebhook{}, Status: http.StatusCreated, Do: r.createWebhook,
			Description: "It is told of everything from now on. The answer shows the secret, which is shown once: every request is signed with it by the Standard Webhooks scheme " +
				"(headers webhook-id, webhook-timestamp and webhook-signature).",
			Codes: []string{"too_many_webhooks"},
		}),
		row(http.MethodDelete, webhookPath, api.Operation{
			ID: "deleteWebhook", Summary: "Remove a webhook", Status: http.StatusNoContent, Do: r.deleteWebhook,
			Description: "Nothing is sent to it any more.",
		}),
		row(http.MethodPost, webhookPath+"/rotate", api.Operation{
			ID: "rotateWebhook", Summary: "Change a webhook's secret", In: wire.RotateWebhook{}, Out: wire.RotatedWebhook{}, Do: r.rotateWebhook,
			Description: "Makes a new secret, shown once. For 24 hours requests are signed with the old one, too; endOld ends it earlier. " +
				"If the answer is lost, ask again: the old secret stays.",
		}),
		row(http.MethodPost, webhookPath+"/replay", api.Operation{
			ID: "replayWebhook", Summary: "Send events again", In: wire.ReplayWebhook{}, Out: wire.Webhook{}, Do: r.replayWebhook,
			Description: "Sends everything after a number of the integration's log again, and switches the webhook on if it was off.",
		}),
		row(http.MethodGet, webhookPath+"/deliveries", api.Operation{
			ID: "listDeliveries", Summary: "What was sent to a webhook", Out: wire.Deliveries{}, Do: r.deliveries,
			Description: "Deliveries of the last 30 days and those under way, the newest number first.",
			Query:       []api.Param{{Name: "before", Kind: api.WholeParam, Doc: "Only numbers below this: nextBefore of the last page.", Example: "1743"}, limitParam("500")},
		}),
		row(http.MethodPost, webhookPath+"/test", api.Operation{
			ID: "testWebhook", Summary: "Send a test event", Out: wire.TestedWebhook{}, Do: r.testWebhook,
			Description: "Sends an event webhook.test once, waits for the answer, and says what came of it.",
			Codes:       []string{"service_unavailable"},
		}),
	}
}

func webhookID(c *api.Call) hooks.ID { return hooks.ID(c.Path("webhookId")) }

// named makes a refusal of a field one of the door.
func named(err error) error {
	var bad *hooks.BadField
	if errors.As(err, &bad) {
		return wire.Invalid(wire.Problem{Pointer: bad.Pointer, Code: "invalid_field", Message: bad.Message})
	}
	return err
}

func (r Rooms) listWebhooks(c *api.Call) (any, error) {
	all, err := r.Hooks.List(c.Context(), c.Who.Integrator.ID)
	if err != nil {
		return nil, err
	}
	out := wire.Webhooks{Webhooks: []wire.Webhook{}}
	for _, e := range all {
		out.Webhooks = append(out.Webhooks, wire.WebhookOf(e, r.Now()))
	}
	return out, nil
}

func (r Rooms) createWebhook(c *api.Call) (any, error) {
	in := api.Body[wire.NewWebhook](c)
	e, s, err := r.Hooks.Create(c.Context(), c.Who.Integrator.ID, hooks.Wish{URL: in.URL, Events: in.Events, Description: in.Description})
	if err != nil {
		return nil, named(err)
	}
	return wire.MadeWebhook{Webhook: wire.WebhookOf(e, r.Now()), Secret: s.Reveal()}, nil
}

func (r Rooms) deleteWebhook(c *api.Call) (any, error) {
	return nil, r.Hooks.Remove(c.Context(), c.Who.Integrator.ID, webhookID(c))
}

func (r Rooms) rotateWebhook(c *api.Call) (any, error) {
	e, s, err := r.Hooks.Rotate(c.Context(), c.Who.Integrator.ID, webhookID(c), api.Body[wire.RotateWebhook](c).EndOld)
	if err != nil {
		return nil, err
	}
	out := wire.RotatedWebhook{Webhook: wire.WebhookOf(e, r.Now())}
	if !s.IsZero() {
		shown := s.Reveal()
		out.Secret = &shown
	}
	return out, nil
}

func (r Rooms) replayWebhook(c *api.Call) (any, error) {
	e, err := r.Hooks.Replay(c.Context(), c.Who.Integrator.ID, webhookID(c), int64(api.Body[wire.ReplayWebhook](c).After))
	if err != nil {
		return nil, err
	}
	return wire.WebhookOf(e, r.Now()), nil
}

func (r Rooms) deliveries(c *api.Call) (any, error) {
	n, err := pageSize(c, deliveryPage, maxDeliveryPage)
	if err != nil {
		return nil, err
	}
	all, err := r.Hooks.Deliveries(c.Context(), c.Who.Integrator.ID, webhookID(c), c.Whole("before", math.MaxInt64), n)
	if err != nil {
		return nil, err
	}
	out := wire.Deliveries{Deliveries: []wire.Delivery{}}
	for _, d := range all {
		out.Deliveries = append(out.Deliveries, wire.DeliveryOf(d))
	}
	if len(all) == n {
		last := int(all[n-1].Number)
		out.NextBefore = &last
	}
	return out, nil
}

func (r Rooms) testWebhook(c *api.Call) (any, error) {
	tested, err := r.Hooks.Test(c.Context(), c.Who.Integrator.ID, webhookID(c))
	if err != nil {
		return nil, err
	}
	return wire.TestedOf(tested), nil
}

func (r Rooms) integratorEvents(c *api.Call) (any, error) {
	after, n, err := eventsAsked(c)
	if err != nil {
		return nil, err
	}
	all, err := r.Log.IntegratorLog(c.Context(), c.Who.Integrator.ID, after, n)
	if err != nil {
		return nil, err
	}
	out := wire.IntegratorEvents{Events: []wire.IntegratorEvent{}}
	for i := range all {
		out.Events = append(out.Events, wire.IntegratorEventOf(&all[i], wire.AttributedOf(*all[i].Now, r.Atlas, r.ShowOf)))
	}
	return out, nil
}
