package prices_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/money"
	"ferry/internal/prices"
)

// recorded is an answer that an exchange gave.
func recorded(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// place is a server that answers as an exchange does: by path and query, with its clock.
type place struct {
	*httptest.Server
	says  map[string]string // by request; what is not there is 404
	clock time.Time         // zero says no time
	asked chan string
}

func newPlace(t *testing.T, says map[string]string) *place {
	t.Helper()
	p := &place{says: says, clock: start, asked: make(chan string, 100)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked <- r.URL.RequestURI()
		w.Header()["Date"] = nil
		if !p.clock.IsZero() {
			w.Header().Set("Date", p.clock.Format(http.TimeFormat))
		}
		text, ok := p.says[r.URL.RequestURI()]
		if !ok {
			http.Error(w, `{"message":"NotFound"}`, http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(p.Close)
	return p
}

const (
	krakenAsk  = "/0/public/Ticker?pair=SOLUSD%2CUSDCUSD%2CXXBTZUSD"
	binanceAsk = "/api/v3/ticker/bookTicker?symbols=%5B%22BTCUSDC%22%2C%22SOLUSDC%22%5D"
)

func coinbase(t *testing.T, p *place) prices.Source {
	t.Helper()
	s, err := prices.NewCoinbase(prices.ExchangeConfig{Name: "coinbase", URL: p.URL, Markets: map[string]string{"BTC": "BTC-USD", "SOL": "SOL-USD"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func kraken(t *testing.T, p *place) prices.Source {
	t.Helper()
	s, err := prices.NewKraken(prices.ExchangeConfig{Name: "kraken", URL: p.URL + "/", Markets: map[string]string{"BTC": "XXBTZUSD", "SOL": "SOLUSD", "USDC": "USDCUSD"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func binance(t *testing.T, p *place) prices.Source {
	t.Helper()
	s, err := prices.NewBinance(prices.ExchangeConfig{Name: "binance", URL: p.URL, In: "USDC", Markets: map[string]string{"BTC": "BTCUSDC", "SOL": "SOLUSDC"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestExchangesSayTheMiddleOfTheirBooks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(t *testing.T, p *place) prices.Source
		says map[string]string
		want map[string]prices.Quote
		asks int
	}{
		{"coinbase, as of its last trade", coinbase, map[string]string{
			"/products/BTC-USD/ticker": recorded(t, "coinbase-btc.json"), "/products/SOL-USD/ticker": recorded(t, "coinbase-sol.json"),
		}, map[string]prices.Quote{
			"BTC": {Price: "97101", At: time.Date(2026, 1, 2, 3, 4, 3, 127655000, time.UTC)},
			"SOL": {Price: "150.06", At: time.Date(2026, 1, 2, 3, 4, 4, 500000000, time.UTC)},
		}, 2},
		{"kraken, as of its answer", kraken, map[string]string{krakenAsk: recorded(t, "kraken.json")}, map[string]prices.Quote{
			"BTC": {Price: "97102.05", At: start}, "SOL": {Price: "150.07", At: start}, "USDC": {Price: "1.00005", At: start},
		}, 1},
		{"binance, in a token", binance, map[string]string{binanceAsk: recorded(t, "binance.json")}, map[string]prices.Quote{
			"BTC": {Price: "97090.105", In: "USDC", At: start}, "SOL": {Price: "150.015", In: "USDC", At: start},
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, c.says)
			s := c.make(t, p)
			got, err := s.Prices(t.Context(), start.Add(time.Second))
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
			if len(p.asked) != c.asks || s.Kind() != prices.Exchange {
				t.Errorf("asked %d times", len(p.asked))
			}
		})
	}
}

// broken are books that say nothing, as texts that stand for a good bid and a good ask.
var broken = []struct{ name, bid, ask, why string }{
	{"crossed", "97110", "97100", "crossed"},
	{"too wide", "90000", "97100", "too wide"},
	{"ten times", "97100", "971000", "too wide"},
	{"no bid", "0.00000000", "97100", "bid"},
	{"no ask", "97100", "0", "ask"},
	{"negative", "-97100", "-97099", "bid"},
	{"NaN", "NaN", "NaN", "bid"},
	{"infinite", "97100", "Infinity", "ask"},
	{"empty", "", "", "bid"},
	{"no end of digits", "97100." + strings.Repeat("1", 40), "97100", "bid"},
}

func TestABrokenBookSaysNothing(t *testing.T) {
	t.Parallel()
	for _, c := range broken {
		for name, said := range map[string]struct {
			make func(t *testing.T, p *place) prices.Source
			says map[string]string
		}{
			"coinbase": {coinbase, map[string]string{
				"/products/BTC-USD/ticker": `{"bid":"` + c.bid + `","ask":"` + c.ask + `","time":"2026-01-02T03:04:03Z"}`,
				"/products/SOL-USD/ticker": recorded(t, "coinbase-sol.json"),
			}},
			"kraken":  {kraken, map[string]string{krakenAsk: strings.NewReplacer("97102.10000\",\"1\"", c.ask+"\",\"1\"", "97102.00000", c.bid).Replace(recorded(t, "kraken.json"))}},
			"binance": {binance, map[string]string{binanceAsk: strings.NewReplacer("97090.10000000", c.bid, "97090.11000000", c.ask).Replace(recorded(t, "binance.json"))}},
		} {
			got, err := said.make(t, newPlace(t, said.says)).Prices(t.Context(), start)
			if q := got["BTC"]; err != nil || q.Price != "" || !strings.Contains(q.Why, c.why) {
				t.Errorf("%s, %s: got %+v, %v", name, c.name, q, err)
			}
			if got["SOL"].Price == "" {
				t.Errorf("%s, %s: the other market is gone too: %v", name, c.name, got)
			}
		}
	}
}

func TestWhatIsNoAnswerOfAnExchangeIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(t *testing.T, p *place) prices.Source
		path string
		says string
	}{
		{"coinbase does not know the market", coinbase, "", ""},
		{"coinbase without a time", coinbase, "/products/BTC-USD/ticker", `{"bid":"1","ask":"1"}`},
		{"coinbase with a time of no form", coinbase, "/products/BTC-USD/ticker", `{"bid":"1","ask":"1","time":"yesterday"}`},
		{"coinbase with a name twice", coinbase, "/products/BTC-USD/ticker", `{"bid":"1","bid":"2","ask":"2","time":"2026-01-02T03:04:03Z"}`},
		{"kraken with trouble", kraken, krakenAsk, `{"error":["EGeneral:Too many requests"]}`},
		{"kraken without a list of errors", kraken, krakenAsk, `{"result":{}}`},
		{"kraken without a result", kraken, krakenAsk, `{"error":[]}`},
		{"kraken with a page", kraken, krakenAsk, `<html>maintenance</html>`},
		{"binance with trouble", binance, binanceAsk, `{"code":-1121,"msg":"Invalid symbol."}`},
		{"binance with a market that was not asked for", binance, binanceAsk, `[{"symbol":"DOGEUSDC","bidPrice":"1","askPrice":"1"}]`},
		{"binance with a market twice", binance, binanceAsk, `[{"symbol":"BTCUSDC","bidPrice":"1","askPrice":"1"},{"symbol":"BTCUSDC","bidPrice":"2","askPrice":"2"}]`},
	} {
		got, err := c.make(t, newPlace(t, map[string]string{c.path: c.says})).Prices(t.Context(), start)
		if err == nil || len(got) != 0 {
			t.Errorf("%s: got %v, %v", c.name, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "127.0.0.1") || got != nil) {
			t.Errorf("%s: %v tells where it is, or %v is not nothing", c.name, err, got)
		}
	}
}

func TestAnAnswerWithoutATimeIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T, p *place) prices.Source{"kraken": kraken, "binance": binance} {
		p := newPlace(t, map[string]string{krakenAsk: recorded(t, "kraken.json"), binanceAsk: recorded(t, "binance.json")})
		p.clock = time.Time{}
		got, err := make(t, p).Prices(t.Context(), start)
		if q := got["BTC"]; err != nil || q.Price != "" || !strings.Contains(q.Why, "when") {
			t.Errorf("%s: got %+v, %v", name, q, err)
		}
	}
}

func TestMarketsThatCountInSomethingElseAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  func(cfg prices.ExchangeConfig) error
		cfg  prices.ExchangeConfig
	}{
		{"a token taken for dollars", openKraken, prices.ExchangeConfig{Markets: map[string]string{"BTC": "XBTUSDT"}}},
		{"dollars taken for a token", openKraken, prices.ExchangeConfig{In: "USDT", Markets: map[string]string{"BTC": "XXBTZUSD"}}},
		{"no market", openKraken, prices.ExchangeConfig{}},
		{"a name that is a path", openCoinbase, prices.ExchangeConfig{Markets: map[string]string{"BTC": "../BTC-USD"}}},
		{"nothing but the measure", openCoinbase, prices.ExchangeConfig{Markets: map[string]string{"BTC": "-USD"}}},
		{"http to elsewhere", openCoinbase, prices.ExchangeConfig{URL: "http://example.com", Markets: map[string]string{"BTC": "BTC-USD"}}},
		{"a spread of everything", openCoinbase, prices.ExchangeConfig{MaxSpread: money.Whole, Markets: map[string]string{"BTC": "BTC-USD"}}},
		{"binance in dollars", openBinance, prices.ExchangeConfig{Markets: map[string]string{"BTC": "BTCUSD"}}},
		{"binance in another token", openBinance, prices.ExchangeConfig{In: "USDC", Markets: map[string]string{"BTC": "BTCUSDT"}}},
	} {
		if err := c.err(c.cfg); err == nil {
			t.Errorf("%s was taken", c.name)
		}
	}
}

func openKraken(c prices.ExchangeConfig) error   { _, err := prices.NewKraken(c); return err }
func openCoinbase(c prices.ExchangeConfig) error { _, err := prices.NewCoinbase(c); return err }
func openBinance(c prices.ExchangeConfig) error  { _, err := prices.NewBinance(c); return err }
