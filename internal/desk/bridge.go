package desk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// BridgeTerms are what the operator offers a bridge for.
type BridgeTerms struct {
	FeePercent money.Percent
	FixedUSD   money.USD
	Min, Max   money.Amount
	// Claim is what the service asks for doing the steps that anybody may do, in dollars;
	// nil: it does not.
	Claim       *money.USD
	EffectiveAt time.Time
	Version     int // rises with every change of what is above
	Paused      bool
}

// Bridge is a native bridge as it is offered: one that owners run has Run, one that the
// service performs has a Market of its own.
type Bridge struct {
	quote.Bridge
	Terms  BridgeTerms
	Run    Runner
	Market Market
	// Down reports that it can not be used now; nil is never.
	Down func(ctx context.Context) (bool, error)
}

// paused reports whether nothing should be begun over the bridge now.
func (b *Bridge) paused(ctx context.Context) (bool, error) {
	if b.Terms.Paused || b.Down == nil {
		return b.Terms.Paused, nil
	}
	return b.Down(ctx)
}

// Up reports whether a bridge can be used now.
func (b *Bridge) Up(ctx context.Context) bool {
	down, err := b.paused(ctx)
	return err == nil && !down
}

func (b *Bridge) check() error {
	t := b.Terms
	switch {
	case b.ID == "" || b.Name == "" || b.Kind == "" || len(b.Assets) == 0 || len(b.Legs) == 0:
		return errors.New("it has no name, no assets or no steps")
	case b.Managed != (b.Market != nil) || b.Managed == (b.Run != nil):
		return errors.New("it is performed by its owner or by the service, and by exactly one of them")
	case t.Min.IsZero() || t.Max.Less(t.Min) || t.Version < 1:
		return errors.New("its terms need a minimum above zero, a maximum that is not below it, and a version from 1")
	case t.FeePercent < 0 || t.FixedUSD < 0 || t.Claim != nil && *t.Claim < 0:
		return errors.New("its terms have a fee below zero")
	}
	return nil
}

// Bridges are the native bridges that are offered.
func (d *Desk) Bridges() []*Bridge { return d.ports.Bridges }

// Bridge finds one by its name.
func (d *Desk) Bridge(id string) (*Bridge, error) {
	for _, b := range d.ports.Bridges {
		if b.ID == id {
			return b, nil
		}
	}
	return nil, fault.New(fault.NotFound, "bridge_not_found", "There is no bridge %q; see GET /v2/bridges for those that are.", clip(id))
}

// BridgeAsk is what a bridge is asked for, in the words of callers.
type BridgeAsk struct {
	Bridge               string
	FromChain, FromToken string
	ToChain, ToToken     string
	Amount               *money.Amount // nil: the least, of a quote
	ToAddress            string
	FromAddress          string
	Auto                 bool
	FeePercent           *money.Percent
}

// BridgeOffer is what a bridge would do. It promises nothing beyond the terms.
type BridgeOffer struct {
	Bridge       *Bridge
	Quote        quote.Quote
	Auto         bool
	Claim        money.Amount // for claiming, in the coin of the chain where it begins
	ClaimUSD     money.USD
	From         chain.Address
	Offer        *market.Offer // of one that the service performs
	FeeUncharged bool          // an integrator's fee was asked for, and no money passes through us
	At           time.Time
}

// QuoteBridge says what a bridge would do. It has no side effects.
func (d *Desk) QuoteBridge(ctx context.Context, p *access.Principal, a BridgeAsk, now time.Time) (BridgeOffer, error) {
	b, err := d.Bridge(a.Bridge)
	if err != nil {
		return BridgeOffer{}, err
	}
	down, err := b.paused(ctx)
	if err != nil {
		return BridgeOffer{}, err
	}
	if down {
		return BridgeOffer{}, fault.New(fault.Unavailable, "bridge_paused", "The bridge %s is paused. Nothing should be sent over it now; try later.", b.ID)
	}
	give, get, err := d.lane(b, a)
	if err != nil {
		return BridgeOffer{}, err
	}
	o := BridgeOffer{Bridge: b, At: now}
	amount := b.Terms.Min
	if a.Amount != nil {
		amount = *a.Amount
	}
	if err := inBounds(b, amount); err != nil {
		return BridgeOffer{}, err
	}
	if b.Managed {
		return d.managed(ctx, p, a, o, market.Ask{
			Give: give.Asset, Get: get.Asset, Side: market.From, Amount: amount, Mode: quote.Float, Override: a.FeePercent,
		})
	}
	return d.owned1(ctx, p, a, o, quote.Quote{Give: give.Asset, Get: get.Asset, In: amount, Out: amount, Mode: quote.Float})
}

// lane reads which assets are meant, and whether the bridge has them.
func (d *Desk) lane(b *Bridge, a BridgeAsk) (give, get market.Asset, err error) {
	if give, err = d.ports.Atlas.Token(a.FromChain, a.FromToken); err != nil {
		return give, get, named400("fromToken", "fromChainId", err)
	}
	if get, err = d.ports.Atlas.Token(a.ToChain, a.ToToken); err != nil {
		return give, get, named400("toToken", "toChainId", err)
	}
	for _, l := range b.Assets {
		if l.Give == give.Asset && l.Get == get.Asset {
			return give, get, nil
		}
	}
	return give, get, fault.New(fault.Unprocessable, "no_route", "The bridge %s does not take that asset there; see GET /v2/bridges/%s.", b.ID, b.ID)
}

