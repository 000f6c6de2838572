package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

// company is an integrator with everything set.
func company(name string) integrator.Integrator {
	return integrator.Integrator{
		ID: integrator.ID("int_" + name), Name: "Größe & \"Co\" " + name, Status: integrator.Active, Version: 1,
		CreatedAt: start, UpdatedAt: start, Limits: integrator.Limits{Requests: 1, Quotes: 2, Creates: 3, OpenOrders: 4},
		Window: 90 * time.Minute, AttributionDays: 7, NoPoints: true,
		Forwarding: integrator.Forwarding{
			Enabled: true, Egress: []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("2001:db8::1/128")},
			Limits: integrator.ClientLimits{Requests: 5, Creates: 6, OpenOrders: 7},
		},
		Fees: integrator.FeePolicy{Default: 12_345, PayTo: map[chain.Family]chain.Address{
			chain.EVM: chain.CanonicalAddress(chain.EVM, "0xabc"), chain.Bitcoin: chain.CanonicalAddress(chain.Bitcoin, "bc1q"),
		}},
	}
}

func key(i integrator.Integrator, name string) integrator.Key {
	return integrator.Key{
		ID: integrator.KeyID("key_" + name), Integrator: i.ID, Kind: integrator.Public, Label: "label of " + name, Hint: "pk_live_ab…cdef",
		Digest: integrator.DigestOf(name), Requests: 300, CreatedAt: start,
	}
}

// did is an entry of the log about something.
func did[T ~string](action string, target T) office.Entry {
	return office.Entry{At: start, By: "alice", Action: action, Target: string(target), Before: `{"a":"b"}`, After: `{"a":"ü\u0000"}`}
}

func (b *bench) company(name string) integrator.Integrator {
	b.Helper()
	i := company(name)
	ok(b.T, b.db.CreateIntegrator(b.Context(), i, did(office.CreatedIntegrator, i.ID)))
	return i
}

func (b *bench) integrator(id integrator.ID) integrator.Integrator {
	b.Helper()
	return must[integrator.Integrator](b.T)(b.db.Integrator(b.Context(), id))
}

func (b *bench) entries() []office.Entry {
	b.Helper()
	return must[[]office.Entry](b.T)(b.db.Log(b.Context(), 0, 1000))
}

func (b *bench) changes(after int64) office.Changes {
	b.Helper()
	return must[office.Changes](b.T)(b.db.Changes(b.Context(), after))
}

// allSet fails where a field is empty: it could be forgotten and nobody would see.
func allSet(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	if v.IsZero() {
		t.Errorf("%s is empty, so its round trip shows nothing", path)
	}
	if v.Kind() == reflect.Struct && v.Type().PkgPath() == reflect.TypeFor[integrator.Integrator]().PkgPath() {
		for n := range v.NumField() {
			allSet(t, v.Field(n), path+"."+v.Type().Field(n).Name)
		}
	}
}

func integratorRoundTrip(t *testing.T, b *bench) {
	allSet(t, reflect.ValueOf(company("one")), "integrator")
	i := b.company("one")
	same(t, b.integrator(i.ID), i)
	i.Name, i.Status, i.Limits.Quotes, i.Window = "Other", integrator.Suspended, 0, time.Hour
	i.Forwarding, i.Fees, i.UpdatedAt = integrator.Forwarding{}, integrator.FeePolicy{}, start.Add(time.Second)
	ok(t, b.db.ChangeIntegrator(t.Context(), i, did(office.ChangedIntegrator, i.ID)))
	i.Version = 2
	same(t, b.integrator(i.ID), i)

	_, err := b.db.Integrator(t.Context(), "int_none")
	want(t, err, office.ErrNotFound)
	if err := b.db.CreateIntegrator(t.Context(), company("one"), did(office.CreatedIntegrator, i.ID)); err == nil {
		t.Fatal("a taken id was given again")
	}
	same(t, b.integrator(i.ID), i)
	same(t, len(b.entries()), 2)
	same(t, b.changes(0).Version, int64(2))
}

func integratorStale(t *testing.T, b *bench) {
	i := b.company("one")
	ok(t, b.db.ChangeIntegrator(t.Context(), i, did(office.ChangedIntegrator, i.ID)))
	for _, version := range []int64{0, 1, 3} {
		i.Version, i.Name = version, "too late"
		want(t, b.db.ChangeIntegrator(t.Context(), i, did(office.ChangedIntegrator, i.ID)), office.ErrChanged)
	}
	want(t, b.db.ChangeIntegrator(t.Context(), company("none"), did(office.ChangedIntegrator, "int_none")), office.ErrNotFound)
	same(t, b.integrator(i.ID).Name, company("one").Name)
	same(t, len(b.entries()), 2)
	same(t, b.changes(0).Version, int64(2))
}

