package kyber_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/venue/kyber"
)

func code(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Code
	}
	return fmt.Sprint(err)
}

// Who fails again and again is left alone for a while.
func TestABrokenAggregatorIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.service.instead = func(w http.ResponseWriter, _ *http.Request) bool { return says(w, 503, nil) }
	for n := range kyber.MaxFails {
		if _, err := r.best(usdc, wbtc, market.From, "5000"); err == nil || code(err) == "provider_unavailable" {
			t.Fatalf("try %d: %v", n, err)
		}
	}
	for range 3 {
		if _, err := r.best(usdc, wbtc, market.From, "5000"); code(err) != "provider_unavailable" {
			t.Errorf("got %v", err)
		}
	}
	if n := r.service.times(); n != kyber.MaxFails {
		t.Errorf("asked %d times", n)
	}
}

// No way, a question that it does not like, and a caller who went away are no failures.
func TestAnswersAreNoFailures(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"noroute", "badquery"} {
		body := recorded(t, name)
		r.service.set(func() {
			r.service.instead = func(w http.ResponseWriter, _ *http.Request) bool { return says(w, 400, body) }
		})
		for range 2 * kyber.MaxFails {
			if _, err := r.best(usdc, wbtc, market.From, "5000"); err == nil || code(err) == "provider_unavailable" {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * kyber.MaxFails {
		if _, err := r.venue.Best(gone, market.PoolAsk{Give: usdc, Get: wbtc, Amount: amount("5"), Side: market.From}); err == nil {
			t.Fatal("nobody waits for it, and it came")
		}
	}
	r.service.set(func() { r.service.instead = nil })
	if _, err := r.best(usdc, wbtc, market.From, "5000"); err != nil {
		t.Error(err)
	}
}

// Who says that it has too many questions is left alone for as long as it says.
func TestItRestsAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after string
		rest  time.Duration
	}{{"7", 7 * time.Second}, {"", time.Second}, {"soon", time.Second}, {"0", time.Second}, {"60000", 10 * time.Minute}, {"-5", time.Second}} {
		r := newRig(t)
		r.service.instead = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", c.after)
			return says(w, 429, nil)
		}
		_, _ = r.best(usdc, wbtc, market.From, "5000")
		r.service.set(func() { r.service.instead = nil })
		r.now = start.Add(c.rest - time.Millisecond)
		if _, err := r.best(usdc, wbtc, market.From, "5000"); code(err) != "provider_unavailable" || r.service.times() != 1 {
			t.Errorf("%q: asked again after %s: %v", c.after, r.now.Sub(start), err)
		}
		r.now = start.Add(c.rest)
		if _, err := r.best(usdc, wbtc, market.From, "5000"); err != nil {
			t.Errorf("%q: %v", c.after, err)
		}
	}
}

// The limit is one for everybody. Who could not ask in time is told so at once, and
// quotes leave something for steps.
func TestQuestionsAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var err error
	if r.client, err = kyber.NewClient(kyber.ClientConfig{URL: r.service.url, ID: "ferry", PerSecond: 3, Now: func() time.Time { return start }}); err != nil {
		t.Fatal(err)
	}
	var venues []*kyber.Venue
	for range 2 {
		v, err := kyber.New(settings(), r.book, r.client)
		if err != nil {
			t.Fatal(err)
		}
		venues = append(venues, v)
	}
	began, refused := time.Now(), 0
	for n := range 8 {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := venues[n%2].Best(ctx, market.PoolAsk{Give: usdc, Get: wbtc, Amount: amount("5000"), Side: market.From})
		cancel()
		if code(err) == "provider_unavailable" {
			refused++
		}
	}
	most := 2 + int(time.Since(began)*2/time.Second) + 1 // a slow machine lets more through
	if n := r.service.times(); n < 1 || n > most || refused < 8-most {
		t.Errorf("asked %d times and refused %d, where %d may ask", n, refused, most)
	}
	r.allow(usdc, 1e12)
	r.venue = venues[0]
	sent(t, r.next(step(usdc, wbtc), "2500000000"))
}

func TestAClientMustKnowWhomToAsk(t *testing.T) {
	t.Parallel()
	good := kyber.ClientConfig{URL: "https://aggregator.example", ID: "ferry", PerSecond: 3, Now: time.Now}
	if _, err := kyber.NewClient(good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*kyber.ClientConfig){
		"no address":         func(c *kyber.ClientConfig) { c.URL = "" },
		"a file":             func(c *kyber.ClientConfig) { c.URL = "file:///etc/passwd" },
		"a password":         func(c *kyber.ClientConfig) { c.URL = "https://a:b@aggregator.example" },
		"a question already": func(c *kyber.ClientConfig) { c.URL = "https://aggregator.example?key=1" },
		"no name":            func(c *kyber.ClientConfig) { c.ID = "" },
		"a name of lines":    func(c *kyber.ClientConfig) { c.ID = "a\r\nb" },
		"one question":       func(c *kyber.ClientConfig) { c.PerSecond = 1 },
		"no limit":           func(c *kyber.ClientConfig) { c.PerSecond = 0 },
		"no clock":           func(c *kyber.ClientConfig) { c.Now = nil },
	} {
		c := good
		spoil(&c)
		if _, err := kyber.NewClient(c); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
}
