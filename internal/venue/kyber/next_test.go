package kyber_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/quote"
	"ferry/internal/venue/kyber"
)

func TestAStepApprovesSwapsAndTellsWhatMoved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := step(usdc, wbtc)
	approve := sent(t, r.next(s, "2500000000"))
	if approve.To != addr(usdc.Ref) || approve.From != "hot" || approve.Asset != coins || !approve.Amount.IsZero() ||
		string(approve.Data) != string(kyber.PackApprove(common.HexToAddress(router), big.NewInt(4*2500000000))) {
		t.Fatalf("got %+v", approve)
	}
	if n := r.service.times(); n != 0 {
		t.Errorf("asked %d times before it may swap", n)
	}
	way := settled(approve, "0xa1", chain.Pending)
	if m, ok := r.next(s, "2500000000", way).(quote.Wait); !ok || m.For != 3*time.Second {
		t.Errorf("got %+v", m)
	}
	way.Fate = chain.Final
	r.allow(usdc, 4*2500000000)
	swap := sent(t, r.next(s, "2500000000", way))
	if swap.To != addr(router) || swap.From != "hot" || swap.Chain != ether || swap.Asset != usdc || swap.Amount != amount("2500000000") {
		t.Fatalf("got %+v", swap)
	}
	e, err := kyber.ReadSwap(swap.Data)
	if err != nil || e.Desc.MinReturnAmount.Cmp(big.NewInt(2450000)) < 0 || e.Desc.DstReceiver != common.HexToAddress(own) {
		t.Fatalf("got %+v, %v", e, err)
	}
	if m, ok := r.next(s, "2500000000", way, settled(swap, "0xb2", chain.Included)).(quote.Wait); !ok {
		t.Errorf("got %+v", m)
	}
	done := r.landed(swap, "0xb2",
		transfer(usdc, own, executor, 2500000000), transfer(usdc, executor, pool, 2500000000), transfer(wbtc, pool, executor, 2490000),
		transfer(wbtc, executor, own, 2490000), transfer(wbtc, mallory, mallory, 7), transfer(usdc, mallory, own, 1),
	)
	for range 2 { // asked again, it says the same
		if m := r.next(s, "2500000000", way, done); m != (quote.Done{In: amount("2499999999"), Out: amount("2490000")}) {
			t.Errorf("got %+v", m)
		}
	}
}

