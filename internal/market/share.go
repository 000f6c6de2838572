package market

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// Origin says where a fee's percent came from.
type Origin string

// The origins.
const (
	ByDefault  Origin = "default"
	ByOverride Origin = "override"
)

// Earning is the integrator's fee of an offer, charged or skipped.
type Earning struct {
	Percent     money.Percent
	Amount      money.Amount // of the asset to give
	USD         money.USD
	TransferUSD money.USD // what sending it would cost
	PayTo       chain.Address
	Family      chain.Family
	Origin      Origin
	Skipped     bool // it does not cover its transfer, and is not charged
}

// share is the rule by which a fee is taken, before the amount is known: percent of
// what comes in, where that is more than threshold. Its zero value takes nothing.
type share struct {
	ask       quote.FeeAsk
	origin    Origin
	percent   money.Percent
	threshold money.Amount // a fee of at most this is skipped
	cost      money.Amount // what sending it costs, in the asset to give
	unpaid    money.Percent
}

// shareOf finds the rule for an ask; guess is about what will come in.
func (m *Market) shareOf(ctx context.Context, a *Ask, give *valued, guess money.Amount, now time.Time) (share, error) {
	percent, origin := a.Fees.Default, ByDefault
	if a.Override != nil {
		percent, origin = *a.Override, ByOverride
	}
	if percent == 0 || a.Integrator == "" { // a fee is somebody's
		return share{}, nil
	}
	family := m.chains[a.Give.Chain].Family
	to := a.Fees.PayTo[family]
	s := share{origin: origin, percent: percent, ask: quote.FeeAsk{Policy: a.Fees, Override: a.Override, Source: family}}
	// The rules are asked once before any chain is, with an amount that no rule
	// depends on: what is refused costs nobody a call.
	fee, err := quote.FeeFor(s.ask)
	if err != nil {
		return share{}, feeFault(err, family)
	}
	if fee == nil {
		return share{unpaid: percent}, nil
	}
	amount, err := guess.Share(percent, money.Up)
	if err != nil {
		return share{}, fmt.Errorf("fee of %s: %w", a.Integrator, err)
	}
	call := chain.Call{Chain: a.Give.Chain, From: m.cfg.Account, To: to, Asset: a.Give, Amount: money.Max(amount, give.Dust)}
	if s.cost, err = costIn(ctx, m.listing, m.ports.Costs, &call, give, now); err != nil {
		return share{}, err
	}
	// What is below dust cannot be sent at any price.
	s.threshold = money.Max(s.cost, give.Dust.Less0(one))
	s.ask.Transfer = s.threshold
	return s, nil
}

func feeFault(err error, family chain.Family) error {
	switch {
	case errors.Is(err, quote.ErrFeeTooHigh):
		return fault.New(fault.Invalid, "integrator_fee_too_high", "integratorFeePercent must be from 0 to %s.", integrator.MaxFee).Because(err)
	case errors.Is(err, quote.ErrNoPayTo):
		return fault.New(fault.Invalid, "payout_address_missing",
			"This integration has no payout address for the source family %s; configure one, or leave integratorFeePercent out.", family).Because(err)
	}
	return err
}

// charged reports whether the fee on so much is taken.
func (s *share) charged(in money.Amount) bool {
	if s.percent == 0 {
		return false
	}
	fee, err := in.Share(s.percent, money.Down)
	return err == nil && s.threshold.Less(fee)
}

// onward is what is left of in for the venue.
func (s *share) onward(in money.Amount) money.Amount {
	if !s.charged(in) {
		return in
	}
	fee, err := in.Share(s.percent, money.Down)
	if err != nil {
		return in
	}
	return in.Less0(fee)
}

// least is the smallest amount of which at least want goes on. Where want itself is
// too little for a fee nothing is taken from it; else every smaller amount either
// pays the fee and leaves less, or is below want.
func (s *share) least(want money.Amount) (money.Amount, error) {
	if want.IsZero() || !s.charged(want) {
		return want, nil
	}
	n, err := want.Less0(one).MulDiv(whole, money.FromUint64(uint64(money.Whole-s.percent)), money.Down)
	if err != nil {
		return money.Amount{}, err
	}
	return n.Add(one)
}

// most is the largest amount of which at most limit goes on.
func (s *share) most(limit money.Amount) money.Amount {
	n, err := limit.MulDiv(whole, money.FromUint64(uint64(money.Whole-s.percent)), money.Down)
	if err != nil || !s.charged(n) {
		return limit
	}
	return n
}

var whole = money.FromUint64(uint64(money.Whole))

// fee is what the rule makes of an amount; nil where no fee applies.
func (s *share) fee(in money.Amount, give *valued) (*quote.Fee, *Earning, error) {
	if s.percent == 0 {
		return nil, nil, nil
	}
	ask := s.ask
	ask.In = in
	fee, err := quote.FeeFor(ask)
	if err != nil {
		return nil, nil, err
	}
	amount, err := in.Share(s.percent, money.Down)
	if err != nil {
		return nil, nil, err
	}
	return fee, &Earning{
		Percent: s.percent, Amount: amount, USD: give.usd(amount, money.Down), TransferUSD: give.usd(s.cost, money.Up),
		PayTo: fee.PayTo, Family: s.ask.Source, Origin: s.origin, Skipped: fee.Skipped,
	}, nil
}

// costIn is what a call costs, in the asset of which v knows the price, rounded up.
func costIn(ctx context.Context, l *Listing, costs Costs, call *chain.Call, v *valued, now time.Time) (money.Amount, error) {
	native, err := costs.Cost(ctx, *call)
	if err != nil {
		return money.Amount{}, fault.New(fault.Unavailable, "provider_unavailable",
			"What sending %s costs is not known now; try again shortly.", v.Symbol).RetryAfter(shortly).Because(fmt.Errorf("cost on %s: %w", call.Chain, err))
	}
	if call.Asset.IsNative() {
		return native, nil
	}
	coin, err := l.value(call.Chain.Native(), now)
	if err != nil {
		return money.Amount{}, err
	}
	return coin.in(v, native, money.Up)
}
