package front_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ferry/internal/access"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

// The servers that companies of these tests have approved, and one that none has.
const (
	egress4    = "203.0.113.7"
	egress6    = "2001:db8:5::1"
	unapproved = "198.51.100.200"
	someUser   = "198.51.100.1"
)

// forwards is a company that forwards, with limits of its own.
func forwards(limits office.Limits, client office.ClientLimits) office.Patch {
	return office.Patch{Limits: limits, Forwarding: office.Forwarding{
		Enabled: new(true), Approve: []string{egress4, "2001:db8:5::/48", "127.0.0.1"}, Limits: client,
	}}
}

// notAddresses are values of X-End-User-IP that are not exactly one address.
var notAddresses = map[string]string{
	"A30": `1.2.3.4:80|[::1]|[::1]:80|1.2.3.4/32|::1/128|1.2.3.4,5.6.7.8|1.2.3.4, 5.6.7.8|1.2.3.4 5.6.7.8|01.2.3.4|1.2.3.04|0x1.2.3.4|1.2.3|1.2.3.4.5|16909060|localhost|example.com|１.2.3.4|1.2.3.4.|.1.2.3.4|` +
		`2001:db8::00001|2001:db8::g|2001:db8:::1|::1::|1:2:3:4:5:6:7|1:2:3:4:5:6:7:8:9|256.1.1.1|-1.2.3.4|+1.2.3.4|1.2.3.4\|x|"1.2.3.4"|null|unknown|_hidden|for=1.2.3.4|` + "\u00a01.2.3.4|\xff\xfe",
	"A31": `fe80::1%eth0|::ffff:1.2.3.4%eth0|fe80::1%25eth0|fe80::1%|1.2.3.4%eth0`,
	"A37": `0.0.0.0|::|224.0.0.1|239.255.255.255|ff02::1|::ffff:0.0.0.0|::ffff:224.0.0.1|0:0:0:0:0:0:0:0`,
}

func TestForwardedAddressesThatAreNone(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		c := r.company(t, forwards(unlimited, office.ClientLimits{}))
		plain := r.company(t, office.Patch{Limits: unlimited})
		stopped := r.company(t, office.Patch{Limits: unlimited, Forwarding: office.Forwarding{Enabled: new(false), Approve: []string{egress4}}})
		var cases []doorCase
		add := func(name string, from string, header map[string][]string, status int, code string) {
			cases = append(cases, doorCase{name: name, req: request{Path: "/v2/chains", From: from, Header: header}, status: status, code: code, header: noAllowance})
		}
		for row, list := range notAddresses {
			for _, v := range append(strings.Split(list, "|"), strings.Repeat("1", 4000)) {
				name := fmt.Sprintf("%.24q", v)
				add(row+" approved "+name, egress4, forUser(c.Server, v), 400, "invalid_end_user_ip")
				add("A26 not approved, "+row+" "+name, unapproved, forUser(c.Server, v), 403, "forwarding_not_allowed")
			}
		}
		for name, lines := range map[string][]string{
			"two lines": {"1.2.3.4", "5.6.7.8"}, "one twice": {"1.2.3.4", "1.2.3.4"}, "a good and an empty one": {"1.2.3.4", ""},
		} {
			add("A32 "+name, egress4, forUser(c.Server, lines...), 400, "invalid_end_user_ip")
			add("A32 not approved, "+name, unapproved, forUser(c.Server, lines...), 403, "forwarding_not_allowed")
		}
		for name, line := range map[string]string{"folded": "1.2.3.4\r\n , 5.6.7.8", "folded once": "1.2.3.4\r\n 5.6.7.8"} {
			for who, from := range map[string]string{"": egress4, "not approved, ": unapproved} {
				add("A32 "+who+name, from, forUser(c.Server, line), 400, "malformed_request")
			}
		}
		add("A30 empty", egress4, forUser(c.Server, ""), 400, "invalid_end_user_ip")
		for _, v := range []string{someUser, "nonsense", ""} {
			add("A26 from an unapproved server "+v, unapproved, forUser(c.Server, v), 403, "forwarding_not_allowed")
			add("A26 from beside the approved network "+v, "2001:db8:6::1", forUser(c.Server, v), 403, "forwarding_not_allowed")
			add("A27 never enabled "+v, egress4, forUser(plain.Server, v), 403, "forwarding_not_allowed")
			add("A27 approved and not enabled "+v, egress4, forUser(stopped.Server, v), 403, "forwarding_not_allowed")
			add("A28 no key "+v, egress4, map[string][]string{"X-End-User-IP": {v}}, 403, "forwarding_not_allowed")
			add("A20 a public key of a company that forwards "+v, egress4, forUser(c.Public, v), 403, "forwarding_not_allowed")
			add("A29 an unknown key from an unapproved server "+v, unapproved, forUser(unknownKey(t, integrator.Server), v), 401, "invalid_key")
			add("A29 an empty key "+v, unapproved, forUser(key{}, v), 401, "invalid_key")
		}
		r.table(t, cases)
	})
}

