package access_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/testseed"
)

// askNow has the directory ask once.
func askNow(t testing.TB, r *rig) {
	t.Helper()
	if err := r.dir.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) code(t testing.TB, key string, now time.Time) string {
	t.Helper()
	_, err := r.gate.Admit(&access.Credentials{Header: headers(hKey, key), Peer: netip.MustParseAddr(stranger)}, now)
	return codeOf(t, err)
}

func TestDirectoryNeedsAnAnswerToBegin(t *testing.T) {
	t.Parallel()
	reg := newRegister()
	reg.down = errors.New("no route to the register")
	if _, err := access.NewDirectory(t.Context(), reg, access.Config{}); !errors.Is(err, reg.down) {
		t.Errorf("it begins without one: %v", err)
	}
	for name, cfg := range map[string]access.Config{
		"Stale above a minute":   {Stale: time.Minute + 1},
		"Stale below zero":       {Stale: -1},
		"Every not below Stale":  {Every: time.Second, Stale: time.Second},
		"Every below zero":       {Every: -1},
		"FailuresPerMin below 0": {FailuresPerMin: -1},
		"FailuresPerMin huge":    {FailuresPerMin: 1 << 20},
	} {
		if _, err := access.NewDirectory(t.Context(), newRegister(), cfg); err == nil || !strings.Contains(err.Error(), "write") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := access.NewGate(nil, cfg); err == nil {
			t.Errorf("%s: the gate takes it", name)
		}
	}
}

func TestChangesAreInForceWithinTheirTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCast(t)
		r := newRig(t, c.reg, access.Config{Every: 2 * time.Second})
		r.now = time.Now()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.dir.Run(ctx) }()
		wait := func(d time.Duration) { time.Sleep(d); r.pass(d); synctest.Wait() }
		now := func() time.Time { return r.time() }

		revoked := keyOf("key_server", "int_plain", c.server)
		revoked.RevokedAt = now()
		c.reg.put(revoked)
		if got := r.code(t, c.server, now()); got != "" {
			t.Errorf("it was asked before its time: %s", got)
		}
		wait(2 * time.Second)
		if got := r.code(t, c.server, now()); got != "key_revoked" {
			t.Errorf("A14 a revoked key is answered %q", got)
		}
		fresh := mint(t, integrator.Public, 4711)
		c.reg.put(keyOf("key_fresh", "int_new", fresh))
		wait(2 * time.Second)
		if got := r.code(t, fresh, now()); got != "invalid_key" {
			t.Errorf("a key without its integrator is answered %q", got)
		}
		c.reg.put(company("int_new", false))
		r.dir.Wake()
		synctest.Wait()
		if got := r.code(t, fresh, now()); got != "" {
			t.Errorf("A16 after a wake the key is answered %q", got)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestNothingStaleIsBelieved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCast(t)
		var troubles []error
		cfg := access.Config{Trouble: func(err error) { troubles = append(troubles, err) }}
		dir, err := access.NewDirectory(t.Context(), c.reg, cfg)
		if err != nil {
			t.Fatal(err)
		}
		gate, err := access.NewGate(dir, cfg)
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{reg: c.reg, dir: dir, gate: gate}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- dir.Run(ctx) }()

		down := errors.New("register is away")
		c.reg.set(func(r *register) { r.down = down })
		time.Sleep(55 * time.Second)
		synctest.Wait()
		if got := r.code(t, c.server, time.Now()); got != "" {
			t.Errorf("A15 within its time a key is answered %q", got)
		}
		if len(troubles) == 0 || !errors.Is(troubles[0], down) {
			t.Errorf("nobody heard of it: %v", troubles)
		}
		time.Sleep(time.Nanosecond)
		_, err = gate.Admit(&access.Credentials{Header: headers(hKey, c.server)}, time.Now())
		if f := fault.Of(err); f.Code != "service_unavailable" || f.Kind != fault.Unavailable || f.Detail["retryAfterSeconds"] == nil {
			t.Errorf("A15 after its time a key is answered %v", f)
		}
		for _, key := range []string{c.revoked, c.suspended, c.unknown} {
			if got := r.code(t, key, time.Now()); got != "service_unavailable" {
				t.Errorf("A15 %q", got)
			}
		}
		if _, err := gate.Admit(&access.Credentials{}, time.Now()); err != nil {
			t.Errorf("A15 without a key it must go on: %v", err)
		}
		c.reg.set(func(r *register) { r.down = nil })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := r.code(t, c.server, time.Now()); got != "" {
			t.Errorf("after an answer a key is answered %q", got)
		}
		// A register that does not answer at all is as bad as one that says no.
		c.reg.set(func(r *register) { r.hang = true })
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := r.code(t, c.server, time.Now()); got != "service_unavailable" {
			t.Errorf("A15 while a question hangs a key is answered %q", got)
		}
		c.reg.set(func(r *register) { r.hang = false })
		time.Sleep(15 * time.Second)
		synctest.Wait()
		if got := r.code(t, c.server, time.Now()); got != "" {
			t.Errorf("a question that hung is not asked again: %q", got)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// An answer counts from when it was asked for: how long it took is part of its age.
func TestAnAnswerIsAsOldAsItsQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCast(t)
		slow := slowRegister{c.reg, 8 * time.Second}
		asked := time.Now()
		dir, err := access.NewDirectory(t.Context(), slow, access.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if !dir.Asked().Equal(asked) || time.Since(asked) != 8*time.Second {
			t.Errorf("asked %v, said %v", asked, dir.Asked())
		}
	})
}

