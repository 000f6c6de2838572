package prices

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/secret"
)

// ExchangeConfig is a source that is an exchange's public book.
type ExchangeConfig struct {
	Name string
	// URL is where its API begins; empty is where the exchange has it.
	URL string
	// Markets are the exchange's own names of the markets of each symbol.
	Markets map[string]string
	// In is the symbol of the token that all of them are counted in; empty is dollars. No
	// token is a dollar: what one is worth is for the board to say.
	In string
	// MaxSpread is the widest book that is listened to, as a share of its bid; zero is
	// usualSpread.
	MaxSpread money.Percent
}

// usualSpread is far wider than a book with any trade in it.
const usualSpread = money.Whole / 100

// exchange is what the sources of this kind have in common.
type exchange struct {
	name    string
	web     *web
	markets map[string]string
	in      string
	spread  money.Percent
}

// newExchange checks that every market counts in what is said; between is what the
// exchange writes between the two names of a market.
func newExchange(cfg ExchangeConfig, url, between string) (*exchange, error) {
	if cfg.URL != "" {
		url = strings.TrimSuffix(cfg.URL, "/")
	}
	w, err := newWeb(cfg.Name, secret.New(url))
	switch {
	case err != nil:
		return nil, err
	case len(cfg.Markets) == 0:
		return nil, fmt.Errorf("prices: source %s: has no markets; name one for each symbol", cfg.Name)
	case cfg.MaxSpread < 0 || cfg.MaxSpread > money.Whole/2:
		return nil, fmt.Errorf("prices: source %s: the spread must be at most 50 percent", cfg.Name)
	}
	if cfg.MaxSpread == 0 {
		cfg.MaxSpread = usualSpread
	}
	end := between + cfg.In
	if cfg.In == "" {
		end = between + "USD"
	}
	for symbol, m := range cfg.Markets {
		// A market that counts in something else would be taken for one in dollars.
		if base, ok := strings.CutSuffix(m, end); !ok || base == "" || strings.ContainsFunc(m, oddInName) {
			return nil, fmt.Errorf("prices: source %s: %s: its market %.32q does not end with %s; say with \"in\" which token it counts in", cfg.Name, symbol, m, end)
		}
	}
	return &exchange{name: cfg.Name, web: w, markets: maps.Clone(cfg.Markets), in: cfg.In, spread: cfg.MaxSpread}, nil
}

// oddInName: what no exchange has in the name of a market. Names go into addresses.
func oddInName(r rune) bool {
	return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.'
}

// Name implements Source.
func (e *exchange) Name() string { return e.name }

// Kind implements Source.
func (e *exchange) Kind() Kind { return Exchange }

// named are the markets with their symbols, in the order of their names.
func (e *exchange) named() (markets []string, symbols map[string]string) {
	symbols = make(map[string]string, len(e.markets))
	for symbol, m := range e.markets {
		symbols[m] = symbol
	}
	return slices.Sorted(maps.Keys(symbols)), symbols
}

// book is the middle of the best bid and the best ask. A book in which somebody bids more
// than another asks is broken, and one that is wide says nothing.
func (e *exchange) book(bid, ask string, at time.Time) Quote {
	b, err := market.ParsePrice(bid)
	if err != nil {
		return Quote{Why: "its bid is " + err.Error()}
	}
	a, err := market.ParsePrice(ask)
	switch {
	case err != nil:
		return Quote{Why: "its ask is " + err.Error()}
	case at.IsZero():
		return Quote{Why: "does not say when that was so"}
	case a.Cmp(b) < 0:
		return Quote{Why: fmt.Sprintf("its book is crossed: %s is bid and %s is asked", b, a)}
	case !a.Near(b, e.spread):
		return Quote{Why: fmt.Sprintf("its book is too wide: %s is bid and %s is asked", b, a)}
	}
	return Quote{Price: market.Median([]market.Price{a, b}).String(), In: e.in, At: at}
}

// fields reads texts of an object; one that is not there is empty.
func fields(v any, names ...string) []string {
	o, _ := v.(map[string]any)
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = textOf(o[n])
	}
	return out
}
