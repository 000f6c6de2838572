package market

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// Accept says whether an opened offer still stands, and gives the terms to make an
// order of. A fixed rate stands until it expires, if what it pays is free. A float
// rate is priced again: inside the slippage the order is made at the new price, and keeps
// what the offer promised at least; outside of it the refusal carries the new offer as its
// detail "offer".
func (m *Market) Accept(ctx context.Context, o Offer, now time.Time) (Offer, error) {
	if !now.Before(o.Quote.ExpiresAt) {
		return Offer{}, expired(o.Quote.ExpiresAt)
	}
	if o.Quote.Mode == quote.Fixed {
		if err := m.covered(ctx, o); err != nil {
			return Offer{}, err
		}
		return o, nil
	}
	fresh, err := m.Quote(ctx, o.ask(m.chains[o.Quote.Give.Chain].Family), now)
	if err != nil {
		return Offer{}, fmt.Errorf("price %s again: %w", o.Quote.ID, err)
	}
	fresh.PayFrom = o.PayFrom
	if fresh.Quote.Out.Less(o.MinOut) || o.MaxFrom.Less(fresh.Quote.In) {
		return Offer{}, fault.New(fault.Conflict, "price_moved",
			"The price moved by more than the slippage of %s percent; look at the new offer in details and accept that.", o.Slippage).
			With("offer", fresh)
	}
	if err := fresh.keep(o.MinOut); err != nil {
		return Offer{}, tooMuch(err)
	}
	fresh.Quote.ID = o.Quote.ID
	return fresh, nil
}

// keep holds the steps of a new price to what was promised at least: they were given a
// slippage of their own, below a price that may have used some of it up. Each gives up
// the same part of its room.
func (o *Offer) keep(least money.Amount) (err error) {
	if len(o.Quote.Steps) == 0 || !o.MinOut.Less(least) {
		return nil
	}
	const parts = 1 << 12
	loose := o.Quote.Steps
	tighten := func(part int) bool {
		if err == nil {
			err = o.tighten(loose, uint64(part), parts) //nolint:gosec // never below zero
		}
		return err != nil || !o.MinOut.Less(least)
	}
	tighten(sort.Search(parts, tighten))
	return err
}

// tighten takes a part of parts of the room that loose steps have.
func (o *Offer) tighten(loose []quote.Step, part, parts uint64) error {
	o.Quote.Steps = slices.Clone(loose)
	for i := range o.Quote.Steps {
		s := &o.Quote.Steps[i]
		less, err := s.Bring.Less0(s.MinOut).MulDiv(money.FromUint64(part), money.FromUint64(parts), money.Up)
		if err == nil {
			s.MinOut, err = s.MinOut.Add(less)
		}
		if err != nil {
			return err
		}
	}
	return o.worst()
}

// covered reports whether what a fixed offer pays from our inventory is free.
func (m *Market) covered(ctx context.Context, o Offer) error {
	asset, most, err := o.Quote.Reserve()
	if err != nil {
		return fmt.Errorf("offer %s: %w", o.Quote.ID, err)
	}
	if most.IsZero() { // others pay it
		return nil
	}
	free, err := m.ports.Treasury.Free(ctx, asset)
	if err != nil {
		return fmt.Errorf("offer %s: free %s: %w", o.Quote.ID, asset, err)
	}
	if free.Less(most) {
		return fault.New(fault.Unprocessable, "insufficient_liquidity", "There is not enough %s in the inventory for this offer any more; ask for a new quote.", o.Get.Symbol)
	}
	return nil
}

// ask is what the offer was made for. The fee is the one that was agreed, to the
// address that was agreed, whatever the integrator changed since.
func (o *Offer) ask(source chain.Family) Ask {
	a := Ask{
		Give: o.Quote.Give, Get: o.Quote.Get, Side: o.Side, Amount: o.Quote.In, Mode: o.Quote.Mode, Slippage: &o.Slippage,
		To: o.To, Integrator: o.Quote.Integrator,
	}
	if o.Side == To {
		a.Amount = o.Quote.Out
	}
	e := o.Earning
	if e == nil {
		a.Fees.Default = o.Unpaid
		return a
	}
	a.Fees = integrator.FeePolicy{Default: e.Percent, PayTo: map[chain.Family]chain.Address{source: e.PayTo}}
	if e.Origin == ByOverride {
		a.Override = &e.Percent
	}
	return a
}

func expired(at time.Time) error {
	return fault.New(fault.Conflict, "quote_expired", "The quote was valid until %s; ask for a new one.", at.UTC().Format("2006-01-02T15:04:05.000Z"))
}
