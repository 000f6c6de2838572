package integrator_test

import (
	"errors"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
)

func address(f chain.Family, text string) chain.Address { return chain.CanonicalAddress(f, text) }

// sound is an integrator with everything set that can be.
func sound() integrator.Integrator {
	return integrator.Integrator{
		ID: "int_1", Name: "Acme Wallet", Status: integrator.Active, Version: 1,
		Limits: integrator.DefaultLimits, Window: integrator.DefaultWindow, AttributionDays: integrator.DefaultAttributionDays,
		Forwarding: integrator.Forwarding{
			Enabled: true, Limits: integrator.DefaultClientLimits,
			Egress: []netip.Prefix{netip.MustParsePrefix("203.0.113.7/32"), netip.MustParsePrefix("2001:db8::/32")},
		},
		Fees: integrator.FeePolicy{
			Default: integrator.MaxFee,
			PayTo: map[chain.Family]chain.Address{
				chain.EVM: address(chain.EVM, "0xfee"), chain.Solana: address(chain.Solana, "Fee"), chain.Bitcoin: address(chain.Bitcoin, "bc1fee"),
			},
		},
	}
}

func TestASoundIntegratorIsTaken(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*integrator.Integrator){
		"as it is":  func(*integrator.Integrator) {},
		"suspended": func(i *integrator.Integrator) { i.Status = integrator.Suspended },
		"every limit disabled": func(i *integrator.Integrator) {
			i.Limits, i.Forwarding.Limits = integrator.Limits{}, integrator.ClientLimits{}
		},
		"the highest limit":     func(i *integrator.Integrator) { i.Limits.Requests = 1_000_000_000 },
		"the shortest window":   func(i *integrator.Integrator) { i.Window = time.Minute },
		"the longest window":    func(i *integrator.Integrator) { i.Window = 30 * 24 * time.Hour },
		"a year of attribution": func(i *integrator.Integrator) { i.AttributionDays = 365 },
		"no fee and nowhere":    func(i *integrator.Integrator) { i.Fees = integrator.FeePolicy{} },
		"approved, not enabled": func(i *integrator.Integrator) { i.Forwarding.Enabled = false },
		"nobody forwards":       func(i *integrator.Integrator) { i.Forwarding = integrator.Forwarding{} },
		"a name in any script":  func(i *integrator.Integrator) { i.Name = strings.Repeat("ß", 100) },
	} {
		i := sound()
		change(&i)
		if err := i.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	egress := func(text string) func(*integrator.Integrator) {
		return func(i *integrator.Integrator) { i.Forwarding.Egress = []netip.Prefix{netip.MustParsePrefix(text)} }
	}
	const forwards = "clientIpForwarding.egress"
	for _, c := range []struct {
		name, field string
		change      func(*integrator.Integrator)
	}{
		{"no name", "name", func(i *integrator.Integrator) { i.Name = "" }},
		{"blanks for a name", "name", func(i *integrator.Integrator) { i.Name = " \t" }},
		{"a blank before", "name", func(i *integrator.Integrator) { i.Name = " Acme" }},
		{"a name of two lines", "name", func(i *integrator.Integrator) { i.Name = "Acme\nEvil" }},
		{"a name that turns around", "name", func(i *integrator.Integrator) { i.Name = "Acme\u202egnp" }},
		{"a name that is no text", "name", func(i *integrator.Integrator) { i.Name = "Acme\xff" }},
		{"a long name", "name", func(i *integrator.Integrator) { i.Name = strings.Repeat("ß", 101) }},
		{"no status", "status", func(i *integrator.Integrator) { i.Status = "" }},
		{"another status", "status", func(i *integrator.Integrator) { i.Status = "Active" }},
		{"requests below zero", "limits.requestLimitPerMin", func(i *integrator.Integrator) { i.Limits.Requests = -1 }},
		{"quotes below zero", "limits.quoteLimitPerMin", func(i *integrator.Integrator) { i.Limits.Quotes = math.MinInt64 }},
		{"creates without end", "limits.createLimitPerMin", func(i *integrator.Integrator) { i.Limits.Creates = math.MaxInt64 }},
		{"open orders without end", "limits.maxOpenOrders", func(i *integrator.Integrator) { i.Limits.OpenOrders = 1_000_000_001 }},
		{"a client's requests", "clientIpForwarding.limits.requestLimitPerMin", func(i *integrator.Integrator) { i.Forwarding.Limits.Requests = -1 }},
		{"a client's creates", "clientIpForwarding.limits.createLimitPerMin", func(i *integrator.Integrator) { i.Forwarding.Limits.Creates = -1 }},
		{"a client's open orders", "clientIpForwarding.limits.maxOpenOrders", func(i *integrator.Integrator) { i.Forwarding.Limits.OpenOrders = -1 }},
		{"no window", "openOrderWindowMinutes", func(i *integrator.Integrator) { i.Window = 0 }},
		{"a window of parts of a minute", "openOrderWindowMinutes", func(i *integrator.Integrator) { i.Window = 90 * time.Second }},
		{"a window of a year", "openOrderWindowMinutes", func(i *integrator.Integrator) { i.Window = 365 * 24 * time.Hour }},
		{"no attribution", "attribution.windowDays", func(i *integrator.Integrator) { i.AttributionDays = 0 }},
		{"long attribution", "attribution.windowDays", func(i *integrator.Integrator) { i.AttributionDays = 366 }},
		{"enabled for nobody", forwards, func(i *integrator.Integrator) { i.Forwarding.Egress = nil }},
		{"everybody", forwards, egress("0.0.0.0/0")},
		{"half of everybody", forwards, egress("128.0.0.0/1")},
		{"every address of six", forwards, egress("::/0")},
		{"a wide net of six", forwards, egress("2001:d00::/24")},
		{"bits beyond the mask", forwards, egress("203.0.113.7/24")},
		{"four inside six", forwards, egress("::ffff:203.0.113.0/120")},
		{"not a network", forwards, func(i *integrator.Integrator) { i.Forwarding.Egress = []netip.Prefix{{}} }},
		{"too many servers", forwards, func(i *integrator.Integrator) {
			i.Forwarding.Egress = slices.Repeat([]netip.Prefix{netip.MustParsePrefix("203.0.113.7/32")}, 257)
		}},
		{"a fee below zero", "defaultFeePercent", func(i *integrator.Integrator) { i.Fees.Default = -1 }},
		{"a fee above five percent", "defaultFeePercent", func(i *integrator.Integrator) { i.Fees.Default = integrator.MaxFee + 1 }},
		{"a fee to another family", "payoutAddresses.other", func(i *integrator.Integrator) {
			i.Fees.PayTo = map[chain.Family]chain.Address{chain.Other: address(chain.Other, "x")}
		}},
		{"an address of another family", "payoutAddresses.evm", func(i *integrator.Integrator) {
			i.Fees.PayTo[chain.EVM] = address(chain.Bitcoin, "bc1")
		}},
		{"an empty address", "payoutAddresses.solana", func(i *integrator.Integrator) { i.Fees.PayTo[chain.Solana] = chain.Address{} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			i := sound()
			c.change(&i)
			var p *integrator.Problem
			if err := i.Check(); !errors.As(err, &p) || p.Field != c.field || p.Why == "" || !errors.Is(err, integrator.ErrRefused) {
				t.Errorf("got %v, want a problem with %s", err, c.field)
			}
		})
	}
}

func TestOfSeveralWrongAddressesTheSameIsNamedEveryTime(t *testing.T) {
	t.Parallel()
	for range 50 {
		i := sound()
		for f := range i.Fees.PayTo {
			i.Fees.PayTo[f] = chain.Address{}
		}
		if err := i.Check(); err == nil || !strings.HasPrefix(err.Error(), "payoutAddresses.bitcoin") {
			t.Fatalf("got %v", err)
		}
	}
}

func TestOnlyApprovedServersMayForward(t *testing.T) {
	t.Parallel()
	f := sound().Forwarding
	for text, want := range map[string]bool{
		"203.0.113.7": true, "::ffff:203.0.113.7": true, "203.0.113.8": false,
		"2001:db8::1": true, "2001:db9::1": false, "::203.0.113.7": false,
	} {
		if got := f.Approves(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
	if f.Approves(netip.Addr{}) {
		t.Error("an address that is none was approved")
	}
	f.Enabled = false
	if f.Approves(netip.MustParseAddr("203.0.113.7")) {
		t.Error("forwarding is disabled and was approved")
	}
}
