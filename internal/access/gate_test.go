package access_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/testseed"
)

func TestOperatorsHearOfKeysInTheWrongPlace(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{})
	admit := func(query string, pairs ...string) string {
		_, err := r.gate.Admit(&access.Credentials{RawQuery: query, Header: headers(pairs...), Peer: netip.MustParseAddr(stranger)}, r.time())
		return codeOf(t, err)
	}
	browser := access.Notice{Sight: access.ServerKeyInBrowser, Key: "key_server", Integrator: "int_plain"}
	inURL := access.Notice{Sight: access.KeyInURL, Key: "key_public", Integrator: "int_plain"}
	revoked := access.Notice{Sight: access.KeyInURL, Key: "key_revoked", Integrator: "int_plain"}
	foreign := access.Notice{Sight: access.KeyInURL}
	for _, step := range []struct {
		name  string
		query string
		pairs []string
		code  string
		pass  time.Duration
		want  []access.Notice // beyond those of the steps before
	}{
		{name: "A23 server key in a browser is served", pairs: []string{hKey, c.server, "Origin", "https://x.test"}, want: []access.Notice{browser}},
		{name: "A23 once", pairs: []string{hKey, c.server, "Origin", "https://x.test"}},
		{name: "A23 a public key belongs there", pairs: []string{hKey, c.public, "Origin", "https://x.test"}},
		{name: "A23 a backend has no origin", pairs: []string{hKey, c.forwarder}},
		{name: "A23 a key that is refused tells nothing", pairs: []string{hKey, c.revoked, "Origin", "https://x.test"}, code: "key_revoked"},
		{name: "A03 known key", query: "a=" + c.public, code: "key_in_query", want: []access.Notice{inURL}},
		{name: "A03 once", query: "b=" + c.public, code: "key_in_query"},
		{name: "A03 foreign key hides no known one", query: "b=" + c.unknown + "&c=%73" + c.revoked[1:], code: "key_in_query", want: []access.Notice{foreign, revoked}},
		{name: "A03 only a name", query: "token=abc", code: "key_in_query"},
		{name: "still within the hour", pass: time.Hour - 1, query: "a=" + c.public, code: "key_in_query"},
		{name: "A03 after an hour again", pass: 1, query: "a=" + c.public, code: "key_in_query", want: []access.Notice{inURL}},
	} {
		before := len(r.told())
		r.pass(step.pass)
		if step.pass > 0 {
			askNow(t, r)
		}
		if got := admit(step.query, step.pairs...); got != step.code {
			t.Errorf("%s: answered %q", step.name, got)
		}
		if got := r.told()[before:]; !slices.Equal(got, step.want) {
			t.Errorf("%s: told %v, want %v", step.name, got, step.want)
		}
	}
}

// No key is in anything that the room gives away.
func TestNoKeyShows(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{})
	var seen bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&seen, nil))
	for _, key := range []string{c.server, c.public, c.revoked, c.suspended, c.unknown} {
		for _, creds := range []access.Credentials{
			{Header: headers(hKey, key)},
			{RawQuery: "a=" + key},
			{Header: headers(hKey, key, "Origin", "x")},
			{Header: headers(hKey, key, hUser, "192.0.2.77")},
			{Header: headers(hKey, key, hKey, key)},
		} {
			p, err := r.gate.Admit(&creds, noon)
			log.Info("m", "p", p, "e", err)
			fmt.Fprintf(&seen, "%+v %#v %v %+v", p, p, err, r.told())
		}
	}
	for _, canary := range []string{c.server, c.public, c.revoked, c.suspended, c.unknown} {
		if strings.Contains(seen.String(), canary) || strings.Contains(seen.String(), canary[8:40]) {
			t.Errorf("a key is in what was told")
		}
	}
	if strings.Contains(seen.String(), "192.0.2.77") {
		t.Error("the address of an end user who was refused is told")
	}
}

