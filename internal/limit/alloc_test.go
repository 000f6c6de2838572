package limit_test

import (
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/limit"
)

// Not parallel: it counts what the whole process allocates.
func TestAKnownSubjectCostsNoAllocation(t *testing.T) {
	now, m := noon, memory(t, noon)
	p := server(access.Forwarded)
	claims := make([]limit.Claim, 0, limit.MaxClaims)
	buf := make([]byte, 0, 1024)
	gate, err := limit.NewGate(1)
	if err != nil {
		t.Fatal(err)
	}
	var refused, allowed int
	request := func() {
		// As if every second brought more than the limits allow, so that windows are
		// as full as they get, and some are refused.
		now = now.Add(300 * time.Millisecond)
		if !gate.Enter() || gate.Enter() || gate.Full() == nil {
			t.Error("the gate is broken")
		}
		claims = limit.Claims(claims[:0], p, limit.Quote|limit.Create, limit.DefaultIPLimits)
		v := m.Take(now, claims)
		if v.Allowed() {
			allowed++
		} else {
			refused++
		}
		m.Look(now, claims)
		buf = limit.AppendState(limit.AppendPolicy(buf[:0], claims), &v)
		gate.Leave()
	}
	for range 1000 {
		request()
	}
	if n := testing.AllocsPerRun(5000, request); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
	if refused == 0 || allowed == 0 {
		t.Errorf("%d refused and %d allowed: one of them was not measured", refused, allowed)
	}
}
