package api_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/contract"
	"ferry/internal/api/contract/contracttest"
	"ferry/internal/api/wire"
	"ferry/internal/fault"
	"ferry/internal/integrator"
)

// gate is an admitter with two keys that everybody knows.
type gate struct{ seen sync.Map }

const (
	serverKey = "sk_test"
	publicKey = "pk_test"
)

func (g *gate) Admit(c *api.Credentials, _ time.Time) (access.Principal, error) {
	g.seen.Store("remote", c.Remote)
	if strings.Contains(strings.ToLower(c.RawQuery), "apikey=") {
		return access.Principal{}, fault.New(fault.Unauthenticated, "key_in_query", "Send the key as a header.")
	}
	p := access.Principal{Peer: c.Remote, Client: c.Remote}
	if c.Need == api.NoKey {
		return p, nil
	}
	shown := c.Header["X-Integrator-Key"]
	switch {
	case len(shown) == 0 && c.Need == api.ServerKey:
		return p, fault.New(fault.Unauthenticated, "key_required", "Send a server key.")
	case len(shown) == 0:
		return p, nil
	case shown[0] == serverKey:
		p.Integrator, p.Key = &integrator.Integrator{ID: "int_1"}, &integrator.Key{ID: "key_1", Kind: integrator.Server}
	case shown[0] == publicKey && c.Need == api.ServerKey:
		return p, fault.New(fault.Forbidden, "server_key_required", "Use a server key.")
	case shown[0] == publicKey:
		p.Integrator, p.Key = &integrator.Integrator{ID: "int_1"}, &integrator.Key{ID: "key_2", Kind: integrator.Public}
	default:
		return p, fault.New(fault.Unauthenticated, "invalid_key", "The key is unknown.")
	}
	return p, nil
}

// purse is a limiter that counts what was spent and refuses when it is empty.
type purse struct {
	mu    sync.Mutex
	spent map[api.Spend]int
	empty bool
}

func (p *purse) Take(_ *access.Principal, s api.Spend, _ time.Time, h *api.Fields) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.Set("RateLimit-Policy", `"ip_requests";q=60;w=60`)
	h.Set("RateLimit", `"ip_requests";r=59;t=60`)
	if p.empty {
		return fault.New(fault.Exhausted, "rate_limited", "Wait.").With("retryAfterSeconds", 12).With("resource", "ip_requests").With("exhausted", []string{"ip_requests"})
	}
	p.spent[s]++
	return nil
}

func (p *purse) count(s api.Spend) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent[s]
}

// full is a ceiling that is always reached.
type full struct{}

func (full) Enter() error {
	return fault.New(fault.Unavailable, "service_unavailable", "Too many at once.").With("retryAfterSeconds", 1)
}
func (full) Leave() { panic("left without having entered") }

// Bodies of the rows that only tests have.
type (
	thingAsk struct {
		Name   string        `json:"name" doc:"Its name." example:"one" maxLength:"20"`
		Amount wire.Amount   `json:"amount" doc:"How many." example:"100"`
		Fee    *wire.Percent `json:"integratorFeePercent,omitzero" maximum:"5" over:"integrator_fee_too_high" example:"0.5"`
	}
	thing struct {
		ThingID string      `json:"thingId" example:"thi_1"`
		Name    string      `json:"name" example:"one"`
		Amount  wire.Amount `json:"amount" example:"100"`
		Parent  *thingPart  `json:"parent"`
		MadeAt  wire.Time   `json:"madeAt" example:"2026-01-31T12:00:00.000Z"`
	}
	thingPart struct {
		Name string `json:"name" example:"part"`
	}
	secretStuff struct {
		Hush string `json:"hushHush" example:"nothing"`
	}
)

// What is said on a live socket that only tests have.
type (
	followThing struct {
		Type string `json:"type" enum:"follow" example:"follow"`
		ID   string `json:"id" example:"1"`
	}
	thingTold struct {
		Type    string      `json:"type" enum:"told" example:"told"`
		ReplyTo string      `json:"replyTo" example:"1"`
		Parts   []thingPart `json:"parts" doc:"Not <b> at all."`
	}
)

