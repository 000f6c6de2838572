package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ferry/internal/store/pgtest"
)

func TestTheRateOfPgbenchIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"latency average = 2.9 ms\ntps = 22044.68 (without initial connection time)\n": 22044.68,
		"tps = inf (without initial connection time)":                                  0,
		"tps = 0 (without":  0,
		"pgbench: error: x": 0,
	} {
		got, err := tpsOf(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestTheMedianOfPgbenchsLogsIsReadOnce(t *testing.T) {
	t.Parallel()
	prefix := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(prefix+".77", []byte("0 1 300 0 1700000000 1\n0 2 100 0 1700000000 2\n0 3 200 0 1700000000 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := medianOfLogs(prefix); err != nil || got != 200*time.Microsecond {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := medianOfLogs(prefix); err == nil {
		t.Error("the log was read twice")
	}
}

func TestALoadAsksAndWantsItsStatus(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Integrator-Key") != "k" {
			w.WriteHeader(http.StatusTeapot)
		}
		_, _ = w.Write([]byte("hello"))
	}))
	defer s.Close()
	address := s.Listener.Addr().(*net.TCPAddr).String()
	for key, want := range map[string]bool{"k": true, "": false} {
		l, err := newLoad(address, 2, http.StatusOK, requestTo(http.MethodGet, "/", key, nil))
		if err != nil {
			t.Fatal(err)
		}
		done, _, err := l.slice(20 * time.Millisecond)
		if (err == nil) != want || (done > 0) != want {
			t.Errorf("key %q: %d done, %v", key, done, err)
		}
		if want && l.size != len("hello") {
			t.Errorf("a body of %d bytes", l.size)
		}
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAMeterCountsWhatAProcessUses(t *testing.T) {
	t.Parallel()
	m := meter{os.Getpid()}
	before, err := m.used()
	if err != nil {
		t.Fatal(err)
	}
	for sum, now := 0, before; now-before < 5*tick; sum++ {
		if sum%1_000_000 == 0 {
			if now, err = m.used(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A history of n orders is reported as n orders that were made.
func TestAFilledHistoryIsReported(t *testing.T) {
	t.Parallel()
	const n = 2000
	address := pgtest.URL(t)
	ctx, stop := context.WithCancel(t.Context())
	cards, ended := make(chan greeting, 1), make(chan error, 1)
	go func() { ended <- serveFerry(ctx, address, func(c greeting) error { cards <- c; return nil }) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	s := &service{}
	select {
	case s.greeting = <-cards:
	case err := <-ended:
		ended <- nil
		t.Fatalf("the service ended before it answered: %v", err)
	}
	if err := s.admits(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := answers(t.Context(), s.Address, http.StatusCreated, requestTo(http.MethodPost, "/v2/orders", s.Key, []byte(orderBody))); err != nil {
		t.Fatal(err)
	}
	if err := fillHistory(t.Context(), address, s.Integrator, n); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Address+mePath, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Integrator-Key", s.Key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var b strings.Builder
	if err := answer.Write(&b); err != nil {
		t.Fatal(err)
	}
	// 28 days of 2000 orders are one in 20 minutes: two are within half an hour.
	for _, want := range []string{`"total":2000`, `"open":2,`, `"expired":1998`, `"openOrders":2,`, `"totalOrders":2000`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
}