func TestCoinsNeedNoApprovalAndAreReadFromTheRouter(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := step(coins, usdc)
	swap := sent(t, r.next(s, "2500000000"))
	if swap.Asset != coins || swap.Amount != amount("2500000000") || swap.To != addr(router) {
		t.Fatalf("got %+v", swap)
	}
	if m := r.next(s, "2500000000", r.landed(swap, "0x1", transfer(usdc, pool, own, 2600000))); m != (quote.Done{In: amount("2500000000"), Out: amount("2600000")}) {
		t.Errorf("got %+v", m)
	}
	r.allow(usdc, 1e12)
	s = step(usdc, coins)
	swap = sent(t, r.next(s, "2500000000"))
	said := func(by, to string, n int64) chain.Log {
		l := chain.Log{Address: addr(by), Topics: []chain.Word{chain.Word(common.HexToHash("0xd6d4f5681c246c9f42c203e287975af1601f8df8035a9251f79aab5c8f09e2f8"))}}
		for _, a := range []string{own, usdc.Ref, "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee", to} {
			w := wordOf(a)
			l.Data = append(l.Data, w[:]...)
		}
		l.Data = append(append(l.Data, common.BigToHash(big.NewInt(2500000000)).Bytes()...), common.BigToHash(big.NewInt(n)).Bytes()...)
		return l
	}
	in := transfer(usdc, own, executor, 2500000000)
	if m := r.next(s, "2500000000", r.landed(swap, "0x2", in, said(mallory, own, 9e15), said(router, mallory, 8e15), said(router, own, 2470000))); m != (quote.Done{In: amount("2500000000"), Out: amount("2470000")}) {
		t.Errorf("got %+v", m)
	}
	for name, logs := range map[string][]chain.Log{
		"no word of it": {in}, "twice": {in, said(router, own, 2470000), said(router, own, 2470000)}, "another's word": {in, said(mallory, own, 2470000)},
	} {
		if m, err := r.venue.Next(t.Context(), s, quote.Progress{In: amount("2500000000"), Calls: []quote.Sent{r.landed(swap, "0x3", logs...)}, At: start}); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// A receipt that is not our swap's ends nothing, and what left us is never more than the
// step had.
func TestOnlyOurOwnReceiptIsBelieved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.allow(usdc, 1e12)
	s := step(usdc, wbtc)
	swap := sent(t, r.next(s, "2500000000"))
	good := []chain.Log{transfer(usdc, own, executor, 2500000000), transfer(wbtc, pool, own, 2490000)}
	for name, spoil := range map[string]func(*chain.Receipt){
		"another's":         func(c *chain.Receipt) { c.From = addr(mallory) },
		"another contract":  func(c *chain.Receipt) { c.To = addr(mallory) },
		"another call":      func(c *chain.Receipt) { c.Data = []byte{1} },
		"reverted":          func(c *chain.Receipt) { c.Fate = chain.Reverted },
		"another's tx":      func(c *chain.Receipt) { c.Tx = "0x9" },
		"it brought naught": func(c *chain.Receipt) { c.Logs = c.Logs[:1] },
		"it took naught":    func(c *chain.Receipt) { c.Logs = c.Logs[1:] },
		"it took more":      func(c *chain.Receipt) { c.Logs = append(c.Logs, transfer(usdc, own, mallory, 1)) },
		"half a number":     func(c *chain.Receipt) { c.Logs[1].Data = c.Logs[1].Data[:31] },
	} {
		call := r.landed(swap, "0x5", append([]chain.Log(nil), good...)...)
		c := r.book.receipts["0x5"]
		spoil(&c)
		r.book.receipts["0x5"] = c
		if m, err := r.venue.Next(t.Context(), s, quote.Progress{In: amount("2500000000"), Calls: []quote.Sent{call}, At: start}); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	call := r.landed(swap, "0x6", good...)
	c := r.book.receipts["0x6"]
	c.Fate = chain.Included
	r.book.receipts["0x6"] = c
	if m, ok := r.next(s, "2500000000", call).(quote.Wait); !ok {
		t.Errorf("it is not final yet: %+v", m)
	}
	two := []quote.Sent{r.landed(swap, "0x7", good...), r.landed(swap, "0x8", good...)}
	if m, err := r.venue.Next(t.Context(), s, quote.Progress{In: amount("2500000000"), Calls: two, At: start}); err == nil {
		t.Errorf("two swaps landed: %+v", m)
	}
	r.book.down = errors.New("no node answers")
	if m, err := r.venue.Next(t.Context(), s, quote.Progress{In: amount("2500000000"), Calls: []quote.Sent{call}, At: start}); err == nil {
		t.Errorf("nothing is known, and it says %+v", m)
	}
}

func TestASwapThatFailsIsTriedAgainAndThenGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.allow(usdc, 1e12)
	s := step(usdc, wbtc)
	swap := sent(t, r.next(s, "2500000000"))
	one := settled(swap, "0x1", chain.Reverted)
	sent(t, r.next(s, "2500000000", one))
	if m, ok := r.next(s, "2500000000", one, one).(quote.Fail); !ok {
		t.Errorf("got %+v", m)
	}
	if m, ok := r.next(s, "2500000000", one, r.landed(swap, "0x2", transfer(usdc, own, pool, 2500000000), transfer(wbtc, pool, own, 2490000))).(quote.Done); !ok {
		t.Errorf("got %+v", m)
	}
	dead := settled(swap, "", chain.Dead)
	sent(t, r.next(s, "2500000000", dead, dead, dead, dead))
	if m, ok := r.next(s, "2500000000", dead, dead, dead, dead, dead).(quote.Fail); !ok {
		t.Errorf("got %+v", m)
	}
}

func TestAnApprovalIsBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := step(usdc, wbtc)
	r.allow(usdc, 2499999999) // some tokens want to hear nothing first
	if c := sent(t, r.next(s, "2500000000")); string(c.Data) != string(kyber.PackApprove(common.HexToAddress(router), new(big.Int))) {
		t.Errorf("got %x", c.Data)
	}
	r.allow(usdc, 0)
	c := sent(t, r.next(s, "2500000000"))
	done := settled(c, "0x1", chain.Final)
	if m, ok := r.next(s, "2500000000", done, done, done, done).(quote.Fail); !ok {
		t.Errorf("got %+v", m)
	}
	r.allow(usdc, 2500000000)
	sent(t, r.next(s, "2500000000", done, done, done, done))
}

