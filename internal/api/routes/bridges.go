package routes

import (
	"net/http"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/desk"
	"ferry/internal/order"
)

// bridging are the refusals of asking for a bridge.
var bridging = append([]string{"bridge_not_found", "bridge_paused"}, pricing...)

func (r Rooms) bridges() []api.Operation {
	step := func(id, path, summary, description string, in, out any, codes []string, do func(*api.Call) (any, error)) api.Operation {
		return api.Operation{
			ID: id, Method: http.MethodPost, Path: "/v2/orders/{orderId}/steps/{stepId}/" + path, Tag: "bridges", Summary: summary, Description: description,
			Key: api.OptionalKey, Proof: api.ActProof, Spends: api.Requests, In: in, Out: out,
			Codes: append(append([]string{"step_not_ready", "bridge_paused"}, acting...), codes...), Do: do,
		}
	}
	return []api.Operation{
		{
			ID: "listBridges", Method: http.MethodGet, Path: "/v2/bridges", Tag: "bridges", Summary: "Native bridges",
			Description: "Every bridge that is served, in each direction, with its terms and steps.",
			Key:         api.OptionalKey, Spends: api.Requests, Out: wire.Bridges{}, Do: r.listBridges,
		},
		{
			ID: "getBridge", Method: http.MethodGet, Path: "/v2/bridges/{bridgeId}", Tag: "bridges", Summary: "One bridge",
			Description: "Its terms as they are now.",
			Key:         api.OptionalKey, Spends: api.Requests, Out: wire.Bridge{}, Codes: []string{"bridge_not_found"}, Do: r.oneBridge,
		},
		{
			ID: "createBridgeQuote", Method: http.MethodPost, Path: "/v2/bridges/quotes", Tag: "bridges", Summary: "What a bridge would do",
			Description: "One for one, less fees, without any side effect.",
			Key:         api.OptionalKey, Spends: api.Requests | api.Quotes, In: wire.BridgeQuoteRequest{}, Out: wire.BridgeQuote{}, Codes: bridging, Do: r.quoteBridge,
		},
		{
			ID: "createBridgeOrder", Method: http.MethodPost, Path: "/v2/bridges/orders", Tag: "bridges", Summary: "Make an order over a bridge",
			Description: "The order then lives under /v2/orders/{orderId}; its steps say what to send. Terms that are not those of termsVersion are refused. Idempotency-Key works as for POST /v2/orders.",
			Key:         api.OptionalKey, Spends: api.Requests | api.Creates, Idempotent: true, In: wire.BridgeOrderRequest{}, Out: wire.Order{}, Status: http.StatusCreated,
			Codes: append(append([]string{"terms_changed"}, bridging...), making...), Do: r.createBridge,
		},
		step("buildStepTransaction", "transaction", "The transaction of a step", "Made afresh each time, because proofs age; only for a step that is ready.", nil, wire.StepTransaction{},
			[]string{"invalid_field", "provider_unavailable"}, r.buildStep),
		step("submitStep", "submissions", "Name the transaction of a step", "The chain is looked at; the step is believed only when it is final there.", wire.StepSubmission{}, wire.Order{},
			[]string{"invalid_field"}, r.submitStep),
	}
}

func (r Rooms) listBridges(c *api.Call) (any, error) {
	out := wire.Bridges{Bridges: []wire.Bridge{}}
	for _, b := range r.Desk.Bridges() {
		out.Bridges = append(out.Bridges, wire.BridgeOf(b, r.Atlas, b.Up(c.Context())))
	}
	return out, nil
}

func (r Rooms) oneBridge(c *api.Call) (any, error) {
	b, err := r.Desk.Bridge(c.Path("bridgeId"))
	if err != nil {
		return nil, err
	}
	return wire.BridgeOf(b, r.Atlas, b.Up(c.Context())), nil
}

func (r Rooms) quoteBridge(c *api.Call) (any, error) {
	o, err := r.Desk.QuoteBridge(c.Context(), &c.Who, api.Body[wire.BridgeQuoteRequest](c).Ask(), r.Now())
	if err != nil {
		return nil, err
	}
	return wire.BridgeQuoteOf(o, r.Atlas, r.Show), nil
}

func (r Rooms) createBridge(c *api.Call) (any, error) {
	body := api.Body[wire.BridgeOrderRequest](c)
	ask := body.Ask()
	var err error
	if ask.Once, err = repeatOf(c, body); err != nil {
		return nil, err
	}
	made, err := r.Desk.CreateBridge(c.Context(), &c.Who, ask, r.Now())
	if err != nil {
		return nil, err
	}
	return r.made(c, made), nil
}

func (r Rooms) buildStep(c *api.Call) (any, error) {
	return r.guarded(c, func(by desk.Seeker) (any, error) {
		t, err := r.Desk.BuildStep(c.Context(), c.Path("orderId"), c.Path("stepId"), by, r.Now())
		if err != nil {
			return nil, err
		}
		return wire.StepTransactionOf(t, r.Atlas, r.Show), nil
	})
}

func (r Rooms) submitStep(c *api.Call) (any, error) {
	return r.acted(c, func(id string, by desk.Seeker) (order.Order, error) {
		return r.Desk.SubmitStep(c.Context(), id, c.Path("stepId"), api.Body[wire.StepSubmission](c).TxHash, by, r.Now())
	})
}

// made answers with a new order and the secret that owns it.
func (r Rooms) made(c *api.Call, made desk.Created) wire.Order {
	if made.Replayed {
		c.SetHeader("Idempotency-Replayed", "true")
	}
	c.SetHeader("Location", "/v2/orders/"+string(made.Order.ID))
	out := r.whole(c, made.Order, access.Act, nil)
	out.SessionID = made.Session.Reveal()
	return out
}