func TestForwardedAddressesThatCount(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		c := r.company(t, forwards(unlimited, office.ClientLimits{}))
		for name, same := range map[string]string{
			"A33 blanks around it":             "9.2.3.4, 9.2.3.4 ,\t9.2.3.4\t",
			"A34 one IPv4 in IPv6":             "1.2.3.4,::ffff:1.2.3.4,::ffff:102:304,0:0:0:0:0:ffff:1.2.3.4,::FFFF:1.2.3.4,0000:0000:0000:0000:0000:ffff:0102:0304",
			"A35 spellings of one IPv6":        "2001:DB8::1,2001:0db8:0:0:0:0:0:1,2001:db8::0:1,2001:db8:0:0::1,2001:0DB8:0000:0000:0000:0000:0000:0001",
			"A36 an IPv4 that is compatible":   "::9.9.9.1,::909:901",
			"A36 an IPv4 behind NAT64":         "64:ff9b::9.9.9.2,64:ff9b::909:902",
			"A37 a private address":            "10.1.2.3",
			"A37 a loopback address":           "127.0.0.1,::ffff:127.0.0.1",
			"A37 the IPv6 loopback address":    "::1,0:0:0:0:0:0:0:1",
			"A37 a link-local address":         "fe80::1",
			"A37 a shared address":             "100.64.0.1",
			"A37 a broadcast address":          "255.255.255.255",
			"A43 one of a /64":                 "2001:db8:77::1",
			"A43 another of the same /64":      "2001:db8:77::2",
			"A36 the IPv4 of the compatible":   "9.9.9.1",
			"A36 the IPv4 of the one in NAT64": "9.9.9.2",
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				left := int64(60)
				for _, ip := range strings.Split(same, ",") {
					from := egress4
					if left%2 == 0 {
						from = egress6
					}
					a := r.do(t, request{Path: "/v2/chains", From: from, Header: forUser(c.Server, ip)})
					a.want(t, 200, "")
					left--
					a.wantLeft(t, "client_requests", left)
				}
			})
		}
	})
}