func integratorsListed(t *testing.T, b *bench) {
	for _, name := range []string{"c", "a", "e", "b", "d"} {
		b.company(name)
	}
	var names []integrator.ID
	for after := integrator.ID(""); ; {
		page := must[[]integrator.Integrator](t)(b.db.Integrators(t.Context(), after, 2))
		if len(page) == 0 {
			break
		}
		for _, i := range page {
			names = append(names, i.ID)
			after = i.ID
		}
	}
	same(t, names, []integrator.ID{"int_a", "int_b", "int_c", "int_d", "int_e"})
}

func keyLife(t *testing.T, b *bench) {
	i, other := b.company("one"), b.company("two")
	first, second := key(i, "first"), key(i, "second")
	second.Kind, second.CreatedAt = integrator.Server, start.Add(time.Second)
	for _, k := range []integrator.Key{second, first, key(other, "third")} {
		ok(t, b.db.IssueKey(t.Context(), k, did(office.IssuedKey, k.ID)))
	}
	same(t, must[[]integrator.Key](t)(b.db.Keys(t.Context(), i.ID)), []integrator.Key{first, second})
	same(t, must[integrator.Key](t)(b.db.Key(t.Context(), second.ID)), second)

	twice := key(i, "first")
	twice.ID = "key_twice"
	if err := b.db.IssueKey(t.Context(), twice, did(office.IssuedKey, twice.ID)); err == nil {
		t.Fatal("a digest was kept for two keys")
	}
	want(t, b.db.IssueKey(t.Context(), key(company("none"), "lost"), did(office.IssuedKey, "key_lost")), office.ErrNotFound)
	_, err := b.db.Key(t.Context(), "key_lost")
	want(t, err, office.ErrNotFound)
	_, err = b.db.RevokeKey(t.Context(), "key_lost", start, did(office.RevokedKey, "key_lost"))
	want(t, err, office.ErrNotFound)
	same(t, len(b.entries()), 5)

	revoke := func(at time.Time) bool {
		return must[bool](t)(b.db.RevokeKey(t.Context(), first.ID, at, did(office.RevokedKey, first.ID)))
	}
	same(t, revoke(start.Add(time.Minute)), true)
	same(t, revoke(start.Add(time.Hour)), false)
	first.RevokedAt = start.Add(time.Minute)
	same(t, must[integrator.Key](t)(b.db.Key(t.Context(), first.ID)), first)
	same(t, len(b.entries()), 6)
}

func keysTouched(t *testing.T, b *bench) {
	i := b.company("one")
	used := map[integrator.KeyID]time.Time{"key_unknown": start}
	for n := range 70 {
		k := key(i, fmt.Sprintf("%03d", n))
		ok(t, b.db.IssueKey(t.Context(), k, did(office.IssuedKey, k.ID)))
		used[k.ID] = start.Add(time.Duration(n) * time.Second)
	}
	before := b.changes(0).Version
	ok(t, b.db.TouchKeys(t.Context(), nil))
	ok(t, b.db.TouchKeys(t.Context(), used))
	for id := range used {
		used[id] = start
	}
	ok(t, b.db.TouchKeys(t.Context(), used)) // told late: it was used after that
	for n, k := range must[[]integrator.Key](t)(b.db.Keys(t.Context(), i.ID)) {
		same(t, k.LastUsedAt, start.Add(time.Duration(n)*time.Second))
	}
	same(t, b.changes(0).Version, before)
}

func changesFollow(t *testing.T, b *bench) {
	same(t, b.changes(0), office.Changes{})
	same(t, b.changes(7), office.Changes{}) // of a register that was another
	one, two := b.company("one"), b.company("two")
	k := key(one, "k")
	ok(t, b.db.IssueKey(t.Context(), k, did(office.IssuedKey, k.ID)))
	same(t, b.changes(0), office.Changes{Version: 3, Integrators: []integrator.Integrator{one, two}, Keys: []integrator.Key{k}})
	same(t, b.changes(1), office.Changes{Version: 3, Integrators: []integrator.Integrator{two}, Keys: []integrator.Key{k}})
	same(t, b.changes(3), office.Changes{Version: 3})
	same(t, b.changes(4), b.changes(0))

	one.Status = integrator.Suspended
	ok(t, b.db.ChangeIntegrator(t.Context(), one, did(office.SuspendedIntegrator, one.ID)))
	one.Version = 2
	must[bool](t)(b.db.RevokeKey(t.Context(), k.ID, start, did(office.RevokedKey, k.ID)))
	k.RevokedAt = start
	same(t, b.changes(3), office.Changes{Version: 5, Integrators: []integrator.Integrator{one}, Keys: []integrator.Key{k}})
	same(t, b.changes(4), office.Changes{Version: 5, Keys: []integrator.Key{k}})
}

