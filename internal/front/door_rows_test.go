package front_test

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"ferry/internal/api"
)

// doorCase is one request and exactly what it must be answered.
type doorCase struct {
	name   string
	req    request
	status int
	code   string
	header map[string]string // what these must be; empty is: not there
}

// table runs cases that do not disturb one another.
func (r *rig) table(t *testing.T, cases []doorCase) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.name] {
			t.Fatalf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := r.do(t, c.req)
			if c.req.Method == http.MethodHead {
				a.Code = c.code // a HEAD has no body to say it in
			}
			a.want(t, c.status, c.code)
			for name, value := range c.header {
				if got := strings.Join(a.Header.Values(name), " | "); got != value {
					t.Errorf("%s is %q, want %q", name, got, value)
				}
			}
		})
	}
}

// noAllowance are headers that no refusal of a key or of forwarding has: it costs no
// allowance and tells nothing of one.
var noAllowance = map[string]string{"RateLimit": "", "RateLimit-Policy": "", "Retry-After": "", "X-RateLimit-Resource": ""}

// example is a request that reaches a row.
func example(o *api.Operation) request {
	path := strings.NewReplacer("{orderId}", nobodysOrder, "{chainId}", "ethereum", "{token}", "native", "{address}", "0x52908400098527886e0f7030069857d2e4169ee7").Replace(o.Path)
	req := request{Method: o.Method, Path: path, Header: map[string][]string{}}
	if o.Method == http.MethodPost {
		req.Body = "{}"
	}
	return req
}

// everywhere makes a case of every row of the table, and of the HEAD of those that
// answer GET.
func (r *rig) everywhere(name string, make func(o *api.Operation, req request) (doorCase, bool)) (cases []doorCase) {
	for _, o := range r.Front.Door.Rows() {
		methods := []string{o.Method}
		if o.Hidden {
			methods = append(methods, http.MethodHead)
		}
		for _, m := range methods {
			req := example(&o)
			req.Method = m
			if c, ok := make(&o, req); ok {
				c.name = name + " " + m + " " + o.Path
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// with is the request with more headers.
func (req request) with(more map[string][]string) request {
	h := maps.Clone(req.Header)
	if h == nil {
		h = map[string][]string{}
	}
	maps.Copy(h, more)
	req.Header = h
	return req
}

// asking is the request with a query.
func (req request) asking(query string) request {
	req.Path += "?" + query
	return req
}

// soldOrder is a body that makes an order which needs nothing else.
const soldOrder = `{"fromChainId":"solana","fromToken":"native","toChainId":"ethereum","toToken":"native","amount":"1000000000",` +
	`"toAddress":"0x52908400098527886e0f7030069857d2e4169ee7"}`

// soldQuote is a body that is priced.
const soldQuote = `{"fromChainId":"solana","fromToken":"native","toChainId":"ethereum","toToken":"native","amount":"1000000000"}`

// create and price ask for an order and for a price.
func create(h map[string][]string) request {
	return request{Method: http.MethodPost, Path: "/v2/orders", Body: soldOrder, Header: h}
}

func price(h map[string][]string) request {
	return request{Method: http.MethodPost, Path: "/v2/quotes", Body: soldQuote, Header: h}
}

// forUser shows a key and says for whom.
func forUser(k key, ip ...string) map[string][]string {
	return map[string][]string{"X-Integrator-Key": {k.Text}, "X-End-User-IP": ip}
}

// placed is what a creation gives.
type placed struct{ OrderID, SessionID, Status, ExpiresAt string }

// made makes an order.
func (r *rig) made(t *testing.T, req request) (o placed) {
	t.Helper()
	a := r.do(t, req)
	a.want(t, 201, "")
	a.decode(t, &o)
	if o.OrderID == "" || o.SessionID == "" {
		t.Fatalf("an order without an id or a session: %s", a.Body)
	}
	return o
}

// record is the access record of GET /v2/integrator/me.
type record struct {
	Limits, Defaults       threeLimits
	QuoteLimitPerMin       int64
	OpenOrderWindowMinutes int64
	OpenOrders             int64
	KeyRequestLimitPerMin  int64
	ClientIPForwarding     forwarding `json:"clientIpForwarding"`
	Attribution            attribution
}

type threeLimits struct{ RequestLimitPerMin, CreateLimitPerMin, MaxOpenOrders int64 }

type forwarding struct {
	Enabled bool
	Header  string
	Limits  threeLimits
}

type attribution struct{ WindowDays, TotalOrders, AttributedOrders, DistinctIPs int64 }

// me is the access record that a key reads.
func (r *rig) me(t *testing.T, k key) record {
	t.Helper()
	a := r.do(t, request{Path: "/v2/integrator/me", Header: k.header()})
	a.want(t, 200, "")
	var body struct{ Access record }
	a.decode(t, &body)
	return body.Access
}

// states reads RateLimit or RateLimit-Policy: the number after r= or q= of each limit.
func (a answer) states(header, number string) map[string]int64 {
	all := map[string]int64{}
	for part := range strings.SplitSeq(a.Header.Get(header), ", ") {
		fields := strings.Split(part, ";")
		for _, f := range fields[1:] {
			if text, ok := strings.CutPrefix(f, number+"="); ok {
				n, err := strconv.ParseInt(text, 10, 64)
				if err != nil {
					n = -1
				}
				all[strings.Trim(fields[0], `"`)] = n
			}
		}
	}
	return all
}

// left is what is left of each limit, policy what each is.
func (a answer) left() map[string]int64   { return a.states("RateLimit", "r") }
func (a answer) policy() map[string]int64 { return a.states("RateLimit-Policy", "q") }

// wantLeft fails the test if another number is left of a limit.
func (a answer) wantLeft(t testing.TB, resource string, n int64) {
	t.Helper()
	if got, ok := a.left()[resource]; !ok || got != n {
		t.Fatalf("%d of %s are left (%v), want %d: %q", got, resource, ok, n, a.Header.Get("RateLimit"))
	}
}

// wantLimited fails the test if the answer is not the refusal of a limit.
func (a answer) wantLimited(t testing.TB, code, resource string) {
	t.Helper()
	a.want(t, 429, code)
	if got := a.Header.Get("X-RateLimit-Resource"); got != resource {
		t.Fatalf("X-RateLimit-Resource is %q, want %q: %s", got, resource, a.Body)
	}
}

// waitSeconds is Retry-After.
func (a answer) waitSeconds(t testing.TB) int {
	t.Helper()
	n, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil {
		t.Fatalf("Retry-After is %q", a.Header.Get("Retry-After"))
	}
	return n
}
