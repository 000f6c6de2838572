package limit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/limit"
	"ferry/internal/testseed"
)

func take(m *limit.Memory, now time.Time, claims ...limit.Claim) limit.Verdict {
	return m.Take(now, claims)
}

func TestAWindowSlides(t *testing.T) {
	t.Parallel()
	m, c := memory(t, noon), one(limit.KeyRequests, "k", 2)
	for _, step := range []struct {
		at      time.Duration
		allowed bool
		left    int64
		seconds int32
	}{
		{0, true, 1, 60},
		{30500 * time.Millisecond, true, 0, 30},
		{30500 * time.Millisecond, false, 0, 30},
		{59999 * time.Millisecond, false, 0, 1},
		{60 * time.Second, true, 0, 31},
		{60 * time.Second, false, 0, 31},
		{90499999999, false, 0, 1},
		{90500 * time.Millisecond, true, 0, 30},
		{time.Hour, true, 1, 60},
	} {
		v := take(m, noon.Add(step.at), c)
		s := v.States()[0]
		if v.Allowed() != step.allowed || s.Left != step.left || s.Seconds != step.seconds || s.Exhausted == step.allowed {
			t.Errorf("at %s: allowed %v, %+v; want %+v", step.at, v.Allowed(), s, step)
		}
	}
}

func TestAllIsTakenOrNone(t *testing.T) {
	t.Parallel()
	m := memory(t, noon)
	wide, narrow := one(limit.CompanyRequests, "", 3), one(limit.CompanyCreates, "", 1)
	far := limit.Claim{Subject: limit.Subject{Resource: limit.ClientRequests, Client: address(1)}, Limit: 9}
	all := []limit.Claim{far, wide, narrow}
	first := m.Take(noon, all)
	second := m.Take(noon, all)
	if !first.Allowed() || second.Allowed() {
		t.Fatalf("got %v and %v", first.States(), second.States())
	}
	if got := m.Used(noon, far.Subject, wide.Subject, narrow.Subject); !slices.Equal(got, []int64{1, 1, 1}) {
		t.Errorf("a refused request used something: %v", got)
	}
	if got := second.States(); got[0].Left != 8 || got[1].Left != 2 || got[2].Left != 0 {
		t.Errorf("a refusal does not say what is left: %+v", got)
	}
	if v := take(m, noon, far, wide); !v.Allowed() {
		t.Error("a limit that was not asked for refused")
	}
	before := m.Len()
	for n := range uint64(100) {
		far.Client = address(100 + n)
		if v := take(m, noon, far, narrow); v.Allowed() {
			t.Fatal("allowed")
		}
	}
	if m.Len() != before {
		t.Errorf("refused requests left %d subjects behind", m.Len()-before)
	}
}

func TestALookTakesNothing(t *testing.T) {
	t.Parallel()
	m, c := memory(t, noon), []limit.Claim{one(limit.KeyRequests, "k", 1)}
	for range 5 {
		if v := m.Look(noon, c); !v.Allowed() || v.States()[0].Left != 1 || v.States()[0].Seconds != 0 {
			t.Fatalf("got %+v", v.States())
		}
	}
	m.Take(noon, c)
	if v := m.Look(noon, c); v.Allowed() || v.Worst().Seconds != 60 {
		t.Errorf("a look does not see what was taken: %+v", v.States())
	}
	if got := m.Used(noon.Add(time.Minute), c[0].Subject, limit.Subject{Resource: limit.IPQuotes}); !slices.Equal(got, []int64{0, 0}) {
		t.Errorf("used %v", got)
	}
}