func inBounds(b *Bridge, n money.Amount) error {
	switch t := b.Terms; {
	case n.Less(t.Min):
		return fault.New(fault.Unprocessable, "amount_too_low", "The bridge takes at least %s.", t.Min).With("minFromAmount", t.Min.String())
	case t.Max.Less(n):
		return fault.New(fault.Unprocessable, "amount_too_high", "The bridge takes at most %s.", t.Max).With("maxFromAmount", t.Max.String())
	}
	return nil
}

// managed is the offer of a bridge that the service performs.
func (d *Desk) managed(ctx context.Context, p *access.Principal, a BridgeAsk, o BridgeOffer, ask market.Ask) (BridgeOffer, error) {
	if a.Auto {
		return BridgeOffer{}, fault.New(fault.Unprocessable, "funding_mode_unsupported", "The service performs all of the bridge %s; leave autoClaim out.", o.Bridge.ID)
	}
	var err error
	if ask.To, err = d.address("toAddress", ask.Get.Chain, a.ToAddress); err != nil {
		return BridgeOffer{}, err
	}
	if p.Integrator != nil {
		ask.Integrator, ask.Fees = p.Integrator.ID, p.Integrator.Fees
	}
	offer, err := o.Bridge.Market.Quote(ctx, ask, o.At)
	if err != nil {
		return BridgeOffer{}, err
	}
	offer.Quote.ID = unseenQuote()
	o.Offer, o.Quote = &offer, promised(offer)
	return o, nil
}

// owned1 is the offer of a bridge that its owner runs: one for one, and nothing of it
// passes through us.
func (d *Desk) owned1(ctx context.Context, p *access.Principal, a BridgeAsk, o BridgeOffer, q quote.Quote) (BridgeOffer, error) {
	b := o.Bridge
	var err error
	if _, err = d.address("toAddress", q.Get.Chain, a.ToAddress); err != nil {
		return BridgeOffer{}, err
	}
	if o.From, err = d.address("fromAddress", q.Give.Chain, a.FromAddress); err != nil {
		return BridgeOffer{}, err
	}
	if a.FeePercent != nil && p.Integrator == nil {
		return BridgeOffer{}, fault.New(fault.Invalid, "integrator_key_required", "integratorFeePercent needs an integrator key.").With("pointer", "/integratorFeePercent")
	}
	o.FeeUncharged = a.FeePercent != nil && *a.FeePercent > 0 || a.FeePercent == nil && p.Integrator != nil && p.Integrator.Fees.Default > 0
	if o.Auto = a.Auto; a.Auto {
		if o.Claim, o.ClaimUSD, err = d.claimFee(ctx, b); err != nil {
			return BridgeOffer{}, err
		}
	}
	usd, err := d.ports.Worth(ctx, q.Give, q.In)
	if err != nil {
		return BridgeOffer{}, err
	}
	q.ID, q.Integrator, q.USD = unseenQuote(), integratorOf(p), usd
	q.MinIn, q.MaxIn, q.ExpiresAt = b.Terms.Min, b.Terms.Max, o.At.Add(bridgeOfferGood)
	q.Tolerance = quote.Tolerance{UnderAction: quote.Hold, OverAction: quote.Hold, WrongAsset: quote.Hold}
	q.Shown = quote.Shown{MinOut: q.Out, MaxIn: q.In, OutUSD: usd, ServiceUSD: o.ClaimUSD, Takes: b.Takes, Confirmations: d.ports.Atlas.Of(q.Give.Chain).Confirmations}
	o.Quote = q
	return o, nil
}

// bridgeOfferGood is how long what a quote of a bridge says is about right.
const bridgeOfferGood = 5 * time.Minute

// claimFee is what claiming costs now, in the coin of the chain where the bridge begins.
func (d *Desk) claimFee(ctx context.Context, b *Bridge) (n money.Amount, usd money.USD, err error) {
	if b.Terms.Claim == nil {
		return n, 0, fault.New(fault.Unprocessable, "funding_mode_unsupported", "The bridge %s has no autoClaim; leave it out.", b.ID)
	}
	if usd = *b.Terms.Claim; usd == 0 {
		return n, 0, nil
	}
	coin := b.From.Native()
	one, err := money.ParseDecimal("1", d.ports.Atlas.Asset(coin).Decimals)
	if err != nil {
		return n, 0, err
	}
	price, err := d.ports.Worth(ctx, coin, one)
	if err != nil || price <= 0 {
		return n, 0, fault.New(fault.Unavailable, "pair_unavailable", "The coin that claiming is paid in has no price now; try later, or claim yourself.").Because(err)
	}
	if n, err = one.MulDiv(money.FromUint64(uint64(usd)), money.FromUint64(uint64(price)), money.Up); err != nil {
		return n, 0, fmt.Errorf("fee for claiming: %w", err)
	}
	return n, usd, nil
}
