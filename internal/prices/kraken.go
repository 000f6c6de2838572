package prices

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Kraken is the book of Kraken, which tells all markets in one answer. It says no time
// with them: they are of when it answered, by its own clock.
type Kraken struct{ *exchange }

// NewKraken takes markets by the names that the answers have, such as XXBTZUSD and
// SOLUSD: Kraken answers with these also where it is asked by others.
func NewKraken(cfg ExchangeConfig) (*Kraken, error) {
	e, err := newExchange(cfg, "https://api.kraken.com", "")
	return &Kraken{e}, err
}

// Prices implements Source.
func (k *Kraken) Prices(ctx context.Context, _ time.Time) (map[string]Quote, error) {
	names, symbols := k.named()
	a, err := k.web.get(ctx, "/0/public/Ticker?"+url.Values{"pair": {strings.Join(names, ",")}}.Encode())
	if err != nil {
		return nil, err
	}
	v, err := tree(a.body)
	if err != nil {
		return nil, err
	}
	top, _ := v.(map[string]any)
	troubles, isList := top["error"].([]any)
	result, ok := top["result"].(map[string]any)
	switch {
	case len(troubles) > 0:
		return nil, fmt.Errorf("it answered %.80q", textOf(troubles[0]))
	case !isList || !ok:
		return nil, fmt.Errorf("%w: want error and result", errDocument)
	}
	quotes := make(map[string]Quote, len(names))
	for _, name := range names {
		if entry, told := result[name]; told {
			quotes[symbols[name]] = k.book(best(entry, "b"), best(entry, "a"), a.at)
		}
	}
	return quotes, nil
}

// best is the price of the best offer on a side, which stands first in its list.
func best(entry any, side string) string {
	v, _ := at(entry, "/"+side+"/0")
	return textOf(v)
}
