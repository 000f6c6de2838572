package front_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/office"
	orders "ferry/internal/order"
)

func notice(c company) access.Notice {
	return access.Notice{Sight: access.ServerKeyInBrowser, Key: c.Server.ID, Integrator: c.ID}
}

// open is a company with a ceiling of open orders and no other limit.
func open(n int64) office.Patch {
	return office.Patch{Limits: office.Limits{Requests: new(int64), Quotes: new(int64), Creates: new(int64), OpenOrders: new(n)}}
}

// cancel ends an order.
func (r *rig) cancel(t *testing.T, o placed) {
	t.Helper()
	req := request{Method: http.MethodPost, Path: "/v2/orders/" + o.OrderID + "/cancel", Header: map[string][]string{"X-Session-ID": {o.SessionID}}}
	r.do(t, req).want(t, 200, "")
}

// status reads how an order is.
func (r *rig) status(t *testing.T, o placed) string {
	t.Helper()
	a := r.do(t, request{Path: "/v2/orders/" + o.OrderID, Header: map[string][]string{"X-Session-ID": {o.SessionID}}})
	a.want(t, 200, "")
	var got placed
	a.decode(t, &got)
	return got.Status
}

// tooMany is the refusal of one order more than a ceiling allows.
func (r *rig) tooMany(t *testing.T, req request, resource string) answer {
	t.Helper()
	a := r.do(t, req)
	a.wantLimited(t, "too_many_open_orders", resource)
	return a
}

func TestOpenOrders(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		run := func(name string, f func(t *testing.T)) {
			t.Run(name, func(t *testing.T) { t.Parallel(); f(t) })
		}
		run("A91 many at once", func(t *testing.T) { race(t, r) })
		run("A92 one", func(t *testing.T) {
			c := r.company(t, open(1))
			first := r.made(t, create(c.Server.header()))
			r.tooMany(t, create(c.Server.header()), "company_open_orders")
			if got := r.me(t, c.Server); got.OpenOrders != 1 || got.Limits.MaxOpenOrders != 1 {
				t.Errorf("me says %+v", got)
			}
			r.cancel(t, first)
			r.made(t, create(c.Server.header()))
			r.tooMany(t, create(c.Server.header()), "company_open_orders")
		})
		run("A92 zero disables it", func(t *testing.T) {
			c := r.company(t, open(0))
			for range 4 {
				r.made(t, create(c.Server.header()))
			}
			if got := r.me(t, c.Server); got.OpenOrders != 4 || got.Limits.MaxOpenOrders != 0 {
				t.Errorf("me says %+v", got)
			}
		})
		run("A92 lowered below what is open", func(t *testing.T) { lowered(t, r) })
		run("A92 enabled later it finds the orders of before", func(t *testing.T) {
			c := r.company(t, open(0))
			r.made(t, create(c.Server.header()))
			r.made(t, create(c.Public.header()))
			r.change(t, c.ID, open(2))
			r.tooMany(t, create(c.Server.header()), "company_open_orders")
		})
		run("A93 rotating and revoking frees nothing", func(t *testing.T) { rotated(t, r) })
		run("A93 orders of public keys count", func(t *testing.T) {
			c := r.company(t, open(2))
			r.made(t, create(c.Public.header()))
			r.made(t, create(c.Public.header()))
			r.tooMany(t, create(c.Server.header()), "company_open_orders")
			r.made(t, create(c.Public.header())) // it uses its address's quota, not the company's
		})
		run("A94 a completed order frees its slot once", func(t *testing.T) { completed(t, r) })
		run("A96 a refused creation takes no slot", func(t *testing.T) { refusedCreations(t, r) })
		run("A105 they are counted in the database", func(t *testing.T) {
			c := r.company(t, open(2))
			for want := int64(1); want <= 2; want++ {
				r.made(t, create(c.Server.header()))
				if got, err := r.DB.OpenOrders(t.Context(), string(c.ID), time.Time{}); err != nil || got != want {
					t.Errorf("%d are counted (%v), want %d", got, err, want)
				}
			}
			r.tooMany(t, create(c.Server.header()), "company_open_orders")
		})
		run("A99 how long to wait", func(t *testing.T) {
			p := open(1)
			p.Window = new(time.Minute)
			c := r.company(t, p)
			made := time.Now()
			r.made(t, create(c.Server.header()))
			waits(t, r.tooMany(t, create(c.Server.header()), "company_open_orders"), made)
			wide := r.company(t, open(1))
			r.made(t, create(wide.Server.header()))
			if got := r.tooMany(t, create(wide.Server.header()), "company_open_orders").waitSeconds(t); got != 60 {
				t.Errorf("Retry-After is %d, want 60: the window is two hours", got)
			}
		})
		run("A92 an end user has a ceiling within the company's", func(t *testing.T) { endUsers(t, r) })
	})
}

