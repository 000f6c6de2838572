package routes

import (
	"net/http"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/desk"
	"ferry/internal/order"
)

// acting are the refusals of anything an owner does.
var acting = append([]string{"invalid_state"}, proving...)

func (r Rooms) actions() []api.Operation {
	row := func(id, path, summary, description string, in any, codes []string, do func(*api.Call) (any, error)) api.Operation {
		return api.Operation{
			ID: id, Method: http.MethodPost, Path: "/v2/orders/{orderId}/" + path, Tag: "orders", Summary: summary, Description: description,
			Key: api.OptionalKey, Proof: api.ActProof, Spends: api.Requests, In: in, Out: wire.Order{}, Codes: append(append([]string{}, acting...), codes...), Do: do,
		}
	}
	requote := row("requoteOrder", "requote", "Ask for a new price", "For a held order whose amount or price did not fit. Accept it before it expires. It counts as a quote.", nil,
		append([]string{"rate_limited"}, pricing...), r.requote)
	requote.Out, requote.Spends = wire.Quote{}, api.Requests|api.Quotes
	return []api.Operation{
		row("setRefundAddress", "refund-address", "Set the refund address", "Once, on the chain the order is paid on.", wire.RefundAddressRequest{},
			[]string{"invalid_address", "refund_address_already_set"}, r.refundAddress),
		row("refundOrder", "refund", "Ask for the money back", "For a held order, or for money that came late, twice or in another asset.", nil,
			[]string{"refund_already_started"}, r.refund),
		requote,
		row("acceptRequote", "requote/accept", "Accept a new price", "The order goes on at the new price.", wire.AcceptRequest{},
			append([]string{"quote_not_found", "requote_expired"}, pricing...), r.accept),
		row("cancelOrder", "cancel", "Cancel an order", "Only while nothing has been paid.", nil, nil, r.cancel),
		row("hintDeposit", "deposits", "Name the transaction that pays", "Has the chain looked at now; the deposit itself is believed only when it is seen there.",
			wire.DepositHint{}, []string{"deposit_already_known"}, r.hint),
		row("recheckOrder", "recheck", "Look at the chain again", "At most once a minute for each order.", nil, []string{"rate_limited"}, r.recheck),
	}
}

// acted answers with the order as it is after what its owner did.
func (r Rooms) acted(c *api.Call, do func(id string, by desk.Seeker) (order.Order, error)) (any, error) {
	return r.guarded(c, func(by desk.Seeker) (any, error) {
		o, err := do(c.Path("orderId"), by)
		if err != nil {
			return nil, err
		}
		// What was asked for is done: that how deep a payment is cannot be read does not undo it.
		depths, _ := r.Desk.Depths(c.Context(), &o)
		return r.whole(c, o, access.Act, depths), nil
	})
}

func (r Rooms) refundAddress(c *api.Call) (any, error) {
	return r.acted(c, func(id string, by desk.Seeker) (order.Order, error) {
		return r.Desk.SetRefundAddress(c.Context(), id, by, api.Body[wire.RefundAddressRequest](c).RefundAddress, r.Now())
	})
}

func (r Rooms) refund(c *api.Call) (any, error) {
	return r.acted(c, func(id string, by desk.Seeker) (order.Order, error) {
		return r.Desk.Refund(c.Context(), id, by, c.ID, r.Now())
	})
}

func (r Rooms) cancel(c *api.Call) (any, error) {
	return r.acted(c, func(id string, by desk.Seeker) (order.Order, error) {
		return r.Desk.Cancel(c.Context(), id, by, r.Now())
	})
}

func (r Rooms) requote(c *api.Call) (any, error) {
	return r.guarded(c, func(by desk.Seeker) (any, error) {
		o, err := r.Desk.Requote(c.Context(), c.Path("orderId"), by, r.Now())
		if err != nil {
			return nil, err
		}
		return r.signed(&o)
	})
}

func (r Rooms) accept(c *api.Call) (any, error) {
	return r.acted(c, func(id string, by desk.Seeker) (order.Order, error) {
		return r.Desk.AcceptRequote(c.Context(), id, by, api.Body[wire.AcceptRequest](c).QuoteID, r.Now())
	})
}

func (r Rooms) hint(c *api.Call) (any, error) {
	return r.acted(c, func(id string, by desk.Seeker) (order.Order, error) {
		return r.Desk.Hint(c.Context(), id, by, api.Body[wire.DepositHint](c).TxHash)
	})
}

func (r Rooms) recheck(c *api.Call) (any, error) {
	return r.acted(c, func(id string, by desk.Seeker) (order.Order, error) {
		return r.Desk.Recheck(c.Context(), id, by, func(o order.ID) error { return r.Recheck(o, c.Now) })
	})
}
