package limit_test

import (
	"testing"
	"time"
	"unsafe"

	"ferry/internal/limit"
	"ferry/internal/testseed"
)

// The clock of the machine steps by an hour either way while a request waits; the
// monotonic reading goes on as ever.
func TestASteppedWallClockChangesNothing(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, -time.Second} {
		start := time.Now()
		m, c := memory(t, start), one(limit.KeyRequests, "k", 1)
		take(m, start, c)
		if v := take(m, stepped(t, start.Add(59*time.Second), step), c); v.Allowed() || v.Worst().Seconds != 1 {
			t.Errorf("step %s: a burst, or a wait of %d s", step, v.Worst().Seconds)
		}
		if v := take(m, stepped(t, start.Add(60*time.Second), step), c); !v.Allowed() {
			t.Errorf("step %s: locked out after a minute", step)
		}
	}
}

// stepped sets a time's wall clock and leaves its monotonic reading, as the kernel
// does; the library has no way to do it.
func stepped(t *testing.T, at time.Time, by time.Duration) time.Time {
	t.Helper()
	out := at
	// The first word of a time with a monotonic reading has the wall seconds above 30
	// bits of nanoseconds.
	*(*uint64)(unsafe.Pointer(&out)) += uint64(by/time.Second) << 30
	if out.Round(0).Sub(at.Round(0)) != by || out.Sub(at) != 0 {
		t.Fatalf("a time of this Go version is made differently: %s became %s", at, out)
	}
	return out
}

// Without a monotonic reading a step back cannot be told from a late goroutine when
// it is short; longer ones are noticed and nobody waits longer than a minute.
func TestAClockThatGoesBackLocksNobodyOut(t *testing.T) {
	t.Parallel()
	for _, back := range []time.Duration{time.Millisecond, time.Second, time.Second + 1, 30 * time.Second, time.Hour, 1000 * time.Hour} {
		m, c := memory(t, noon), one(limit.KeyRequests, "k", 2)
		late := noon.Add(10 * time.Second)
		take(m, late, c)
		set := late.Add(-back)
		if v := take(m, set, c); !v.Allowed() {
			t.Fatalf("back %s: refused", back)
		}
		if v := take(m, set, c); v.Allowed() || v.Worst().Seconds != 60 {
			t.Errorf("back %s: a burst, or a wait of %d s", back, v.Worst().Seconds)
		}
		if v := take(m, set.Add(59*time.Second), c); v.Allowed() {
			t.Errorf("back %s: a burst", back)
		}
		if v := take(m, set.Add(61*time.Second), c); !v.Allowed() {
			t.Errorf("back %s: locked out after a minute", back)
		}
	}
}

// A clock that keeps going back and forth never gives more than the limit for every
// minute that it went forward.
func TestAClockThatGoesBackAndForthGivesNoBurst(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	m, c := memory(t, noon), one(limit.KeyRequests, "k", 10)
	now, forward, got := noon, time.Duration(0), int64(0)
	for range 20_000 {
		d := time.Duration(r.Int64N(int64(2*time.Second))) - time.Second
		if r.IntN(100) == 0 {
			d = -time.Duration(r.Int64N(int64(time.Hour)))
		}
		if now = now.Add(d); d > 0 {
			forward += d
		}
		if v := take(m, now, c); v.Allowed() {
			got++
		}
	}
	if most := c.Limit * (int64(forward/time.Minute) + 1); got > most || got < most/10 {
		t.Errorf("%d in %s, of %d a minute", got, forward, c.Limit)
	}
}

// Readings of a goroutine that was held up are old, and no reason to give more.
func TestALateReadingIsTheNewestOne(t *testing.T) {
	t.Parallel()
	start := time.Now()
	m, c := memory(t, start), one(limit.KeyRequests, "k", 1)
	take(m, start.Add(30*time.Second), c)
	for _, at := range []time.Duration{0, 29 * time.Second, 10 * time.Second} {
		if v := take(m, start.Add(at), c); v.Allowed() || v.Worst().Seconds != 60 {
			t.Errorf("at %s: %+v", at, v.Worst())
		}
	}
	if v := take(m, start.Add(90*time.Second-1), c); v.Allowed() {
		t.Error("late readings made time go faster")
	}
	if v := take(m, start.Add(90*time.Second), c); !v.Allowed() {
		t.Error("late readings made time go slower")
	}
}
