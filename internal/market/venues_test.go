package market_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// over builds a market of those venues alone.
func over(t *testing.T, venues ...market.Venue) *market.Market {
	t.Helper()
	r := newRig(t)
	m, err := market.New(r.cfg, r.listing, market.Ports{Treasury: r.free, Costs: r.costs, Venues: venues})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// pays is a venue that gives so much for whatever it is given, or asks so much.
func pays(name string, amount uint64) *venue {
	return &venue{name: name, say: func(_ context.Context, in market.Intent) ([]market.Route, error) {
		r := market.Route{In: in.Amount, Out: n(amount), MinIn: n(1), MaxIn: n(1 << 40)}
		if in.Side == market.To {
			r.In, r.Out = n(amount), in.Amount
		}
		return []market.Route{r}, nil
	}}
}

func fails(name string, err error) *venue {
	return &venue{name: name, say: func(context.Context, market.Intent) ([]market.Route, error) { return nil, err }}
}

func TestTheBestRouteIsTakenAndTheRestIsNamed(t *testing.T) {
	t.Parallel()
	trouble := errors.New("dial tcp 10.0.0.1: secret")
	venues := []market.Venue{
		pays("poor", 10), pays("rich", 30), pays("rich too", 30), fails("broken", trouble),
		fails("picky", fault.New(fault.Unprocessable, "insufficient_liquidity", "It has nothing.")),
		&venue{name: "mad", say: func(context.Context, market.Intent) ([]market.Route, error) { panic("mad") }},
		&venue{name: "liar", say: func(_ context.Context, in market.Intent) ([]market.Route, error) {
			return []market.Route{{In: n(1), Out: n(1 << 50), MinIn: n(1), MaxIn: n(1)}}, nil
		}},
		&venue{name: "narrow", say: func(_ context.Context, in market.Intent) ([]market.Route, error) {
			return []market.Route{{In: in.Amount, Out: n(1 << 50), MinIn: n(1), MaxIn: n(1)}}, nil
		}},
		&venue{name: "empty", say: func(_ context.Context, in market.Intent) ([]market.Route, error) {
			return []market.Route{{In: in.Amount, MinIn: n(1), MaxIn: n(1 << 40)}}, nil
		}},
		fails("silent", nil),
	}
	o, err := over(t, venues...).Quote(t.Context(), swap(usdc, 100_000), start)
	if err != nil || o.Venue != "rich" || o.Quote.Out != n(30) {
		t.Fatalf("got %+v, %v", o, err)
	}
	got := map[string]string{}
	for _, d := range o.Dropped {
		got[d.Provider] = d.Code
		if strings.Contains(d.Message, "secret") || d.Message == "" {
			t.Errorf("%s tells %q", d.Provider, d.Message)
		}
	}
	want := map[string]string{
		"broken": "upstream_error", "picky": "insufficient_liquidity", "mad": "upstream_error", "liar": "upstream_error",
		"narrow": "upstream_error", "empty": "upstream_error", "silent": "no_route",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	a := swap(usdc, 5)
	a.Side = market.To
	if o, err = over(t, pays("dear", 30), pays("cheap", 20)).Quote(t.Context(), a, start); err != nil || o.Venue != "cheap" || o.Quote.In != n(20) || o.Quote.Out != n(5) {
		t.Errorf("got %+v, %v", o, err)
	}
	if o.MaxFrom != n(21) || o.MinOut != n(5) { // half a percent more, rounded up
		t.Errorf("got at most %s and at least %s", o.MaxFrom, o.MinOut)
	}
}

func TestNoRouteNamesEveryVenueWithItsReason(t *testing.T) {
	t.Parallel()
	low, dry := &market.Bounds{Min: n(200_000), Max: n(300_000), Low: true}, fault.New(fault.Unprocessable, "insufficient_liquidity", "It has nothing.")
	for name, c := range map[string]struct {
		venues []market.Venue
		kind   fault.Kind
		code   string
		each   string
	}{
		"they differ":           {[]market.Venue{fails("a", low), fails("b", dry)}, fault.Unprocessable, "no_route", "amount_too_low insufficient_liquidity"},
		"they agree":            {[]market.Venue{fails("a", dry), fails("b", dry)}, fault.Unprocessable, "insufficient_liquidity", "insufficient_liquidity insufficient_liquidity"},
		"they agree on a bound": {[]market.Venue{fails("a", low), fails("b", low)}, fault.Unprocessable, "amount_too_low", "amount_too_low amount_too_low"},
		"nobody could say":      {[]market.Venue{fails("a", errors.New("x")), fails("b", context.DeadlineExceeded)}, fault.Unavailable, "provider_unavailable", "upstream_error upstream_timeout"},
		"one could say":         {[]market.Venue{fails("a", errors.New("x")), fails("b", dry)}, fault.Unprocessable, "no_route", "upstream_error insufficient_liquidity"},
		"nobody has it":         {[]market.Venue{fails("a", nil), fails("b", nil)}, fault.Unprocessable, "no_route", "no_route no_route"},
	} {
		_, err := over(t, c.venues...).Quote(t.Context(), swap(usdc, 100_000), start)
		f := mustFault(t, err, c.kind, c.code)
		shown, _ := f.Detail["providers"].([]map[string]string)
		var codes []string
		for i, s := range shown {
			codes = append(codes, s["code"])
			if s["provider"] != c.venues[i].Name() || s["message"] == "" || len(s) != 3 {
				t.Errorf("%s: got %v", name, s)
			}
		}
		if strings.Join(codes, " ") != c.each {
			t.Errorf("%s: got %v, want %s", name, codes, c.each)
		}
	}
	_, err := over(t, fails("a", low)).Quote(t.Context(), swap(usdc, 100_000), start)
	if f := fault.Of(err); f.Detail["minFromAmount"] != "200000" || f.Detail["maxFromAmount"] != "300000" || f.Detail["limit"] != "200000" ||
		!strings.Contains(f.Text, "0.002 BTC") {
		t.Errorf("got %v with %v", f, f.Detail)
	}
}

// A venue that never answers costs the deadline and nothing else.
func TestWhoIsLateIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		deaf := &venue{name: "deaf", say: func(context.Context, market.Intent) ([]market.Route, error) { <-done; return nil, nil }}
		polite := &venue{name: "polite", say: func(ctx context.Context, _ market.Intent) ([]market.Route, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		m := over(t, deaf, polite, pays("prompt", 7))
		began := time.Now()
		o, err := m.Quote(t.Context(), swap(usdc, 100_000), start)
		if err != nil || o.Venue != "prompt" || time.Since(began) != 2*time.Second {
			t.Fatalf("got %+v, %v after %s", o, err, time.Since(began))
		}
		if len(o.Dropped) != 2 || o.Dropped[0].Code != "upstream_timeout" || o.Dropped[1].Code != "upstream_timeout" {
			t.Errorf("got %+v", o.Dropped)
		}
		_, err = over(t, deaf).Quote(t.Context(), swap(usdc, 100_000), start)
		mustFault(t, err, fault.Unavailable, "provider_unavailable")
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = over(t, deaf).Quote(gone, swap(usdc, 100_000), start); !errors.Is(err, context.Canceled) {
			t.Errorf("nobody waits any more: got %v", err)
		}
		close(done)
	})
}

func TestAVenueIsAskedForWhatGoesOn(t *testing.T) {
	t.Parallel()
	var seen market.Intent
	v := &venue{name: "v", say: func(_ context.Context, in market.Intent) ([]market.Route, error) {
		seen = in
		return []market.Route{{In: in.Amount, Out: n(5), MinIn: n(1), MaxIn: n(1 << 40), Steps: []quote.Step{{Venue: "v", Give: in.Amount, Bring: n(5), MinOut: n(5)}}, Takes: time.Hour, Impact: 400}}, nil
	}}
	a := withFee(swap(usdc, 10_000_000), percent(t, "1"))
	a.To = payTo
	o, err := over(t, v).Quote(t.Context(), a, start)
	want := market.Intent{Give: btc, Get: usdc, Side: market.From, Amount: n(9_900_000), Mode: quote.Float, To: payTo, Over: 5_000, Slippage: 5_000, At: start}
	if err != nil || seen != want || v.calls.Load() != 1 {
		t.Errorf("got %+v, %v", seen, err)
	}
	if len(o.Quote.Steps) != 1 || o.Takes != 86*time.Minute || o.Impact != 400 || o.Quote.In != n(10_000_000) {
		t.Errorf("got %+v", o)
	}
}

func TestSettingsThatMissSomethingAreRefused(t *testing.T) {
	t.Parallel()
	good := newRig(t)
	if _, err := market.New(good.cfg, good.listing, market.Ports{Treasury: good.free, Costs: good.costs, Venues: []market.Venue{pays("a", 1)}}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*market.Config, *market.Ports){
		"no venue":           func(_ *market.Config, p *market.Ports) { p.Venues = nil },
		"one venue twice":    func(_ *market.Config, p *market.Ports) { p.Venues = append(p.Venues, p.Venues...) },
		"no treasury":        func(_ *market.Config, p *market.Ports) { p.Treasury = nil },
		"no costs":           func(_ *market.Config, p *market.Ports) { p.Costs = nil },
		"no account":         func(c *market.Config, _ *market.Ports) { c.Account = "" },
		"no lifetime":        func(c *market.Config, _ *market.Ports) { c.Float = 0 },
		"no fixed lifetime":  func(c *market.Config, _ *market.Ports) { c.Fixed = 0 },
		"no deadline":        func(c *market.Config, _ *market.Ports) { c.Deadline = 0 },
		"no slippage":        func(c *market.Config, _ *market.Ports) { c.MaxSlippage = 0 },
		"no tolerance":       func(c *market.Config, _ *market.Ports) { c.Tolerance = quote.Tolerance{} },
		"a chain twice":      func(c *market.Config, _ *market.Ports) { c.Chains = append(c.Chains, c.Chains[0]) },
		"a chain is missing": func(c *market.Config, _ *market.Ports) { c.Chains = c.Chains[1:] },
		"no family":          func(c *market.Config, _ *market.Ports) { c.Chains[0].Family = "" },
		"no deposit time":    func(c *market.Config, _ *market.Ports) { c.Chains[0].Deposit = 0 },
		"no chain slippage":  func(c *market.Config, _ *market.Ports) { c.Chains[0].Slippage = 0 },
		"no depth":           func(c *market.Config, _ *market.Ports) { c.Chains[0].Depths = nil },
		"depth of nothing":   func(c *market.Config, _ *market.Ports) { c.Chains[0].Depths = []market.Depth{{}} },
		"depths with an end": func(c *market.Config, _ *market.Ports) {
			c.Chains[0].Depths = []market.Depth{{UpTo: 1, Confirmations: 1}}
		},
		"depths out of order": func(c *market.Config, _ *market.Ports) { c.Chains[0].Depths = []market.Depth{{2, 1}, {1, 1}, {0, 1}} },
	} {
		cfg, ports := settings(), market.Ports{Treasury: good.free, Costs: good.costs, Venues: []market.Venue{pays("a", 1)}}
		change(&cfg, &ports)
		if _, err := market.New(cfg, good.listing, ports); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	for name, change := range map[string]func(*market.InventoryConfig){
		"no account":     func(c *market.InventoryConfig) { c.Account = "" },
		"no address":     func(c *market.InventoryConfig) { c.Own = nil },
		"no minimum":     func(c *market.InventoryConfig) { c.Default.Min = 0 },
		"no maximum":     func(c *market.InventoryConfig) { c.Default.Max = 0 },
		"a gift":         func(c *market.InventoryConfig) { c.Default.Spread = -1 },
		"all of it":      func(c *market.InventoryConfig) { c.Default.Spread = money.Whole },
		"a pair of none": func(c *market.InventoryConfig) { c.Pairs = map[market.Pair]market.Terms{{Give: btc, Get: eth}: {}} },
	} {
		cfg := newRig(t).stock
		change(&cfg)
		if _, err := market.NewInventory(cfg, good.listing, good.free, good.costs); err == nil {
			t.Errorf("inventory with %s: was taken", name)
		}
	}
	for name, list := range map[string][]market.Asset{
		"nothing":        nil,
		"twice":          append(assets(), assets()[0]),
		"no symbol":      append(assets(), market.Asset{Asset: quoteAsset("x"), Dust: n(1)}),
		"25 decimals":    append(assets(), market.Asset{Asset: quoteAsset("x"), Symbol: "X", Decimals: 25, Dust: n(1)}),
		"no dust":        append(assets(), market.Asset{Asset: quoteAsset("x"), Symbol: "X"}),
		"no native coin": assets()[2:],
	} {
		if _, err := market.NewListing(good.prices, list); err == nil {
			t.Errorf("a listing of %s: was taken", name)
		}
	}
}
