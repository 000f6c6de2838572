package limit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/limit"
)

func TestHeadersListEveryLimit(t *testing.T) {
	t.Parallel()
	m, p := memory(t, noon), server(access.Forwarded)
	claims := limit.Claims(nil, p, limit.Create, limit.DefaultIPLimits)
	m.Take(noon, claims[:2])
	v := m.Take(noon.Add(47500*time.Millisecond), claims)
	policy := `"company_requests";q=600;w=60, "key_requests";q=301;w=60, "client_requests";q=61;w=60, ` +
		`"company_creates";q=60;w=60, "client_creates";q=10;w=60`
	if got := string(limit.AppendPolicy(nil, claims)); got != policy {
		t.Errorf("policy %s", got)
	}
	state := `"company_requests";r=598;t=13, "key_requests";r=299;t=13, "client_requests";r=60;t=60, ` +
		`"company_creates";r=59;t=60, "client_creates";r=9;t=60`
	if got := string(limit.AppendState([]byte("x"), &v)); got != "x"+state {
		t.Errorf("state %s", got)
	}
	off := append([]limit.Claim{{Subject: limit.Subject{Resource: limit.IPQuotes}}}, claims...)
	if got := string(limit.AppendPolicy([]byte("x"), off)); got != "x"+policy {
		t.Errorf("a limit that is off is told: %s", got)
	}
	if got := limit.AppendState(limit.AppendPolicy(nil, nil), &limit.Verdict{}); len(got) != 0 {
		t.Errorf("no claims give %q", got)
	}
}

// A refusal tells the same wait in both headers.
func TestTheStateOfARefusalIsItsWait(t *testing.T) {
	t.Parallel()
	m, c := memory(t, noon), one(limit.KeyRequests, "k", 1)
	take(m, noon, c)
	v := take(m, noon.Add(18*time.Second), c, one(limit.CompanyQuotes, "", 7))
	if got := string(limit.AppendState(nil, &v)); got != `"key_requests";r=0;t=42, "company_quotes";r=7;t=0` {
		t.Errorf("got %s", got)
	}
	if seconds, ok := limit.RetryAfter(limit.Refuse(&v)); !ok || seconds != 42 {
		t.Errorf("got %d %v", seconds, ok)
	}
}

// Every name must be a string of a structured field: nothing in it needs escaping.
func TestHeadersAreStructuredFields(t *testing.T) {
	t.Parallel()
	member := regexp.MustCompile(`^"[a-z_]+";[qr]=[0-9]{1,15};[wt]=[0-9]{1,15}$`)
	m := memory(t, noon)
	for _, r := range limit.Resources() {
		claims := []limit.Claim{one(r, "a", 1_000_000_000), one(r, "b", 1)}
		v := m.Take(noon, claims)
		for _, value := range [][]byte{limit.AppendPolicy(nil, claims), limit.AppendState(nil, &v)} {
			for _, text := range strings.Split(string(value), ", ") {
				if !member.MatchString(text) {
					t.Errorf("%s: %s", r, text)
				}
			}
		}
	}
}

func TestARefusalNamesTheLongestWaitAndListsAll(t *testing.T) {
	t.Parallel()
	m := memory(t, noon)
	a, b := one(limit.CompanyRequests, "", 2), one(limit.KeyRequests, "k", 1)
	v := take(m, noon, a)
	if limit.Refuse(&v) != nil {
		t.Fatal("an allowed request is refused")
	}
	take(m, noon.Add(10*time.Second), a, b)
	v = take(m, noon.Add(20*time.Second), a, one(limit.CompanyQuotes, "", 5), b)
	f := limit.Refuse(&v)
	if f.Kind != fault.Exhausted || f.Code != "rate_limited" {
		t.Errorf("got %v", f)
	}
	if f.Text != "The limit key_requests of 1 a minute is used up. Try again in 50 seconds; for a higher limit ask the operator." {
		t.Errorf("text: %s", f.Text)
	}
	seconds, ok := limit.RetryAfter(f)
	name, named := limit.ResourceOf(f)
	if !ok || !named || seconds != 50 || name != "key_requests" {
		t.Errorf("got %d %v, %s %v", seconds, ok, name, named)
	}
	got, err := json.Marshal(f.Detail)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"exhausted":[{"limit":1,"resource":"key_requests","retryAfterSeconds":50},` +
		`{"limit":2,"resource":"company_requests","retryAfterSeconds":40}],"resource":"key_requests","retryAfterSeconds":50}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestRefusalsHaveTheCodesOfTheContract(t *testing.T) {
	t.Parallel()
	for _, r := range limit.Resources() {
		m, c := memory(t, noon), one(r, "k", 1)
		take(m, noon, c)
		v := take(m, noon, c)
		want := "rate_limited"
		if r == limit.IPAccessFailures {
			want = "too_many_access_failures"
		}
		f := limit.Refuse(&v)
		if f.Code != want || !strings.Contains(f.Text, r.String()) || !strings.Contains(f.Text, "in 60 seconds") {
			t.Errorf("%s: %v", r, f)
		}
		if strings.Contains(f.Text, "%!") {
			t.Errorf("%s: %s", r, f.Text)
		}
	}
}

