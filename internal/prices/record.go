package prices

import (
	"context"
	"fmt"
	"os"
	"time"

	"ferry/internal/market"
)

// Recorded plays prices that were written down, in a loop that begins with each day of
// UTC. It is for development and drills: its prices are always of now.
type Recorded struct {
	name   string
	every  time.Duration
	prices map[string][]string
}

// NewRecorded reads {"every": "5m", "prices": {"BTC": ["97100.5", …]}}: of every symbol
// as many as the others have, one for each step of time.
func NewRecorded(name string, document []byte) (*Recorded, error) {
	bad := func(why string) (*Recorded, error) { return nil, fmt.Errorf("prices: source %s: %s", name, why) }
	v, err := tree(document)
	if err != nil {
		return bad(err.Error())
	}
	top, _ := v.(map[string]any)
	every, err := time.ParseDuration(textOf(top["every"]))
	lists, ok := top["prices"].(map[string]any)
	if err != nil || every < time.Second || !ok || len(lists) == 0 || len(top) != 2 {
		return bad(`it is no record; want {"every": "5m", "prices": {"BTC": ["97100.5"]}}`)
	}
	r := &Recorded{name: name, every: every, prices: map[string][]string{}}
	length := 0
	for symbol, entry := range lists {
		list, _ := entry.([]any)
		if length == 0 {
			length = len(list)
		}
		if len(list) == 0 || len(list) != length {
			return bad(fmt.Sprintf("%q has %d prices, and another symbol %d", short(symbol), len(list), length))
		}
		for _, p := range list {
			if _, err := market.ParsePrice(textOf(p)); err != nil {
				return bad(fmt.Sprintf("%s: %v", short(symbol), err))
			}
			r.prices[symbol] = append(r.prices[symbol], textOf(p))
		}
	}
	return r, nil
}

// ReadRecord reads a record from a file, once.
func ReadRecord(name, path string) (*Recorded, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("prices: source %s: %w", name, err)
	}
	return NewRecorded(name, text)
}

// Name implements Source.
func (r *Recorded) Name() string { return r.name }

// Kind implements Source.
func (r *Recorded) Kind() Kind { return Made }

// Prices implements Source.
func (r *Recorded) Prices(_ context.Context, now time.Time) (map[string]Quote, error) {
	step := now.Sub(now.Truncate(24*time.Hour)) / r.every
	quotes := make(map[string]Quote, len(r.prices))
	for symbol, list := range r.prices {
		quotes[symbol] = Quote{Price: list[int(step)%len(list)], At: now}
	}
	return quotes, nil
}
