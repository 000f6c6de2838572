package front_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/api/contract/contracttest"
	"ferry/internal/dev"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/order"
	"ferry/internal/store/pgtest"
)

// Addresses that nobody has, and tokens of the simulated chains.
const (
	evmTo   = "0x52908400098527886E0F7030069857D2E4169EE7"
	evmBack = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
	btcTo   = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	solTo   = "7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"
	usdc    = "0x5fbdb2315678afecb367f032d93f642f64180aa3"
)

// book is what was logged.
type book struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *book) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// company is an integrator without limits, with its keys.
type company struct {
	id             integrator.ID
	server, public string
}

// stage is a whole service that runs for one test, without limits unless change
// sets some, with two companies beside the one that dev makes.
type stage struct {
	*dev.Dev
	dir, database string
	logs          *book
	contract      *contracttest.Checker
	judge         sync.Mutex // the library that reads contracts is not made for many at once
	a, b          company
	client        *http.Client
}

// onEngines runs a test over each engine of the store.
func onEngines(t *testing.T, run func(t *testing.T, database string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		run(t, "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		run(t, pgtest.URL(t))
	})
}

// newStage starts a service and waits until it answers.
func newStage(t testing.TB, database string, change func(*front.Config)) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir(), database: database, logs: &book{}, client: &http.Client{
		Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 32},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	ctx, cancel := context.WithCancel(context.Background())
	d, err := dev.New(ctx, dev.Options{
		Dir: s.dir, Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "test", Database: database,
		Log: slog.New(slog.NewJSONHandler(s.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Change: func(c *front.Config) {
			c.IP.Requests, c.IP.Quotes, c.IP.Creates, c.IP.OpenOrders, c.IP.AccessFailures = 0, 0, 0, 0, 0
			c.Access.Every, c.Access.FailuresPerMin = 20*time.Millisecond, 1000
			const pace = 25 * time.Millisecond
			c.Pace.Watch, c.Pace.Settle, c.Pace.Send, c.Pace.Feed = pace, pace, pace, pace
			if change != nil {
				change(c)
			}
		},
	})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	s.Dev = d
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- d.Run(ctx, func() { close(ready) }) }()
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the service ended with %v", err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatalf("the service did not start: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("the service did not start within a minute")
	}
	s.contract = contracttest.New(t, d.Front.Door.Contract().JSON)
	s.a, s.b = s.company(t, "Company A"), s.company(t, "Company B")
	return s
}

// company makes an integrator without limits and waits until its keys open.
func (s *stage) company(t testing.TB, name string) company {
	t.Helper()
	none := int64(0)
	i, err := s.Front.Office.Create(t.Context(), name, "test")
	if err != nil {
		t.Fatal(err)
	}
	limits := office.Limits{Requests: &none, Quotes: &none, Creates: &none, OpenOrders: &none}
	if _, err := s.Front.Office.SetLimits(t.Context(), i.ID, limits, "test"); err != nil {
		t.Fatal(err)
	}
	c := company{id: i.ID}
	for kind, into := range map[integrator.Kind]*string{integrator.Server: &c.server, integrator.Public: &c.public} {
		_, key, err := s.Front.Office.IssueKey(t.Context(), i.ID, office.NewKey{Kind: kind, Label: "test", Requests: &none}, "test")
		if err != nil {
			t.Fatal(err)
		}
		*into = key.Reveal()
	}
	for _, key := range []string{c.server, c.public} {
		waitFor(t, "the keys of "+name, func() bool { return s.do(t, shot{path: "/v2/version", header: withKey(key)}).status == 200 })
	}
	return c
}

// waitFor waits until something is so.
func waitFor(t testing.TB, what string, so func() bool) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited two minutes for %s", what)
		}
	}
}

// shot is a request; header is names and values by turns. A body is JSON unless the
// header says otherwise, and without a method it is a POST.
type shot struct {
	method, path, body string
	header             []string
}

func withKey(key string) []string { return []string{"X-Integrator-Key", key} }

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (s *stage) request(t testing.TB, q shot) *http.Request {
	t.Helper()
	var body io.Reader
	if q.method == "" {
		q.method = http.MethodGet
		if q.body != "" {
			q.method = http.MethodPost
		}
	}
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r, err := http.NewRequestWithContext(t.Context(), q.method, s.Card.API+q.path, body)
	if err != nil {
		t.Fatal(err)
	}
	if q.body != "" && !slices.Contains(q.header, "Content-Type") {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(q.header); i += 2 {
		r.Header[http.CanonicalHeaderKey(q.header[i])] = append(r.Header[http.CanonicalHeaderKey(q.header[i])], q.header[i+1])
	}
	return r
}

// do sends a request and holds the answer to what every answer must be.
func (s *stage) do(t testing.TB, q shot) reply {
	t.Helper()
	r := s.request(t, q)
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, q.path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, q.path, err)
	}
	a := reply{resp.StatusCode, resp.Header, body}
	if !strings.HasPrefix(a.header.Get("X-Request-Id"), "req_") || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %s: headers %v", r.Method, q.path, a.header)
	}
	if a.status >= 400 {
		s.refused(t, r, a)
	}
	return a
}

