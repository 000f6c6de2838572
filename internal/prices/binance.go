package prices

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// Binance is the book of Binance, which tells all markets in one answer, without a time:
// they are of when it answered, by its own clock. It has no markets in dollars, so that
// it must be said which token its markets count in.
type Binance struct{ *exchange }

// NewBinance takes markets such as BTCUSDC, in a token.
func NewBinance(cfg ExchangeConfig) (*Binance, error) {
	if cfg.In == "" {
		return nil, fmt.Errorf("prices: source %s: Binance has no markets in dollars; say with \"in\" which token they count in, such as USDC", cfg.Name)
	}
	e, err := newExchange(cfg, "https://api.binance.com", "")
	return &Binance{e}, err
}

// Prices implements Source.
func (b *Binance) Prices(ctx context.Context, _ time.Time) (map[string]Quote, error) {
	names, symbols := b.named()
	list, err := json.Marshal(names)
	if err != nil {
		return nil, fmt.Errorf("its markets cannot be written: %w", err)
	}
	a, err := b.web.get(ctx, "/api/v3/ticker/bookTicker?"+url.Values{"symbols": {string(list)}}.Encode())
	if err != nil {
		return nil, err
	}
	v, err := tree(a.body)
	if err != nil {
		return nil, err
	}
	all, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: want a list of books", errDocument)
	}
	quotes := make(map[string]Quote, len(names))
	for _, entry := range all {
		f := fields(entry, "symbol", "bidPrice", "askPrice")
		symbol, asked := symbols[f[0]]
		if _, twice := quotes[symbol]; !asked || twice {
			return nil, fmt.Errorf("%w: %q was not asked for, or is there twice", errDocument, short(f[0]))
		}
		quotes[symbol] = b.book(f[1], f[2], a.at)
	}
	return quotes, nil
}
