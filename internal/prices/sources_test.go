package prices_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/market"
	"ferry/internal/prices"
	"ferry/internal/secret"
)

func TestFixedPricesAreAlwaysOfNow(t *testing.T) {
	t.Parallel()
	f, err := prices.NewFixed("fixed", map[string]string{"BTC": "97100.5", "USDC": "1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []time.Time{start, start.Add(time.Hour)} {
		got, err := f.Prices(t.Context(), now)
		if diff := cmp.Diff(map[string]prices.Quote{"BTC": {Price: "97100.5", At: now}, "USDC": {Price: "1", At: now}}, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
	for _, bad := range []map[string]string{nil, {"BTC": "0"}, {"BTC": "NaN"}, {"BTC": "1,5"}} {
		if _, err := prices.NewFixed("fixed", bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

func TestAFileIsReadAgainWhenItChanged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prices.json")
	f, err := prices.NewFile("file", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Prices(t.Context(), start); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"1.5", "1.6"} { // of one length, and perhaps of one stamp
		write(`{"prices":{"BTC":{"price":"` + want + `","at":"2026-01-02T03:04:05Z"},"ETH":{"price":4e3,"at":1767323045}}}`)
		got, err := f.Prices(t.Context(), start.Add(time.Hour))
		if diff := cmp.Diff(map[string]prices.Quote{"BTC": {Price: want, At: start}, "ETH": {Price: "4e3", At: start}}, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "half": `{"prices":{"BTC":`, "two": `{"prices":{}}{"prices":{}}`, "a list": `[]`, "null": `null`, "no prices": `{}`,
		"another name": `{"prices":{},"x":1}`, "a bare price": `{"prices":{"BTC":"1"}}`, "no time": `{"prices":{"BTC":{"price":"1"}}}`,
		"a name twice":        `{"prices":{"BTC":{"price":"1","at":1767323045},"BTC":{"price":"2","at":1767323045}}}`,
		"a field too many":    `{"prices":{"BTC":{"price":"1","at":1767323045,"currency":"EUR"}}}`,
		"a time in words":     `{"prices":{"BTC":{"price":"1","at":"today"}}}`,
		"a time of a float":   `{"prices":{"BTC":{"price":"1","at":1767323045.5}}}`,
		"wrong case":          `{"Prices":{"BTC":{"price":"1","at":1767323045}}}`,
		"larger than allowed": `{"prices":{}}` + strings.Repeat(" ", 1<<20),
	} {
		write(text)
		if got, err := f.Prices(t.Context(), start); err == nil {
			t.Errorf("%s: was taken as %v", name, got)
		}
	}
	if _, err := prices.NewFile("file", ""); err == nil {
		t.Error("no path was taken")
	}
}

// serve is a source that answers as a test wants.
func serve(t *testing.T, fields map[string]prices.Field, h http.HandlerFunc) *prices.HTTP {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return httpSource(t, server.URL+"/v1?key=canary-key", fields)
}

func httpSource(t *testing.T, url string, fields map[string]prices.Field) *prices.HTTP {
	t.Helper()
	s, err := prices.NewHTTP(prices.HTTPConfig{Name: "web", URL: secret.New(url), Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAnHTTPSourceReadsItsDocument(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Query().Get("key") != "canary-key" || r.Header.Get("Accept") != "application/json" {
			t.Errorf("asked with %s %s", r.Method, r.URL)
		}
		fmt.Fprint(w, `{"prices":{"BTC":{"price":"97100.5"},"ETH":{"price":4000.25,"at":"2026-01-02T03:04:00Z"}}}`)
	})
	got, err := s.Prices(t.Context(), start)
	want := map[string]prices.Quote{"BTC": {Price: "97100.5", At: start}, "ETH": {Price: "4000.25", At: start.Add(-5 * time.Second)}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestAnHTTPSourcePicksFromAForeignDocument(t *testing.T) {
	t.Parallel()
	fields := map[string]prices.Field{
		"BTC": {Price: "/bitcoin/usd", At: "/bitcoin/last_updated_at"}, "ETH": {Price: "/list/1/price", At: "/list/1/t"}, "A": {Price: "/a~1b~0c"},
	}
	s := serve(t, fields, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"bitcoin":{"usd":97100.5,"last_updated_at":1767323045},"list":[{},{"price":"4000","t":1767323045000}],"a/b~c":"7"}`)
	})
	got, err := s.Prices(t.Context(), start.Add(time.Minute))
	want := map[string]prices.Quote{"BTC": {Price: "97100.5", At: start}, "ETH": {Price: "4000", At: start}, "A": {Price: "7", At: start.Add(time.Minute)}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	// What is missing is told, and what is there still counts.
	s = serve(t, fields, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"bitcoin":{"usd":1},"list":[{}],"a/b~c":"7"}`)
	})
	got, err = s.Prices(t.Context(), start)
	if err == nil || !strings.Contains(err.Error(), "BTC") || !strings.Contains(err.Error(), "ETH") || len(got) != 1 || got["A"].Price != "7" {
		t.Errorf("got %v, %v", got, err)
	}
}

// Nothing that goes wrong shows where a source is or what its key is.
func TestTroubleWithASourceNeverShowsItsAddress(t *testing.T) {
	t.Parallel()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"prices":{}}`) }))
	t.Cleanup(other.Close)
	tlsServer := httptest.NewTLSServer(http.NotFoundHandler())
	tlsServer.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	t.Cleanup(tlsServer.Close)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		source *prices.HTTP
		ctx    context.Context
	}{
		"nobody is there":   {httpSource(t, dead.URL+"/canary-path?key=canary-key", nil), nil},
		"a bad certificate": {httpSource(t, tlsServer.URL+"/canary-path", nil), nil},
		"nobody waits":      {httpSource(t, other.URL+"/canary-path", nil), gone},
		"an error":          {serve(t, nil, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "canary-body", 500) }), nil},
		"nothing":           {serve(t, nil, func(http.ResponseWriter, *http.Request) {}), nil},
		"not JSON":          {serve(t, nil, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>canary-body") }), nil},
		"another host": {serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/canary-path", http.StatusFound)
		}), nil},
		"larger than allowed": {serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Repeat(" ", 1<<20)+`{"prices":{}}`)
		}), nil},
		"cut off in the middle": {serve(t, nil, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, "{")
		}), nil},
	} {
		ctx := c.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		got, err := c.source.Prices(ctx, start)
		if err == nil {
			t.Errorf("%s: was taken as %v", name, got)
			continue
		}
		seen := fmt.Sprintf("%v %+v %#v %+v %#v", err, err, err, c.source, *c.source)
		for e := err; e != nil; e = errors.Unwrap(e) {
			seen += e.Error()
		}
		for _, hidden := range []string{"canary", "127.0.0.1", "http://", "https://"} {
			if strings.Contains(seen, hidden) {
				t.Errorf("%s: %q shows in %s", name, hidden, seen)
			}
		}
	}
}

func TestRedirectsAreFollowedAFewTimesOnly(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 20 {
			panic(http.ErrAbortHandler)
		}
		http.Redirect(w, r, r.URL.String(), http.StatusFound)
	})
	if _, err := s.Prices(t.Context(), start); err == nil || asked.Load() != 4 {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
}

func TestARedirectOnTheSameHostIsFollowed(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		fmt.Fprint(w, `{"prices":{"BTC":{"price":"1"}}}`)
	})
	if got, err := s.Prices(t.Context(), start); err != nil || got["BTC"].Price != "1" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAnAddressThatAnybodyCouldAnswerIsRefused(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"https://prices.example/v1": true, "http://127.0.0.1:80/": true, "http://localhost/": true, "http://[::1]/": true,
		"http://prices.example/": false, "http://10.0.0.1/": false, "ftp://prices.example/": false, "prices.example": false, "": false, "https://": false, "://canary": false,
	} {
		_, err := prices.NewHTTP(prices.HTTPConfig{Name: "web", URL: secret.New(url)})
		if (err == nil) != ok || (err != nil && url != "" && strings.Contains(err.Error(), url)) {
			t.Errorf("%q: got %v", url, err)
		}
	}
	for _, f := range []prices.Field{{}, {Price: "usd"}, {Price: "/usd", At: "at"}} {
		if _, err := prices.NewHTTP(prices.HTTPConfig{Name: "web", URL: secret.New("https://a.example/"), Fields: map[string]prices.Field{"BTC": f}}); err == nil {
			t.Errorf("%+v was taken", f)
		}
	}
}

// What the assembly puts together fits.
var (
	_ market.Prices = (*prices.Board)(nil)
	_ market.Secret = secret.Text{}
)
