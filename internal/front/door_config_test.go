package front_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/limit"
	"ferry/internal/office"
)

func TestReportsSayWhatTheLimiterUses(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		t.Run("A102 every number is the limiter's", func(t *testing.T) {
			t.Parallel()
			p := forwards(office.Limits{Requests: new(int64(71)), Quotes: new(int64(31)), Creates: new(int64(23)), OpenOrders: new(int64(2))},
				office.ClientLimits{Requests: new(int64(41)), Creates: new(int64(13)), OpenOrders: new(int64(2))})
			p.Window, p.AttributionDays = new(7*time.Minute), nil
			c := r.company(t, p)
			k := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server, Requests: new(int64(53))})
			r.known(t, k)
			a := r.do(t, request{Path: "/v2/integrator/me", From: egress4, Header: forUser(k, someUser)})
			a.want(t, 200, "")
			var body struct{ Access record }
			a.decode(t, &body)
			me := body.Access
			want := record{
				Limits: threeLimits{71, 23, 2}, Defaults: threeLimits{600, 60, 200}, QuoteLimitPerMin: 31, OpenOrderWindowMinutes: 7, KeyRequestLimitPerMin: 53,
				ClientIPForwarding: forwarding{true, "X-End-User-IP", threeLimits{41, 13, 2}}, Attribution: attribution{WindowDays: 30},
			}
			if me != want {
				t.Errorf("me says\n%+v, want\n%+v", me, want)
			}
			got := a.policy()
			for _, use := range []request{price(forUser(k, someUser)), create(forUser(k, someUser))} {
				use.From = egress4
				for name, n := range r.do(t, use).policy() {
					got[name] = n
				}
			}
			limiter := map[string]int64{
				"company_requests": 71, "key_requests": 53, "client_requests": 41, "company_quotes": 31, "company_creates": 23, "client_creates": 13,
			}
			if fmt.Sprint(got) != fmt.Sprint(limiter) {
				t.Errorf("the limiter uses %v, me says %v", got, limiter)
			}
			reported(t, "one is open", func() bool { return r.me(t, k).OpenOrders == 1 })
		})
		t.Run("A102 the calling key's own limit", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, office.Patch{})
			for _, n := range []int64{0, 7, 900} {
				k := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server, Requests: new(n)})
				r.known(t, k)
				if got := r.me(t, k).KeyRequestLimitPerMin; got != n {
					t.Errorf("the key's limit is %d, want %d", got, n)
				}
			}
		})
		t.Run("A102 numbers are whole", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, office.Patch{})
			a := r.do(t, request{Path: "/v2/integrator/me", Header: c.Server.header()})
			var body struct{ Access map[string]any }
			a.decode(t, &body)
			wholeNumbers(t, "access", body.Access)
		})
	})
}

// wholeNumbers fails the test if a number is not an integer.
func wholeNumbers(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			wholeNumbers(t, at+"."+name, inner)
		}
	case float64:
		if v != float64(int64(v)) {
			t.Errorf("%s is %v", at, v)
		}
	case bool, string:
	default:
		t.Errorf("%s is a %T", at, v)
	}
}

func TestChangesOfConfiguration(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		t.Run("A103 in force soon", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, office.Patch{Limits: office.Limits{Requests: new(int64(500))}})
			if _, err := r.Front.Office.SetLimits(t.Context(), c.ID, office.Limits{Requests: new(int64(501))}, operator); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			wait(t, "the new limit", func() bool { return r.do(t, chainsRow(c.Server.header())).policy()["company_requests"] == 501 })
			if took := time.Since(began); took > soon {
				t.Errorf("it took %s, want at most %s", took, soon)
			}
		})
		t.Run("A103 all of it or nothing", func(t *testing.T) { whole(t, r) })
		t.Run("A103 what was used stays used", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, office.Patch{Limits: office.Limits{Requests: new(int64(2))}})
			r.do(t, chainsRow(c.Server.header())).wantLeft(t, "company_requests", 1)
			r.do(t, chainsRow(c.Server.header())).wantLeft(t, "company_requests", 0)
			r.do(t, chainsRow(c.Server.header())).wantLimited(t, "rate_limited", "company_requests")
			r.change(t, c.ID, office.Patch{Limits: office.Limits{Requests: new(int64(3))}})
			r.do(t, chainsRow(c.Server.header())).wantLeft(t, "company_requests", 0)
			r.do(t, chainsRow(c.Server.header())).wantLimited(t, "rate_limited", "company_requests")
		})
		t.Run("A103 approval and disapproval", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, office.Patch{})
			req := request{Path: "/v2/chains", From: egress4, Header: forUser(c.Server, someUser)}
			r.do(t, req).want(t, 403, "forwarding_not_allowed")
			r.change(t, c.ID, forwards(office.Limits{}, office.ClientLimits{}))
			r.do(t, req).want(t, 200, "")
			r.change(t, c.ID, office.Patch{Forwarding: office.Forwarding{Remove: []string{egress4}}})
			r.do(t, req).want(t, 403, "forwarding_not_allowed")
		})
	})
}

// whole changes two settings back and forth while others ask: nobody may ever see
// one of them without the other.
func whole(t *testing.T, r *rig) {
	t.Parallel()
	even := office.Patch{Limits: office.Limits{Requests: new(int64)}, Window: new(10 * time.Minute)}
	even.Limits.Quotes = new(int64(10))
	odd := office.Patch{Limits: office.Limits{Requests: new(int64), Quotes: new(int64(20))}, Window: new(20 * time.Minute)}
	c := r.company(t, even)
	done := make(chan error, 1)
	go func() {
		for i := range 20 {
			p := odd
			if i%2 == 1 {
				p = even
			}
			if _, err := r.Front.Office.Change(t.Context(), c.ID, p, operator); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for changing := true; changing; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			changing = false
		default:
		}
		if me := r.me(t, c.Server); me.QuoteLimitPerMin != me.OpenOrderWindowMinutes {
			t.Fatalf("%d quotes with a window of %d minutes", me.QuoteLimitPerMin, me.OpenOrderWindowMinutes)
		}
	}
}

