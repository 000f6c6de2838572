package prices

import (
	"context"
	"fmt"
	"maps"
	"time"

	"ferry/internal/secret"
)

// HTTPConfig is a source that is asked over HTTP.
type HTTPConfig struct {
	Name string
	URL  secret.Text // it may carry a key
	// Fields are where the answer has each symbol; empty: it is a document as File
	// reads it, in which the time may be left out.
	Fields map[string]Field
}

// HTTP is a source that is asked over HTTP with one GET.
type HTTP struct {
	name   string
	web    *web
	fields map[string]Field
}

// NewHTTP checks the address: https, or http on this machine only, because whoever
// can change an answer on its way can set our prices.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) {
	for symbol, f := range cfg.Fields {
		if f.Price == "" || f.Price[0] != '/' || (f.At != "" && f.At[0] != '/') {
			return nil, fmt.Errorf("prices: source %s: %s: its fields must be JSON pointers such as \"/bitcoin/usd\"", cfg.Name, symbol)
		}
	}
	w, err := newWeb(cfg.Name, cfg.URL)
	if err != nil {
		return nil, err
	}
	return &HTTP{name: cfg.Name, web: w, fields: maps.Clone(cfg.Fields)}, nil
}

// Name implements Source.
func (h *HTTP) Name() string { return h.name }

// Kind implements Source.
func (h *HTTP) Kind() Kind { return Document }

// Prices implements Source.
func (h *HTTP) Prices(ctx context.Context, now time.Time) (map[string]Quote, error) {
	a, err := h.web.get(ctx, "")
	if err != nil {
		return nil, err
	}
	if len(h.fields) == 0 {
		return parseDocument(a.body, now)
	}
	return pick(a.body, h.fields, now)
}
