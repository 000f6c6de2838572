package desk

import (
	"context"
	"errors"
	"strings"
	"time"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// QuoteAsk is what a quote is asked for, in the words of callers.
type QuoteAsk struct {
	FromChain, FromToken string
	ToChain, ToToken     string
	Amount               money.Amount
	Side                 market.Side
	Mode                 quote.RateMode
	Slippage             *money.Percent
	ToAddress            string // empty: not known yet
	RefundAddress        string
	Funding              string // how it is paid; empty is by a deposit address
	FromAddress          string // who pays
	FeePercent           *money.Percent
}

// Quote makes an offer. It has no side effects.
func (d *Desk) Quote(ctx context.Context, p *access.Principal, a QuoteAsk, now time.Time) (market.Offer, error) {
	o, err := d.offer(ctx, p, a, now)
	if err != nil {
		return market.Offer{}, err
	}
	err = d.seal(&o)
	return o, err
}

// seal gives an offer its id.
func (d *Desk) seal(o *market.Offer) error {
	id, err := d.ports.Seal.Close(*o)
	o.Quote.ID = quote.ID(id)
	return err
}

func (d *Desk) offer(ctx context.Context, p *access.Principal, a QuoteAsk, now time.Time) (market.Offer, error) {
	give, err := d.ports.Atlas.Token(a.FromChain, a.FromToken)
	if err != nil {
		return market.Offer{}, named400("fromToken", "fromChainId", err)
	}
	get, err := d.ports.Atlas.Token(a.ToChain, a.ToToken)
	if err != nil {
		return market.Offer{}, named400("toToken", "toChainId", err)
	}
	from, err := d.payer(a, give.Asset.Chain)
	if err != nil {
		return market.Offer{}, err
	}
	ask := market.Ask{
		Give: give.Asset, Get: get.Asset, Side: a.Side, Amount: a.Amount, Mode: a.Mode, Slippage: a.Slippage, Override: a.FeePercent,
	}
	if ask.To, err = d.address("toAddress", get.Asset.Chain, a.ToAddress); err != nil {
		return market.Offer{}, err
	}
	if _, err = d.address("refundAddress", give.Asset.Chain, a.RefundAddress); err != nil {
		return market.Offer{}, err
	}
	if p.Integrator != nil {
		ask.Integrator, ask.Fees = p.Integrator.ID, p.Integrator.Fees
	}
	o, err := d.ports.Market.Quote(ctx, ask, now)
	o.PayFrom = from
	return o, err
}

// address reads an address that may be left out.
func (d *Desk) address(field string, id chain.ID, text string) (chain.Address, error) {
	if text == "" {
		return chain.Address{}, nil
	}
	a, err := d.ports.Codecs.Parse(id, text)
	if err != nil {
		return chain.Address{}, fault.New(fault.Invalid, "invalid_address", "%s is not an address of %s: %s.", field, d.ports.Atlas.Of(id).Name, strings.TrimSuffix(reason(err), ".")).
			With("pointer", "/"+field)
	}
	return a, nil
}

// reason is what a codec says is wrong. It never holds the address.
func reason(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Text
	}
	return err.Error()
}

// named400 says which field names what is not served.
func named400(token, chainField string, err error) error {
	f := fault.Of(err)
	if f.Code == "unsupported_chain" {
		return f.With("pointer", "/"+chainField)
	}
	return f.With("pointer", "/"+token)
}

func integratorOf(p *access.Principal) integrator.ID {
	if p.Integrator == nil {
		return ""
	}
	return p.Integrator.ID
}
