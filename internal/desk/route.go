package desk

import (
	"context"
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// RouteAsk names a pair in the words of callers.
type RouteAsk struct{ FromChain, FromToken, ToChain, ToToken string }

// Route is how one asset becomes another: the smallest swap there is, and whether
// its rate can be fixed.
type Route struct {
	Least market.Offer
	Fixed bool
}

// Route finds out whether a pair can be exchanged, by asking for the price of the
// least amount.
func (d *Desk) Route(ctx context.Context, a RouteAsk, now time.Time) (Route, error) {
	nobody := &access.Principal{}
	ask := QuoteAsk{
		FromChain: a.FromChain, FromToken: a.FromToken, ToChain: a.ToChain, ToToken: a.ToToken,
		Amount: money.FromUint64(1), Side: market.From, Mode: quote.Float,
	}
	offer, err := d.offer(ctx, nobody, ask, now)
	if f := fault.Of(err); err != nil && f.Code == "amount_too_low" {
		text, _ := f.Detail["minFromAmount"].(string)
		if ask.Amount, err = money.Parse(text); err != nil {
			return Route{}, f
		}
		offer, err = d.offer(ctx, nobody, ask, now)
	}
	if err != nil {
		return Route{}, err
	}
	ask.Mode = quote.Fixed
	_, err = d.offer(ctx, nobody, ask, now)
	return Route{Least: offer, Fixed: err == nil}, nil
}