func TestAClaimMadeTwiceCountsTwice(t *testing.T) {
	t.Parallel()
	m, c := memory(t, noon), one(limit.KeyRequests, "k", 3)
	if v := take(m, noon, c, c); !v.Allowed() || v.States()[1].Left != 1 {
		t.Errorf("got %+v", v.States())
	}
	if v := take(m, noon, c, c); v.Allowed() {
		t.Error("four of three")
	}
	if v := take(m, noon, c); !v.Allowed() {
		t.Error("a refused request used something")
	}
	once := one(limit.KeyRequests, "once", 1)
	if v := take(m, noon, once, once); v.Allowed() || v.Worst().Seconds != 60 || m.Used(noon, once.Subject)[0] != 0 {
		t.Errorf("two of one: %+v", v.States())
	}
}

func TestAClaimOfZeroCountsNothing(t *testing.T) {
	t.Parallel()
	m, c, off := memory(t, noon), one(limit.KeyRequests, "k", 1), one(limit.CompanyRequests, "", 0)
	v := take(m, noon, off, c)
	if !v.Allowed() || len(v.States()) != 1 || v.States()[0].Resource != limit.KeyRequests || v.States()[0].Left != 0 {
		t.Errorf("got %+v", v.States())
	}
	if got := m.Used(noon, off.Subject, c.Subject); !slices.Equal(got, []int64{0, 1}) {
		t.Errorf("used %v", got)
	}
}

func TestAChangedLimitHoldsAtOnce(t *testing.T) {
	t.Parallel()
	m, c := memory(t, noon), one(limit.KeyRequests, "k", 5)
	for i := range 5 {
		take(m, noon.Add(time.Duration(i)*10*time.Second), c)
	}
	at := noon.Add(45 * time.Second)
	c.Limit = 6
	if v := m.Look(at, []limit.Claim{c}); !v.Allowed() {
		t.Error("a higher limit does not hold")
	}
	c.Limit = 2
	v := take(m, at, c)
	// Four of five must go: those of 0, 10, 20 and 30 s; the last of them at 90 s.
	if v.Allowed() || v.Worst().Seconds != 45 || v.Worst().Left != 0 {
		t.Errorf("got %+v", v.Worst())
	}
	if v := take(m, at.Add(44*time.Second), c); v.Allowed() {
		t.Error("allowed too early")
	}
	if v := take(m, at.Add(45*time.Second), c); !v.Allowed() {
		t.Error("allowed too late")
	}
}

func TestTheLongestWaitIsNamedFirst(t *testing.T) {
	t.Parallel()
	m := memory(t, noon)
	a, b, c := one(limit.CompanyRequests, "", 1), one(limit.KeyRequests, "k", 1), one(limit.CompanyQuotes, "", 9)
	d := one(limit.CompanyCreates, "", 1)
	take(m, noon, a)
	take(m, noon.Add(20*time.Second), b)
	take(m, noon.Add(20*time.Second), d)
	v := take(m, noon.Add(30*time.Second), a, b, c, d)
	var got []string
	for _, s := range v.Exhausted() {
		got = append(got, fmt.Sprintf("%s %d", s.Resource, s.Seconds))
	}
	if text := strings.Join(got, ", "); text != "key_requests 50, company_creates 50, company_requests 30" {
		t.Errorf("got %s", text)
	}
	if v.Worst().Resource != limit.KeyRequests {
		t.Errorf("named %s", v.Worst().Resource)
	}
}

func TestSubjectsThatDifferInAnythingDoNotShare(t *testing.T) {
	t.Parallel()
	m := memory(t, noon)
	s := limit.Subject{Resource: limit.ClientRequests, Company: "int_a", Name: "n", Client: address(1)}
	others := []limit.Subject{s, s, s, s, s}
	others[1].Resource = limit.ClientCreates
	others[2].Company = "int_b"
	others[3].Name = "o"
	others[4].Client = address(2)
	for _, o := range others {
		if v := take(m, noon, limit.Claim{Subject: o, Limit: 1}); !v.Allowed() {
			t.Errorf("%+v shares with another", o)
		}
		if v := take(m, noon, limit.Claim{Subject: o, Limit: 1}); v.Allowed() {
			t.Errorf("%+v does not share with itself", o)
		}
	}
}