type slowRegister struct {
	*register
	takes time.Duration
}

func (s slowRegister) Changes(ctx context.Context, after int64) (access.Changes, error) {
	c, err := s.register.Changes(ctx, after)
	time.Sleep(s.takes)
	return c, err
}

func TestWithoutAnEarForTroubleRunEndsWithIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, newRegister(), access.Config{})
	down := errors.New("away")
	r.reg.set(func(r *register) { r.down = down })
	r.dir.Wake()
	if err := r.dir.Run(t.Context()); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}

func TestARegisterThatWasPutBackIsReadAnew(t *testing.T) {
	t.Parallel()
	c := newCast(t)
	r := newRig(t, c.reg, access.Config{})
	late := mint(t, integrator.Server, 99)
	c.reg.put(keyOf("key_late", "int_plain", late))
	askNow(t, r)
	if got := r.code(t, late, noon); got != "" {
		t.Fatalf("got %q", got)
	}
	c.reg.set(func(r *register) { r.version--; delete(r.keys, "key_late") })
	askNow(t, r)
	if got := r.code(t, late, noon); got != "invalid_key" {
		t.Errorf("a key that the register does not have any more is answered %q", got)
	}
	if got := r.code(t, c.server, noon); got != "" {
		t.Errorf("one that it has is answered %q", got)
	}
}

// Limits and window change together, and so do an integrator and its keys: no reader
// sees a mix of two versions while they change.
func TestReadersSeeOneVersion(t *testing.T) {
	t.Parallel()
	reg := newRegister()
	text := mint(t, integrator.Server, 7)
	version := func(n int64) []any {
		i := company("int_a", false)
		i.Version, i.Limits.Requests, i.Window = n, n, time.Duration(n)*time.Minute
		k := keyOf("key_a", "int_a", text)
		k.Requests = n
		return []any{i, k}
	}
	reg.put(version(1)...)
	r := newRig(t, reg, access.Config{})
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			creds := access.Credentials{Header: headers(hKey, text)}
			last := int64(0)
			for ctx.Err() == nil {
				p, err := r.gate.Admit(&creds, noon)
				if err != nil {
					t.Errorf("A103 %v", err)
					return
				}
				n := p.Integrator.Version
				if p.Integrator.Limits.Requests != n || p.Integrator.Window != time.Duration(n)*time.Minute || p.Key.Requests != n || n < last {
					t.Errorf("A103 after %d came a mix: %d, %d, %s, %d", last, n, p.Integrator.Limits.Requests, p.Integrator.Window, p.Key.Requests)
					return
				}
				last = n
			}
		})
	}
	for n := int64(2); n < 3000; n++ {
		reg.put(version(n)...)
		askNow(t, r)
	}
	stop()
	readers.Wait()
}

// Whatever the history of changes, the directory knows what the register knows.
func TestRandomChangesEndInWhatTheRegisterKnows(t *testing.T) {
	t.Parallel()
	rnd := testseed.Rand(t)
	reg := newRegister()
	r := newRig(t, reg, access.Config{FailuresPerMin: 1000})
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = mint(t, []integrator.Kind{integrator.Server, integrator.Public}[i%2], uint64(i))
	}
	owner := func(i int) integrator.ID { return integrator.ID(fmt.Sprintf("int_%d", i%17)) }
	want := map[string]string{}
	for round := range 100 {
		var changes []any
		for range 1 + rnd.IntN(12) {
			if n := rnd.IntN(len(texts)); rnd.IntN(4) > 0 {
				k := keyOf(integrator.KeyID(fmt.Sprint("key_", n)), owner(n), texts[n])
				if rnd.IntN(3) == 0 {
					k.RevokedAt = noon
				}
				changes = append(changes, k)
			} else {
				i := company(owner(n), false)
				if rnd.IntN(3) == 0 {
					i.Status = integrator.Suspended
				}
				changes = append(changes, i)
			}
		}
		reg.put(changes...)
		r.pass(time.Minute) // so that no failure of the last round counts
		askNow(t, r)
		for n, text := range texts {
			k, known := reg.keys[integrator.KeyID(fmt.Sprint("key_", n))]
			i, owned := reg.integrators[owner(n)]
			switch {
			case !known || !owned:
				want[text] = "invalid_key"
			case i.value.Status != integrator.Active:
				want[text] = "integration_suspended"
			case k.value.Revoked():
				want[text] = "key_revoked"
			default:
				want[text] = ""
			}
			if got := r.code(t, text, r.time()); got != want[text] {
				t.Fatalf("round %d, key %d: got %q, want %q", round, n, got, want[text])
			}
		}
	}
}