// liveTable is what the live socket of the tests says.
func liveTable() contract.Live {
	return contract.Live{
		Path: "/v2/ws", Protocol: "thing.v1",
		Channels: []contract.Channel{{Name: "things", Summary: "Things.", Access: "Anybody."}},
		Messages: []contract.Message{
			{Name: "followThing", Title: "Follow", Summary: "Follow.", FromClient: true, Channel: "things", Payload: followThing{}, Replies: []string{"thingTold"}},
			{Name: "thingTold", Title: "Told", Summary: "Told.", Channel: "things", Payload: thingTold{}},
		},
		Closes: []contract.Close{{Code: 4008, Name: "slow", What: "Read faster."}},
		Limits: []contract.Limit{{Name: "messageBytes", Value: 16384, What: "Size."}},
	}
}

// rows are those of the tests: one of every kind.
func rows() []api.Operation {
	return []api.Operation{
		{
			ID: "createThing", Method: "POST", Path: "/v2/things", Tag: "orders", Summary: "Make a thing",
			Key: api.OptionalKey, Spends: api.Requests | api.Creates, Idempotent: true, In: thingAsk{}, Out: thing{}, Status: 201,
			Codes: []string{"integrator_fee_too_high", "invalid_amount"},
			Do: func(c *api.Call) (any, error) {
				ask := api.Body[thingAsk](c)
				return thing{ThingID: "thi_1", Name: ask.Name, Amount: ask.Amount, MadeAt: wire.Time{Time: c.Now}}, nil
			},
		},
		{
			ID: "listThings", Method: "GET", Path: "/v2/things", Tag: "orders", Summary: "List things",
			Key: api.OptionalKey, Spends: api.Requests, Out: thing{}, Cache: 30 * time.Second,
			Query: []api.Param{
				{Name: "limit", Kind: api.WholeParam, Min: 1, Max: 200, Doc: "At most.", Example: "50"},
				{Name: "cursor", Kind: api.TextParam, Doc: "Where to go on."},
				{Name: "featured", Kind: api.FlagParam, Doc: "Only those.", Example: "true"},
				{Name: "sort", Kind: api.TextParam, Enum: []string{"up", "down"}, Doc: "Which way."},
			},
			Do: func(c *api.Call) (any, error) {
				cursor, _ := c.Query("cursor")
				c.Next("next")
				return thing{Name: cursor, Amount: wire.Amount{}, ThingID: strings.Repeat("x", int(c.Whole("limit", 3)))}, nil
			},
		},
		{
			ID: "getThing", Method: "GET", Path: "/v2/things/{thingId}", Tag: "orders", Summary: "Read a thing",
			Key: api.OptionalKey, Proof: api.ReadProof, Spends: api.Requests, Out: thing{},
			Do: func(c *api.Call) (any, error) {
				shown := c.Proof()
				if len(shown.Session) == 1 && shown.Session[0] == "good" && c.Path("thingId") == "thi_1" {
					return thing{ThingID: c.Path("thingId"), MadeAt: wire.Time{Time: c.Now}}, nil
				}
				return nil, fault.New(fault.NotFound, "order_not_found", "No order %s.", c.Path("thingId")).With("why", len(shown.Verify))
			},
		},
		{
			ID: "stopThing", Method: "POST", Path: "/v2/things/{thingId}/stop", Tag: "orders", Summary: "Stop a thing",
			Key: api.OptionalKey, Proof: api.ActProof, Spends: api.Requests, Status: 204,
			Do: func(c *api.Call) (any, error) {
				if shown := c.Proof(); len(shown.Session) != 1 || len(shown.Verify) > 0 {
					return nil, fault.New(fault.NotFound, "order_not_found", "No.")
				}
				return nil, nil
			},
		},
		{
			ID: "breakThing", Method: "POST", Path: "/v2/breaks/{how}", Tag: "orders", Summary: "Go wrong",
			Key: api.OptionalKey, Spends: api.Requests, Out: thing{}, Codes: []string{"quote_expired", "chain_paused"},
			Do: func(c *api.Call) (any, error) { return thing{}, broken(c.Path("how")) },
		},
		{
			ID: "getSecretStuff", Method: "GET", Path: "/v2/integrator/stuff", Tag: "integrator", Summary: "Whisper",
			Key: api.ServerKey, Spends: api.Requests, Out: secretStuff{}, Hidden: true,
			Do: func(*api.Call) (any, error) { return secretStuff{Hush: "x"}, nil },
		},
	}
}

