package front_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/office"
	orders "ferry/internal/order"
	"ferry/internal/report"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
)

// believed is how long keys are believed without the database, in the rig whose
// database goes away.
const believed = 3 * time.Second

// outage is a database that can be taken away.
type outage struct {
	url  string
	down func(t *testing.T, r *rig)
	// back gives it back; nil: it does not come back to the same process.
	back func(t *testing.T)
}

func newOutage(t *testing.T, engine string) outage {
	t.Helper()
	if engine == overSQLite {
		return outage{
			url: "sqlite:" + filepath.Join(t.TempDir(), "gone.db"),
			down: func(t *testing.T, r *rig) {
				if err := r.DB.Close(); err != nil {
					t.Fatal(err)
				}
			},
		}
	}
	s, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	url, _, err := s.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(url, "postgres:///"), "?")
	run := func(t *testing.T, sql string) {
		t.Helper()
		if err := s.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	return outage{
		url: url,
		down: func(t *testing.T, _ *rig) {
			run(t, "ALTER DATABASE "+name+" WITH ALLOW_CONNECTIONS false")
			run(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+name+"'")
		},
		back: func(t *testing.T) { run(t, "ALTER DATABASE "+name+" WITH ALLOW_CONNECTIONS true") },
	}
}

func TestWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		db := newOutage(t, engine)
		r := newRig(t, engine, setup{database: db.url, change: func(c *front.Config) { c.Access.Stale = believed }})
		c := r.company(t, office.Patch{Limits: unlimited})
		made := r.made(t, create(c.Server.header()))
		db.down(t, r)
		t.Run("A15 a key is believed for a while", func(t *testing.T) {
			r.do(t, request{Path: "/v2/docs", Header: c.Server.header()}).want(t, 200, "")
		})
		t.Run("A15 and then no more", func(t *testing.T) {
			wait(t, "keys are not believed", func() bool { return r.do(t, request{Path: "/v2/docs", Header: c.Server.header()}).Status == 503 })
		})
		t.Run("cases", func(t *testing.T) { r.table(t, withoutDatabase(t, c, made)) })
		if db.back != nil {
			t.Run("A15 it comes back", func(t *testing.T) {
				db.back(t)
				wait(t, "keys are believed again", func() bool { return r.do(t, request{Path: "/v2/docs", Header: c.Server.header()}).Status == 200 })
			})
			t.Run("A106 orders are made again", func(t *testing.T) {
				wait(t, "an order is made", func() bool { return r.do(t, create(nil)).Status == 201 })
			})
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		t.Run("A106 nothing was created from memory", func(t *testing.T) {
			only(t, db.url, c.ID, made.OrderID)
		})
	})
}

func withoutDatabase(t *testing.T, c company, made placed) []doorCase {
	t.Helper()
	orderID, owner := made.OrderID, map[string][]string{"X-Session-ID": {made.SessionID}}
	served := func(name, path string, h map[string][]string) doorCase {
		return doorCase{name: name, req: request{Path: path, Header: h}, status: 200}
	}
	stale := func(name string, req request) doorCase {
		return doorCase{name: name, req: req, status: 503, code: "service_unavailable", header: map[string]string{"Retry-After": "5", "X-RateLimit-Resource": ""}}
	}
	post := func(path, body string, h map[string][]string) request {
		return request{Method: http.MethodPost, Path: path, Body: body, Header: h}
	}
	return []doorCase{
		stale("A15 a server key", request{Path: "/v2/integrator/me", Header: c.Server.header()}),
		stale("A15 a public key", request{Path: "/v2/chains", Header: c.Public.header()}),
		stale("A15 a public key on reports", request{Path: "/v2/integrator/me", Header: c.Public.header()}),
		stale("A15 a key nobody knows", request{Path: "/v2/chains", Header: unknownKey(t, integrator.Server).header()}),
		stale("A15 a quote with a key", price(c.Server.header())),
		stale("A15 a creation with a key", create(c.Server.header())),
		{name: "A12 what is no key is not even looked up", req: request{Path: "/v2/chains", Header: map[string][]string{"X-Integrator-Key": {"sk_live_x"}}}, status: 401, code: "invalid_key"},
		{name: "A04 a key in the query", req: request{Path: "/v2/chains?key=1"}, status: 401, code: "key_in_query"},
		{name: "A19 no key on reports", req: request{Path: "/v2/integrator/me"}, status: 401, code: "key_required"},
		{name: "A28 nobody forwards", req: request{Path: "/v2/chains", Header: map[string][]string{"X-End-User-IP": {"x"}}}, status: 403, code: "forwarding_not_allowed"},
		{name: "A106 a creation", req: create(nil), status: 503, code: "provider_unavailable", header: map[string]string{"Retry-After": "5"}},
		{name: "A106 a creation that names itself", req: create(map[string][]string{"Idempotency-Key": {strings.Repeat("k", 40)}}), status: 503, code: "provider_unavailable", header: map[string]string{"Retry-After": "5"}},
		{name: "A106 a quote", req: price(nil), status: 503, code: "provider_unavailable", header: map[string]string{"Retry-After": "5"}},
		stale("A106 an order", request{Path: "/v2/orders/" + orderID, Header: owner}),
		stale("A106 an order that is not there", request{Path: "/v2/orders/" + nobodysOrder, Header: owner}),
		stale("A106 the events of an order", request{Path: "/v2/orders/" + orderID + "/events", Header: owner}),
		stale("A106 the orders of a session", request{Path: "/v2/orders", Header: owner}),
		stale("A106 a cancellation", post("/v2/orders/"+orderID+"/cancel", "", owner)),
		stale("A106 a refund address", post("/v2/orders/"+orderID+"/refund-address", `{"refundAddress":"7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs"}`, owner)),
		stale("A106 the state of the chains", request{Path: "/v2/status"}),
		served("A106 health", "/v2/health", nil),
		served("A106 health with a key", "/v2/health", c.Server.header()),
		served("A106 the contract", "/v2/docs", nil),
		served("A106 the page", "/docs", nil),
		served("A106 the codes", "/v2/errors", nil),
		served("A106 the version", "/v2/version", nil),
		served("A106 the tokens", "/v2/tokens", nil),
		{name: "A106 a body of nonsense is still the caller's fault", req: post("/v2/orders", "nonsense", nil), status: 400, code: "malformed_json"},
	}
}

// only fails the test if a company has other orders than one.
func only(t *testing.T, url string, id integrator.ID, orderID string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	db, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	page, err := db.Attributed(ctx, id, report.Filter{}, orders.Place{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Orders) != 1 || string(page.Orders[0].ID) != orderID {
		t.Errorf("the company has %d orders, want the one of before", len(page.Orders))
	}
}
