package front_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

// chainsRow is a request that costs nothing but itself.
func chainsRow(h map[string][]string) request { return request{Path: "/v2/chains", Header: h} }

func TestWhatOperationsCost(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		costs := func(name string, make func(h map[string][]string) request, status int, of ...string) {
			t.Run("A101 "+name+" with a server key", func(t *testing.T) {
				t.Parallel()
				c := r.company(t, forwards(office.Limits{}, office.ClientLimits{}))
				k := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server})
				r.known(t, k)
				req := make(forUser(k, someUser))
				req.From = egress4
				a := r.do(t, req)
				if a.Status != status {
					t.Fatalf("answered %d: %s", a.Status, a.Body)
				}
				whole := map[string]int64{
					"company_requests": 600, "key_requests": 300, "client_requests": 60, "company_creates": 60, "client_creates": 10, "company_quotes": 300,
				}
				want := map[string]int64{}
				for _, name := range append([]string{"company_requests", "key_requests", "client_requests"}, of...) {
					want[name] = whole[name]
				}
				spent(t, a, want)
			})
			t.Run("A101 "+name+" without a key", func(t *testing.T) {
				t.Parallel()
				a := r.do(t, make(nil))
				want := map[string]int64{"ip_requests": 60}
				for _, name := range of {
					switch name {
					case "company_creates":
						want["ip_creates"] = 5
					case "company_quotes":
						want["ip_quotes"] = 20
					}
				}
				spent(t, a, want)
			})
		}
		costs("a read", chainsRow, 200)
		costs("a quote", price, 200, "company_quotes")
		costs("a creation", create, 201, "company_creates", "client_creates")
		costs("a missing order", func(h map[string][]string) request { return request{Path: "/v2/orders/" + nobodysOrder, Header: h} }, 404)
		costs("an unknown parameter", func(h map[string][]string) request { return request{Path: "/v2/chains?x=1", Header: h} }, 400)
		costs("a quote of nonsense", func(h map[string][]string) request {
			return request{Method: http.MethodPost, Path: "/v2/quotes", Body: "nonsense", Header: h}
		}, 400, "company_quotes")
		costs("a creation of nonsense", func(h map[string][]string) request {
			return request{Method: http.MethodPost, Path: "/v2/orders", Body: `{"what":1}`, Header: h}
		}, 400, "company_creates", "client_creates")
		t.Run("A101 health costs nothing", func(t *testing.T) {
			t.Parallel()
			a := r.do(t, request{Path: "/v2/health"})
			a.want(t, 200, "")
			if a.Header.Get("RateLimit") != "" || a.Header.Get("RateLimit-Policy") != "" {
				t.Errorf("it costs %v", a.left())
			}
		})
		t.Run("A101 a path that is not there costs nothing", func(t *testing.T) {
			t.Parallel()
			a := r.do(t, request{Path: "/v2/nothing"})
			a.want(t, 404, "route_not_found")
			if a.Header.Get("RateLimit") != "" {
				t.Errorf("it costs %v", a.left())
			}
		})
	})
}

// spent fails the test if anything but one of each was spent.
func spent(t *testing.T, a answer, of map[string]int64) {
	t.Helper()
	left := a.left()
	if fmt.Sprint(a.policy()) != fmt.Sprint(of) || len(left) != len(of) {
		t.Fatalf("the limits are %v with %v left, want %v", a.policy(), left, of)
	}
	for name, n := range of {
		if left[name] != n-1 {
			t.Errorf("%d of %s are left, want %d", left[name], name, n-1)
		}
	}
	for part := range strings.SplitSeq(a.Header.Get("RateLimit-Policy"), ", ") {
		if !strings.HasSuffix(part, ";w=60") {
			t.Errorf("the window of %s is not a minute", part)
		}
	}
}

// exhaust is one limit: how to set it, what uses it and what must still be served.
type exhaust struct {
	resource string
	patch    office.Patch
	key      *int64 // of the key; nil is none
	use      func(h map[string][]string) request
	status   int
	still    func(h map[string][]string) request // nil: nothing of the key's
}

func exhausts() []exhaust {
	two := new(int64(2))
	return []exhaust{
		{"company_requests", forwards(office.Limits{Requests: two}, office.ClientLimits{}), nil, chainsRow, 200, nil},
		{"key_requests", forwards(office.Limits{}, office.ClientLimits{}), two, chainsRow, 200, nil},
		{"client_requests", forwards(office.Limits{}, office.ClientLimits{Requests: two}), nil, chainsRow, 200, nil},
		{"company_quotes", forwards(office.Limits{Quotes: two}, office.ClientLimits{}), nil, price, 200, create},
		{"company_creates", forwards(office.Limits{Creates: two}, office.ClientLimits{}), nil, create, 201, price},
		{"client_creates", forwards(office.Limits{}, office.ClientLimits{Creates: two}), nil, create, 201, price},
	}
}