// The question for a call says what is ours, and hands the way back as it came.
func TestTheCallIsAskedForWithWhatIsOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.allow(usdc, 1e12)
	sent(t, r.next(step(usdc, wbtc), "2500000000"))
	b := r.service.built
	summary := b["routeSummary"].(object)
	want := opened(t, "route")["data"].(object)["routeSummary"].(object)
	want["tokenIn"], want["tokenOut"], want["amountOut"] = usdc.Ref, wbtc.Ref, "2500000"
	if diff := cmp.Diff(want, summary); diff != "" {
		t.Error(diff)
	}
	delete(b, "routeSummary")
	if diff := cmp.Diff(object{
		"sender": own, "recipient": own, "slippageTolerance": float64(100), "deadline": float64(start.Add(5 * time.Minute).Unix()), "source": "ferry-test",
	}, b); diff != "" {
		t.Error(diff)
	}
}

// Half of what was planned must bring half of the least, rounded against the market.
func TestTheLeastGoesWithWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in       string
		num, den int64 // what the market gives
		least    int64 // that must come back; 0 is that it is not sent
		slippage int64
	}{
		{"2500000000", 1, 1000, 2450000, 100},              // the setting bounds it
		{"2500000000", 98100, 100_000_000, 2450000, 10},    // 2452500 come: 0.1 % may slip
		{"2500000000", 2450001, 2_500_000_000, 2450000, 0}, // to the last unit
		{"2500000000", 2450000, 2_500_000_000, 0, 0},       // the call would be one unit short
		{"2500000000", 97, 100_000, 0, 0},
		{"1250000001", 1, 1000, 1225001, 100},
		{"5000000000", 2, 1000, 4900000, 100},
	} {
		r := newRig(t)
		r.allow(usdc, 1e12)
		r.service.num, r.service.den = big.NewInt(c.num), big.NewInt(c.den)
		m := r.next(step(usdc, wbtc), c.in)
		if c.least == 0 {
			if f, ok := m.(quote.Fail); !ok || r.service.times() != 1 {
				t.Errorf("%s at %d/%d: %+v", c.in, c.num, c.den, f)
			}
			continue
		}
		e, err := kyber.ReadSwap(sent(t, m).Data)
		if err != nil || e.Desc.MinReturnAmount.Cmp(big.NewInt(c.least)) < 0 || int64(r.service.built["slippageTolerance"].(float64)) != c.slippage {
			t.Errorf("%s at %d/%d: at least %s, slippage %v, %v", c.in, c.num, c.den, e.Desc.MinReturnAmount, r.service.built["slippageTolerance"], err)
		}
	}
}

// Trouble of the aggregator is waited for: what the step was given is here. That there is
// no way any more ends it.
func TestTroubleIsWaitedForAndNoWayEndsAStep(t *testing.T) {
	t.Parallel()
	build := func(w http.ResponseWriter, q *http.Request, status int, body []byte) bool {
		return q.Method == http.MethodPost && says(w, status, body)
	}
	for _, c := range []struct {
		name   string
		status int
		file   string // or what it says
		fails  bool
		late   bool // when the call is asked for
	}{
		{"no route", 400, "noroute", true, false},
		{"no token", 400, "notoken", true, false},
		{"no route for the call", 400, "noroute", true, true},
		{"the way is stale", 422, "stale", false, true},
		{"busy", 429, "", false, false},
		{"busy at the call", 429, "", false, true},
		{"broken", 500, "", false, false},
		{"broken at the call", 500, "", false, true},
		{"garbage", 200, "{", false, false},
		{"garbage at the call", 200, "[]", false, true},
		{"an empty call", 200, `{"code":0,"data":{}}`, false, true},
		{"a huge call", 200, `{"code":0,"data":{"routerAddress":"` + router + `","data":"0x` + strings.Repeat("00", 70<<10) + `"}}`, false, true},
		{"a huge answer", 200, strings.Repeat(" ", kyber.MaxAnswer+1), false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.allow(usdc, 1e12)
			body := []byte(c.file)
			if c.status >= 400 && c.file != "" {
				body = recorded(t, c.file)
			}
			r.service.instead = func(w http.ResponseWriter, q *http.Request) bool {
				if c.late {
					return build(w, q, c.status, body)
				}
				return says(w, c.status, body)
			}
			m := r.next(step(usdc, wbtc), "2500000000")
			if _, fails := m.(quote.Fail); fails != c.fails {
				t.Fatalf("got %T %+v", m, m)
			}
			if w, ok := m.(quote.Wait); !c.fails && (!ok || w.Why == "" || w.For <= 0) {
				t.Fatalf("got %T %+v", m, m)
			}
		})
	}
}

func TestAStepOfAnotherIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.allow(usdc, 1e12)
	for name, spoil := range map[string]func(*quote.Step, *quote.Progress){
		"another venue": func(s *quote.Step, _ *quote.Progress) { s.Venue = "pools" },
		"another plan":  func(s *quote.Step, _ *quote.Progress) { s.Plan = []byte{2} },
		"no plan":       func(s *quote.Step, _ *quote.Progress) { s.Plan = nil },
		"another chain": func(s *quote.Step, _ *quote.Progress) { s.In.Chain = "eip155:10" },
		"for itself":    func(s *quote.Step, _ *quote.Progress) { s.Out = s.In },
		"another's call": func(_ *quote.Step, k *quote.Progress) {
			k.Calls = []quote.Sent{{Call: chain.Call{Chain: ether, To: addr(mallory)}}}
		},
		"a call far away": func(_ *quote.Step, k *quote.Progress) {
			k.Calls = []quote.Sent{{Call: chain.Call{Chain: "eip155:10", To: addr(router)}}}
		},
	} {
		s, k := step(usdc, wbtc), quote.Progress{In: amount("2500000000"), At: start}
		spoil(&s, &k)
		if m, err := r.venue.Next(t.Context(), s, k); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	for name, spoil := range map[string]func(*quote.Step, *quote.Progress){
		"nothing to swap":    func(_ *quote.Step, k *quote.Progress) { k.In = amount("0") },
		"nothing to bring":   func(s *quote.Step, _ *quote.Progress) { s.MinOut = amount("0") },
		"nothing was quoted": func(s *quote.Step, _ *quote.Progress) { s.Give = amount("0") },
	} {
		s, k := step(usdc, wbtc), quote.Progress{In: amount("2500000000"), At: start}
		spoil(&s, &k)
		if m, err := r.venue.Next(t.Context(), s, k); err != nil || m == nil {
			t.Errorf("%s: %v", name, err)
		} else if _, ok := m.(quote.Fail); !ok {
			t.Errorf("%s: %+v", name, m)
		}
	}
	r.book.down = errors.New("no node answers")
	if m, err := r.venue.Next(t.Context(), step(usdc, wbtc), quote.Progress{In: amount("2500000000"), At: start}); err == nil {
		t.Errorf("nothing is known, and it says %+v", m)
	}
}

// What the summary says is kept as it came, to the last character.
func TestTheSummaryIsHandedBackAsItCame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.allow(usdc, 1e12)
	var got []byte
	var route struct {
		Data struct {
			Summary json.RawMessage `json:"routeSummary"`
		} `json:"data"`
	}
	body := strings.ReplaceAll(string(recorded(t, "route")), "\n", "")
	if err := json.Unmarshal([]byte(body), &route); err != nil {
		t.Fatal(err)
	}
	r.service.instead = func(w http.ResponseWriter, q *http.Request) bool {
		if q.Method == http.MethodGet {
			return says(w, 200, []byte(body))
		}
		var o struct {
			Summary json.RawMessage `json:"routeSummary"`
		}
		if err := json.NewDecoder(q.Body).Decode(&o); err != nil {
			t.Error(err)
		}
		got = o.Summary
		return says(w, 500, nil)
	}
	r.next(step(usdc, wbtc), "2500000000")
	bare := func(b []byte) string { return strings.ReplaceAll(string(b), " ", "") }
	if bare(got) != bare(route.Data.Summary) {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(bare(got), "25112233.0") || !strings.Contains(bare(got), "<a&b>") {
		t.Errorf("it was written anew: %s", got)
	}
}