func TestFailedKeysAreLimitedAndGoodOnesNever(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{FailuresPerMin: 5, Stale: time.Minute})
	at := func(peer, key string, after time.Duration) *fault.Error {
		_, err := r.gate.Admit(&access.Credentials{Header: headers(hKey, key), Peer: netip.MustParseAddr(peer)}, noon.Add(after))
		if err == nil {
			return nil
		}
		return fault.Of(err)
	}
	for i, key := range []string{"short", c.unknown, c.revoked, c.suspended, c.orphan} {
		if f := at(stranger, key, time.Duration(i)*time.Second); f == nil || f.Kind != fault.Unauthenticated {
			t.Fatalf("A24 failure %d is answered %v", i, f)
		}
	}
	for _, key := range []string{"short", c.unknown, c.revoked, c.suspended} {
		f := at(stranger, key, 10*time.Second)
		if f == nil || f.Code != "too_many_access_failures" || f.Kind != fault.Exhausted ||
			f.Detail["retryAfterSeconds"] != 50 || f.Detail["resource"] != "ip_access_failures" {
			t.Errorf("A24 over the limit: %v %v", f, f.Detail)
		}
	}
	if f := at(stranger, c.server, 10*time.Second); f != nil {
		t.Errorf("A24 a good key is locked out: %v", f)
	}
	if _, err := r.gate.Admit(&access.Credentials{Peer: netip.MustParseAddr(stranger)}, noon.Add(10*time.Second)); err != nil {
		t.Errorf("A24 a request without a key is locked out: %v", err)
	}
	if f := at("192.0.2.200", "short", 10*time.Second); f == nil || f.Code != "invalid_key" {
		t.Errorf("A24 another address is answered %v", f)
	}
	if f := at("::ffff:"+stranger, "short", 59*time.Second); f == nil || f.Code != "too_many_access_failures" || f.Detail["retryAfterSeconds"] != 1 {
		t.Errorf("A24 the same address, mapped, is answered %v", f)
	}
	if f := at(stranger, "short", 60*time.Second); f == nil || f.Code != "invalid_key" {
		t.Errorf("A24 after the wait it is answered %v", f)
	}
	if f := at(stranger, "short", 60*time.Second); f == nil || f.Code != "too_many_access_failures" {
		t.Errorf("A24 only one was free: %v", f)
	}
	for i := range 5 {
		if f := at(fmt.Sprintf("2001:db8:1:2::%d", i), "short", time.Minute); f == nil || f.Code != "invalid_key" {
			t.Fatalf("A24 failure %d is answered %v", i, f)
		}
	}
	if f := at("2001:db8:1:2:ffff::1", "short", time.Minute); f == nil || f.Code != "too_many_access_failures" {
		t.Errorf("A24 a whole /64 is one line: %v", f)
	}
}

// No minute has more failures than the limit, and the wait that is told is the whole
// wait and not a moment more.
func TestNoMinuteHasMoreFailuresThanTheLimit(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	peer := netip.MustParseAddr(stranger)
	for range 300 {
		limit := 1 + r.IntN(20)
		f := access.NewFailures(limit, noon)
		now := noon
		var passed []time.Time
		for range 200 {
			now = now.Add(time.Duration(r.ExpFloat64() * float64(time.Minute) / float64(limit) / (1 + 2*r.Float64())))
			wait := f.Take(peer, now)
			since := 0
			for _, p := range passed {
				if now.Sub(p) < time.Minute {
					since++
				}
			}
			if (wait == 0) != (since < limit) {
				t.Fatalf("limit %d: %d in the last minute, and the wait is %s", limit, since, wait)
			}
			if wait == 0 {
				passed = append(passed, now)
				continue
			}
			if f.Take(peer, now.Add(wait-1)) == 0 {
				t.Fatalf("it was told to wait for %s, and less would have done", wait)
			}
			if wait > time.Minute {
				t.Fatalf("wait %s", wait)
			}
		}
	}
}

func TestFailuresKeepTheirMemory(t *testing.T) {
	t.Parallel()
	f := access.NewFailures(60, noon)
	for i := range 300_000 {
		a := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		f.Take(a, noon.Add(time.Duration(i)*time.Millisecond))
	}
	if n := f.Memory(); n > 4096*128 {
		t.Errorf("A42 %d times are remembered", n)
	}
	if wait := f.Take(netip.Addr{}, noon.Add(-time.Hour)); wait < 0 || wait > time.Minute {
		t.Errorf("A104 a clock that went back an hour makes it wait for %s", wait)
	}
}

func TestFailuresOfManyAtOnceAreCounted(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{FailuresPerMin: 100})
	var mu sync.Mutex
	codes := map[string]int{}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				got := r.code(t, c.unknown, noon)
				mu.Lock()
				codes[got]++
				mu.Unlock()
				if r.code(t, c.server, noon) != "" {
					t.Error("A24 a good key is refused")
				}
			}
		})
	}
	all.Wait()
	if codes["invalid_key"] != 100 || codes["too_many_access_failures"] != 700 {
		t.Errorf("A24 got %v", codes)
	}
}

