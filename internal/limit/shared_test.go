package limit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"ferry/internal/limit"
	"ferry/internal/testseed"
)

// someClaims are what a request of a company may claim; limits are small, so that they
// are met often.
func someClaims(r *rand.Rand, limits [3]int64) []limit.Claim {
	all := []limit.Claim{
		one(limit.CompanyRequests, "", limits[0]),
		one(limit.KeyRequests, fmt.Sprint("key_", r.IntN(2)), limits[1]),
		one(limit.CompanyCreates, "", limits[2]),
	}
	return all[:1+r.IntN(3)]
}

func someLimits(r *rand.Rand) (all [3]int64) {
	for i := range all {
		all[i] = 1 + r.Int64N([]int64{3, 20, 100}[r.IntN(3)])
	}
	return all
}

// TestOneProcessAloneIsLetInAsIfItCountedAlone: every verdict is the one of a memory,
// with what is left and how long to wait.
func TestOneProcessAloneIsLetInAsIfItCountedAlone(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 20 {
		h, twin, limits := newHistory(t, r, 1), memory(t, noon), someLimits(r)
		for range 600 {
			switch r.IntN(12) {
			case 0:
				h.pass(time.Duration(r.Int64N(int64(3 * time.Second))))
			case 1:
				h.now = h.now.Add(time.Duration(r.Int64N(int64(time.Second))))
			case 2:
				h.run(0)
			case 3:
				if r.IntN(10) == 0 {
					h.pass(time.Duration(r.Int64N(int64(90 * time.Second))))
				}
			default:
				claims := someClaims(r, limits)
				got, want := h.take(0, claims), twin.Take(h.now, claims)
				if !slices.Equal(got.States(), want.States()) || got.Allowed() != want.Allowed() || got.Worst() != want.Worst() {
					t.Fatalf("at %s:\n got %+v\nwant %+v", h.now.Sub(noon), got.States(), want.States())
				}
			}
		}
	}
}

// TestNeverMoreThanTheLimitInAllProcesses: one to four processes take as they like, on
// a network that loses questions and answers and takes its time, in which the others
// go on; they die, stop and begin anew. take holds every admission to the law.
func TestNeverMoreThanTheLimitInAllProcesses(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 40 {
		h, limits := newHistory(t, r, 1+r.IntN(4)), someLimits(r)
		bad := r.IntN(3) == 0
		h.pool.on = func(bool) error {
			if r.IntN(4) > 0 {
				return nil
			}
			for range r.IntN(20) {
				h.now = h.now.Add(time.Duration(r.Int64N(int64(200 * time.Millisecond))))
				if i := r.IntN(len(h.procs)); !h.busy[i] { // whoever waits for an answer waits
					h.take(i, someClaims(r, limits))
				}
			}
			if bad && r.IntN(3) == 0 {
				return errBad
			}
			return nil
		}
		for range 800 {
			i := r.IntN(len(h.procs))
			switch r.IntN(16) {
			case 0:
				h.now = h.now.Add(time.Duration(r.Int64N(int64(4 * time.Second))))
			case 1:
				h.beats()
			case 2:
				h.beat(i)
			case 3:
				h.run(i)
			case 4:
				switch r.IntN(12) {
				case 0:
					h.start(i) // it died
				case 1: // nobody is heard of for a while
					h.now = h.now.Add(time.Duration(r.Int64N(int64(3 * time.Minute))))
				case 2:
					limits = someLimits(r)
					h.taken = map[limit.Subject][]time.Time{} // another law
					h.now = h.now.Add(2 * time.Minute)
				}
			default:
				h.take(i, someClaims(r, limits))
			}
		}
	}
}

// TestWhoWaitsAsLongAsHeWasToldIsLetIn: on a good network, whoever is refused in one
// of several processes and comes again when he was told is let in there, if all of
// them together have let in fewer than the limit.
func TestWhoWaitsAsLongAsHeWasToldIsLetIn(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	waited := 0
	for range 12 {
		h, limits := newHistory(t, r, 2+r.IntN(3)), someLimits(r)
		for range 80 {
			if r.IntN(10) == 0 {
				h.pass(time.Duration(r.Int64N(int64(5 * time.Second))))
			}
			i, claims := r.IntN(len(h.procs)), someClaims(r, limits)
			v := h.take(i, claims)
			h.run(i)
			if v.Allowed() {
				continue
			}
			wait := v.Worst().Seconds
			if wait < 1 || wait > 60 {
				t.Fatalf("told to wait %d seconds", wait)
			}
			h.pass(time.Duration(wait) * time.Second)
			free := true
			for _, c := range claims {
				free = free && h.used(c.Subject) < c.Limit
			}
			again := h.take(i, claims)
			if free && !again.Allowed() {
				t.Fatalf("at %s, after %d seconds: %+v", h.now.Sub(noon), wait, again.States())
			}
			waited++
		}
	}
	if waited < 25 {
		t.Errorf("only %d were refused", waited)
	}
}

