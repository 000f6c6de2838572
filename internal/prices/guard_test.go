package prices_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"ferry/internal/fault"
	"ferry/internal/money"
	"ferry/internal/prices"
)

// teller says whole quotes, of a kind.
type teller struct {
	name string
	kind prices.Kind
	says map[string]prices.Quote
	err  error
}

func (s *teller) Name() string      { return s.name }
func (s *teller) Kind() prices.Kind { return s.kind }

func (s *teller) Prices(_ context.Context, now time.Time) (map[string]prices.Quote, error) {
	if s.err != nil {
		return nil, s.err
	}
	out := map[string]prices.Quote{}
	for symbol, q := range s.says {
		if q.At.IsZero() {
			q.At = now
		}
		out[symbol] = q
	}
	return out, nil
}

// tells reads "BTC 97000, SOL 150 USDC": a symbol, a price and what it is counted in.
func tells(name string, kind prices.Kind, text string) *teller {
	s := &teller{name: name, kind: kind, says: map[string]prices.Quote{}}
	for part := range strings.SplitSeq(text, ", ") {
		f := append(strings.Fields(part), "", "")
		if f[0] != "" {
			s.says[f[0]] = prices.Quote{Price: f[1], In: f[2]}
		}
	}
	return s
}

func boardOf(t *testing.T, change func(c *prices.Config), symbols string, tellers ...*teller) *prices.Board {
	t.Helper()
	cfg := prices.Defaults()
	cfg.Symbols, cfg.Quorum = strings.Fields(symbols), 2
	if change != nil {
		change(&cfg)
	}
	sources := make([]prices.Source, len(tellers))
	for i, s := range tellers {
		sources[i] = s
	}
	b, err := prices.New(cfg, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// priced is what a board says of a symbol; "none" where it has no price.
func priced(t *testing.T, b *prices.Board, symbol string, now time.Time) string {
	t.Helper()
	p, err := b.Price(symbol, now)
	if err != nil {
		if f := fault.Of(err); f.Code != "pair_unavailable" || f.Detail["retryAfterSeconds"] == nil {
			t.Errorf("%s: refused with %v", symbol, err)
		}
		return "none"
	}
	return p.String()
}

func TestWhatIsCountedInATokenIsTurnedIntoDollars(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		tellers   []*teller
		btc, usdc string
	}{
		{"a token at its dollar", []*teller{
			tells("a", prices.Exchange, "BTC 100, USDC 1"), tells("b", prices.Oracle, "BTC 100, USDC 1"), tells("c", prices.Pool, "BTC 100 USDC"),
		}, "100", "1"},
		{"a token that fell", []*teller{
			tells("a", prices.Exchange, "USDC 0.8"), tells("b", prices.Oracle, "BTC 100, USDC 0.8"), tells("c", prices.Pool, "BTC 125 USDC"),
		}, "100", "0.8"},
		{"a fallen token does not lift others", []*teller{
			tells("a", prices.Exchange, "BTC 125 USDC"), tells("b", prices.Oracle, "BTC 100, USDC 0.8"), tells("c", prices.Pool, "BTC 125 USDC, USDC 0.8"),
		}, "100", "0.8"},
		{"a token that nobody knows", []*teller{
			tells("a", prices.Exchange, "BTC 100 USDC"), tells("b", prices.Oracle, "BTC 100"), tells("c", prices.Pool, "BTC 100 USDC"),
		}, "none", "none"},
		{"a token that only one knows", []*teller{
			tells("a", prices.Exchange, "BTC 100 USDC"), tells("b", prices.Oracle, "BTC 100, USDC 1"), tells("c", prices.Pool, "BTC 100 USDC"),
		}, "none", "none"},
		{"a token counted in itself", []*teller{
			tells("a", prices.Exchange, "USDC 1 USDC"), tells("b", prices.Oracle, "USDC 1 USDC"), tells("c", prices.Pool, "BTC 100 USDC"),
		}, "none", "none"},
		{"two tokens that hold each other up", []*teller{
			tells("a", prices.Exchange, "USDC 1 BTC, BTC 1 USDC"), tells("b", prices.Oracle, "USDC 1 BTC, BTC 1 USDC"), tells("c", prices.Pool, ""),
		}, "none", "none"},
		{"a token that is not listed", []*teller{
			tells("a", prices.Exchange, "BTC 100 GOLD"), tells("b", prices.Oracle, "BTC 100 GOLD"), tells("c", prices.Pool, ""),
		}, "none", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := boardOf(t, nil, "BTC USDC", c.tellers...)
			if err := b.Step(t.Context(), start); err != nil {
				t.Fatal(err)
			}
			usdc := priced(t, b, "USDC", start)
			if btc := priced(t, b, "BTC", start); btc != c.btc || usdc != c.usdc {
				t.Errorf("BTC is %s and USDC %s, want %s and %s; %+v", btc, usdc, c.btc, c.usdc, b.All())
			}
		})
	}
}

