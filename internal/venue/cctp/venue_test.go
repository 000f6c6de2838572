package cctp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/testseed"
	"ferry/internal/venue/cctp"
)

// free prices gas at nothing.
type free struct{}

func (free) Gas(context.Context, chain.ID, uint64, chain.Asset, time.Time) (money.Amount, error) {
	return n(0), nil
}

func (s *stage) with(g cctp.Gas) *cctp.Venue {
	s.t.Helper()
	v, err := cctp.New(s.cfg, map[chain.ID]cctp.Chain{here.Chain: s.src, there.Chain: s.dst}, s.scribe, g)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

func TestARouteIsOneForOneLessWhatIsTold(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	routes, err := s.venue().Routes(t.Context(), s.intent(800_000))
	if err != nil || len(routes) != 1 {
		t.Fatalf("got %+v, %v", routes, err)
	}
	r := routes[0]
	// A thousandth may be kept, two thousandths of the rest are Ferry's, and gas is twice 25,000.
	if r.In != n(800_000) || r.Out != n(799_200-1_599-50_000) || r.Network != n(50_000) || r.Service != n(1_599) ||
		r.MinIn != n(100) || r.MaxIn != n(900_000) || r.Takes != here.Attested {
		t.Errorf("got %+v", r)
	}
	step := r.Steps[0]
	if len(r.Steps) != 1 || step.Venue != "cctp" || step.In != here.Token || step.Out != there.Token || step.MinOut != n(799_200) ||
		!strings.Contains(string(step.Plan), `"since":100`) {
		t.Errorf("got %+v", step)
	}
	in := s.intent(600_000)
	in.Side = market.To
	if routes, err = s.venue().Routes(t.Context(), in); err != nil || len(routes) != 1 || routes[0].Out != n(600_000) {
		t.Errorf("got %+v, %v", routes, err)
	}
}

func TestRoutesAreRefusedWithTheirReason(t *testing.T) {
	t.Parallel()
	bounds := func(low bool) func(err error) bool {
		return func(err error) bool {
			var b *market.Bounds
			return errors.As(err, &b) && b.Low == low
		}
	}
	coded := func(code string) func(err error) bool {
		return func(err error) bool { return fault.Of(err).Code == code }
	}
	down := func(err error) bool { return errors.Is(err, errDown) }
	none := func(err error) bool { return err == nil }
	for name, c := range map[string]struct {
		change func(s *stage, in *market.Intent)
		gas    cctp.Gas
		want   func(err error) bool
	}{
		"too little":          {func(_ *stage, in *market.Intent) { in.Amount = n(99) }, free{}, bounds(true)},
		"too much":            {func(_ *stage, in *market.Intent) { in.Amount = n(900_001) }, free{}, bounds(false)},
		"above the burn":      {func(s *stage, in *market.Intent) { s.src.views[fnLimit] = numWord(n(799_999)) }, free{}, bounds(false)},
		"no burn":             {func(s *stage, in *market.Intent) { s.src.views[fnLimit] = numWord(n(0)) }, free{}, coded("insufficient_liquidity")},
		"gas takes all":       {func(*stage, *market.Intent) {}, dear{}, coded("fees_exceed_amount")},
		"no price of gas":     {func(*stage, *market.Intent) {}, dear{errDown}, down},
		"no limit":            {func(s *stage, _ *market.Intent) { s.src.down = fnLimit }, free{}, down},
		"no head":             {func(s *stage, _ *market.Intent) { s.dst.down = "head" }, free{}, down},
		"another token":       {func(_ *stage, in *market.Intent) { in.Give = here.Chain.Native() }, free{}, none},
		"another token there": {func(_ *stage, in *market.Intent) { in.Get.Ref = alice.Text() }, free{}, none},
		"the same chain":      {func(_ *stage, in *market.Intent) { in.Get = in.Give }, free{}, none},
		"no such chain":       {func(_ *stage, in *market.Intent) { in.Get.Chain = "eip155:9" }, free{}, none},
		"more than there is": {func(_ *stage, in *market.Intent) {
			in.Side, in.Amount = market.To, money.MustParse("1"+strings.Repeat("0", 76))
		}, free{}, func(err error) bool { return err != nil }},
	} {
		s := newStage(t)
		in := s.intent(800_000)
		c.change(s, &in)
		if got, err := s.with(c.gas).Routes(t.Context(), in); !c.want(err) || len(got) != 0 {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

// What is wanted is what is left, and a unit less would not do.
func TestRandomExactOutputsTakeTheLeast(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	s := newStage(t)
	s.cfg.Max = n(1 << 60)
	s.src.views[fnLimit] = numWord(n(1 << 60))
	for range 2000 {
		s.cfg.Service, s.cfg.MaxFee = money.Percent(r.IntN(50_000)), money.Percent(r.IntN(50_000))
		v := s.venue()
		in := s.intent(1 + r.Uint64N(1<<uint(10+r.IntN(40))))
		in.Side = market.To
		got, err := v.Routes(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		back := in
		back.Side = market.From
		for i, amount := range []money.Amount{got[0].In, got[0].In.Less0(n(1))} {
			back.Amount = amount
			out, err := v.Routes(t.Context(), back)
			if enough := err == nil && !out[0].Out.Less(in.Amount); enough != (i == 0) {
				t.Fatalf("%s of %s with fees of %s and %s: got %+v, %v", amount, in.Amount, s.cfg.Service, s.cfg.MaxFee, out, err)
			}
		}
	}
}

func TestALimitIsReadOnceInAWhile(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	v := s.venue()
	for _, c := range []struct {
		after time.Duration
		asked int
	}{{0, 2}, {59 * time.Second, 2}, {time.Second, 4}, {-time.Hour, 6}} {
		in := s.intent(800_000)
		start := start.Add(c.after)
		in.At = start
		if c.after == time.Second {
			in.At = start.Add(59 * time.Second)
		}
		if _, err := v.Routes(t.Context(), in); err != nil || s.src.viewed != c.asked {
			t.Errorf("%s: asked %d times, want %d, %v", c.after, s.src.viewed, c.asked, err)
		}
	}
}

func TestAConfigurationThatIsWrongIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(c *cctp.Config){
		"one chain":                func(c *cctp.Config) { c.Domains = c.Domains[:1] },
		"a domain twice":           func(c *cctp.Config) { c.Domains[1].Number = 0 },
		"a chain twice":            func(c *cctp.Config) { c.Domains[1].Chain, c.Domains[1].Token = here.Chain, here.Token },
		"a token of another chain": func(c *cctp.Config) { c.Domains[1].Token = here.Token },
		"no token":                 func(c *cctp.Config) { c.Domains[1].Token.Ref = "" },
		"no messenger":             func(c *cctp.Config) { c.Domains[0].Messenger = chain.Address{} },
		"no transmitter":           func(c *cctp.Config) { c.Domains[0].Transmitter = chain.Address{} },
		"no address of ours":       func(c *cctp.Config) { c.Domains[0].Own = chain.Address{} },
		"an address of another":    func(c *cctp.Config) { c.Domains[0].Own = chain.CanonicalAddress(chain.Solana, alice.Text()) },
		"one contract":             func(c *cctp.Config) { c.Domains[0].Messenger = c.Domains[0].Transmitter },
		"no time":                  func(c *cctp.Config) { c.Domains[0].Attested = 0 },
		"no minimum":               func(c *cctp.Config) { c.Min = n(0) },
		"a low maximum":            func(c *cctp.Config) { c.Max = n(99) },
		"a negative fee":           func(c *cctp.Config) { c.Service = -1 },
		"a mad fee":                func(c *cctp.Config) { c.Service = money.Whole / 2 },
		"a mad fee of theirs":      func(c *cctp.Config) { c.MaxFee = money.Whole / 2 },
		"no poll":                  func(c *cctp.Config) { c.Poll = 0 },
		"never fresh":              func(c *cctp.Config) { c.Fresh = 0 },
	} {
		s := newStage(t)
		s.cfg.Domains = append([]cctp.Domain(nil), s.cfg.Domains...)
		change(&s.cfg)
		if _, err := cctp.New(s.cfg, map[chain.ID]cctp.Chain{here.Chain: s.src, there.Chain: s.dst}, s.scribe, free{}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	s := newStage(t)
	chains := map[chain.ID]cctp.Chain{here.Chain: s.src, there.Chain: s.dst}
	for name, try := range map[string]func() (*cctp.Venue, error){
		"no attester": func() (*cctp.Venue, error) { return cctp.New(s.cfg, chains, nil, free{}) },
		"no gas":      func() (*cctp.Venue, error) { return cctp.New(s.cfg, chains, s.scribe, nil) },
		"no chain": func() (*cctp.Venue, error) {
			return cctp.New(s.cfg, map[chain.ID]cctp.Chain{here.Chain: s.src}, s.scribe, free{})
		},
	} {
		if _, err := try(); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestContractsThatAreOthersAreSeenAtStart(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *stage){
		"another domain":      func(s *stage) { s.dst.views[fnDomain] = numWord(n(3)) },
		"another transmitter": func(s *stage) { s.src.views[fnSpeaks] = numWord(n(3)) },
		"another messenger":   func(s *stage) { s.dst.views[fnRemote] = numWord(n(3)) },
		"no messenger":        func(s *stage) { s.dst.views[fnRemote] = numWord(n(0)) },
		"no answer":           func(s *stage) { s.src.views[fnDomain] = nil },
		"no node":             func(s *stage) { s.src.down = fnSpeaks },
	} {
		s := newStage(t)
		if err := s.venue().Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		change(s)
		if err := s.venue().Check(t.Context()); err == nil {
			t.Errorf("%s was not seen", name)
		}
	}
}
