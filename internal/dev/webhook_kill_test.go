package dev

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"ferry/internal/store/pgtest"
	"ferry/internal/testseed"
)

func TestSweepNoWebhookIsLostToAKillOnPostgres(t *testing.T) {
	t.Parallel()
	webhooksKilled(t, pgtest.URL(t))
}

func TestSweepNoWebhookIsLostToAKillOnSQLite(t *testing.T) {
	t.Parallel()
	webhooksKilled(t, "sqlite:"+filepath.Join(t.TempDir(), "ferry.db"))
}

// hookTold is what a receiver was told.
type hookTold struct {
	Seq  int64  `json:"seq"`
	ID   string `json:"eventId"`
	Data struct {
		OrderID string `json:"orderId"`
		Version int64  `json:"version"`
	} `json:"data"`
}

// receiver takes webhooks and fails at random: it refuses, is too slow, or hangs up before
// or after it has taken what it was told.
type receiver struct {
	t      *testing.T
	server *httptest.Server

	mu     sync.Mutex
	rng    *rand.Rand
	calm   bool
	secret string
	taken  []hookTold
	failed int
	left   int    // posts until the service is killed; below zero is never
	kill   func() // kills it
}

func newReceiver(t *testing.T, rng *rand.Rand) *receiver {
	r := &receiver{t: t, rng: rng}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	var e hookTold
	if err != nil || json.Unmarshal(body, &e) != nil {
		return // the service died while it spoke
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	verifier, err := standardwebhooks.NewWebhook(r.secret)
	if err == nil {
		err = verifier.Verify(body, q.Header)
	}
	if err != nil || q.Header.Get("Webhook-Id") != e.ID {
		r.t.Errorf("event %s as %s: %v", e.ID, q.Header.Get("Webhook-Id"), err)
	}
	if r.left--; r.left == 0 {
		r.kill() // in the middle of a post, and of others beside it
	}
	fate := 9
	if !r.calm {
		fate = r.rng.IntN(10)
	}
	if fate != 3 && fate < 4 {
		r.failed++
	} else {
		r.taken = append(r.taken, e)
	}
	switch fate {
	case 0:
		w.WriteHeader(http.StatusInternalServerError)
	case 1, 3: // hangs up, having taken it or not
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	case 2: // is too slow
		r.mu.Unlock()
		<-q.Context().Done()
		r.mu.Lock()
	}
}

// holds says what is missing of the events of an integrator, and fails if those of an order
// did not begin to arrive in order.
func (r *receiver) holds(all []hookTold) (missing int) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	first, last := map[int64]bool{}, map[string]int64{}
	for _, e := range r.taken {
		if first[e.Seq] {
			continue // told again, which may be at any time after a kill
		}
		first[e.Seq] = true
		if e.Data.Version != last[e.Data.OrderID]+1 {
			r.t.Errorf("version %d of %s came after %d", e.Data.Version, e.Data.OrderID, last[e.Data.OrderID])
		}
		last[e.Data.OrderID] = e.Data.Version
	}
	for _, e := range all {
		if !first[e.Seq] {
			missing++
		}
	}
	return missing
}

// webhooksKilled kills the service again and again while orders are made and ended, and
// their events are told to a receiver that often fails.
func webhooksKilled(t *testing.T, url string) {
	rng := testseed.Rand(t)
	r := newReceiver(t, rand.New(rand.NewPCG(rng.Uint64(), 1)))
	key := ""
	for range kills {
		s := start(t, url)
		if key == "" {
			key = s.key
			r.secret = s.hooked(key, strings.Replace(r.server.URL, "127.0.0.1", "localhost", 1))
		}
		r.arm(1+rng.IntN(40), s.kill)
		s.burst(key, 60+rng.IntN(100))
		s.wasKilled()
	}
	r.arm(-1, nil)
	s := start(t, url)
	var all []hookTold
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		all = s.events(key)
		if r.holds(all) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d events were never told", r.holds(all), len(all))
		}
	}
	s.stop()
	if len(all) < kills*10 {
		t.Errorf("only %d events", len(all))
	}
	t.Logf("%d kills: %d events, told %d times beside %d times that failed", kills, len(all), len(r.taken), r.failed)
}

// arm has the service killed after so many posts; below zero it is not, and nothing fails.
func (r *receiver) arm(after int, kill func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.kill, r.calm = after, kill, after < 0
	if r.calm {
		r.t.Logf("%d posts were taken and %d refused before the last start", len(r.taken), r.failed)
	}
}

// hooked makes a webhook and gives its secret. Keys are known within a moment.
func (s *service) hooked(key, url string) string {
	s.t.Helper()
	code, text, err := s.call(http.MethodPost, "/v2/integrator/webhooks", request{key: key}, `{"url":"`+url+`"}`)
	var made struct{ Secret string }
	if err != nil || code != http.StatusCreated || json.Unmarshal(text, &made) != nil {
		s.t.Fatalf("no webhook: %d %s %v", code, text, err)
	}
	return made.Secret
}

// burst makes so many orders, cancels most of them, and waits for the end of the service.
func (s *service) burst(key string, orders int) {
	s.t.Helper()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := w; n < orders && !s.dying.Load(); n += 8 {
				a, err := s.create(newRequest(int64(4*n+2), key))
				if err == nil && n%3 > 0 {
					_, _, err = s.call(http.MethodPost, "/v2/orders/"+a.OrderID+"/cancel", request{key: key, session: a.Session}, "{}")
				}
				if err != nil && !s.dying.Load() {
					s.t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// events are all of an integrator.
func (s *service) events(key string) (all []hookTold) {
	s.t.Helper()
	for {
		after := int64(0)
		if len(all) > 0 {
			after = all[len(all)-1].Seq
		}
		code, text, err := s.call(http.MethodGet, fmt.Sprintf("/v2/integrator/events?limit=500&after=%d", after), request{key: key}, "")
		var page struct{ Events []hookTold }
		if err != nil || code != http.StatusOK || json.Unmarshal(text, &page) != nil {
			s.t.Fatalf("no events: %d %s %v", code, text, err)
		}
		for _, e := range page.Events {
			if e.Seq != after+1 {
				s.t.Fatalf("%d follows %d", e.Seq, after)
			}
			after = e.Seq
		}
		if len(page.Events) == 0 {
			return all
		}
		all = append(all, page.Events...)
	}
}
