package wire

// What a client says on the live socket. Type and channel name the message; the rest is
// read as strictly as a body.

// Hello is the first message, for clients that want to be known or to be greeted.
type Hello struct {
	Type          string `json:"type" enum:"hello" example:"hello"`
	ID            string `json:"id" minLength:"1" maxLength:"64" doc:"Yours; the answer repeats it as replyTo." example:"1"`
	IntegratorKey string `json:"integratorKey,omitzero" maxLength:"200" doc:"For clients that cannot send X-Integrator-Key with the upgrade, such as browsers." example:"pk_live_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA000000"`
}

// Ping asks for a sign of life.
type Ping struct {
	Type string `json:"type" enum:"ping" example:"ping"`
	ID   string `json:"id" minLength:"1" maxLength:"64" example:"9"`
}

// Unsubscribe ends a subscription.
type Unsubscribe struct {
	Type           string `json:"type" enum:"unsubscribe" example:"unsubscribe"`
	ID             string `json:"id" minLength:"1" maxLength:"64" example:"8"`
	SubscriptionID string `json:"subscriptionId" minLength:"1" maxLength:"16" example:"s1"`
}

// SubscribeOrder follows one order.
type SubscribeOrder struct {
	Type    string      `json:"type" enum:"subscribe" example:"subscribe"`
	ID      string      `json:"id" minLength:"1" maxLength:"64" example:"2"`
	Channel string      `json:"channel" enum:"order" example:"order"`
	Params  OrderParams `json:"params"`
	After   *int        `json:"after,omitzero" minimum:"0" doc:"The last seq you have: what came after it is sent first. Left out, a snapshot is." example:"7"`
}

// OrderParams name an order and prove that you may see it, by one of the two.
type OrderParams struct {
	OrderID   string `json:"orderId" maxLength:"64" example:"ord_0123456789ABCDEFGHJKMNPQRS"`
	SessionID string `json:"sessionId,omitzero" maxLength:"128" doc:"The secret that owns the order." example:"ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"`
	Verify    string `json:"verify,omitzero" maxLength:"128" doc:"The order's destination address, which shows less." example:"7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"`
}

// Example leaves out one of the two proofs.
func (SubscribeOrder) Example() any {
	after := 7
	return SubscribeOrder{
		Type: "subscribe", ID: "2", Channel: "order", After: &after,
		Params: OrderParams{OrderID: "ord_0123456789ABCDEFGHJKMNPQRS", SessionID: "ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
	}
}

// SubscribeSession follows all orders of a session, those that are made later too.
type SubscribeSession struct {
	Type    string        `json:"type" enum:"subscribe" example:"subscribe"`
	ID      string        `json:"id" minLength:"1" maxLength:"64" example:"3"`
	Channel string        `json:"channel" enum:"session" example:"session"`
	Params  SessionParams `json:"params"`
	After   *int          `json:"after,omitzero" minimum:"0" doc:"The last seq you have." example:"41"`
}

// SessionParams name a session.
type SessionParams struct {
	SessionID string `json:"sessionId" minLength:"1" maxLength:"128" example:"ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"`
}

// SubscribeIntegratorOrders follows the orders of a whole integration.
type SubscribeIntegratorOrders struct {
	Type    string    `json:"type" enum:"subscribe" example:"subscribe"`
	ID      string    `json:"id" minLength:"1" maxLength:"64" example:"4"`
	Channel string    `json:"channel" enum:"integrator_orders" example:"integrator_orders"`
	Params  *NoParams `json:"params,omitzero"`
	After   *int      `json:"after,omitzero" minimum:"0" doc:"The last seq you have, of the integration's log." example:"1841"`
}

// NoParams are the parameters of a channel that has none.
type NoParams struct{}

// SubscribeIntegratorUsage follows the limits of an integration.
type SubscribeIntegratorUsage struct {
	Type    string    `json:"type" enum:"subscribe" example:"subscribe"`
	ID      string    `json:"id" minLength:"1" maxLength:"64" example:"5"`
	Channel string    `json:"channel" enum:"integrator_usage" example:"integrator_usage"`
	Params  *NoParams `json:"params,omitzero"`
}

// SubscribeQuote has a price asked for again and again, for a minute.
type SubscribeQuote struct {
	Type    string       `json:"type" enum:"subscribe" example:"subscribe"`
	ID      string       `json:"id" minLength:"1" maxLength:"64" example:"6"`
	Channel string       `json:"channel" enum:"quote" example:"quote"`
	Params  QuoteRequest `json:"params" doc:"As in POST /v2/quotes; every new price counts as a quote."`
}

// SubscribeStatus follows how the service and its chains are.
type SubscribeStatus struct {
	Type    string        `json:"type" enum:"subscribe" example:"subscribe"`
	ID      string        `json:"id" minLength:"1" maxLength:"64" example:"7"`
	Channel string        `json:"channel" enum:"status" example:"status"`
	Params  *StatusParams `json:"params,omitzero"`
}

// StatusParams narrow the status.
type StatusParams struct {
	ChainID string `json:"chainId,omitzero" maxLength:"64" doc:"Only of this chain." example:"bitcoin"`
}

// SubscribeActivity follows public activity.
type SubscribeActivity struct {
	Type    string    `json:"type" enum:"subscribe" example:"subscribe"`
	ID      string    `json:"id" minLength:"1" maxLength:"64" example:"10"`
	Channel string    `json:"channel" enum:"activity" example:"activity"`
	Params  *NoParams `json:"params,omitzero"`
}

// SubscribeStats follows the totals of the service.
type SubscribeStats struct {
	Type    string    `json:"type" enum:"subscribe" example:"subscribe"`
	ID      string    `json:"id" minLength:"1" maxLength:"64" example:"11"`
	Channel string    `json:"channel" enum:"stats" example:"stats"`
	Params  *NoParams `json:"params,omitzero"`
}

// SubscribePoints follows the points of an address.
type SubscribePoints struct {
	Type    string       `json:"type" enum:"subscribe" example:"subscribe"`
	ID      string       `json:"id" minLength:"1" maxLength:"64" example:"12"`
	Channel string       `json:"channel" enum:"points" example:"points"`
	Params  PointsParams `json:"params"`
}

// PointsParams name an account.
type PointsParams struct {
	Address string `json:"address" minLength:"1" maxLength:"128" example:"0x52908400098527886e0f7030069857d2e4169ee7"`
}
