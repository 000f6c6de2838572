package routes_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/routes"
	"ferry/internal/chain"
	"ferry/internal/desk"
	"ferry/internal/integrator"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/report"
)

// open lets everybody in, with a server key, and takes nothing.
type open struct{}

func (open) Admit(*api.Credentials, time.Time) (access.Principal, error) {
	return access.Principal{Integrator: &integrator.Integrator{ID: "int_1"}, Key: &integrator.Key{Kind: integrator.Server}}, nil
}
func (open) Take(*access.Principal, api.Spend, time.Time, *api.Fields) error { return nil }

var (
	sat = market.Asset{Asset: chain.ID("bip122:a").Native(), Symbol: "BTC", Decimals: 8}
	lam = market.Asset{Asset: chain.ID("solana:a").Native(), Symbol: "SOL", Decimals: 9}
)

// room is a door whose rates a test counts and whose clock it moves.
type room struct {
	*testing.T
	door   *api.Door
	now    time.Time
	looks  atomic.Int32
	fails  error
	paused map[chain.ID]bool
	orders report.Page
	filter report.Filter
	routes.Public
}

func newRoom(t *testing.T) *room {
	t.Helper()
	atlas, err := desk.NewAtlas([]desk.Chain{
		{ID: "bip122:a", Slug: "bitcoin", Name: "B", Family: chain.Bitcoin, Confirmations: 1},
		{ID: "solana:a", Slug: "solana", Name: "S", Family: chain.Solana, Confirmations: 1},
	}, []market.Asset{sat, lam})
	if err != nil {
		t.Fatal(err)
	}
	r := &room{T: t, now: time.Now(), paused: map[chain.ID]bool{}}
	rooms := routes.Rooms{
		Atlas: atlas, Now: func() time.Time { return r.now }, Rates: r.rates, Report: r,
		Health: func(_ context.Context, id chain.ID) (routes.Health, error) {
			return routes.Health{Paused: r.paused[id], Synced: r.now}, nil
		},
		ShowOf: func(_ chain.Family, a chain.Address) string { return a.Text() },
	}
	r.door, err = api.New(api.Config{Now: func() time.Time { return r.now }, Log: slog.New(slog.DiscardHandler)}, api.Ports{Admitter: open{}, Limiter: open{}}, routes.All(rooms))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *room) rates(_ context.Context, assets []chain.Asset, _ time.Time) ([]market.Indication, error) {
	n := r.looks.Add(1)
	if r.fails != nil || len(assets) < 2 {
		return nil, r.fails
	}
	one := money.FromUint64(100_000_000)
	return []market.Indication{{Give: sat, Get: lam, Rate: fmt.Sprint(n), Min: one, Max: one, Most: one}}, nil
}

func (r *room) get(path, accept string) *httptest.ResponseRecorder {
	r.Helper()
	q := httptest.NewRequest("GET", path, nil)
	q.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	r.door.ServeHTTP(w, q)
	return w
}

func TestRatesAreLookedUpOnceASecondForEverybody(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	const xml = "application/xml"
	for i := range 20 {
		form := []string{"", xml}[i%2]
		if w := r.get("/v2/rates", form); w.Code != 200 || w.Header().Get("Cache-Control") != "public, max-age=1" || w.Header().Get("Vary") != "Accept" {
			t.Fatalf("got %d %v", w.Code, w.Header())
		}
		r.now = r.now.Add(10 * time.Millisecond)
	}
	if n := r.looks.Load(); n != 1 {
		t.Fatalf("they were looked up %d times", n)
	}
	first := r.get("/v2/rates", "")
	if !strings.Contains(first.Body.String(), `"rate":"1","minFromAmount":"100000000","minFromAmountDecimal":"1"`) {
		t.Errorf("got %s", first.Body)
	}
	if same := r.get("/v2/rates", ""); same.Header().Get("ETag") != first.Header().Get("ETag") || same.Body.String() != first.Body.String() {
		t.Error("the same rates are written differently")
	}
	r.now = r.now.Add(time.Second)
	const item = "<item><from>BTC</from><to>SOL</to><in>1</in><out>2</out><amount>0.1</amount><minamount>1</minamount><maxamount>1</maxamount></item>"
	if w := r.get("/v2/rates", xml); !strings.Contains(w.Body.String(), item) || w.Header().Get("Content-Type") != "application/xml; charset=utf-8" {
		t.Errorf("got %v %s", w.Header(), w.Body)
	}
}

