package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
)

// Source is where prices come from. What it does not need is zero.
type Source struct {
	Name   string
	Kind   string            // one of sourceKeys
	Path   string            // of a file or a record
	URL    string            // of http, or of an exchange elsewhere; it may hold a key: show it only redacted
	Values map[string]string // fixed: dollars of a whole unit by symbol
	Fields map[string]string // http: where in the answer each symbol's price is, as JSON pointers

	Markets map[string]string // of an exchange: its names of the markets, by symbol
	In      string            // the symbol of the token that prices are counted in; empty is dollars

	Chain      chain.ID                 // on which contracts are read
	Feeds      map[string]string        // of an oracle: the address of each symbol's feed
	Heartbeat  time.Duration            // how long its feeds may stand still
	Heartbeats map[string]time.Duration // of those that differ
	Sequencer  string                   // of a rollup: the feed that says whether it is up
	Grace      time.Duration            // after it came back

	Symbol            string // what a pool prices
	Pool, Base, Quote string // its address, and its tokens'
	Window            time.Duration
	Floor             money.Amount // how much must be in it
}

// Guard is what a price must withstand. In one of a single symbol zero is as for all.
type Guard struct {
	Symbol           string
	Quorum, MinKinds int
	MaxAge           time.Duration
	MaxDeviation     money.Percent
	MaxJump          uint32
}

// sourceKeys are the kinds of sources with the keys that each may have beside its name;
// those that it must have end with an exclamation mark.
var sourceKeys = map[string]string{
	"fixed": "values!", "file": "path!", "recorded": "path!", "http": "url! fields",
	"coinbase": "markets! url in", "kraken": "markets! url in", "binance": "markets! in! url",
	"chainlink": "chain! feeds! heartbeat heartbeats sequencer grace",
	"uniswapV3": "chain! symbol! in! pool! base! quote! window floor!", "uniswapV2": "chain! symbol! in! pool! base! quote! window floor!",
}

// missingKeys say what to write where a key is not there.
var missingKeys = map[string]string{
	"values":  "write the dollars of a whole unit of each symbol, such as values = { ETH = \"3000\" }",
	"path":    "write the path of a JSON file of prices",
	"url":     "write the address of a JSON document of prices",
	"markets": "write the exchange's name of each symbol's market, such as markets = { BTC = \"BTC-USD\" }",
	"in":      "write the symbol of the token that its prices are counted in, such as in = \"USDC\"; no token is a dollar",
	"chain":   "write the id of a chain that is served, such as chain = \"eip155:1\"",
	"feeds":   "write the address of each symbol's feed, such as feeds = { ETH = \"0x5f4e…\" }",
	"symbol":  "write the symbol that the pool prices, such as symbol = \"ETH\"",
	"pool":    "write the address of the pool", "base": "write the address of the token that is priced", "quote": "write the address of the pool's other token",
	"floor": "an empty pool can be moved by anybody; write how much must be in it, such as floor = \"1000000000000\"",
}

// Usual times of contracts. A window shorter than leastWindow is a moment.
const (
	usualHeartbeat = time.Hour
	usualGrace     = time.Hour
	usualWindow    = 30 * time.Minute
	leastWindow    = 5 * time.Minute
	mostWindow     = 24 * time.Hour
)

func readPrices(r *reader, raw map[string]any) []Source {
	tables, _ := r.tables(table{values: raw}, "prices")
	var all []Source
	for _, t := range tables {
		s := Source{Name: r.must(t, "name", "exchange"), Kind: r.must(t, "kind", "http"), Path: r.or(t, "path", ""), URL: r.or(t, "url", "")}
		r.fits(t, s.Kind)
		s.Values, s.Fields, s.Markets, s.In = r.pairs(t, "values"), r.pairs(t, "fields"), r.pairs(t, "markets"), r.or(t, "in", "")
		switch {
		case s.Kind == "chainlink":
			r.oracle(t, &s)
		case strings.HasPrefix(s.Kind, "uniswap"):
			r.pool(t, &s)
		}
		all = append(all, s)
	}
	return all
}

