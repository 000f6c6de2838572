package access_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/fault"
	"ferry/internal/integrator"
)

// bytesOf makes a source of bytes of a source of numbers.
type bytesOf struct{ r *rand.Rand }

func (b bytesOf) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b.r.Uint32())
	}
	return len(p), nil
}

// mint makes a key that no other number makes.
func mint(t testing.TB, kind integrator.Kind, n uint64) string {
	t.Helper()
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], n)
	key, err := integrator.Mint(kind, rand.NewChaCha8(seed))
	if err != nil {
		t.Fatal(err)
	}
	return key.Reveal()
}

// noon is when the tests begin.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// register keeps integrators and keys with the version at which each changed last.
type register struct {
	mu          sync.Mutex
	version     int64
	integrators map[integrator.ID]stamped[integrator.Integrator]
	keys        map[integrator.KeyID]stamped[integrator.Key]
	down        error
	hang        bool
	asked       int
}

type stamped[T any] struct {
	at    int64
	value T
}

func newRegister() *register {
	return &register{
		integrators: map[integrator.ID]stamped[integrator.Integrator]{},
		keys:        map[integrator.KeyID]stamped[integrator.Key]{},
	}
}

func (r *register) Changes(ctx context.Context, after int64) (access.Changes, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.hang {
		r.mu.Unlock()
		<-ctx.Done()
		r.mu.Lock()
		return access.Changes{}, ctx.Err()
	}
	if r.down != nil {
		return access.Changes{}, r.down
	}
	c := access.Changes{Version: r.version}
	for _, i := range r.integrators {
		if i.at > after {
			c.Integrators = append(c.Integrators, i.value)
		}
	}
	for _, k := range r.keys {
		if k.at > after {
			c.Keys = append(c.Keys, k.value)
		}
	}
	return c, nil
}

// put changes integrators and keys in one version.
func (r *register) put(things ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version++
	for _, thing := range things {
		switch v := thing.(type) {
		case integrator.Integrator:
			r.integrators[v.ID] = stamped[integrator.Integrator]{r.version, v}
		case integrator.Key:
			r.keys[v.ID] = stamped[integrator.Key]{r.version, v}
		default:
			panic(fmt.Sprintf("%T is kept nowhere", thing))
		}
	}
}

func (r *register) set(change func(r *register)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(r)
}

// The two kinds of company and of key that most tests need.
func company(id integrator.ID, forwards bool, egress ...string) integrator.Integrator {
	i := integrator.Integrator{
		ID: id, Name: string(id), Status: integrator.Active, Version: 1,
		Limits: integrator.DefaultLimits, Window: integrator.DefaultWindow,
	}
	i.Forwarding.Enabled = forwards
	for _, e := range egress {
		i.Forwarding.Egress = append(i.Forwarding.Egress, netip.MustParsePrefix(e))
	}
	return i
}

func keyOf(id integrator.KeyID, owner integrator.ID, text string) integrator.Key {
	kind, _ := integrator.KindOf(text)
	return integrator.Key{ID: id, Integrator: owner, Kind: kind, Digest: integrator.DigestOf(text), CreatedAt: noon}
}

// rig is a gate over a register, with a clock that stands until it is moved.
type rig struct {
	reg  *register
	dir  *access.Directory
	gate *access.Gate

	mu      sync.Mutex
	now     time.Time
	notices []access.Notice
}

func (r *rig) time() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

func (r *rig) told() []access.Notice {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]access.Notice(nil), r.notices...)
}

func newRig(t testing.TB, reg *register, cfg access.Config) *rig {
	t.Helper()
	r := &rig{reg: reg, now: noon}
	cfg.Now = r.time
	cfg.Notice = func(n access.Notice) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notices = append(r.notices, n)
	}
	var err error
	if r.dir, err = access.NewDirectory(t.Context(), reg, cfg); err != nil {
		t.Fatal(err)
	}
	if r.gate, err = access.NewGate(r.dir, cfg); err != nil {
		t.Fatal(err)
	}
	return r
}

// codeOf is the code of a refusal, and empty for none. Anything but a fault fails.
func codeOf(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	f, ok := err.(*fault.Error) //nolint:errorlint // it must be one itself
	if !ok {
		t.Fatalf("%v is a %T and not a fault", err, err)
	}
	return f.Code
}

// fastest is how long each of n things takes. They are timed in turn, and the fastest
// of many rounds counts, which a busy machine cannot blur.
func fastest(n int, do func(i int)) []time.Duration {
	least := make([]time.Duration, n)
	for round := range 1500 {
		for turn := range n {
			i := (round + turn) % n
			begin := time.Now()
			for range 20 {
				do(i)
			}
			if took := time.Since(begin); round == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	return least
}

// headers makes headers of pairs of name and value.
func headers(pairs ...string) map[string][]string {
	h := map[string][]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h[pairs[i]] = append(h[pairs[i]], pairs[i+1])
	}
	return h
}

// oneChange answers as a register until it is on, and then always with one change.
type oneChange struct {
	access.Register
	on bool
	c  access.Changes
}

func (o *oneChange) Changes(ctx context.Context, after int64) (access.Changes, error) {
	if !o.on {
		return o.Register.Changes(ctx, after)
	}
	o.c.Version = after + 1
	return o.c, nil
}