// Whether a key is unknown, revoked or of a suspended integration does not show in
// how long the answer takes.
func TestBadKeysTakeTheSameTime(t *testing.T) {
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{})
	keys := []string{c.unknown, c.revoked, c.suspended}
	all := make([]access.Credentials, len(keys))
	for i, key := range keys {
		all[i] = access.Credentials{Header: headers(hKey, key), Peer: netip.MustParseAddr(stranger)}
	}
	took := fastest(len(all), func(i int) { _, _ = r.gate.Admit(&all[i], noon) })
	if least, most := slices.Min(took), slices.Max(took); float64(most) > 1.4*float64(least) {
		t.Errorf("A13 unknown, revoked and suspended take %v", took)
	}
}

// usual are the requests that are served, by what they show.
func usual(c *cast) map[string]access.Credentials {
	return map[string]access.Credentials{
		"nobody":    {RawQuery: "fromChainId=bitcoin&limit=5", Peer: netip.MustParseAddr("2001:db8::1")},
		"public":    {Header: headers(hKey, c.public, "Origin", "https://x.test"), Peer: netip.MustParseAddr(stranger)},
		"server":    {Header: headers(hKey, c.server), Peer: netip.MustParseAddr(stranger), Need: access.Server},
		"forwarded": {Header: headers(hKey, c.forwarder, hUser, "2001:db8::5"), Peer: netip.MustParseAddr(approved)},
		"browser":   {Header: headers(hKey, c.server, "Origin", "https://x.test"), Peer: netip.MustParseAddr(stranger)},
	}
}

func TestAdmissionCostsNoAllocation(t *testing.T) {
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{})
	all := usual(&c)
	all["too many failures"] = access.Credentials{Header: headers(hKey, c.unknown), Peer: netip.MustParseAddr("192.0.2.9")}
	for name, creds := range all {
		for range 100 {
			_, _ = r.gate.Admit(&creds, noon)
		}
		if n := testing.AllocsPerRun(200, func() { _, _ = r.gate.Admit(&creds, noon) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// crowd is a register of many keys, ten to an integrator.
func crowd(t testing.TB, n int) (*register, []string) {
	t.Helper()
	reg := newRegister()
	texts := make([]string, n)
	things := make([]any, 0, n+n/10)
	for i := range n {
		owner := integrator.ID(fmt.Sprintf("int_%026d", i/10))
		if i%10 == 0 {
			things = append(things, company(owner, true, approved+"/32"))
		}
		texts[i] = mint(t, integrator.Server, uint64(i))
		things = append(things, keyOf(integrator.KeyID(fmt.Sprintf("key_%026d", i)), owner, texts[i]))
	}
	reg.put(things...)
	return reg, texts
}

func BenchmarkAdmit(b *testing.B) {
	c := newCast(b)
	r := newRig(b, c.reg, access.Config{})
	all := usual(&c)
	all["unknown"] = access.Credentials{Header: headers(hKey, c.unknown), Peer: netip.MustParseAddr(stranger)}
	all["revoked"] = access.Credentials{Header: headers(hKey, c.revoked), Peer: netip.MustParseAddr(stranger)}
	all["suspended"] = access.Credentials{Header: headers(hKey, c.suspended), Peer: netip.MustParseAddr(stranger)}
	for name, creds := range all {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = r.gate.Admit(&creds, noon)
			}
		})
	}
	b.Run("among 100000 keys", func(b *testing.B) {
		reg, texts := crowd(b, 100_000)
		r := newRig(b, reg, access.Config{})
		h := headers(hKey, texts[0], hUser, "2001:db8::5")
		creds := access.Credentials{Header: h, Peer: netip.MustParseAddr(approved)}
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i = (i + 7919) % len(texts)
			h[hKey][0] = texts[i]
			if _, err := r.gate.Admit(&creds, noon); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// One change must cost much the same among many keys as among few.
func BenchmarkChange(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint("among ", n, " keys"), func(b *testing.B) {
			reg, texts := crowd(b, n)
			r := newRig(b, reg, access.Config{})
			one := &oneChange{c: access.Changes{Integrators: []integrator.Integrator{company("int_"+integrator.ID(fmt.Sprintf("%026d", 5)), true, approved+"/32")}}}
			var err error
			one.Register = reg
			if r.dir, err = access.NewDirectory(b.Context(), one, access.Config{}); err != nil {
				b.Fatal(err)
			}
			one.on = true
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i + 7919) % n
				one.c.Keys = []integrator.Key{keyOf("key_x", "int_x", texts[i])}
				if err := r.dir.Ask(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