// fits refuses keys that the kind of a source does not have, and asks for those that it
// must have.
func (r *reader) fits(t table, kind string) {
	list, ok := sourceKeys[kind]
	if !ok {
		if kind != "" {
			r.refuse(t.key("kind"), "%q is not known; write one of %s", clip(kind), strings.Join(slices.Sorted(maps.Keys(sourceKeys)), ", "))
		}
		return
	}
	may := []string{"name", "kind"}
	for word := range strings.FieldsSeq(list) {
		name, must := strings.CutSuffix(word, "!")
		may = append(may, name)
		if m, isTable := t.values[name].(map[string]any); must && (t.values[name] == nil || t.values[name] == "" || isTable && len(m) == 0) {
			r.refuse(t.key(name), "is missing or empty; %s", missingKeys[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.values)) {
		if _, known := known["prices"][name]; known && !slices.Contains(may, name) {
			r.refuse(t.key(name), "is nothing that a source of kind %q has; remove it", kind)
		}
	}
}

func (r *reader) oracle(t table, s *Source) {
	s.Chain, s.Feeds = chain.ID(r.or(t, "chain", "")), r.pairs(t, "feeds")
	s.Heartbeat, s.Sequencer, s.Grace = r.wait(t, "heartbeat", usualHeartbeat), r.or(t, "sequencer", ""), r.wait(t, "grace", usualGrace)
	for symbol, text := range r.pairs(t, "heartbeats") {
		one := table{path: t.key("heartbeats"), values: map[string]any{symbol: text}}
		if s.Heartbeats == nil {
			s.Heartbeats = map[string]time.Duration{}
		}
		s.Heartbeats[symbol] = r.wait(one, symbol, usualHeartbeat)
		if s.Feeds[symbol] == "" {
			r.refuse(one.key(clip(symbol)), "has no feed; remove it")
		}
	}
}

func (r *reader) pool(t table, s *Source) {
	s.Chain, s.Symbol = chain.ID(r.or(t, "chain", "")), r.or(t, "symbol", "")
	s.Pool, s.Base, s.Quote = r.or(t, "pool", ""), r.or(t, "base", ""), r.or(t, "quote", "")
	if s.Window = r.wait(t, "window", usualWindow); s.Window < leastWindow || s.Window > mostWindow || s.Window%time.Second != 0 {
		r.refuse(t.key("window"), "is %q; write whole seconds from %q to %q", s.Window, leastWindow, mostWindow)
	}
	text, given := r.text(t, "floor")
	n, err := money.Parse(text)
	if given && text != "" && (err != nil || n.IsZero()) {
		r.refuse(t.key("floor"), "%q is not a whole number above 0", clip(text))
	}
	s.Floor = n
}

// readGuard is what every price must withstand.
func readGuard(r *reader, t table) Guard {
	return Guard{
		Quorum: int(r.bounded(t, "priceQuorum", 1, 1, 100)), MinKinds: int(r.bounded(t, "priceMinKinds", 1, 1, 100)),
		MaxAge: r.wait(t, "priceMaxAge", 30*time.Second), MaxDeviation: r.percent(t, "priceMaxDeviationPercent", "2"),
		MaxJump: uint32(r.bounded(t, "priceMaxJump", 10, 2, 1_000_000)), //nolint:gosec // it is bounded
	}
}

// readGuards are those of single symbols.
func readGuards(r *reader, raw map[string]any) []Guard {
	tables, _ := r.tables(table{values: raw}, "guards")
	var all []Guard
	for _, t := range tables {
		g := Guard{Symbol: r.must(t, "symbol", "SOL")}
		g.Quorum, g.MinKinds = int(r.bounded(t, "quorum", 0, 1, 100)), int(r.bounded(t, "minKinds", 0, 1, 100))
		g.MaxAge, g.MaxJump = r.wait(t, "maxAge", 0), uint32(r.bounded(t, "maxJump", 0, 2, 1_000_000)) //nolint:gosec // it is bounded
		if _, given := t.values["maxDeviationPercent"]; given {
			g.MaxDeviation = r.percent(t, "maxDeviationPercent", "2")
		}
		if slices.ContainsFunc(all, func(o Guard) bool { return o.Symbol == g.Symbol }) {
			r.refuse(t.key("symbol"), "%q is guarded twice; remove one", clip(g.Symbol))
		}
		all = append(all, g)
	}
	return all
}

// showPrices writes where prices come from and what they must withstand, the end of
// [market] first.
func (c Config) showPrices(line func(string, ...any)) {
	g := c.Market.Guard
	line("priceQuorum = %d\npriceMinKinds = %d\npriceMaxAge = %q\npriceMaxDeviationPercent = %q\npriceMaxJump = %d", g.Quorum, g.MinKinds, g.MaxAge, g.MaxDeviation, g.MaxJump)
	for _, g := range c.Market.Guards {
		line("\n[[guards]]\nsymbol = %s", quote(g.Symbol))
		for _, n := range []struct {
			name  string
			value int64
		}{{"quorum", int64(g.Quorum)}, {"minKinds", int64(g.MinKinds)}, {"maxJump", int64(g.MaxJump)}} {
			if n.value != 0 {
				line("%s = %d", n.name, n.value)
			}
		}
		if g.MaxAge != 0 {
			line("maxAge = %q", g.MaxAge)
		}
		if g.MaxDeviation != 0 {
			line("maxDeviationPercent = %q", g.MaxDeviation)
		}
	}
	for _, s := range c.Prices {
		s.show(line)
	}
}

func (s Source) show(line func(string, ...any)) {
	line("\n[[prices]]\nname = %s\nkind = %s", quote(s.Name), quote(s.Kind))
	if s.URL != "" {
		line("url = \"[redacted]\"")
	}
	for _, t := range []struct{ name, value string }{
		{"path", s.Path}, {"in", s.In}, {"chain", string(s.Chain)}, {"sequencer", s.Sequencer}, {"symbol", s.Symbol}, {"pool", s.Pool}, {"base", s.Base}, {"quote", s.Quote},
	} {
		if t.value != "" {
			line("%s = %s", t.name, quote(t.value))
		}
	}
	for _, t := range []struct {
		name  string
		value time.Duration
	}{{"heartbeat", s.Heartbeat}, {"grace", s.Grace}, {"window", s.Window}} {
		if t.value != 0 {
			line("%s = %q", t.name, t.value)
		}
	}
	if !s.Floor.IsZero() {
		line("floor = %q", s.Floor)
	}
	beats := make(map[string]string, len(s.Heartbeats))
	for symbol, d := range s.Heartbeats {
		beats[symbol] = d.String()
	}
	for _, p := range []struct {
		name  string
		pairs map[string]string
	}{{"values", s.Values}, {"fields", s.Fields}, {"markets", s.Markets}, {"feeds", s.Feeds}, {"heartbeats", beats}} {
		showPairs(line, p.name, p.pairs)
	}
}