func TestLimitsRefuse(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		for _, e := range exhausts() {
			t.Run("A98 "+e.resource, func(t *testing.T) {
				t.Parallel()
				c := r.company(t, e.patch)
				k := c.Server
				if e.key != nil {
					k = r.issue(t, c.ID, office.NewKey{Kind: integrator.Server, Requests: e.key})
					r.known(t, k)
				}
				h := forUser(k, someUser)
				req := e.use(h)
				req.From = egress4
				first := time.Now()
				for i := range 2 {
					a := r.do(t, req)
					a.want(t, e.status, "")
					a.wantLeft(t, e.resource, int64(1-i))
				}
				a := r.do(t, req)
				a.wantLimited(t, "rate_limited", e.resource)
				a.wantLeft(t, e.resource, 0)
				waits(t, a, first)
				// An end user's limit is never above the company's, so it is used up with it.
				if list := a.problem().Details.Exhausted; len(list) == 0 || len(list) > 1 && !strings.HasPrefix(e.resource, "company_") || list[0].Resource != e.resource || list[0].Limit != 2 || list[0].RetryAfterSeconds != a.waitSeconds(t) {
					t.Errorf("exhausted is %+v", list)
				}
				before := a.left()["company_requests"]
				if again := r.do(t, req); e.resource != "company_requests" && again.left()["company_requests"] != before {
					t.Errorf("a refused request took from the company: %d are left of %d", again.left()["company_requests"], before)
				}
				if e.still != nil {
					other := e.still(h)
					other.From = egress4
					if a := r.do(t, other); a.Status >= 400 {
						t.Errorf("another limit is used up too: %d %s", a.Status, a.Body)
					}
				}
			})
		}
	})
}

// waits fails the test if Retry-After is not what is left of the minute since the
// first unit was taken, which was after a time.
func waits(t *testing.T, a answer, firstAfter time.Time) {
	t.Helper()
	got := a.waitSeconds(t)
	if least := int((time.Minute - time.Since(firstAfter)) / time.Second); got < least || got > 60 {
		t.Errorf("Retry-After is %d, want from %d to 60", got, least)
	}
}

func TestAddressLimitsRefuse(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		c := r.company(t, office.Patch{Limits: office.Limits{Requests: new(int64(1)), Creates: new(int64(1)), Quotes: new(int64(1)), OpenOrders: new(int64(1))}})
		for name, h := range map[string]map[string][]string{"no key": nil, "a public key": c.Public.header()} {
			for _, e := range []struct {
				resource string
				times    int
				use      func(h map[string][]string) request
			}{
				{"ip_requests", 60, chainsRow},
				{"ip_quotes", 20, price},
				{"ip_creates", 5, func(h map[string][]string) request {
					return request{Method: http.MethodPost, Path: "/v2/orders", Body: "{}", Header: h}
				}},
			} {
				t.Run("A98 "+e.resource+" with "+name, func(t *testing.T) {
					t.Parallel()
					req := e.use(h)
					req.From = r.peer()
					first := time.Now()
					for range e.times {
						if a := r.do(t, req); a.Status == 429 || a.Status >= 500 {
							t.Fatalf("answered %d: %s", a.Status, a.Body)
						}
					}
					a := r.do(t, req)
					a.wantLimited(t, "rate_limited", e.resource)
					waits(t, a, first)
					req.From = r.peer()
					if a := r.do(t, req); a.Status == 429 {
						t.Errorf("another address is refused too: %s", a.Body)
					}
				})
			}
		}
		t.Run("A25 a key that is nearly right is as wrong as any", func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, n := range []int{0, 8, 20, 40, 50} {
				k := unknownKey(t, integrator.Server).Text
				near := c.Server.Text[:n] + k[n:]
				a := r.do(t, chainsRow(map[string][]string{"X-Integrator-Key": {near}}))
				a.want(t, 401, "invalid_key")
				seen[strings.ReplaceAll(string(a.Body), a.problem().RequestID, "")] = true
			}
			if len(seen) != 1 {
				t.Errorf("%d different answers", len(seen))
			}
		})
		t.Run("A23 a server key in a browser is served, and the operator told", func(t *testing.T) {
			t.Parallel()
			one := r.company(t, office.Patch{})
			r.do(t, request{Path: "/v2/chains", Header: request{Header: one.Server.header()}.with(map[string][]string{"Origin": {"https://app.example"}}).Header}).want(t, 200, "")
			wants(t, r, notice(one))
		})
	})
}