func TestWhoseAllowanceIsUsed(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		chains := func(from string, h map[string][]string) request {
			return request{Path: "/v2/chains", From: from, Header: h}
		}
		t.Run("A34 the third is refused however it is written", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, forwards(office.Limits{}, office.ClientLimits{Requests: new(int64(2))}))
			for _, ip := range []string{"1.2.3.4", "::ffff:1.2.3.4"} {
				r.do(t, chains(egress4, forUser(c.Server, ip))).want(t, 200, "")
			}
			r.do(t, chains(egress6, forUser(c.Server, "::ffff:102:304"))).wantLimited(t, "rate_limited", "client_requests")
			r.do(t, chains(egress4, forUser(c.Server, "1.2.3.5"))).want(t, 200, "")
		})
		t.Run("A38 requests that name nobody share one allowance", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, forwards(office.Limits{}, office.ClientLimits{Requests: new(int64(3))}))
			for i, from := range []string{egress4, unapproved, "2001:db8:99::1"} {
				a := r.do(t, chains(from, c.Server.header()))
				a.want(t, 200, "")
				a.wantLeft(t, "client_requests", int64(2-i))
				a.wantLeft(t, "company_requests", int64(599-i))
			}
			r.do(t, chains(r.peer(), c.Server.header())).wantLimited(t, "rate_limited", "client_requests")
			a := r.do(t, chains(egress4, forUser(c.Server, someUser)))
			a.want(t, 200, "")
			a.wantLeft(t, "client_requests", 2)
			a.wantLeft(t, "company_requests", 596)
		})
		t.Run("A41 a client's limit above its company's", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, forwards(office.Limits{Requests: new(int64(3))}, office.ClientLimits{Requests: new(int64(100))}))
			for i := range 3 {
				a := r.do(t, chains(egress4, forUser(c.Server, fmt.Sprintf("198.51.100.%d", i))))
				a.want(t, 200, "")
				if got := a.policy()["client_requests"]; got != 3 {
					t.Errorf("a client may use %d of 3", got)
				}
			}
			r.do(t, chains(egress4, forUser(c.Server, "198.51.100.77"))).wantLimited(t, "rate_limited", "company_requests")
		})
		t.Run("A42 however many end users, the company's limit holds", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, forwards(office.Limits{Requests: new(int64(25))}, office.ClientLimits{}))
			served := 0
			for i := range 40 {
				a := r.do(t, chains(egress4, forUser(c.Server, fmt.Sprintf("2001:db8:%x::%x", i, i))))
				if a.Status == 200 {
					served++
					continue
				}
				a.wantLimited(t, "rate_limited", "company_requests")
			}
			if served != 25 {
				t.Errorf("%d were served, want 25", served)
			}
		})
		t.Run("A43 a /64 is one caller", func(t *testing.T) {
			t.Parallel()
			c := r.company(t, office.Patch{})
			for i, from := range []string{"2001:db8:a:b::1", "2001:db8:a:b::2", "2001:db8:a:b:ffff:ffff:ffff:ffff", "2001:DB8:A:B:0:0:0:1"} {
				a := r.do(t, chains(from, nil))
				a.want(t, 200, "")
				a.wantLeft(t, "ip_requests", int64(59-i))
			}
			r.do(t, chains("2001:db8:a:b::9", c.Public.header())).wantLeft(t, "ip_requests", 55)
			r.do(t, chains("2001:db8:a:c::1", nil)).wantLeft(t, "ip_requests", 59)
			r.do(t, chains("::ffff:192.0.2.55", nil)).wantLeft(t, "ip_requests", 59)
			r.do(t, chains("192.0.2.55", nil)).wantLeft(t, "ip_requests", 58)
			r.do(t, chains("192.0.2.56", nil)).wantLeft(t, "ip_requests", 59)
		})
	})
}

// spoofs are headers in which somebody may say where a request came from.
var spoofs = []string{"X-Forwarded-For", "CF-Connecting-IP", "X-Real-IP", "Forwarded", "True-Client-IP", "X-Client-IP", "X-Original-Forwarded-For", "X-Forwarded"}

func TestNobodyIsBelievedWithoutAProxy(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := newRig(t, engine, setup{change: func(c *front.Config) { c.Proxies = access.Proxies{} }})
		far := r.company(t, office.Patch{Limits: unlimited, Forwarding: office.Forwarding{Enabled: new(true), Approve: []string{egress4}}})
		near := r.company(t, forwards(unlimited, office.ClientLimits{}))
		users := r.company(t, office.Patch{})
		for i, name := range spoofs {
			says := func(h map[string][]string, ip string) map[string][]string {
				return request{Header: h}.with(map[string][]string{name: {ip}}).Header
			}
			t.Run("A39 no approval by "+name, func(t *testing.T) {
				req := request{Path: "/v2/chains", Direct: true, Header: says(forUser(far.Server, someUser), egress4)}
				r.do(t, req).want(t, 403, "forwarding_not_allowed")
			})
			t.Run("A39 no disapproval by "+name, func(t *testing.T) {
				req := request{Path: "/v2/chains", Direct: true, Header: says(forUser(near.Server, someUser), unapproved)}
				r.do(t, req).wantLeft(t, "client_requests", int64(59-i))
			})
			t.Run("A39 no allowance by "+name, func(t *testing.T) {
				a := r.do(t, request{Path: "/v2/chains", Direct: true, Header: says(nil, fmt.Sprintf("198.51.100.%d", i))})
				a.wantLeft(t, "ip_requests", int64(59-i))
			})
		}
		for i, name := range spoofs[:3] {
			req := create(users.Public.header())
			req.Direct = true
			r.made(t, req.with(map[string][]string{name: {fmt.Sprintf("198.51.100.%d", i)}}))
		}
		t.Run("A39 no end user by any of them", func(t *testing.T) {
			got := r.me(t, users.Server).Attribution
			if want := (attribution{WindowDays: 30, TotalOrders: 3, AttributedOrders: 3, DistinctIPs: 1}); got != want {
				t.Errorf("attribution %+v, want %+v", got, want)
			}
		})
	})
}

