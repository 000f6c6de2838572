package operator

import (
	"context"
	"net/http"
	"net/url"

	"ferry/internal/office"
)

// Price is how a symbol stands; what is null is not there.
type Price struct {
	Symbol string  `json:"symbol"`
	Price  *string `json:"price"`
	At     *string `json:"at"`
	// Stopped is that it jumped; Next is what is to be confirmed then.
	Stopped  bool    `json:"stopped"`
	Next     *string `json:"next"`
	Quorum   int     `json:"quorum"`
	MinKinds int     `json:"minKinds"`
	Sources  []Word  `json:"sources"`
}

// Word is what one source said; Why is the reason for which it does not count.
type Word struct {
	Source string  `json:"source"`
	Kind   string  `json:"kind"`
	Price  *string `json:"price"`
	At     *string `json:"at"`
	Why    *string `json:"why"`
}

// Prices are all symbols.
type Prices struct {
	Prices []Price `json:"prices"`
}

// seenPrice is what an operator saw before he confirmed it.
type seenPrice struct {
	Price string `json:"price"`
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func priceView(p office.Price) Price {
	return Price{
		Symbol: p.Symbol, Price: textOrNull(p.Price), At: stampOrNull(p.At), Stopped: p.Stopped, Next: textOrNull(p.Next), Quorum: p.Quorum, MinKinds: p.MinKinds,
		Sources: each(p.Words, func(w office.Word) Word {
			return Word{Source: w.Source, Kind: w.Kind, Price: textOrNull(w.Price), At: stampOrNull(w.At), Why: textOrNull(w.Why)}
		}),
	}
}

func listPrices(c *call) (any, error) {
	if err := c.bare(); err != nil {
		return nil, err
	}
	all, err := c.office.Prices()
	return Prices{Prices: each(all, priceView)}, err
}

func confirmPrice(c *call) (any, error) {
	var body seenPrice
	if err := c.read(&body); err != nil {
		return nil, err
	}
	if err := c.office.ConfirmPrice(c.Context(), c.PathValue("id"), body.Price, c.by); err != nil {
		return nil, err
	}
	all, err := c.office.Prices()
	return Prices{Prices: each(all, priceView)}, err
}

// Prices are how all symbols stand, with what every source said of them.
func (c *Client) Prices(ctx context.Context) (Prices, error) {
	return ask[Prices](ctx, c, http.MethodGet, "/prices", nil)
}

// ConfirmPrice believes a price that jumped and was seen.
func (c *Client) ConfirmPrice(ctx context.Context, symbol, seen string) (Prices, error) {
	return ask[Prices](ctx, c, http.MethodPost, "/prices/"+url.PathEscape(symbol)+"/confirm", seenPrice{Price: seen})
}