// refused holds a refusal to its form and to the contract.
func (s *stage) refused(t testing.TB, r *http.Request, a reply) {
	t.Helper()
	if a.status >= 500 {
		t.Errorf("%s %s: %d %s", r.Method, r.URL.Path, a.status, a.body)
	}
	if a.header.Get("Cache-Control") != "no-store" || (r.Method != http.MethodHead && a.header.Get("Content-Type") != "application/problem+json") {
		t.Errorf("%s %s: headers of a refusal %v", r.Method, r.URL.Path, a.header)
	}
	if a.status == 404 && a.code() == "route_not_found" || a.status == 405 || r.Method == http.MethodHead || strings.Contains(r.URL.Path, "/integrator/") {
		return
	}
	s.judge.Lock()
	defer s.judge.Unlock()
	answer := http.Response{StatusCode: a.status, Header: a.header}
	s.contract.Check(t, r, &answer, a.body)
}

// problem is the body of a refusal.
type problem struct {
	Code    string
	Status  int
	Detail  string
	Errors  []struct{ Pointer, Code, Message string }
	Details map[string]any
}

func (a reply) problem() (p problem) {
	_ = json.Unmarshal(a.body, &p)
	return p
}

func (a reply) code() string { return a.problem().Code }

// pointers are what a refusal is about: "pointer code" of each.
func (a reply) pointers() []string {
	var all []string
	for _, e := range a.problem().Errors {
		all = append(all, e.Pointer+" "+e.Code)
	}
	return all
}

// field reads a member of a body by its names.
func (a reply) field(names ...string) any {
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		return nil
	}
	for _, n := range names {
		m, _ := v.(map[string]any)
		v = m[n]
	}
	return v
}

func (a reply) text(names ...string) string {
	text, _ := a.field(names...).(string)
	return text
}

// made is an order and what opens it.
type made struct {
	id, session, key string
}

func (m made) path(rest string) string { return "/v2/orders/" + m.id + rest }

func (m made) header() []string {
	h := []string{"X-Session-ID", m.session}
	if m.key != "" {
		h = append(h, withKey(m.key)...)
	}
	return h
}

// eth is a good order of ether against tokens on the same chain; more is put in.
func eth(more string) string {
	return `{"fromChainId":"ethereum","fromToken":"native","toChainId":"ethereum","toToken":"` + usdc + `","amount":"100000000000000000","toAddress":"` + evmTo + `"` + more + `}`
}

// ethQuote is the same as a quote.
func ethQuote(more string) string {
	return `{"fromChainId":"ethereum","fromToken":"native","toChainId":"ethereum","toToken":"` + usdc + `","amount":"100000000000000000"` + more + `}`
}

// order makes one.
func (s *stage) order(t testing.TB, key, body string) made {
	t.Helper()
	var header []string
	if key != "" {
		header = withKey(key)
	}
	a := s.do(t, shot{path: "/v2/orders", body: body, header: header})
	if a.status != 201 {
		t.Fatalf("an order is not made: %d %s", a.status, a.body)
	}
	return made{a.text("orderId"), a.text("sessionId"), key}
}

// pay pays an order, what it asks for unless an amount is given.
func (s *stage) pay(t testing.TB, m made, amount string) {
	t.Helper()
	o, err := s.DB.Order(t.Context(), order.ID(m.id))
	if err != nil {
		t.Fatal(err)
	}
	n := o.Quote.In
	if amount != "" {
		n = money.MustParse(amount)
	}
	if _, err := s.Network.Pay(o, n); err != nil {
		t.Fatal(err)
	}
}

// read reads an order as its owner.
func (s *stage) read(t testing.TB, m made) reply {
	t.Helper()
	return s.do(t, shot{path: m.path(""), header: m.header()})
}

// until waits until an order is in one of some states.
func (s *stage) until(t testing.TB, m made, states ...string) reply {
	t.Helper()
	var a reply
	waitFor(t, m.id+" to be "+strings.Join(states, " or "), func() bool {
		a = s.read(t, m)
		return slices.Contains(states, a.text("status"))
	})
	return a
}

// seeded is a source of randomness whose seed is printed and can be given again.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("FERRY_TEST_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("FERRY_TEST_SEED: %v", err)
		}
		seed = n
	}
	t.Logf("seed %d; replay with FERRY_TEST_SEED=%d", seed, seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// sqliteFiles are the bytes of the database, with what is not in its main file yet.
func (s *stage) sqliteFiles(t testing.TB) []byte {
	t.Helper()
	var all []byte
	for _, name := range []string{"dev.db", "dev.db-wal"} {
		b, err := os.ReadFile(filepath.Join(s.dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}