func TestTwoLimitsAtOnce(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		t.Run("A97 the longer wait is named", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, office.Patch{Limits: office.Limits{Requests: new(int64(2))}})
			k := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server, Requests: new(int64(1))})
			r.known(t, k)
			first := time.Now()
			r.do(t, chainsRow(c.Server.header())).want(t, 200, "")
			between := time.Now()
			const apart = 2100 * time.Millisecond
			wait(t, "the second request is later than the first", func() bool { return time.Since(between) > apart })
			second := time.Now()
			r.do(t, chainsRow(k.header())).want(t, 200, "")
			a := r.do(t, chainsRow(k.header()))
			a.wantLimited(t, "rate_limited", "key_requests")
			waits(t, a, second)
			list := a.problem().Details.Exhausted
			if len(list) != 2 || list[0].Resource != "key_requests" || list[1].Resource != "company_requests" || list[0].RetryAfterSeconds <= list[1].RetryAfterSeconds {
				t.Errorf("exhausted is %+v", list)
			}
			other := r.do(t, chainsRow(c.Server.header()))
			other.wantLimited(t, "rate_limited", "company_requests")
			waits(t, other, first)
		})
		t.Run("A97 of equal waits the widest", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, forwards(office.Limits{Requests: new(int64(1))}, office.ClientLimits{Requests: new(int64(1))}))
			req := request{Path: "/v2/chains", From: egress4, Header: forUser(c.Server, someUser)}
			r.do(t, req).want(t, 200, "")
			a := r.do(t, req)
			a.wantLimited(t, "rate_limited", "company_requests")
			if list := a.problem().Details.Exhausted; len(list) != 2 {
				t.Errorf("exhausted is %+v", list)
			}
		})
		for _, skew := range []time.Duration{-time.Hour, time.Hour} {
			t.Run("A104 a caller's clock is no matter "+skew.String(), func(t *testing.T) {
				t.Parallel()
				c := r.company(t, office.Patch{Limits: office.Limits{Requests: new(int64(1))}})
				req := chainsRow(request{Header: c.Server.header()}.with(map[string][]string{"Date": {time.Now().Add(skew).UTC().Format(http.TimeFormat)}}).Header)
				first := time.Now()
				r.do(t, req).want(t, 200, "")
				a := r.do(t, req)
				a.wantLimited(t, "rate_limited", "company_requests")
				waits(t, a, first)
			})
		}
	})
}

func TestZeroDisablesOneLimit(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		for _, e := range exhausts() {
			t.Run("A100 "+e.resource, func(t *testing.T) {
				t.Parallel()
				c := r.company(t, forwards(office.Limits{}, office.ClientLimits{}))
				k := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server, Requests: zeroIf(e.resource, "key_requests")})
				r.change(t, c.ID, office.Patch{
					Limits: office.Limits{
						Requests: zeroIf(e.resource, "company_requests"), Quotes: zeroIf(e.resource, "company_quotes"), Creates: zeroIf(e.resource, "company_creates"),
					},
					Forwarding: office.Forwarding{Limits: office.ClientLimits{
						Requests: zeroIf(e.resource, "client_requests"), Creates: zeroIf(e.resource, "client_creates"),
					}},
					AttributionDays: new(31),
				})
				all := map[string]bool{}
				for _, use := range []func(h map[string][]string) request{price, create} {
					req := use(forUser(k, someUser))
					req.From = egress4
					for name := range r.do(t, req).policy() {
						all[name] = true
					}
				}
				for _, other := range exhausts() {
					if all[other.resource] == (other.resource == e.resource) {
						t.Errorf("with %s disabled, %s counts: %v", e.resource, other.resource, all[other.resource])
					}
				}
			})
		}
		t.Run("A100 the process itself has a ceiling", func(t *testing.T) { full(t, engine) })
	})
}

func zeroIf(resource, is string) *int64 {
	if resource == is {
		return new(int64)
	}
	return nil
}

// full fills the room of a process with a request that takes its time.
func full(t *testing.T, engine string) {
	entered, leave := make(chan struct{}), make(chan struct{})
	r := newRig(t, engine, setup{change: func(c *front.Config) {
		c.Room = 1
		c.Rows = []api.Operation{{
			ID: "wait", Method: http.MethodGet, Path: "/v2/wait", Tag: "service", Summary: "Wait", Key: api.OptionalKey, Spends: api.Requests, Out: wire.Health{},
			Do: func(*api.Call) (any, error) {
				close(entered)
				<-leave
				return wire.Health{Status: "ok"}, nil
			},
		}}
	}})
	conn := r.dial(t)
	defer conn.Close()
	// A body that does not come takes no room.
	slow := r.dial(t)
	defer slow.Close()
	for c, text := range map[net.Conn]string{conn: r.text(request{Method: http.MethodGet, Path: "/v2/wait"}), slow: r.text(request{Method: http.MethodPost, Path: "/v2/orders", Body: "{}"})[:120]} {
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	<-entered
	a := r.do(t, chainsRow(nil))
	a.want(t, 503, "service_unavailable")
	if a.Header.Get("Retry-After") != "1" || a.Header.Get("X-RateLimit-Resource") != "" {
		t.Errorf("a full house answers %v", a.Header)
	}
	r.do(t, request{Path: "/v2/health"}).want(t, 200, "")
	close(leave)
	receive(t, http.MethodGet, conn).want(t, 200, "")
	r.do(t, chainsRow(nil)).want(t, 200, "")
}