func TestTooManyClaimsAreAMistake(t *testing.T) {
	t.Parallel()
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "9 claims") {
			t.Errorf("got %s", text)
		}
	}()
	memory(t, noon).Take(noon, make([]limit.Claim, limit.MaxClaims+1))
}

// rival counts by writing down every time, which cannot be wrong.
type rival map[limit.Subject][]time.Time

// within is how many were taken in the time before now.
func (r rival) within(s limit.Subject, now time.Time, span time.Duration) int64 {
	n := int64(0)
	for _, at := range slices.Backward(r[s]) {
		if now.Sub(at) >= span {
			break
		}
		n++
	}
	return n
}

// check fails if any 60 seconds ever held more than the limit.
func (r rival) check(t *testing.T, claims []limit.Claim) {
	t.Helper()
	for _, c := range claims {
		all := r[c.Subject]
		for i := int(c.Limit); i < len(all); i++ {
			if d := all[i].Sub(all[i-int(c.Limit)]); d < limit.Window {
				t.Fatalf("%+v: %d within %s", c, c.Limit+1, d)
			}
		}
	}
}

// world is a few subjects with small limits, some of them a company's, some not.
func world(r *rand.Rand, n uint64) []limit.Claim {
	claims := make([]limit.Claim, 1+r.IntN(limit.MaxClaims))
	for i := range claims {
		c := &claims[i]
		c.Limit = 1 + r.Int64N(12)
		if r.IntN(10) == 0 {
			c.Limit = 1 + r.Int64N(200)
		}
		c.Resource = limit.Resource(1 + i)
		if c.Name = fmt.Sprintf("%d-%d", n, i); r.IntN(2) == 0 {
			c.Company = "int_acme"
		}
		if r.IntN(2) == 0 {
			c.Client = address(n<<8 | uint64(i))
		}
	}
	return claims
}

// pause is a time between two requests: often none, sometimes whole seconds, at times
// a minute and a bit.
func pause(r *rand.Rand) time.Duration {
	switch r.IntN(8) {
	case 0, 1, 2:
		return 0
	case 3, 4:
		return time.Duration(r.Int64N(int64(time.Second)))
	case 5:
		return time.Duration(r.Int64N(5)) * time.Second
	case 6:
		return time.Duration(r.Int64N(int64(20 * time.Second)))
	}
	return time.Minute + time.Duration(r.Int64N(5)-2)*time.Nanosecond - time.Duration(r.Int64N(2))*time.Second
}

// some are a part of the claims, in any order.
func some(r *rand.Rand, claims []limit.Claim) []limit.Claim {
	part := slices.Clone(claims)
	r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	return part[:1+r.IntN(len(part))]
}

// Every admission of random histories is written down. No 60 s ever hold more than
// the limit; nobody is refused who would not be refused with windows of 61 s; whoever
// is refused and waits as long as he was told gets in, and not a second earlier.
func TestSweepOfRandomHistoriesNeverGivesMoreAndWaitsExactly(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	m, now := memory(t, noon), noon
	waited := 0
	for n := range uint64(histories) {
		claims, log := world(r, n), rival{}
		spend := func(at time.Time, part []limit.Claim) limit.Verdict {
			v := m.Take(at, part)
			for _, c := range part {
				if v.Allowed() {
					log[c.Subject] = append(log[c.Subject], at)
				}
			}
			return v
		}
		for range 20 + r.IntN(60) {
			now = now.Add(pause(r))
			part := some(r, claims)
			v := spend(now, part)
			judge(t, log, part, &v, now)
			if v.Allowed() || r.IntN(4) > 0 {
				continue
			}
			waited++
			wait := time.Duration(v.Worst().Seconds) * time.Second
			if early := spend(now.Add(wait-time.Second), part); early.Allowed() {
				t.Fatalf("a second less than %s is enough for %+v", wait, part)
			}
			now = now.Add(wait)
			if late := spend(now, part); !late.Allowed() {
				t.Fatalf("%s is not enough for %+v: %+v", wait, part, late.Worst())
			}
		}
		log.check(t, claims)
	}
	if waited < histories {
		t.Errorf("only %d waits in %d histories: this test does not see enough", waited, histories)
	}
}

