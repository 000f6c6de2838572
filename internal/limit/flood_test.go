package limit_test

import (
	"strings"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/limit"
)

func byAddress(n uint64, most int64) limit.Claim {
	return limit.Claim{Subject: limit.Subject{Resource: limit.IPRequests, Client: address(n)}, Limit: most}
}

func small(t testing.TB) *limit.Memory {
	t.Helper()
	m, err := limit.NewMemory(noon, limit.MinEntries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAMemoryMustHaveRoom(t *testing.T) {
	t.Parallel()
	for _, n := range []int{-1, 0, limit.MinEntries - 1} {
		if m, err := limit.NewMemory(noon, n); err == nil || m != nil || !strings.Contains(err.Error(), "at least") {
			t.Errorf("%d entries: %v", n, err)
		}
	}
}

func TestSweepOfAFloodOfAddressesIsBoundedAndSparesCompanies(t *testing.T) {
	t.Parallel()
	m := memory(t, noon)
	p := server(access.Shared)
	company := limit.Claims(nil, p, limit.Create, limit.DefaultIPLimits)
	v := m.Take(noon, company)
	if !v.Allowed() || m.Len() != len(company) {
		t.Fatalf("%d entries of %d claims", m.Len(), len(company))
	}
	for n := range uint64(flood) {
		if v := take(m, noon, byAddress(n, 60)); !v.Allowed() {
			t.Fatalf("the first request of address %d is refused", n)
		}
	}
	// Shards fill unevenly, but with so many all of them are full.
	if n := m.Len(); n > limit.DefaultEntries+len(company) || n < limit.DefaultEntries*9/10 {
		t.Errorf("%d entries after %d addresses", n, flood)
	}
	for i, c := range company {
		if used := m.Used(noon, c.Subject)[0]; used != 1 {
			t.Errorf("claim %d of the company was forgotten: %d", i, used)
		}
	}
}

// A million addresses in an hour are 17 thousand in a minute, and no more are kept.
func TestSweepOfAnHourOfAddressesKeepsOneMinute(t *testing.T) {
	t.Parallel()
	m := memory(t, noon)
	at := func(n uint64) time.Time { return noon.Add(time.Duration(n) * time.Hour / flood) }
	most := 0
	for n := range uint64(flood) {
		take(m, at(n), byAddress(n, 60))
		if n%1000 == 0 {
			most = max(most, m.Len())
		}
	}
	if most > flood/60*11/10 || most < flood/60*9/10 {
		t.Errorf("%d entries at most, of %d a minute", most, flood/60)
	}
	// A little traffic later forgets all of them without a new one in sight.
	quiet := at(flood).Add(limit.Window)
	for n := range uint64(flood / 10) {
		m.Look(quiet, []limit.Claim{byAddress(n, 60)})
	}
	if n := m.Len(); n != 0 {
		t.Errorf("%d entries of which nothing counts", n)
	}
}

func TestIdleCompaniesAreForgottenToo(t *testing.T) {
	t.Parallel()
	m, c := memory(t, noon), one(limit.KeyRequests, "k", 2)
	take(m, noon, c)
	take(m, noon.Add(61*time.Second), one(limit.KeyRequests, "other", 2))
	if n := m.Len(); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// An address is forgotten early only after as many others as its shard holds were
// used since: fewer never do it, wherever they fall.
func TestAnAddressIsRememberedWhileThereIsRoom(t *testing.T) {
	t.Parallel()
	const room = limit.MinEntries / 64
	m, spent := small(t), byAddress(0, 1)
	for round := range uint64(50) {
		now := noon.Add(time.Duration(round) * limit.Window)
		if v := take(m, now, spent); !v.Allowed() {
			t.Fatalf("round %d: refused", round)
		}
		for n := range uint64(room - 1) {
			take(m, now, byAddress(1+round*room+n, 1))
		}
		if v := m.Look(now, []limit.Claim{spent}); v.Allowed() {
			t.Fatalf("round %d: forgotten after %d others", round, room-1)
		}
	}
}

func TestWhoeverKnocksInVainIsNotForgottenForIt(t *testing.T) {
	t.Parallel()
	m, spent := small(t), byAddress(0, 1)
	take(m, noon, spent)
	for n := range uint64(100 * limit.MinEntries) {
		take(m, noon, byAddress(1+n, 1))
		if v := take(m, noon, spent); v.Allowed() {
			t.Fatalf("after %d others it begins afresh", n+1)
		}
	}
	if n := m.Len(); n > limit.MinEntries {
		t.Errorf("%d entries, room for %d", n, limit.MinEntries)
	}
}

// Whoever was idle longest makes room, and gets one more allowance for it: that is
// the price of bounded memory, and not more than that.
func TestTheLongestIdleMakesRoom(t *testing.T) {
	t.Parallel()
	m, spent := small(t), byAddress(0, 3)
	for range 3 {
		take(m, noon, spent)
	}
	for n := range uint64(100 * limit.MinEntries) {
		take(m, noon, byAddress(1+n, 1))
	}
	more := 0
	for range 10 {
		if v := take(m, noon, spent); v.Allowed() {
			more++
		}
	}
	if more != 3 {
		t.Errorf("%d more of 3", more)
	}
}

// FuzzTake reads a history off bytes: who, how much time goes by, and how.
func FuzzTake(f *testing.F) {
	f.Add([]byte{0x01, 0, 0, 0x01, 59, 255, 0x01, 60, 0})
	f.Add([]byte{0xff, 0, 0, 0x0f, 1, 1, 0xf0, 30, 7, 0xff, 61, 0, 0xff, 0, 9})
	f.Add([]byte{0x10, 60, 0, 0x10, 0, 1, 0x10, 0, 1, 0x10, 59, 255, 0x10, 0, 1})
	f.Fuzz(func(t *testing.T, script []byte) {
		m, now, log := memory(t, noon), noon, rival{}
		var all []limit.Claim
		for i := range 8 {
			c := byAddress(uint64(i), int64(1+i%4))
			if c.Resource = limit.Resource(i + 1); i%2 == 0 {
				c = one(c.Resource, "k", c.Limit)
			}
			all = append(all, c)
		}
		for ; len(script) >= 3; script = script[3:] {
			now = now.Add(time.Duration(script[1])*time.Second + time.Duration(script[2])*time.Second/256)
			var part []limit.Claim
			for i := range all {
				if script[0]&(1<<i) != 0 {
					part = append(part, all[i])
				}
			}
			v := m.Take(now, part)
			for _, c := range part {
				if v.Allowed() {
					log[c.Subject] = append(log[c.Subject], now)
				}
			}
			judge(t, log, part, &v, now)
			if !v.Allowed() {
				wait := time.Duration(v.Worst().Seconds) * time.Second
				now = now.Add(wait - time.Second)
				if early := m.Look(now, part); early.Allowed() {
					t.Fatalf("a second less than %s is enough", wait)
				}
			}
		}
		log.check(t, all)
	})
}
