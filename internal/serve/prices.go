package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"ferry/internal/config"
	"ferry/internal/prices"
	"ferry/internal/secret"
)

// board is how prices are judged.
func board(c config.Config) prices.Config {
	b := prices.Defaults()
	b.Quorum = c.Market.Quorum
	for _, t := range c.Tokens {
		if !slices.Contains(b.Symbols, t.Symbol) {
			b.Symbols = append(b.Symbols, t.Symbol)
		}
	}
	slices.Sort(b.Symbols)
	return b
}

// sourcesOf makes the price sources.
func sourcesOf(c config.Config) ([]prices.Source, error) {
	if len(c.Prices) == 0 {
		return nil, errors.New("prices: there is no source; add a [[prices]] table, nothing is sold without a price")
	}
	var all []prices.Source
	for _, p := range c.Prices {
		var s prices.Source
		var err error
		switch p.Kind {
		case "fixed":
			s, err = prices.NewFixed(p.Name, p.Values)
		case "file":
			s, err = prices.NewFile(p.Name, p.Path)
		default:
			s, err = httpSource(p)
		}
		if err != nil {
			return nil, fmt.Errorf("prices of %s: %w", p.Name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func httpSource(p config.Source) (prices.Source, error) {
	cfg := prices.HTTPConfig{Name: p.Name, URL: secret.New(p.URL), Fields: map[string]prices.Field{}}
	for symbol, pointer := range p.Fields {
		cfg.Fields[symbol] = prices.Field{Price: pointer}
	}
	return prices.NewHTTP(cfg)
}

// secretLen is how long a secret is that we make, and leastSecret how long one is at
// least.
const (
	secretLen   = 64
	leastSecret = 32
)

// secretOf reads the deployment's secret, and makes one where there is none. It is
// for nobody else to read.
func secretOf(path string) (secret.Text, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw := make([]byte, secretLen)
		_, _ = rand.Read(raw) // it never fails
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			return secret.Text{}, fmt.Errorf("api.secretFile: %w", err)
		}
		return secret.New(string(raw)), nil
	}
	if err != nil {
		return secret.Text{}, fmt.Errorf("api.secretFile: %w", err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return secret.Text{}, fmt.Errorf("api.secretFile: %w", err)
	case info.Mode().Perm()&0o077 != 0:
		return secret.Text{}, fmt.Errorf("api.secretFile: others can read %s; run: chmod 600 %s", path, path)
	case len(text) < leastSecret:
		return secret.Text{}, fmt.Errorf("api.secretFile: %s has fewer than %d bytes; give a file of random bytes, or remove it and one is made", path, leastSecret)
	}
	return secret.New(string(text)), nil
}