func TestRatesOfAPausedChainAreLeftOut(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.paused["solana:a"] = true
	if w := r.get("/v2/rates", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"rates":[]`) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// Trouble is told and kept as long as rates are, so that callers do not add to it.
func TestTroubleWithRatesIsNotMultiplied(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.fails = errors.New("the books are closed")
	for range 5 {
		if w := r.get("/v2/rates", ""); w.Code != 500 || strings.Contains(w.Body.String(), "books") || w.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("got %d %s", w.Code, w.Body)
		}
	}
	r.fails = nil
	r.now = r.now.Add(time.Second)
	if w := r.get("/v2/rates", ""); w.Code != 200 || r.looks.Load() != 2 {
		t.Errorf("got %d after %d looks", w.Code, r.looks.Load())
	}
}

// Me implements routes.Reporter.
func (r *room) Me(context.Context, integrator.Integrator, time.Time) (report.Me, error) {
	return report.Me{}, errors.New("nobody asks")
}

// Orders implements routes.Reporter.
func (r *room) Orders(_ context.Context, _ integrator.ID, f report.Filter, _ order.Place, _ int) (report.Page, error) {
	r.filter = f
	return r.orders, nil
}

func TestOrdersComeAsATableWithFiltersAndPages(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	o := order.Order{ID: "ord_1", State: order.Completed, Origin: order.Origin{Reference: "=HYPERLINK(1)"}}
	o.Quote.Give, o.Quote.Get = sat.Asset, lam.Asset
	r.orders = report.Page{Orders: []order.Order{o}, Next: order.Place{At: r.now, ID: "ord_1"}}
	const path = "/v2/integrator/orders?status=completed&limit=1"
	plain, table := r.get(path, ""), r.get(path, "text/csv")
	if table.Code != 200 || table.Header().Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Fatalf("got %d %v", table.Code, table.Header())
	}
	link := table.Header().Get("Link")
	if link == "" || link != plain.Header().Get("Link") || !strings.Contains(link, "status=completed") || r.filter.State != order.Completed {
		t.Errorf("got Link %q and %q, filter %+v", link, plain.Header().Get("Link"), r.filter)
	}
	lines := strings.Split(table.Body.String(), "\r\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "orderId,kind,status,") || !strings.Contains(lines[1], ",'=HYPERLINK(1),") {
		t.Errorf("got %q", lines)
	}
	for accept, want := range map[string]int{"": 200, "text/csv": 200, "application/json": 200, "application/xml": 406, "text/html": 406} {
		for _, at := range []string{path, "/v2/integrator/orders?kind=bridge"} {
			if w := r.get(at, accept); w.Code != want {
				t.Errorf("%s with %q: got %d, want %d", at, accept, w.Code, want)
			}
		}
	}
	if w := r.get("/v2/integrator/orders?kind=bridge", "text/csv"); w.Body.String() != lines[0]+"\r\n" {
		t.Errorf("an empty table is %q", w.Body)
	}
}

// TestOrdersComeByTheirKind: those over bridges are told apart from swaps, and a page that
// has none of a kind still leads to the next.
func TestOrdersComeByTheirKind(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	swap := order.Order{ID: "ord_1", State: order.Completed}
	swap.Quote.Give, swap.Quote.Get = sat.Asset, lam.Asset
	bridge := swap
	bridge.ID, bridge.Origin.Bridge = "ord_2", "arbitrum_canonical"
	r.orders = report.Page{Orders: []order.Order{swap, bridge}, Next: order.Place{At: r.now, ID: "ord_2"}}
	for kind, want := range map[string][2]bool{"": {true, true}, "?kind=swap": {true, false}, "?kind=bridge": {false, true}} {
		w := r.get("/v2/integrator/orders"+kind, "")
		got := [2]bool{strings.Contains(w.Body.String(), `"ord_1"`), strings.Contains(w.Body.String(), `"ord_2"`)}
		if w.Code != 200 || got != want || w.Header().Get("Link") == "" {
			t.Errorf("%q: got %d, Link %q, %s", kind, w.Code, w.Header().Get("Link"), w.Body)
		}
	}
}

// TestOrdersComeByTheirLastChange: the sort reaches the report, comes back in Link, and
// a place in the one list is none in the other.
func TestOrdersComeByTheirLastChange(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.orders.Next = order.Place{At: r.now, ID: "ord_1"}
	cursor := func(query string) string {
		t.Helper()
		w := r.get("/v2/integrator/orders?"+query, "")
		_, rest, found := strings.Cut(w.Header().Get("Link"), "cursor=")
		if w.Code != 200 || !found {
			t.Fatalf("%s: got %d with Link %q", query, w.Code, w.Header().Get("Link"))
		}
		return rest[:strings.IndexAny(rest, "&>")]
	}
	made := cursor("sort=createdAt")
	if r.filter.Updated {
		t.Error("createdAt sorts by updates")
	}
	changed := cursor("sort=updatedAt")
	if !r.filter.Updated {
		t.Error("updatedAt does not sort by updates")
	}
	for query, want := range map[string]int{
		"cursor=" + made: 200, "sort=createdAt&cursor=" + made: 200, "sort=updatedAt&cursor=" + changed: 200,
		"cursor=" + changed: 400, "sort=createdAt&cursor=" + changed: 400, "sort=updatedAt&cursor=" + made: 400,
		"sort=UpdatedAt": 400, "sort=": 400, "sort=updatedAt&sort=createdAt": 400,
	} {
		if w := r.get("/v2/integrator/orders?"+query, ""); w.Code != want {
			t.Errorf("%s: got %d %s, want %d", query, w.Code, w.Body, want)
		}
	}
}
