package desk

import (
	"context"
	"errors"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/market"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// SetRefundAddress says where an order's money goes back to. It is set once.
func (d *Desk) SetRefundAddress(ctx context.Context, id string, by Seeker, address string, now time.Time) (order.Order, error) {
	o, err := d.owned(ctx, id, by)
	if err != nil {
		return order.Order{}, err
	}
	to, err := d.address("refundAddress", o.Quote.Give.Chain, address)
	if err != nil {
		return order.Order{}, err
	}
	switch {
	case to.IsZero():
		return order.Order{}, fault.New(fault.Invalid, "missing_field", "refundAddress is missing.").With("pointer", "/refundAddress")
	case o.RefundTo == to:
		return o, nil
	case !o.RefundTo.IsZero():
		return order.Order{}, fault.New(fault.Conflict, "refund_address_already_set", "The order has a refund address; it can be set once.")
	}
	return d.tell(ctx, o, order.RefundAddressGiven{To: to}, now)
}

// Refund asks for the money of a held order, or for what came too late, to go back.
func (d *Desk) Refund(ctx context.Context, id string, by Seeker, request string, now time.Time) (order.Order, error) {
	o, err := d.owned(ctx, id, by)
	if err != nil {
		return order.Order{}, err
	}
	later := slices.ContainsFunc(o.Deposits, func(x order.Deposit) bool { return x.State == order.Detected })
	if (o.State == order.Refunding || o.State == order.Refunded) && !later {
		return order.Order{}, fault.New(fault.Conflict, "refund_already_started", "The refund is on its way or done.").With("status", string(o.State))
	}
	return d.tell(ctx, o, order.RefundAsked{Request: request}, now)
}

// Cancel gives an order up that nobody paid.
func (d *Desk) Cancel(ctx context.Context, id string, by Seeker, now time.Time) (order.Order, error) {
	o, err := d.owned(ctx, id, by)
	if err != nil {
		return order.Order{}, err
	}
	return d.tell(ctx, o, order.Cancelled{}, now)
}

// Requote makes an offer for the money that a held order has in hand.
func (d *Desk) Requote(ctx context.Context, id string, by Seeker, now time.Time) (market.Offer, error) {
	o, err := d.owned(ctx, id, by)
	if err != nil {
		return market.Offer{}, err
	}
	if !o.Requotable() {
		return market.Offer{}, fault.New(fault.Conflict, "invalid_state", "The order is %s and waits for no new price.", o.State).With("status", string(o.State))
	}
	offer, err := d.ports.Market.Quote(ctx, again(o), now)
	if err != nil {
		return market.Offer{}, err
	}
	if err := d.seal(&offer); err != nil {
		return market.Offer{}, err
	}
	if err := d.offered(ctx, o, now); err != nil {
		return market.Offer{}, err
	}
	return offer, nil
}

// offered tells the order that a new price can be had. Where the order has gone on
// meanwhile there is nothing to tell: the offer is what was asked for all the same, and
// whether it still fits is judged when it is accepted.
func (d *Desk) offered(ctx context.Context, o order.Order, now time.Time) error {
	if o.Hold.Offered {
		return nil
	}
	_, err := d.ports.Settler.Tell(ctx, o.ID, order.RequoteOffered{Hold: o.Hold.Since}, now)
	if _, late := errors.AsType[*order.OutOfTurn](err); late {
		return nil
	}
	return err
}

// again is what an order in hand is quoted for: the same pair, what is there, and
// the fee that was agreed.
func again(o order.Order) market.Ask {
	a := market.Ask{
		Give: o.Quote.Give, Get: o.Quote.Get, Side: market.From, Amount: o.InHand.Amount, Mode: quote.Float,
		To: o.PayTo, Integrator: o.Integrator,
	}
	if f := o.Quote.Fee; f != nil && !f.Skipped {
		a.Fees = integrator.FeePolicy{Default: f.Percent, PayTo: map[chain.Family]chain.Address{o.DepositTo.Family(): f.PayTo}}
	}
	return a
}

// AcceptRequote takes an offer that Requote made. It is priced again like any other that is
// accepted: whoever waits for the price to move has nothing of it.
func (d *Desk) AcceptRequote(ctx context.Context, id string, by Seeker, quoteID string, now time.Time) (order.Order, error) {
	o, err := d.owned(ctx, id, by)
	if err != nil {
		return order.Order{}, err
	}
	offer, err := d.ports.Seal.Open(quoteID, o.Integrator, now)
	if f := fault.Of(err); err != nil && f.Code == "quote_expired" {
		return order.Order{}, fault.New(fault.Conflict, "requote_expired", "The new price has expired; ask for another with POST /v2/orders/{orderId}/requote.")
	} else if err != nil {
		return order.Order{}, err
	}
	if o.Requotable() { // else the order says what is the matter, or that it knows
		offer.To = o.PayTo
		offer, err = d.ports.Market.Accept(ctx, offer, now)
	}
	if f := fault.Of(err); err != nil && f.Code == "price_moved" {
		return order.Order{}, fault.New(fault.Conflict, "requote_expired", "The price moved by more than the slippage; ask for another with POST /v2/orders/{orderId}/requote.")
	} else if err != nil {
		return order.Order{}, err
	}
	return d.tell(ctx, o, order.RequoteAccepted{Quote: promised(offer)}, now)
}

// Hint says that an order was paid by a transaction. Every block is read anyway, so
// all it does is to have the chain looked at now; it is believed no more than that.
func (d *Desk) Hint(ctx context.Context, id string, by Seeker, tx string) (order.Order, error) {
	o, err := d.owned(ctx, id, by)
	if err != nil {
		return order.Order{}, err
	}
	for _, known := range o.Deposits {
		if string(known.Tx) == tx {
			return order.Order{}, fault.New(fault.Conflict, "deposit_already_known", "That transaction is among the order's deposits already.")
		}
	}
	d.ports.Look(o.Quote.Give.Chain)
	return o, nil
}

// Recheck has the order's chain looked at now, if may lets it.
func (d *Desk) Recheck(ctx context.Context, id string, by Seeker, may func(order.ID) error) (order.Order, error) {
	o, err := d.owned(ctx, id, by)
	if err != nil {
		return order.Order{}, err
	}
	if err := may(o.ID); err != nil {
		return order.Order{}, err
	}
	d.ports.Look(o.Quote.Give.Chain)
	return o, nil
}
