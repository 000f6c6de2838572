package routes

import (
	"context"
	"net/http"
	"strings"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/desk"
	"ferry/internal/fault"
	"ferry/internal/market"
)

// pricing are the refusals of anything that is priced.
var pricing = []string{
	"unsupported_chain", "unsupported_token", "same_asset", "invalid_amount", "invalid_slippage", "invalid_address", "integrator_key_required",
	"integrator_fee_too_high", "payout_address_missing", "no_route", "amount_too_low", "amount_too_high", "insufficient_liquidity",
	"fees_exceed_amount", "rate_mode_unsupported", "funding_mode_unsupported", "provider_unavailable", "pair_unavailable", "chain_paused",
}

// making are the further refusals of making an order.
var making = []string{
	"quote_not_found", "quote_expired", "price_moved", "conflicting_fields", "missing_field", "session_id_requires_key", "invalid_session_id",
	"invalid_idempotency_key", "idempotency_conflict", "recipient_unsupported", "too_many_open_orders",
}

func (r Rooms) quotes() []api.Operation {
	return []api.Operation{
		{
			ID: "createQuote", Method: http.MethodPost, Path: "/v2/quotes", Tag: "quotes", Summary: "Ask for a price",
			Description: "Prices a swap without any side effect: nothing is reserved. The quoteId holds the price until expiresAt. A key adds your fee and your quotas.",
			Key:         api.OptionalKey, Spends: api.Requests | api.Quotes, In: wire.QuoteRequest{}, Out: wire.Quote{}, Codes: pricing, Do: r.quote,
		},
		{
			ID: "createOrder", Method: http.MethodPost, Path: "/v2/orders", Tag: "orders", Summary: "Make an order",
			Description: "Makes an order of a quoteId, or of the fields of a quote, and answers with a deposit address and the sessionId that owns the order. " +
				"Attempts count against the creation limit even when they are refused. With Idempotency-Key the same request makes one order only.",
			Key: api.OptionalKey, Spends: api.Requests | api.Creates, Idempotent: true, In: wire.OrderRequest{}, Out: wire.Order{},
			Status: http.StatusCreated, Codes: append(append([]string{}, pricing...), making...), Do: r.create,
		},
	}
}

func (r Rooms) quote(c *api.Call) (any, error) {
	return r.Quote(c.Context(), &c.Who, *api.Body[wire.QuoteRequest](c))
}

// Quote is a price for somebody.
func (r Rooms) Quote(ctx context.Context, who *access.Principal, asked wire.QuoteRequest) (*wire.Quote, error) {
	o, err := r.Desk.Quote(ctx, who, asked.Ask(), r.Now())
	if err != nil {
		return nil, err
	}
	return r.signed(&o)
}

func (r Rooms) signed(o *market.Offer) (*wire.Quote, error) {
	signature, err := r.Sign(o)
	if err != nil {
		return nil, err
	}
	return wire.QuoteOf(o, r.Atlas, r.Show, signature), nil
}

func (r Rooms) create(c *api.Call) (any, error) {
	body := api.Body[wire.OrderRequest](c)
	ask, err := body.Ask()
	if err != nil {
		return nil, err
	}
	if ask.Once, err = repeatOf(c, body); err != nil {
		return nil, err
	}
	made, err := r.Desk.Create(c.Context(), &c.Who, ask, r.Now())
	if err != nil {
		return nil, r.moved(err)
	}
	return r.made(c, made), nil
}

// moved shows the new price of a quote whose price moved.
func (r Rooms) moved(err error) error {
	f := fault.Of(err)
	offer, ok := f.Detail["offer"].(market.Offer)
	if !ok {
		return err
	}
	quote, signErr := r.signed(&offer)
	if signErr != nil {
		return signErr
	}
	return f.With("offer", nil).With("quote", quote)
}

// Bounds of an Idempotency-Key.
const (
	maxRepeat  = 255
	minUnowned = 32 // without a server key: others could guess a short one
)

// repeatOf is how the caller names the request, if it does.
func repeatOf(c *api.Call, body any) (*desk.Repeat, error) {
	values := c.Headers("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	bad := fault.New(fault.Invalid, "invalid_idempotency_key",
		"Idempotency-Key must be one header of 1 to 255 printable characters, and at least 32 without a server key.")
	key := values[0]
	printable := !strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' })
	if len(values) > 1 || key == "" || len(key) > maxRepeat || !printable || (!c.Who.Server() && len(key) < minUnowned) {
		return nil, bad
	}
	text, err := wire.Bytes(body)
	if err != nil {
		return nil, err
	}
	return &desk.Repeat{Key: key, Body: string(text)}, nil
}