func TestOnlyTheTrustedProxyIsBelieved(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		c := r.company(t, office.Patch{Limits: unlimited, Forwarding: office.Forwarding{Enabled: new(true), Approve: []string{egress4}}})
		var cases []doorCase
		add := func(name string, hops []string, more map[string][]string, status int) {
			h := request{Header: forUser(c.Server, someUser)}.with(more).with(map[string][]string{"X-Forwarded-For": hops}).Header
			code := map[int]string{403: "forwarding_not_allowed"}[status]
			cases = append(cases, doorCase{name: "A40 " + name, req: request{Path: "/v2/chains", Header: h}, status: status, code: code})
		}
		add("the hop", []string{egress4}, nil, 200)
		add("the hop of IPv4 in IPv6", []string{"::ffff:" + egress4}, nil, 200)
		add("blanks around the hop", []string{" \t" + egress4 + " "}, nil, 200)
		add("the last of the hops", []string{"1.1.1.1, " + egress4}, nil, 200)
		add("the last of the lines", []string{"1.1.1.1", egress4}, nil, 200)
		add("the last that is not trusted", []string{egress4 + ", 127.0.0.1"}, nil, 200)
		add("not the first of the hops", []string{egress4 + ", " + unapproved}, nil, 403)
		add("not the first of the lines", []string{egress4, unapproved}, nil, 403)
		add("no hop behind one that cannot be read", []string{egress4 + ", x"}, nil, 403)
		add("no hop with a port", []string{egress4 + ":443"}, nil, 403)
		add("no hop behind an empty one", []string{egress4 + ","}, nil, 403)
		add("no hop at all", []string{""}, nil, 403)
		add("not 0.0.0.0", []string{egress4 + ", 0.0.0.0"}, nil, 403)
		for _, name := range spoofs[1:] {
			add("nothing but its own header, not "+name, []string{unapproved}, map[string][]string{name: {egress4}}, 403)
			add("its own header whatever says "+name, []string{egress4}, map[string][]string{name: {unapproved}}, 200)
		}
		r.table(t, cases)
	})
}

func TestReportsShowNumbersOfEndUsersOnly(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		c := r.company(t, forwards(unlimited, office.ClientLimits{}))
		from := func(k key, ips ...string) {
			t.Helper()
			for _, ip := range ips {
				req := create(forUser(k, ip))
				req.From = egress4
				r.made(t, req)
			}
		}
		distinct := func(name string, want attribution) {
			t.Run(name, func(t *testing.T) {
				reported(t, fmt.Sprintf("attribution %+v", want), func() bool { return r.me(t, c.Server).Attribution == want })
			})
		}
		old := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server})
		r.known(t, old)
		from(old, "198.51.100.1", "::ffff:198.51.100.1", "2001:db8::1", "2001:DB8:0::1")
		distinct("A45 each end user counts once", attribution{WindowDays: 30, TotalOrders: 4, AttributedOrders: 4, DistinctIPs: 2})
		if _, err := r.Front.Office.RevokeKey(t.Context(), old.ID, operator); err != nil {
			t.Fatal(err)
		}
		r.settled(t)
		distinct("A45 a revoked key takes nobody away", attribution{WindowDays: 30, TotalOrders: 4, AttributedOrders: 4, DistinctIPs: 2})
		from(c.Server, "198.51.100.1", "2001:db8::1")
		distinct("A45 another key sees the same end users", attribution{WindowDays: 30, TotalOrders: 6, AttributedOrders: 6, DistinctIPs: 2})
		r.made(t, create(c.Server.header()))
		distinct("A45 who was not named is nobody", attribution{WindowDays: 30, TotalOrders: 7, AttributedOrders: 6, DistinctIPs: 2})
		public := create(c.Public.header())
		public.From = "198.51.100.1"
		r.made(t, public)
		distinct("A45 the same address with a public key", attribution{WindowDays: 30, TotalOrders: 8, AttributedOrders: 7, DistinctIPs: 2})
		var cases []doorCase
		for _, path := range []string{"/v2/integrator/me", "/v2/integrator/orders", "/v2/integrator/docs", "/v2/docs", "/v2/errors", "/v2/version", "/v2/status", "/docs"} {
			cases = append(cases, doorCase{
				name: "A44 no address in " + path, req: request{Method: http.MethodGet, Path: path, From: egress4, Header: forUser(c.Server, someUser)}, status: 200,
			})
		}
		t.Run("reports", func(t *testing.T) { r.table(t, cases) })
	})
}
