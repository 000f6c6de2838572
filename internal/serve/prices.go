package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/family/evm"
	"ferry/internal/front"
	"ferry/internal/prices"
	"ferry/internal/secret"
)

// board is how prices are judged. Tokens that others are counted in are priced too.
func board(c config.Config) prices.Config {
	b := prices.Defaults()
	b.Guard, b.Guards = guard(c.Market.Guard), map[string]prices.Guard{}
	add := func(symbol string) {
		if symbol != "" && !slices.Contains(b.Symbols, symbol) {
			b.Symbols = append(b.Symbols, symbol)
		}
	}
	for _, t := range c.Tokens {
		add(t.Symbol)
	}
	for _, s := range c.Prices {
		add(s.In)
	}
	for _, g := range c.Market.Guards {
		b.Guards[g.Symbol] = guard(g)
	}
	slices.Sort(b.Symbols)
	return b
}

func guard(g config.Guard) prices.Guard {
	return prices.Guard{Quorum: g.Quorum, MinKinds: g.MinKinds, MaxAge: g.MaxAge, MaxDeviation: g.MaxDeviation, MaxJump: g.MaxJump}
}

// sourcesOf makes the price sources; those that read contracts do so on the chains that
// are served.
func sourcesOf(c config.Config, chains []front.Chain) ([]prices.Source, error) {
	if len(c.Prices) == 0 {
		return nil, errors.New("prices: there is no source; add a [[prices]] table, nothing is sold without a price")
	}
	on := map[chain.ID]prices.Contracts{}
	for _, one := range chains {
		if one.Contracts != nil {
			on[one.ID] = one.Contracts
		}
	}
	var all []prices.Source
	for _, p := range c.Prices {
		s, err := sourceOf(p, on)
		if err != nil {
			return nil, fmt.Errorf("prices of %s: %w", p.Name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

func sourceOf(p config.Source, on map[chain.ID]prices.Contracts) (prices.Source, error) {
	book := prices.ExchangeConfig{Name: p.Name, URL: p.URL, Markets: p.Markets, In: p.In}
	switch p.Kind {
	case "fixed":
		return prices.NewFixed(p.Name, p.Values)
	case "file":
		return prices.NewFile(p.Name, p.Path)
	case "recorded":
		return prices.ReadRecord(p.Name, p.Path)
	case "coinbase":
		return prices.NewCoinbase(book)
	case "kraken":
		return prices.NewKraken(book)
	case "binance":
		return prices.NewBinance(book)
	case "http":
		return httpSource(p)
	}
	contracts, ok := on[p.Chain]
	if !ok {
		return nil, fmt.Errorf("its chain %q is not served with real nodes of the EVM family; add it to [[chains]]", p.Chain)
	}
	if p.Kind == "chainlink" {
		return oracle(p, contracts)
	}
	return pool(p, contracts)
}

func httpSource(p config.Source) (prices.Source, error) {
	cfg := prices.HTTPConfig{Name: p.Name, URL: secret.New(p.URL), Fields: map[string]prices.Field{}}
	for symbol, pointer := range p.Fields {
		cfg.Fields[symbol] = prices.Field{Price: pointer}
	}
	return prices.NewHTTP(cfg)
}

func oracle(p config.Source, on prices.Contracts) (prices.Source, error) {
	cfg := prices.ChainlinkConfig{Name: p.Name, Feeds: map[string]prices.Feed{}}
	for symbol, text := range p.Feeds {
		at, err := evm.Codec{}.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("the feed of %s: %w", symbol, err)
		}
		beat, own := p.Heartbeats[symbol]
		if !own {
			beat = p.Heartbeat
		}
		cfg.Feeds[symbol] = prices.Feed{Address: at, Heartbeat: beat}
	}
	if p.Sequencer != "" {
		var err error
		if cfg.Sequencer, err = (evm.Codec{}).Parse(p.Sequencer); err != nil {
			return nil, fmt.Errorf("sequencer: %w", err)
		}
		cfg.Grace = p.Grace
	}
	return prices.NewChainlink(cfg, on)
}

func pool(p config.Source, on prices.Contracts) (prices.Source, error) {
	cfg := prices.PoolConfig{Name: p.Name, Symbol: p.Symbol, In: p.In, Window: p.Window, Floor: p.Floor}
	for _, a := range []struct {
		name, text string
		into       *chain.Address
	}{{"pool", p.Pool, &cfg.Pool}, {"base", p.Base, &cfg.Base}, {"quote", p.Quote, &cfg.Quote}} {
		var err error
		if *a.into, err = (evm.Codec{}).Parse(a.text); err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
	}
	if p.Kind == "uniswapV2" {
		return prices.NewUniswapV2(cfg, on)
	}
	return prices.NewUniswapV3(cfg, on)
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
