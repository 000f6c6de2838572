package prices

import (
	"context"
	"fmt"
	"time"
)

// Coinbase is the book of Coinbase Exchange. It tells one market at a time, with the
// time of its last trade: a market in which nobody trades grows old.
type Coinbase struct{ *exchange }

// NewCoinbase takes markets such as BTC-USD.
func NewCoinbase(cfg ExchangeConfig) (*Coinbase, error) {
	e, err := newExchange(cfg, "https://api.exchange.coinbase.com", "-")
	return &Coinbase{e}, err
}

// Prices implements Source.
func (c *Coinbase) Prices(ctx context.Context, _ time.Time) (map[string]Quote, error) {
	return gather(ctx, c.markets, func(ctx context.Context, name string) (Quote, error) {
		a, err := c.web.get(ctx, "/products/"+name+"/ticker")
		if err != nil {
			return Quote{}, err
		}
		v, err := tree(a.body)
		if err != nil {
			return Quote{}, err
		}
		f := fields(v, "bid", "ask", "time")
		at, err := time.Parse(time.RFC3339Nano, f[2])
		if err != nil {
			return Quote{}, fmt.Errorf("%w: it does not say when the last trade was", errDocument)
		}
		return c.book(f[0], f[1], at.UTC()), nil
	})
}
