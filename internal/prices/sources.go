package prices

import (
	"context"
	"fmt"
	"maps"
	"os"
	"time"

	"ferry/internal/market"
)

// Fixed is a source of prices that never change, for development and tests. Its
// prices are always of now.
type Fixed struct {
	name   string
	prices map[string]string
}

// NewFixed checks the prices.
func NewFixed(name string, prices map[string]string) (*Fixed, error) {
	if len(prices) == 0 {
		return nil, fmt.Errorf("prices: source %s: has no prices", name)
	}
	for symbol, text := range prices {
		if _, err := market.ParsePrice(text); err != nil {
			return nil, fmt.Errorf("prices: source %s: %s: %w", name, symbol, err)
		}
	}
	return &Fixed{name: name, prices: maps.Clone(prices)}, nil
}

// Name implements Source.
func (f *Fixed) Name() string { return f.name }

// Kind implements Source.
func (f *Fixed) Kind() Kind { return Made }

// Prices implements Source.
func (f *Fixed) Prices(_ context.Context, now time.Time) (map[string]Quote, error) {
	quotes := make(map[string]Quote, len(f.prices))
	for symbol, text := range f.prices {
		quotes[symbol] = Quote{Price: text, At: now}
	}
	return quotes, nil
}

// File is a source that somebody else writes: a JSON document
// {"prices": {"BTC": {"price": "97100.5", "at": "2026-01-02T03:04:05Z"}}}. Write it
// under another name and rename it, so that it is never read half written.
type File struct{ name, path string }

// NewFile makes a source of a file, which need not exist yet.
func NewFile(name, path string) (*File, error) {
	if path == "" {
		return nil, fmt.Errorf("prices: source %s: has no file", name)
	}
	return &File{name: name, path: path}, nil
}

// Name implements Source.
func (f *File) Name() string { return f.name }

// Kind implements Source.
func (f *File) Kind() Kind { return Document }

// Prices implements Source. The file is read at every look: it is small, and its
// stamp may be too coarse to tell that it changed.
func (f *File) Prices(context.Context, time.Time) (map[string]Quote, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	b, err := readAll(file)
	if err != nil {
		return nil, err
	}
	return parseDocument(b, time.Time{})
}
