package kyber_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/venue/kyber"
)

func TestAWayIsPricedAsTheAggregatorSays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d, err := r.best(usdc, wbtc, market.From, "2500000000")
	if err != nil {
		t.Fatal(err)
	}
	if d.In != amount("2500000000") || d.Out != amount("2500000") || d.Gas != 253_000+60_000 || d.Impact != 1400 || len(d.Plan) == 0 {
		t.Errorf("got %+v", d)
	}
	d, err = r.best(coins, usdc, market.From, "1000000000000000000")
	if err != nil || d.Gas != 253_000 {
		t.Errorf("coins need no approval: %+v, %v", d, err)
	}
	s := r.service
	if h := s.headers[0]; h.Get("X-Client-Id") != "ferry-test" || h.Get("Cookie") != "" || h.Get("Authorization") != "" {
		t.Errorf("asked with %v", h)
	}
}

// Every answer that is no way is told apart: no pool, trouble that passes, and trouble.
func TestAWayThatIsNoneHasAReason(t *testing.T) {
	t.Parallel()
	answer := func(status int, name string) func(*rig) {
		return func(r *rig) {
			body := recorded(r.t, name)
			r.service.instead = func(w http.ResponseWriter, _ *http.Request) bool { return says(w, status, body) }
		}
	}
	raw := func(status int, body string) func(*rig) {
		return func(r *rig) {
			r.service.instead = func(w http.ResponseWriter, _ *http.Request) bool { return says(w, status, []byte(body)) }
		}
	}
	bend := func(f func(o object)) func(*rig) { return func(r *rig) { r.service.bendRoute = f } }
	summary := func(name string, v any) func(*rig) {
		return bend(func(o object) { o["routeSummary"].(object)[name] = v })
	}
	for _, c := range []struct {
		name    string
		spoil   func(*rig)
		code    string // of a fault; else it is market.ErrNoPool where none is set, and trouble where it is "-"
		noticed bool
	}{
		{"no route", answer(400, "noroute"), "", false},
		{"too much", answer(400, "toomuch"), "", false},
		{"no pools", answer(400, "nopools"), "", false},
		{"no such token", answer(400, "notoken"), "", false},
		{"no route, politely", answer(200, "noroute"), "", false},
		{"it does not like the question", answer(400, "badquery"), "-", false},
		{"too many questions", raw(429, "slow down"), "provider_unavailable", false},
		{"it is broken", raw(500, `{"code":500,"message":"internal"}`), "-", false},
		{"it is away", raw(502, "<html>bad gateway</html>"), "-", false},
		{"garbage", raw(200, "\x00\xff{"), "-", false},
		{"nothing", raw(200, ""), "-", false},
		{"nothing in it", raw(200, `{"code":0,"message":"successfully"}`), "-", false},
		{"another kind of thing", raw(200, `{"code":0,"data":{"routeSummary":"later","routerAddress":1}}`), "-", false},
		{"no summary", raw(200, `{"code":0,"data":{"routerAddress":"`+router+`"}}`), "-", false},
		{"a huge answer", raw(200, `{"code":0,"message":"`+strings.Repeat("a", kyber.MaxAnswer)+`"}`), "-", false},
		{"it sends us elsewhere", func(r *rig) {
			r.service.instead = func(w http.ResponseWriter, q *http.Request) bool {
				http.Redirect(w, q, "/elsewhere", http.StatusFound)
				return true
			}
		}, "-", false},
		{"another router", bend(func(o object) { o["routerAddress"] = mallory }), "-", true},
		{"another token in", summary("tokenIn", mallory), "-", true},
		{"another token out", summary("tokenOut", mallory), "-", true},
		{"another amount", summary("amountIn", "2500000001"), "-", true},
		{"it brings nothing", summary("amountOut", "0"), "-", false},
		{"it brings less than nothing", summary("amountOut", "-5"), "-", false},
		{"it brings more than there is", summary("amountOut", strings.Repeat("9", 90)), "-", false},
		{"gas without end", summary("gas", "99999999999"), "-", false},
		{"gas that is no number", summary("gas", "cheap"), "-", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			c.spoil(r)
			d, err := r.best(usdc, wbtc, market.From, "2500000000")
			var f *fault.Error
			switch {
			case err == nil:
				t.Errorf("it offers %+v", d)
			case c.code == "" && !errors.Is(err, market.ErrNoPool):
				t.Errorf("got %v", err)
			case c.code == "-" && (errors.As(err, &f) || errors.Is(err, market.ErrNoPool)):
				t.Errorf("got %v", err)
			case c.code != "" && c.code != "-" && (!errors.As(err, &f) || f.Code != c.code):
				t.Errorf("got %v", err)
			case (len(r.told) > 0) != c.noticed:
				t.Errorf("told %v", r.told)
			}
			if r.service.times() != 1 {
				t.Errorf("asked %d times", r.service.times())
			}
		})
	}
}

func TestWhatIsNotListedIsNotAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dai := chain.Asset{Chain: ether, Ref: "0x6b175474e89094c44da98b954eedeac495271d0f"}
	for name, p := range map[string][2]chain.Asset{
		"unknown in":       {dai, usdc},
		"unknown out":      {usdc, dai},
		"for itself":       {usdc, usdc},
		"of another chain": {{Chain: "eip155:10", Ref: usdc.Ref}, wbtc},
		"its coin's name":  {{Chain: ether, Ref: "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"}, usdc},
	} {
		if _, err := r.best(p[0], p[1], market.From, "5"); !errors.Is(err, market.ErrNoPool) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var f *fault.Error
	if _, err := r.best(usdc, wbtc, market.To, "5"); !errors.As(err, &f) || f.Code != "no_route" || !strings.Contains(f.Text, "amount to give") {
		t.Errorf("an exact output: %v", err)
	}
	if _, err := r.best(usdc, wbtc, market.From, "0"); !errors.Is(err, market.ErrNoPool) {
		t.Errorf("nothing: %v", err)
	}
	if n := r.service.times(); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

// The market's deadline is minded: a silent aggregator keeps nobody longer.
func TestASilentAggregatorKeepsNobodyLongerThanTheDeadline(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	held := make(chan struct{})
	t.Cleanup(func() { close(held) })
	r.service.instead = func(_ http.ResponseWriter, q *http.Request) bool {
		select {
		case <-held:
		case <-q.Context().Done():
		}
		return true
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := r.venue.Best(ctx, market.PoolAsk{Give: usdc, Get: wbtc, Side: market.From, Amount: amount("5"), At: start})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestSettingsMustMakeSense(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*kyber.Config){
		"no chain":                   func(c *kyber.Config) { c.Chain = "" },
		"no name of the chain":       func(c *kyber.Config) { c.Slug = "" },
		"a name that leads away":     func(c *kyber.Config) { c.Slug = "../x" },
		"no router":                  func(c *kyber.Config) { c.Router = chain.Address{} },
		"a router of another family": func(c *kyber.Config) { c.Router = chain.CanonicalAddress(chain.Solana, router) },
		"no own address":             func(c *kyber.Config) { c.Own = chain.Address{} },
		"no executors":               func(c *kyber.Config) { c.Executors = nil },
		"an executor that is nobody": func(c *kyber.Config) {
			c.Executors = []chain.Address{addr("0x0000000000000000000000000000000000000000")}
		},
		"the router executes":    func(c *kyber.Config) { c.Executors = []chain.Address{c.Router} },
		"one asset":              func(c *kyber.Config) { c.Assets = c.Assets[:1] },
		"an asset twice":         func(c *kyber.Config) { c.Assets = []chain.Asset{usdc, usdc} },
		"an asset from afar":     func(c *kyber.Config) { c.Assets = []chain.Asset{usdc, {Chain: "eip155:10"}} },
		"no slippage":            func(c *kyber.Config) { c.Slippage = 0 },
		"all may slip":           func(c *kyber.Config) { c.Slippage = money.Whole },
		"no approval":            func(c *kyber.Config) { c.Approve = 0 },
		"approval without bound": func(c *kyber.Config) { c.Approve = 1 << 60 },
		"no patience":            func(c *kyber.Config) { c.Patience = 0 },
		"no pause":               func(c *kyber.Config) { c.Poll = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			cfg := settings()
			spoil(&cfg)
			if _, err := kyber.New(cfg, r.book, r.client); err == nil {
				t.Error("it was taken")
			}
		})
	}
	if _, err := kyber.New(settings(), nil, nil); err == nil {
		t.Error("a venue without anything was made")
	}
	if v := newRig(t).venue; v.Name() != kyber.Name {
		t.Errorf("it is called %s", v.Name())
	}
}