// wrongKeys is how many wrong keys an address may show in a minute, in the rig where
// one shows more.
const wrongKeys = 12

func TestAddressesHaveTheConfiguredLimits(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := newRig(t, engine, setup{
			funding: 2 * time.Second,
			change: func(c *front.Config) {
				c.Settle.Lease = time.Second
				c.Access.FailuresPerMin = wrongKeys
				c.IP = limit.IPLimits{Requests: 100, Quotes: 0, Creates: 50, OpenOrders: 2, AccessFailures: 3, Window: time.Minute}
			},
		})
		t.Run("A100 zero disables the quotes of an address only", func(t *testing.T) {
			if got := fmt.Sprint(r.do(t, price(nil)).policy()); got != "map[ip_requests:100]" {
				t.Errorf("a quote uses %s", got)
			}
			if got := fmt.Sprint(r.do(t, create(nil)).policy()); got != "map[ip_creates:50 ip_requests:100]" {
				t.Errorf("a creation uses %s", got)
			}
		})
		t.Run("A95 an order counts until it is expired, which is soon", func(t *testing.T) { expiring(t, r) })
		t.Run("A99 of an address", func(t *testing.T) {
			c := r.company(t, open(1))
			bare, keyed := create(nil), create(c.Public.header())
			bare.From = r.peer()
			keyed.From = bare.From
			made := time.Now()
			r.made(t, bare)
			r.made(t, keyed) // a public key uses its address's quota
			waits(t, r.tooMany(t, bare, "ip_open_orders"), made)
			waits(t, r.tooMany(t, keyed, "ip_open_orders"), made)
			r.made(t, create(nil))
		})
		t.Run("A98 wrong proofs of orders", func(t *testing.T) {
			req := request{Path: "/v2/orders/" + nobodysOrder, From: r.peer()}
			for range 3 {
				r.do(t, req).want(t, 404, "order_not_found")
			}
			r.do(t, req).wantLimited(t, "too_many_access_failures", "ip_access_failures")
		})
		t.Run("A24 wrong keys use up the address and nobody's quota", func(t *testing.T) { bruteForce(t, r) })
		t.Run("A107 no label that a caller makes", func(t *testing.T) { fewLabels(t, r) })
	})
}

// expiring waits for orders whose time to be paid is over.
func expiring(t *testing.T, r *rig) {
	c := r.company(t, open(1))
	o := r.made(t, create(c.Server.header()))
	until, err := time.Parse(time.RFC3339, o.ExpiresAt)
	if err != nil {
		t.Fatal(err)
	}
	for r.status(t, o) != "expired" {
		if a := r.do(t, create(c.Server.header())); a.Status == 201 {
			var next placed
			a.decode(t, &next)
			if r.status(t, o) != "expired" {
				t.Fatal("an order did not count any more before it was expired")
			}
			return
		}
		if late := time.Since(until); late > 5*time.Second {
			t.Fatalf("the order is not expired %s after its time", late)
		}
	}
	r.made(t, create(c.Server.header()))
}

// bruteForce tries keys from one address.
func bruteForce(t *testing.T, r *rig) {
	c := r.company(t, office.Patch{})
	from := r.peer()
	try := func() answer {
		return r.do(t, request{Path: "/v2/integrator/me", From: from, Header: unknownKey(t, integrator.Server).header()})
	}
	told := 0
	for range wrongKeys {
		if try().Status == 401 {
			told++
		}
	}
	if told < wrongKeys-2 { // addresses share places, so others may have used one
		t.Errorf("%d of %d were told why", told, wrongKeys)
	}
	try().wantLimited(t, "too_many_access_failures", "ip_access_failures")
	good := r.do(t, request{Path: "/v2/integrator/me", From: from, Header: c.Server.header()})
	good.want(t, 200, "")
	good.wantLeft(t, "company_requests", 599)
	r.do(t, request{Path: "/v2/chains", From: from}).want(t, 200, "")
}

// fewLabels asks for what nobody knows; whatever is written of requests must have
// values that the table knows, or a label of a metric would have one for each caller.
func fewLabels(t *testing.T, r *rig) {
	for i := range 50 {
		r.do(t, request{Method: fmt.Sprintf("M%d", i), Path: fmt.Sprintf("/v2/chains/made-up-%d", i)})
		r.do(t, request{Path: fmt.Sprintf("/made/up/%d?x=%d", i, i), From: fmt.Sprintf("2001:db8:%x::1", i)})
		r.do(t, request{Path: fmt.Sprintf("/v2/orders/ord_%026d", i), Header: unknownKey(t, integrator.Server).header()})
	}
	known := []string{"none"}
	for _, o := range r.Front.Door.Rows() {
		known = append(known, o.Path)
	}
	for _, route := range r.log.label("route") {
		if !slices.Contains(known, route) {
			t.Errorf("a route is written as %q", route)
		}
	}
	if got := strings.Join(r.log.label("method"), " "); got != "GET POST other" && got != "GET POST" && got != "GET other" {
		t.Errorf("methods are written as %s", got)
	}
	if n := len(r.log.label("code")); n > 20 {
		t.Errorf("%d codes are written", n)
	}
}
