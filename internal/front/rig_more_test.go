package front_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/order"
)

// Addresses that nobody has, and tokens of the simulated chains.
const (
	evmTo   = "0x52908400098527886E0F7030069857D2E4169EE7"
	evmBack = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"
	btcTo   = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	solTo   = "7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"
	usdc    = "0x5fbdb2315678afecb367f032d93f642f64180aa3"
)

// stage is a service with two companies that have no limits. Its requests are those
// of the rig, written and read in fewer words.
type stage struct {
	*rig
	a, b company
}

// onEngines runs a test over each engine, on the service that all tables share.
func onEngines(t *testing.T, run func(t *testing.T, s *stage)) {
	t.Helper()
	engines(t, func(t *testing.T, engine string) { run(t, staged(t, shared(t, engine))) })
}

// staged makes the companies.
func staged(t *testing.T, r *rig) *stage {
	t.Helper()
	return &stage{rig: r, a: r.company(t, noLimits()), b: r.company(t, noLimits())}
}

// noLimits lets a company ask as often as a table has rows.
func noLimits() office.Patch {
	return office.Patch{Limits: office.Limits{Requests: new(int64), Quotes: new(int64), Creates: new(int64), OpenOrders: new(int64)}}
}

// shot is a request; header is names and values by turns. A body is JSON unless the
// header says otherwise, and without a method it is a POST.
type shot struct {
	method, path, body string
	header             []string
	from               string // the address it comes from; a new one if empty
}

func withKey(key string) []string { return []string{"X-Integrator-Key", key} }

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request and takes the answer, which the rig has held to the contract.
func (s *stage) do(t testing.TB, q shot) reply {
	t.Helper()
	a := s.rig.do(t, q.request())
	return reply{a.Status, a.Header, a.Body}
}

// request is the shot as the rig sends it.
func (q shot) request() request {
	r := request{Method: q.method, Path: q.path, Body: q.body, Header: map[string][]string{}, From: q.from}
	if r.Method == "" && q.body != "" {
		r.Method = http.MethodPost
	}
	for i := 0; i+1 < len(q.header); i += 2 {
		r.Header[q.header[i]] = append(r.Header[q.header[i]], q.header[i+1])
	}
	return r
}

// told is the body of a refusal.
type told struct {
	Code, Detail string
	Status       int
	Errors       []struct{ Pointer, Code, Message string }
	Details      map[string]any
}

func (a reply) problem() (p told) {
	if a.header.Get("Content-Type") == "application/problem+json" {
		_ = json.Unmarshal(a.body, &p) // what is no problem has no code
	}
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
func (s *stage) order(t *testing.T, key, body string) made {
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
	if _, err := s.Network.Pay(t.Context(), o, n); err != nil {
		t.Fatal(err)
	}
}

// read reads an order as its owner.
func (s *stage) read(t testing.TB, m made) reply {
	t.Helper()
	return s.do(t, shot{path: m.path(""), header: m.header()})
}

// until waits until an order is in one of some states: blocks are mined once a second.
func (s *stage) until(t *testing.T, m made, states ...string) reply {
	t.Helper()
	var a reply
	s.patiently(t, m.id+" to be "+strings.Join(states, " or "), func() bool {
		a = s.read(t, m)
		return slices.Contains(states, a.text("status"))
	})
	return a
}

// patiently waits longer than wait does, for what needs several blocks.
func (s *stage) patiently(t *testing.T, what string, so func() bool) {
	t.Helper()
	for until := time.Now().Add(3 * time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited three minutes for %s", what)
		}
	}
}
