package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/settle"
)

// BridgeCreateAsk is what an order over a bridge is asked for.
type BridgeCreateAsk struct {
	BridgeAsk
	CreateAsk        // without a quote
	TermsVersion int // that its owner read
	MinTo        *money.Amount
}

// CreateBridge makes an order over a native bridge.
func (d *Desk) CreateBridge(ctx context.Context, p *access.Principal, a BridgeCreateAsk, now time.Time) (Created, error) {
	made, err := d.createOver(ctx, p, a, now)
	if err != nil && a.Once != nil {
		return d.before(ctx, p, a.CreateAsk, err, now)
	}
	return made, err
}

func (d *Desk) createOver(ctx context.Context, p *access.Principal, a BridgeCreateAsk, now time.Time) (Created, error) {
	b, err := d.Bridge(a.Bridge)
	if err != nil {
		return Created{}, err
	}
	if a.TermsVersion != b.Terms.Version {
		return Created{}, fault.New(fault.Conflict, "terms_changed", "The terms of the bridge %s are of version %d now; read them, and ask again.", b.ID, b.Terms.Version).
			With("termsVersion", b.Terms.Version)
	}
	a.BridgeAsk.ToAddress = a.CreateAsk.ToAddress
	o, err := d.QuoteBridge(ctx, p, a.BridgeAsk, now)
	if err != nil {
		return Created{}, err
	}
	if a.MinTo != nil && o.Quote.Out.Less(*a.MinTo) {
		return Created{}, fault.New(fault.Conflict, "price_moved", "Fees have risen: %s would arrive now.", o.Quote.Out).With("toAmount", o.Quote.Out.String())
	}
	ask := order.Ask{ID: OrderID(), Quote: o.Quote, Patience: d.cfg.Patience, Once: d.once(p, a.Once), FundingTime: d.cfg.Funding[o.Quote.Give.Chain]}
	if !b.Managed {
		ask.FundingTime = max(ask.FundingTime, bridgeFunding)
		ask.Bridge = &order.BridgeAsk{From: o.From, Legs: b.Legs, Auto: o.Auto, Fee: o.Claim}
	}
	if err := d.addresses(a.CreateAsk, &ask); err != nil {
		return Created{}, err
	}
	if ask.Bridge != nil {
		if ask.Bridge.Plan, err = b.Run.Begin(ctx, string(ask.ID), trip(o, ask.PayTo), now); err != nil {
			return Created{}, fmt.Errorf("begin bridge %s: %w", b.ID, err)
		}
	}
	return d.create(ctx, p, a.CreateAsk, ask, b.ID, now)
}

// bridgeFunding is how long the first transaction of a bridge may take that its owner
// runs: nothing is kept for it meanwhile.
const bridgeFunding = 24 * time.Hour

func trip(o BridgeOffer, to chain.Address) quote.Trip {
	return quote.Trip{Bridge: o.Bridge.ID, Give: o.Quote.Give, Get: o.Quote.Get, From: o.From, To: to, Amount: o.Quote.In}
}

// StepTx is a transaction for an owner to sign, with what must be sent before it.
type StepTx struct {
	Step   string
	From   chain.Address
	Before []chain.Call
	Call   chain.Call
}

// BuildStep makes the transaction of a step as it must be now.
func (d *Desk) BuildStep(ctx context.Context, id, step string, by Seeker, now time.Time) (StepTx, error) {
	o, s, b, err := d.step(ctx, id, step, by)
	if err != nil {
		return StepTx{}, err
	}
	if s.Status != quote.LegReady || o.State.Finished() || s.Actor == quote.ByNetwork {
		return StepTx{}, notReady(s)
	}
	// What is paid or begun after the order's time is for nothing.
	if (s.ID == order.PayFee || o.State == order.Awaiting) && !now.Before(o.ExpiresAt) {
		return StepTx{}, fault.New(fault.Conflict, "step_not_ready", "The time of that step is over.").With("status", string(s.Status)).With("readyAt", nil)
	}
	tx := StepTx{Step: s.ID, From: o.Bridge.From}
	if s.ID == order.PayFee {
		fee := o.Bridge.Fee
		tx.Call = chain.Call{Chain: fee.Asset.Chain, To: o.DepositTo, Asset: fee.Asset, Amount: fee.Amount}
		return tx, nil
	}
	calls, err := b.Run.Build(ctx, o.Trip(), step, now)
	switch {
	case errors.Is(err, quote.ErrNotReady):
		return StepTx{}, notReady(s).Because(err)
	case err != nil:
		return StepTx{}, fault.New(fault.Unavailable, "provider_unavailable", "The transaction can not be made now; try again shortly.").Because(err)
	case len(calls) == 0:
		return StepTx{}, notReady(s)
	}
	tx.Before, tx.Call = calls[:len(calls)-1], calls[len(calls)-1]
	return tx, nil
}

// step finds a step of an order that the proof lets be acted on.
func (d *Desk) step(ctx context.Context, id, step string, by Seeker) (order.Order, order.BridgeStep, *Bridge, error) {
	var none order.BridgeStep
	o, err := d.owned(ctx, id, by)
	if err != nil {
		return o, none, nil, err
	}
	if o.Bridge == nil {
		return o, none, nil, fault.New(fault.Conflict, "invalid_state", "The order has no steps of yours: the service performs all of it.").With("status", string(o.State))
	}
	i, ok := o.Bridge.Step(step)
	if !ok {
		return o, none, nil, fault.New(fault.Invalid, "invalid_field", "The order has no step %q.", clip(step)).With("pointer", "{stepId}")
	}
	b, err := d.Bridge(o.Origin.Bridge)
	if err != nil || b.Run == nil {
		return o, none, nil, fault.New(fault.Unavailable, "bridge_paused", "The bridge of the order is not served now; try later.")
	}
	return o, o.Bridge.Steps[i], b, nil
}

func notReady(s order.BridgeStep) *fault.Error {
	f := fault.New(fault.Conflict, "step_not_ready", "The step is %s; its transaction can be had when it is ready.", s.Status).With("status", string(s.Status))
	if !s.ReadyAt.IsZero() {
		return f.With("readyAt", s.ReadyAt.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	return f.With("readyAt", nil)
}

// SubmitStep says that a transaction does a step. It is believed no more than that the
// chain is looked at.
func (d *Desk) SubmitStep(ctx context.Context, id, step, tx string, by Seeker, now time.Time) (order.Order, error) {
	o, s, _, err := d.step(ctx, id, step, by)
	if err != nil {
		return order.Order{}, err
	}
	if s.ID == order.PayFee {
		d.ports.Look(o.Quote.Give.Chain)
		return o, nil
	}
	if s.Status != quote.LegReady && s.Status != quote.LegSubmitted {
		return order.Order{}, notReady(s)
	}
	after, err := d.tell(ctx, o, order.StepSubmitted{Step: step, N: s.Named, Tx: chain.TxID(tx)}, now)
	if errors.Is(err, settle.ErrNotFound) {
		return order.Order{}, ErrNoOrder
	}
	return after, err
}
