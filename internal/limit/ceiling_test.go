package limit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/limit"
)

func TestOpenCeilingsOfEverySource(t *testing.T) {
	t.Parallel()
	off := limit.DefaultIPLimits
	off.OpenOrders = 0
	noCompany := server(access.Forwarded)
	noCompany.Integrator.Limits.OpenOrders = 0
	noClient := server(access.Forwarded)
	noClient.Integrator.Forwarding.Limits.OpenOrders = 0
	own := limit.DefaultIPLimits
	own.Window = 10 * time.Minute
	for _, c := range []struct {
		name string
		who  *access.Principal
		cfg  limit.IPLimits
		want string
	}{
		{"backend", server(access.Backend), limit.DefaultIPLimits, "company_open_orders=200 int_acme 2h0m0s"},
		{"forwarded", server(access.Forwarded), limit.DefaultIPLimits, "company_open_orders=200 int_acme 2h0m0s; client_open_orders=5 int_acme 198.51.100.9 2h0m0s"},
		{"shared", server(access.Shared), limit.DefaultIPLimits, "company_open_orders=200 int_acme 2h0m0s; client_open_orders=5 int_acme 2h0m0s"},
		{"nobody", visitor(false), own, "ip_open_orders=5 192.0.2.1 10m0s"},
		{"public", visitor(true), own, "ip_open_orders=5 192.0.2.1 10m0s"},
		{"nobody, off", visitor(false), off, ""},
		{"company off", noCompany, limit.DefaultIPLimits, "client_open_orders=5 int_acme 198.51.100.9 2h0m0s"},
		{"client off", noClient, limit.DefaultIPLimits, "company_open_orders=200 int_acme 2h0m0s"},
	} {
		var got []string
		for _, ceiling := range limit.OpenCeilings(c.who, c.cfg) {
			text := told([]limit.Claim{{Subject: ceiling.Subject, Limit: ceiling.Limit}})
			got = append(got, fmt.Sprintf("%s %s", text, ceiling.Window))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
}

func TestTooManyOpenWaitsForTheOldestButNotLong(t *testing.T) {
	t.Parallel()
	ceiling := limit.OpenCeilings(server(access.Backend), limit.DefaultIPLimits)[0]
	for _, c := range []struct {
		left time.Duration // until the oldest leaves the window
		want int
	}{
		{2 * time.Hour, 60},
		{61 * time.Second, 60},
		{60 * time.Second, 60},
		{59*time.Second + 1, 60},
		{59 * time.Second, 59},
		{1500 * time.Millisecond, 2},
		{time.Second, 1},
		{1, 1},
		{0, 1},
		{-time.Hour, 1},
	} {
		f := limit.TooManyOpen(ceiling, noon.Add(c.left-ceiling.Window), noon)
		seconds, ok := limit.RetryAfter(f)
		name, named := limit.ResourceOf(f)
		if !ok || !named || seconds != c.want || name != "company_open_orders" {
			t.Errorf("%s left: got %d %v, %q %v", c.left, seconds, ok, name, named)
		}
		if f.Kind != fault.Exhausted || f.Code != "too_many_open_orders" {
			t.Errorf("got %v", f)
		}
		if !strings.Contains(f.Text, "company_open_orders of 200") || !strings.Contains(f.Text, fmt.Sprint(c.want)) {
			t.Errorf("the text does not say what to do: %s", f.Text)
		}
	}
}