// judge compares a verdict with the log, in which the request is already.
func judge(t *testing.T, log rival, part []limit.Claim, v *limit.Verdict, now time.Time) {
	t.Helper()
	for i, s := range v.States() {
		c := part[i]
		if s.Resource != c.Resource || s.Limit != c.Limit || s.Left < 0 || s.Seconds < 0 || s.Seconds > 60 {
			t.Fatalf("state %+v of claim %+v", s, c)
		}
		least, most := log.within(c.Subject, now, time.Minute), log.within(c.Subject, now, 61*time.Second)
		if used := c.Limit - s.Left; used < least || used > most {
			t.Fatalf("%+v says that %d are used; it is %d to %d", c, used, least, most)
		}
		if s.Exhausted && (most < c.Limit || s.Seconds < 1) {
			t.Fatalf("%+v is refused with %d used and a wait of %d s", c, most, s.Seconds)
		}
		if v.Allowed() && s.Seconds == 0 {
			t.Fatalf("%+v was taken and says that nothing is used", c)
		}
	}
}

// Many callers race for several subjects in any order: exactly as many get in as the
// narrowest allows, nothing is counted of a request that did not, and nobody waits
// for ever.
func TestSweepOfConcurrentTriesGivesExactlyTheLimit(t *testing.T) {
	t.Parallel()
	const callers = 64
	r := testseed.Rand(t)
	m := memory(t, noon)
	limits := []int64{1000, 5000, 20_000}
	var claims []limit.Claim
	for i, n := range limits {
		claims = append(claims,
			limit.Claim{Subject: limit.Subject{Resource: limit.CompanyRequests, Company: "int_x", Name: fmt.Sprint(i)}, Limit: n},
			limit.Claim{Subject: limit.Subject{Resource: limit.IPRequests, Client: address(uint64(i))}, Limit: n})
	}
	admitted := make([]atomic.Int64, len(claims))
	var wg sync.WaitGroup
	for range callers {
		own := rand.New(rand.NewPCG(r.Uint64(), 0))
		wg.Go(func() {
			for range tries / callers {
				part := some(own, claims)
				v := m.Take(noon.Add(time.Duration(own.Int64N(int64(time.Second)))), part)
				if !v.Allowed() {
					continue
				}
				for _, c := range part {
					admitted[slices.Index(claims, c)].Add(1)
				}
			}
		})
	}
	wg.Wait()
	for i, c := range claims {
		used := m.Used(noon, c.Subject)[0]
		if got := admitted[i].Load(); got != used || got > c.Limit {
			t.Errorf("%v: %d admitted, %d counted, %d allowed", c.Subject, got, used, c.Limit)
		}
	}
	if got := admitted[0].Load(); got != limits[0] {
		t.Errorf("the narrowest gave %d of %d", got, limits[0])
	}
}

func TestSweepOfAnHotCompanyGivesExactlyTheLimit(t *testing.T) {
	t.Parallel()
	const callers = 64
	m := memory(t, noon)
	p := server(access.Forwarded)
	p.Integrator.Forwarding.Limits.Creates, p.Integrator.Forwarding.Limits.Requests = 0, 0
	var got atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			claims := limit.Claims(nil, p, limit.Quote|limit.Create, limit.DefaultIPLimits)
			for range tries / callers {
				if v := m.Take(noon, claims); v.Allowed() {
					got.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := got.Load(); n != p.Integrator.Limits.Creates {
		t.Errorf("%d of %d creations", n, p.Integrator.Limits.Creates)
	}
}