// A reader that asks only for what is new sees everything in the end, while many
// write.
func changesRace(t *testing.T, b *bench) {
	const writers, each = 8, 6
	seen := map[string]int64{}
	var version int64
	follow := func() {
		c := b.changes(version)
		if c.Version < version {
			t.Errorf("the register went from %d to %d", version, c.Version)
		}
		version = c.Version
		for _, i := range c.Integrators {
			seen[string(i.ID)] = i.Version
		}
		for _, k := range c.Keys {
			seen[string(k.ID)]++
		}
	}
	done := make(chan error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { done <- b.writeRegister(context.WithoutCancel(t.Context()), fmt.Sprintf("w%d", w), each) })
	}
	go func() { wg.Wait(); close(done) }()
	for open := true; open; {
		select {
		case err, more := <-done:
			ok(t, err)
			open = more
		default:
			follow()
		}
	}
	follow()
	for w := range writers {
		same(t, seen[fmt.Sprintf("int_w%d", w)], int64(each+1))
		for n := range each {
			same(t, seen[fmt.Sprintf("key_w%d-%d", w, n)], int64(1))
		}
	}
	same(t, version, int64(writers*(1+2*each)))
	verdict := must[office.Verdict](t)(b.db.VerifyAudit(t.Context()))
	same(t, verdict.Entries, version)
}

func (b *bench) writeRegister(ctx context.Context, name string, each int) error {
	i := company(name)
	if err := b.db.CreateIntegrator(ctx, i, did(office.CreatedIntegrator, i.ID)); err != nil {
		return err
	}
	for n := range each {
		k := key(i, fmt.Sprintf("%s-%d", name, n))
		err := errors.Join(
			b.db.ChangeIntegrator(ctx, i, did(office.ChangedIntegrator, i.ID)),
			b.db.IssueKey(ctx, k, did(office.IssuedKey, k.ID)))
		if err != nil {
			return err
		}
		i.Version++
	}
	return nil
}

func logFollows(t *testing.T, b *bench) {
	same(t, must[office.Verdict](t)(b.db.VerifyAudit(t.Context())), office.Verdict{})
	i := b.company("one")
	k := key(i, "k")
	ok(t, b.db.IssueKey(t.Context(), k, did(office.IssuedKey, k.ID)))
	must[bool](t)(b.db.RevokeKey(t.Context(), k.ID, start, did(office.RevokedKey, k.ID)))
	log := b.entries()
	same(t, len(log), 3)
	for n, action := range []string{office.CreatedIntegrator, office.IssuedKey, office.RevokedKey} {
		e := did(action, "")
		e.Target, e.Seq, e.Sum = log[n].Target, int64(n+1), log[n].Sum
		if n > 0 {
			e.Prev = log[n-1].Sum
		}
		same(t, log[n], e)
	}
	same(t, must[[]office.Entry](t)(b.db.Log(t.Context(), 1, 1)), log[1:2])
	same(t, must[office.Verdict](t)(b.db.VerifyAudit(t.Context())), office.Verdict{Entries: 3, Head: log[2].Sum})
}

func entered(t *testing.T, b *bench) {
	errs := make([]error, racers)
	together(racers, func(i int) { errs[i] = b.db.Enter(t.Context(), did(office.HurriedSweep, give)) })
	for _, err := range errs {
		ok(t, err)
	}
	log := b.entries()
	same(t, len(log), racers)
	e := did(office.HurriedSweep, give).Seal(1, office.Sum{})
	same(t, log[0], e)
	same(t, must[office.Verdict](t)(b.db.VerifyAudit(t.Context())), office.Verdict{Entries: racers, Head: log[racers-1].Sum})
}

func haltLifted(t *testing.T, b *bench) {
	lift := func() bool {
		return must[bool](t)(b.db.LiftHalt(t.Context(), give, did(office.ResumedChain, give)))
	}
	same(t, lift(), false)
	ok(t, b.db.Halt(t.Context(), give, "it went back", start))
	same(t, must[[]office.Halt](t)(b.db.Halts(t.Context())), []office.Halt{{Chain: give, Why: "it went back", At: start}})
	same(t, lift(), true)
	same(t, lift(), false)
	same(t, len(must[[]office.Halt](t)(b.db.Halts(t.Context()))), 0)
	same(t, len(b.entries()), 1)
}