func TestNoAddressIsInARefusal(t *testing.T) {
	t.Parallel()
	m, p := memory(t, noon), visitor(false)
	for _, claims := range [][]limit.Claim{
		limit.AccessFailures(nil, p, limit.IPLimits{AccessFailures: 1}),
		limit.Claims(nil, p, limit.Create, limit.IPLimits{Requests: 1, Creates: 1}),
	} {
		m.Take(noon, claims)
		v := m.Take(noon, claims)
		f := limit.Refuse(&v)
		if text := fmt.Sprint(f.Error(), f.Detail); strings.Contains(text, p.Client.String()) {
			t.Errorf("the address is told: %s", text)
		}
	}
	f := limit.TooManyOpen(limit.OpenCeilings(p, limit.DefaultIPLimits)[0], noon, noon)
	if text := fmt.Sprint(f.Error(), f.Detail); strings.Contains(text, p.Client.String()) {
		t.Errorf("the address is told: %s", text)
	}
}

func TestOtherFaultsAskForNoWait(t *testing.T) {
	t.Parallel()
	f := fault.New(fault.NotFound, "order_not_found", "No such order.")
	if _, ok := limit.RetryAfter(f); ok {
		t.Error("a wait")
	}
	if _, ok := limit.ResourceOf(f.With("resource", "company_requests")); ok {
		t.Error("a resource")
	}
}

func TestAGateHasRoomForSomeAndEnds(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, -1} {
		if g, err := limit.NewGate(n); err == nil || g != nil {
			t.Errorf("room for %d is no gate", n)
		}
	}
	g, err := limit.NewGate(2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false} {
		if g.Enter() != want {
			t.Errorf("request %d of two at once", i+1)
		}
	}
	if g.Inside() != 2 {
		t.Errorf("%d inside", g.Inside())
	}
	if g.Leave(); !g.Enter() || g.Enter() {
		t.Error("whoever leaves makes room for one")
	}
	f := g.Full()
	if f.Kind != fault.Unavailable || f.Code != "service_unavailable" {
		t.Errorf("got %v", f)
	}
	if seconds, ok := limit.RetryAfter(f); !ok || seconds != 1 {
		t.Errorf("got %d %v", seconds, ok)
	}
	if name, ok := limit.ResourceOf(f); ok {
		t.Errorf("a full house is nobody's limit, not %s", name)
	}
	if !errors.Is(f.With("a", 1), f) || g.Full().Detail["a"] != nil {
		t.Error("the refusal that all share was changed")
	}
}

func TestLeavingAGateTwiceIsAMistakeAndMakesNoRoom(t *testing.T) {
	t.Parallel()
	g, err := limit.NewGate(1)
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing was said")
			}
		}()
		g.Leave()
	}()
	if !g.Enter() || g.Enter() {
		t.Error("more got in than there is room for")
	}
}

func TestSweepOfAGateNeverHoldsMore(t *testing.T) {
	t.Parallel()
	const room, callers = 7, 32
	g, err := limit.NewGate(room)
	if err != nil {
		t.Fatal(err)
	}
	var inside, refused, over atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range tries / callers / 10 {
				if !g.Enter() {
					refused.Add(1)
					continue
				}
				if inside.Add(1) > room {
					over.Add(1)
				}
				inside.Add(-1)
				g.Leave()
			}
		})
	}
	wg.Wait()
	if over.Load() > 0 || g.Inside() != 0 {
		t.Errorf("%d times more than %d, %d still inside", over.Load(), room, g.Inside())
	}
	// All at once, so that somebody is refused for certain.
	for range room {
		if !g.Enter() {
			t.Fatal("refused")
		}
	}
	if g.Enter() {
		t.Error("one more got in")
	}
	t.Logf("%d were refused in the rush", refused.Load())
}