// TestAPoolIsAskedForBlocksAndNotForRequests: also while nothing is left.
func TestAPoolIsAskedForBlocksAndNotForRequests(t *testing.T) {
	t.Parallel()
	h := newHistory(t, testseed.Rand(t), 2)
	claims := []limit.Claim{one(limit.CompanyRequests, "", 600), one(limit.KeyRequests, "k", 300)}
	h.pool.n = 0
	let := 0
	for n := range 6000 { // a hundred a second
		if n%100 == 0 {
			h.pass(time.Second)
		}
		if v := h.take(n%2, claims); v.Allowed() {
			let++
		}
		h.run(n % 2)
	}
	if let != 300 {
		t.Errorf("%d of 300 were let in", let)
	}
	if most := 60*2 + 300; h.pool.n > most {
		t.Errorf("the pool was asked %d times for 6000 requests, want at most %d", h.pool.n, most)
	}
}

// TestAUnitIsNotSpentBeforeItWasGranted: a request that was late comes with a time from
// before its unit was free. It counts from when it was granted.
func TestAUnitIsNotSpentBeforeItWasGranted(t *testing.T) {
	t.Parallel()
	h := newHistory(t, testseed.Rand(t), 2)
	company, key := []limit.Claim{one(limit.CompanyRequests, "", 1)}, one(limit.KeyRequests, "k", 1)
	allowed := func(want bool, v limit.Verdict) {
		t.Helper()
		if v.Allowed() != want {
			t.Fatalf("at %s: %+v", h.now.Sub(noon), v.States())
		}
	}
	allowed(true, h.take(0, company))
	h.pass(59 * time.Second)
	allowed(true, h.take(1, []limit.Claim{key}))
	h.pass(time.Second)
	allowed(false, h.take(1, append(company, key))) // leaves the company's unit there
	allowed(true, h.procs[1].Take(h.now.Add(-500*time.Millisecond), company))
	h.pass(57 * time.Second)
	allowed(false, h.take(0, company)) // the other process is asked how it stands
	h.pass(2600 * time.Millisecond)
	allowed(false, h.take(0, company))
	h.pass(400 * time.Millisecond)
	allowed(true, h.take(0, company))
}

// TestATradeThatComesLateChangesNothing: the network kept a question back until a newer
// one of the same process was answered.
func TestATradeThatComesLateChangesNothing(t *testing.T) {
	t.Parallel()
	leases := func(string) (int64, bool) { return 1 << 60, true }
	var a limit.Account
	late := limit.Offer{Limit: 10, Seq: 1, Held: 0, Want: 1}
	if d := a.Trade(1, "p", leases, limit.Offer{Limit: 10, Seq: 2, Want: 9}); d.Granted != 9 {
		t.Fatalf("got %+v", d)
	}
	if d := a.Trade(2, "p", leases, late); d.Granted != 0 {
		t.Errorf("got %+v", d)
	}
	if d := a.Trade(3, "q", leases, limit.Offer{Limit: 10, Seq: 1, Want: 10}); d.Granted != 1 {
		t.Errorf("nine are held, and another got %+v", d)
	}
}

// TestWithoutAPool: what is held may be spent as long as the lease lasts. Then, and when
// there is nothing more, it is nobody's limit that refuses; and it goes on by itself.
func TestWithoutAPool(t *testing.T) {
	t.Parallel()
	h := newHistory(t, testseed.Rand(t), 1)
	claims := []limit.Claim{one(limit.CompanyRequests, "", 160)} // blocks of ten
	h.take(0, claims)
	h.run(0)
	h.pool.on = func(bool) error { return errBad }
	let := 1
	for {
		v := h.take(0, claims)
		if !v.Allowed() {
			f := limit.Refuse(&v)
			if f.Code != "service_unavailable" || f.Detail["retryAfterSeconds"] != 5 {
				t.Errorf("got %v with %v", f, f.Detail)
			}
			break
		}
		let++
	}
	if let != 10 {
		t.Errorf("%d were let in, want what was held", let)
	}
	address := []limit.Claim{{Subject: limit.Subject{Resource: limit.IPRequests, Client: address(1)}, Limit: 5}}
	if v := h.procs[0].Take(h.now, address); !v.Allowed() {
		t.Error("addresses need the pool")
	}
	h.pool.on = func(bool) error { return nil }
	h.pass(2 * time.Second)
	if v := h.take(0, claims); !v.Allowed() {
		t.Errorf("with the pool back: %+v", v.States())
	}
	h.pool.on = func(bool) error { return errBad }
	h.pass(limit.Lease + time.Second)
	if v := h.take(0, claims); v.Allowed() || limit.Refuse(&v).Code != "service_unavailable" {
		t.Errorf("after the lease: %+v", v.States())
	}
}
