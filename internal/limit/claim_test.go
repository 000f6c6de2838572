package limit_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/access"
	"ferry/internal/integrator"
	"ferry/internal/limit"
)

func TestResourcesHaveTheNamesOfTheContract(t *testing.T) {
	t.Parallel()
	want := strings.Fields(`company_requests key_requests client_requests company_creates client_creates
		company_quotes company_open_orders client_open_orders ip_requests ip_creates ip_quotes ip_open_orders
		ip_access_failures order_recheck ws_connections ws_subscriptions ws_messages`)
	var got []string
	for _, r := range limit.Resources() {
		got = append(got, r.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, r := range []limit.Resource{0, limit.WSMessages + 1, 255} {
		if r.String() != "unknown" {
			t.Errorf("resource %d is called %s", r, r)
		}
	}
}

// told writes claims as a table can: resource=limit of whom.
func told(claims []limit.Claim) string {
	var all []string
	for _, c := range claims {
		text := fmt.Sprintf("%s=%d", c.Resource, c.Limit)
		for _, part := range []string{string(c.Company), c.Name} {
			if part != "" {
				text += " " + part
			}
		}
		if c.Client.IsValid() {
			text += " " + c.Client.String()
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestEverySourceAndSpendClaimsItsLimits(t *testing.T) {
	t.Parallel()
	const (
		company = "company_requests=600 int_acme; key_requests=301 int_acme key_acme"
		quotes  = "; company_quotes=300 int_acme"
		creates = "; company_creates=60 int_acme"
		client  = "; client_requests=61 int_acme 198.51.100.9"
		shared  = "; client_requests=61 int_acme"
		byUser  = "; client_creates=10 int_acme 198.51.100.9"
		byNone  = "; client_creates=10 int_acme"
		ip      = "ip_requests=60 192.0.2.1"
		ipQuote = "; ip_quotes=20 192.0.2.1"
		ipMake  = "; ip_creates=5 192.0.2.1"
	)
	both := limit.Quote | limit.Create
	for _, c := range []struct {
		name  string
		who   *access.Principal
		spend limit.Spend
		want  string
	}{
		{"backend nothing", server(access.Backend), 0, ""},
		{"backend request", server(access.Backend), limit.Request, company},
		{"backend quote", server(access.Backend), limit.Quote, company + quotes},
		{"backend create", server(access.Backend), limit.Create, company + creates},
		{"backend both", server(access.Backend), both, company + quotes + creates},
		{"forwarded nothing", server(access.Forwarded), 0, ""},
		{"forwarded request", server(access.Forwarded), limit.Request, company + client},
		{"forwarded quote", server(access.Forwarded), limit.Quote, company + client + quotes},
		{"forwarded create", server(access.Forwarded), limit.Create, company + client + creates + byUser},
		{"forwarded both", server(access.Forwarded), both, company + client + quotes + creates + byUser},
		{"shared nothing", server(access.Shared), 0, ""},
		{"shared request", server(access.Shared), limit.Request, company + shared},
		{"shared quote", server(access.Shared), limit.Quote, company + shared + quotes},
		{"shared create", server(access.Shared), limit.Create, company + shared + creates + byNone},
		{"shared both", server(access.Shared), both, company + shared + quotes + creates + byNone},
		{"nobody nothing", visitor(false), 0, ""},
		{"nobody request", visitor(false), limit.Request, ip},
		{"nobody quote", visitor(false), limit.Quote, ip + ipQuote},
		{"nobody create", visitor(false), limit.Create, ip + ipMake},
		{"nobody both", visitor(false), both, ip + ipQuote + ipMake},
		{"public nothing", visitor(true), 0, ""},
		{"public request", visitor(true), limit.Request, ip},
		{"public quote", visitor(true), limit.Quote, ip + ipQuote},
		{"public create", visitor(true), limit.Create, ip + ipMake},
		{"public both", visitor(true), both, ip + ipQuote + ipMake},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := limit.Claims(nil, c.who, c.spend, limit.DefaultIPLimits)
			if diff := cmp.Diff(c.want, told(got)); diff != "" {
				t.Error(diff)
			}
			if len(got) > limit.MaxClaims-2 {
				t.Errorf("%d claims leave no room for what a door adds", len(got))
			}
		})
	}
}

func TestZeroDisablesThatOneLimitOnly(t *testing.T) {
	t.Parallel()
	both := limit.Quote | limit.Create
	for _, c := range []struct {
		resource limit.Resource
		who      *access.Principal
		off      func(*access.Principal, *limit.IPLimits)
	}{
		{limit.CompanyRequests, server(access.Forwarded), func(p *access.Principal, _ *limit.IPLimits) { p.Integrator.Limits.Requests = 0 }},
		{limit.CompanyQuotes, server(access.Forwarded), func(p *access.Principal, _ *limit.IPLimits) { p.Integrator.Limits.Quotes = 0 }},
		{limit.CompanyCreates, server(access.Forwarded), func(p *access.Principal, _ *limit.IPLimits) { p.Integrator.Limits.Creates = 0 }},
		{limit.KeyRequests, server(access.Forwarded), func(p *access.Principal, _ *limit.IPLimits) { p.Key.Requests = 0 }},
		{limit.ClientRequests, server(access.Forwarded), func(p *access.Principal, _ *limit.IPLimits) { p.Integrator.Forwarding.Limits.Requests = 0 }},
		{limit.ClientCreates, server(access.Shared), func(p *access.Principal, _ *limit.IPLimits) { p.Integrator.Forwarding.Limits.Creates = 0 }},
		{limit.IPRequests, visitor(false), func(_ *access.Principal, l *limit.IPLimits) { l.Requests = 0 }},
		{limit.IPQuotes, visitor(true), func(_ *access.Principal, l *limit.IPLimits) { l.Quotes = 0 }},
		{limit.IPCreates, visitor(true), func(_ *access.Principal, l *limit.IPLimits) { l.Creates = 0 }},
	} {
		t.Run(c.resource.String(), func(t *testing.T) {
			t.Parallel()
			cfg := limit.DefaultIPLimits
			var want []limit.Claim
			for _, claim := range limit.Claims(nil, c.who, both, cfg) {
				if claim.Resource != c.resource {
					want = append(want, claim)
				}
			}
			c.off(c.who, &cfg)
			got := limit.Claims(nil, c.who, both, cfg)
			if diff := cmp.Diff(told(want), told(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnEndUserStaysWithinHisCompany(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ client, company, want int64 }{
		{10, 100, 10},
		{100, 10, 10},
		{10, 10, 10},
		{10, 0, 10}, // the company's is off: nothing to stay within
		{0, 10, 0},  // the end user's is off, and the company's still holds for all
		{0, 0, 0},
	} {
		p := server(access.Forwarded)
		p.Integrator.Limits = integrator.Limits{Requests: c.company, Creates: c.company, OpenOrders: c.company}
		p.Integrator.Forwarding.Limits = integrator.ClientLimits{Requests: c.client, Creates: c.client, OpenOrders: c.client}
		got := map[limit.Resource]int64{}
		for _, claim := range limit.Claims(nil, p, limit.Create, limit.DefaultIPLimits) {
			got[claim.Resource] = claim.Limit
		}
		for _, ceiling := range limit.OpenCeilings(p, limit.DefaultIPLimits) {
			got[ceiling.Resource] = ceiling.Limit
		}
		for _, r := range []limit.Resource{limit.ClientRequests, limit.ClientCreates, limit.ClientOpenOrders} {
			if got[r] != c.want {
				t.Errorf("%s of %d in a company of %d: got %d, want %d", r, c.client, c.company, got[r], c.want)
			}
		}
	}
}

func TestWhoeverHasNoServerKeyHasOnlyHisAddress(t *testing.T) {
	t.Parallel()
	peer := netip.MustParseAddr("2001:db8:1:2:3:4:5:6")
	for _, source := range []access.Source{access.OwnAddress, access.Backend, access.Forwarded, access.Shared} {
		p := visitor(true)
		p.Source, p.Peer, p.Client = source, peer, netip.Addr{}
		got := told(limit.Claims(nil, p, limit.Request, limit.DefaultIPLimits))
		if got != "ip_requests=60 2001:db8:1:2::" {
			t.Errorf("source %d claims %s", source, got)
		}
	}
}

func TestClaimsAsideFromRequests(t *testing.T) {
	t.Parallel()
	cfg := limit.DefaultIPLimits
	mapped := server(access.Shared)
	mapped.Peer = netip.MustParseAddr("::ffff:203.0.113.7")
	for _, c := range []struct {
		name string
		got  []limit.Claim
		want string
	}{
		{"failures of nobody", limit.AccessFailures(nil, visitor(false), cfg), "ip_access_failures=30 192.0.2.1"},
		{"failures of a public key", limit.AccessFailures(nil, visitor(true), cfg), "ip_access_failures=30 192.0.2.1"},
		{"failures of a backend", limit.AccessFailures(nil, server(access.Backend), cfg), "ip_access_failures=30 203.0.113.7"},
		{"failures of a mapped address", limit.AccessFailures(nil, mapped, cfg), "ip_access_failures=30 203.0.113.7"},
		{"failures of an end user", limit.AccessFailures(nil, server(access.Forwarded), cfg), "ip_access_failures=30 int_acme 198.51.100.9"},
		{"failures off", limit.AccessFailures(nil, visitor(false), limit.IPLimits{}), ""},
		{"recheck", limit.Recheck(nil, "ord_1"), "order_recheck=1 ord_1"},
		{"messages of a key", limit.Messages(nil, server(access.Forwarded), 120), "ws_messages=120 int_acme key_acme"},
		{"messages of a public key", limit.Messages(nil, visitor(true), 120), "ws_messages=120 192.0.2.1"},
		{"messages off", limit.Messages(nil, visitor(true), 0), ""},
	} {
		if got := told(c.got); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLimitsOfAddressesAreChecked(t *testing.T) {
	t.Parallel()
	if err := limit.DefaultIPLimits.Check(); err != nil {
		t.Error(err)
	}
	if err := (limit.IPLimits{Window: time.Minute}).Check(); err != nil {
		t.Errorf("zero disables a limit: %v", err)
	}
	for field, change := range map[string]func(*limit.IPLimits){
		"requests":       func(l *limit.IPLimits) { l.Requests = -1 },
		"quotes":         func(l *limit.IPLimits) { l.Quotes = -1 },
		"creates":        func(l *limit.IPLimits) { l.Creates = -1 },
		"openOrders":     func(l *limit.IPLimits) { l.OpenOrders = -1 },
		"accessFailures": func(l *limit.IPLimits) { l.AccessFailures = 1 << 40 },
		"window":         func(l *limit.IPLimits) { l.Window = 0 },
	} {
		l := limit.DefaultIPLimits
		change(&l)
		if err := l.Check(); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: got %v", field, err)
		}
	}
}