func broken(how string) error {
	switch how {
	case "panic":
		panic("canary-of-a-panic")
	case "inside":
		return errors.New("dial postgres://ferry:canary@db")
	case "unknown":
		return fault.New(fault.Invalid, "no_such_code", "canary text")
	case "unclassified":
		return &fault.Error{Code: "quote_expired", Text: "canary text"}
	case "expired":
		return fault.New(fault.Conflict, "quote_expired", "It was valid until noon.").With("pointer", "/quoteId").With("quote", map[string]any{"a": 1}).Because(errors.New("canary cause"))
	case "paused":
		return fault.New(fault.Unavailable, "chain_paused", "Try later.").With("retryAfterSeconds", 0).Because(errors.New("halted"))
	case "detail":
		return fault.New(fault.Conflict, "quote_expired", "It was.").With("odd", func() {})
	}
	return nil
}

// rig is a door on a loopback listener.
type rig struct {
	*testing.T
	door  *api.Door
	gate  *gate
	purse *purse
	logs  *syncBuffer
	url   string
	check *contracttest.Checker
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func newRig(t *testing.T, change ...func(*api.Ports)) *rig {
	t.Helper()
	r := &rig{T: t, gate: &gate{}, purse: &purse{spent: map[api.Spend]int{}}, logs: &syncBuffer{}}
	ports := api.Ports{Admitter: r.gate, Limiter: r.purse}
	for _, f := range change {
		f(&ports)
	}
	var err error
	r.door, err = api.New(api.Config{
		Version: "1.2.3", Revision: "abc", Server: "https://ferry.example", Now: time.Now, Live: liveTable(),
		Log: slog.New(slog.NewJSONHandler(r.logs, nil)),
	}, ports, rows())
	if err != nil {
		t.Fatal(err)
	}
	r.check = checker(t, r.door)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serve(l)
	return r
}

// serve has the door answer on a listener.
func (r *rig) serve(l net.Listener) {
	r.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.door.Serve(ctx, l) }()
	r.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			r.Error(err)
		}
	})
}

var shared = struct {
	sync.Mutex
	by map[string]*contracttest.Checker // the digest of its contract
}{by: map[string]*contracttest.Checker{}}

// checker reads a contract once for all tests whose rigs have it.
func checker(t *testing.T, d *api.Door) *contracttest.Checker {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	hash := d.Contract().Hash
	if shared.by[hash] == nil {
		shared.by[hash] = contracttest.New(t, d.Contract().JSON)
	}
	return shared.by[hash]
}

// reply is an answer, read.
type reply struct {
	*http.Response
	body []byte
}

// code is the code of a refusal.
func (r reply) code() string { return r.refusal().Code }

func (r reply) refusal() wire.Refusal {
	var p wire.Refusal
	if r.Header.Get("Content-Type") == "application/problem+json" {
		_ = json.Unmarshal(r.body, &p)
	}
	return p
}

var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16},
}

// do sends a request; headers are "Name: value". Whatever comes back has a request
// id and is held to the contract if its path is public.
func (r *rig) do(method, path, body string, headers ...string) reply {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Content-Type" {
			req.Header.Del(name)
		}
		req.Header.Add(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		r.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	r.sane(req, resp, text)
	return reply{resp, text}
}

// sane checks what every answer has.
func (r *rig) sane(req *http.Request, resp *http.Response, body []byte) {
	r.Helper()
	if id := resp.Header.Get("X-Request-ID"); len(id) != 30 || !strings.HasPrefix(id, "req_") || strings.Trim(id[4:], "0123456789ABCDEFGHJKMNPQRSTVWXYZ") != "" {
		r.Errorf("%s %s: the request id is %q", req.Method, req.URL.Path, id)
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
		if resp.Header.Get(name) != want {
			r.Errorf("%s %s: %s is %q", req.Method, req.URL.Path, name, resp.Header.Get(name))
		}
	}
	if resp.StatusCode >= 400 && resp.Header.Get("Cache-Control") != "no-store" {
		r.Errorf("%s %s: a refusal may be kept: %q", req.Method, req.URL.Path, resp.Header.Get("Cache-Control"))
	}
	if resp.Header.Get("Access-Control-Allow-Credentials") != "" {
		r.Errorf("%s %s: credentials are allowed across origins", req.Method, req.URL.Path)
	}
	listed := strings.HasPrefix(req.URL.Path, "/v2/") && !strings.HasPrefix(req.URL.Path, "/v2/integrator") && !strings.HasSuffix(req.URL.Path, "/")
	if !listed || resp.StatusCode == 405 || resp.StatusCode == 404 && !strings.Contains(string(body), "order_not_found") ||
		req.Method == http.MethodHead || req.Method == http.MethodOptions {
		return
	}
	r.check.Check(r, req, resp, body)
}