// race asks for more orders at once than a company may have.
func race(t *testing.T, r *rig) {
	const most, more = 5, 11
	c := r.company(t, open(most))
	second := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server})
	r.known(t, second)
	var mu sync.Mutex
	got := map[int]int{}
	var all sync.WaitGroup
	for i := range most + more {
		k := c.Server
		if i%2 == 0 {
			k = second
		}
		all.Go(func() {
			a := r.do(t, create(k.header()))
			mu.Lock()
			defer mu.Unlock()
			got[a.Status]++
		})
	}
	all.Wait()
	if got[201] != most || got[429] != more {
		t.Errorf("answered %v, want %d orders and %d refusals", got, most, more)
	}
	if open := r.me(t, c.Server).OpenOrders; open != most {
		t.Errorf("%d are open, want %d", open, most)
	}
}

func lowered(t *testing.T, r *rig) {
	c := r.company(t, open(3))
	var made []placed
	for range 3 {
		made = append(made, r.made(t, create(c.Server.header())))
	}
	r.change(t, c.ID, open(1))
	r.tooMany(t, create(c.Server.header()), "company_open_orders")
	for i, o := range made {
		if got := r.status(t, o); got != "awaiting_deposit" {
			t.Errorf("order %d is %s", i, got)
		}
	}
	r.cancel(t, made[0])
	r.cancel(t, made[1])
	r.tooMany(t, create(c.Server.header()), "company_open_orders")
	r.cancel(t, made[2])
	r.made(t, create(c.Server.header()))
}

func rotated(t *testing.T, r *rig) {
	c := r.company(t, open(2))
	old := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server})
	r.known(t, old)
	r.made(t, create(old.header()))
	r.made(t, create(c.Public.header()))
	for _, k := range []key{old, c.Public} {
		if _, err := r.Front.Office.RevokeKey(t.Context(), k.ID, operator); err != nil {
			t.Fatal(err)
		}
	}
	fresh := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server})
	r.known(t, fresh)
	r.do(t, create(old.header())).want(t, 401, "key_revoked")
	for _, k := range []key{fresh, c.Server} {
		r.tooMany(t, create(k.header()), "company_open_orders")
	}
	if got := r.me(t, fresh).OpenOrders; got != 2 {
		t.Errorf("%d are open, want 2", got)
	}
}

func completed(t *testing.T, r *rig) {
	c := r.company(t, open(1))
	o := r.made(t, create(c.Server.header()))
	r.pay(t, o)
	wait(t, "the order is completed", func() bool { return r.status(t, o) == "completed" })
	if got := r.me(t, c.Server).OpenOrders; got != 0 {
		t.Errorf("%d are open, want 0", got)
	}
	r.made(t, create(c.Server.header()))
	r.tooMany(t, create(c.Server.header()), "company_open_orders")
}

// pay pays an order what it asks for.
func (r *rig) pay(t *testing.T, o placed) {
	t.Helper()
	found, err := r.DB.Order(t.Context(), orders.ID(o.OrderID))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Network.Pay(t.Context(), found, money.Amount{}); err != nil {
		t.Fatal(err)
	}
}

func refusedCreations(t *testing.T, r *rig) {
	p := open(1)
	p.Limits.Creates = new(int64(4))
	c := r.company(t, p)
	bad := create(c.Server.header())
	bad.Body = `{"fromChainId":"solana"}`
	for i := range 3 {
		a := r.do(t, bad)
		a.want(t, 400, "missing_field")
		a.wantLeft(t, "company_creates", int64(3-i))
	}
	if got := r.me(t, c.Server).OpenOrders; got != 0 {
		t.Errorf("%d are open, want 0", got)
	}
	r.made(t, create(c.Server.header()))
	r.do(t, create(c.Server.header())).wantLimited(t, "rate_limited", "company_creates")
	reported(t, "one is open", func() bool { return r.me(t, c.Server).OpenOrders == 1 })
}

func endUsers(t *testing.T, r *rig) {
	p := forwards(office.Limits{Requests: new(int64), Quotes: new(int64), Creates: new(int64), OpenOrders: new(int64(3))},
		office.ClientLimits{Requests: new(int64), Creates: new(int64), OpenOrders: new(int64(1))})
	c := r.company(t, p)
	user := func(ip string) request {
		req := create(forUser(c.Server, ip))
		req.From = egress4
		return req
	}
	first := r.made(t, user("1.2.3.4"))
	for _, same := range []string{"1.2.3.4", "::ffff:1.2.3.4", "::ffff:102:304"} {
		r.tooMany(t, user(same), "client_open_orders")
	}
	r.made(t, user("1.2.3.5"))
	r.made(t, create(c.Server.header()))
	r.tooMany(t, user("1.2.3.6"), "company_open_orders")
	r.cancel(t, first)
	r.tooMany(t, user("1.2.3.5"), "client_open_orders")
	r.tooMany(t, create(c.Server.header()), "client_open_orders")
	r.made(t, user("1.2.3.4"))
}