// What is counted in a token that is itself a measure depends on no order of looking.
func TestAMeasureIsNeverCountedInAnother(t *testing.T) {
	t.Parallel()
	for range 32 { // the order in which symbols are judged is another each time
		b := boardOf(
			t, nil, "BTC USDC USDT",
			tells("a", prices.Exchange, "USDC 1, USDT 1, BTC 100 USDT"), tells("b", prices.Oracle, "USDC 1, BTC 100"), tells("c", prices.Pool, "USDT 1 USDC, BTC 100 USDC"),
		)
		if err := b.Step(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		if got := priced(t, b, "USDT", start); got != "none" {
			t.Fatalf("USDT is %s, and only one says so who counts in dollars", got)
		}
		if got := priced(t, b, "BTC", start); got != "100" {
			t.Fatalf("BTC is %s", got)
		}
	}
}

func TestAMeasureThatJumpedMeasuresNothing(t *testing.T) {
	t.Parallel()
	one, two := tells("a", prices.Exchange, "USDC 1, BTC 100 USDC"), tells("b", prices.Oracle, "USDC 1, BTC 100 USDC")
	b := boardOf(t, func(c *prices.Config) { c.Guards = map[string]prices.Guard{"USDC": {MaxJump: 2}} }, "BTC USDC", one, two)
	step := func(at time.Time) {
		t.Helper()
		if err := b.Step(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	step(start)
	if got := priced(t, b, "BTC", start); got != "100" {
		t.Fatalf("got %s", got)
	}
	for _, s := range []*teller{one, two} {
		s.says["USDC"] = prices.Quote{Price: "0.4"}
	}
	step(start.Add(time.Second))
	if btc, usdc := priced(t, b, "BTC", start.Add(time.Second)), priced(t, b, "USDC", start.Add(time.Second)); btc != "none" || usdc != "none" {
		t.Errorf("BTC is %s and USDC %s", btc, usdc)
	}
}

func TestEachSymbolHasItsOwnGuard(t *testing.T) {
	t.Parallel()
	guards := func(g prices.Guard) func(c *prices.Config) {
		return func(c *prices.Config) { c.Guards = map[string]prices.Guard{"SOL": g} }
	}
	old := func(s *teller, symbol string) *teller {
		q := s.says[symbol]
		q.At = start.Add(-20 * time.Second)
		s.says[symbol] = q
		return s
	}
	exchanges := func() []*teller {
		return []*teller{tells("a", prices.Exchange, "BTC 100, SOL 100"), tells("b", prices.Exchange, "BTC 101, SOL 101"), tells("c", prices.Oracle, "")}
	}
	for _, c := range []struct {
		name     string
		change   func(c *prices.Config)
		tellers  []*teller
		btc, sol string
	}{
		{"none of its own", nil, exchanges(), "100.5", "100.5"},
		{"more sources", guards(prices.Guard{Quorum: 3}), exchanges(), "100.5", "none"},
		{"a closer deviation", guards(prices.Guard{MaxDeviation: money.Whole / 1000}), exchanges(), "100.5", "none"},
		{"more kinds", guards(prices.Guard{MinKinds: 2}), exchanges(), "100.5", "none"},
		{"more kinds, and there are", guards(prices.Guard{MinKinds: 2}), append(exchanges()[:2], tells("c", prices.Oracle, "SOL 100.5")), "100.5", "100.5"},
		{"more kinds for all", func(c *prices.Config) { c.MinKinds = 2 }, exchanges(), "none", "none"},
		{"a shorter age", guards(prices.Guard{MaxAge: 10 * time.Second}), []*teller{
			old(old(tells("a", prices.Exchange, "BTC 100, SOL 100"), "SOL"), "BTC"), tells("b", prices.Exchange, "BTC 101, SOL 101"), tells("c", prices.Oracle, ""),
		}, "100.5", "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := boardOf(t, c.change, "BTC SOL", c.tellers...)
			if err := b.Step(t.Context(), start); err != nil {
				t.Fatal(err)
			}
			if btc, sol := priced(t, b, "BTC", start), priced(t, b, "SOL", start); btc != c.btc || sol != c.sol {
				t.Errorf("BTC is %s and SOL %s, want %s and %s; %+v", btc, sol, c.btc, c.sol, b.All())
			}
		})
	}
}

func TestGuardsWithoutSenseAreRefused(t *testing.T) {
	t.Parallel()
	sources := []prices.Source{tells("a", prices.Exchange, ""), tells("b", prices.Oracle, "")}
	for name, change := range map[string]func(c *prices.Config){
		"a guard of nothing":        func(c *prices.Config) { c.Guards = map[string]prices.Guard{"GOLD": {Quorum: 2}} },
		"more sources than are":     func(c *prices.Config) { c.Guards = map[string]prices.Guard{"BTC": {Quorum: 3}} },
		"less than one source":      func(c *prices.Config) { c.Guards = map[string]prices.Guard{"BTC": {Quorum: -1}} },
		"more kinds than are":       func(c *prices.Config) { c.Guards = map[string]prices.Guard{"BTC": {MinKinds: 3}} },
		"more kinds for all":        func(c *prices.Config) { c.MinKinds = 3 },
		"an age below the pace":     func(c *prices.Config) { c.Guards = map[string]prices.Guard{"BTC": {MaxAge: time.Second}} },
		"a deviation of everything": func(c *prices.Config) { c.Guards = map[string]prices.Guard{"BTC": {MaxDeviation: money.Whole}} },
		"a jump of nothing":         func(c *prices.Config) { c.Guards = map[string]prices.Guard{"BTC": {MaxJump: 1}} },
	} {
		cfg := prices.Defaults()
		cfg.Symbols, cfg.Quorum = []string{"BTC"}, 1
		if _, err := prices.New(cfg, sources...); err != nil {
			t.Fatal(err)
		}
		change(&cfg)
		if _, err := prices.New(cfg, sources...); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
