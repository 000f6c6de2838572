package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/integrator"
	"ferry/internal/limit"
)

// Admission alone may take so long, and allocates nothing.
const (
	admissionGoal = 1500 // nanoseconds
	sixLimits     = 6
)

// roll is a register of some companies with one server key each.
type roll struct{ all access.Changes }

// Changes implements access.Register.
func (r *roll) Changes(_ context.Context, after int64) (access.Changes, error) {
	if after >= r.all.Version {
		return access.Changes{Version: r.all.Version}, nil
	}
	return r.all, nil
}

// company is a company that may do anything, with a key.
func company(n int) (integrator.Integrator, integrator.Key, string, error) {
	id := integrator.ID(fmt.Sprintf("int_%026d", n))
	text, err := integrator.Mint(integrator.Server, rand.Reader)
	if err != nil {
		return integrator.Integrator{}, integrator.Key{}, "", err
	}
	return integrator.Integrator{
		ID: id, Name: "Bench", Status: integrator.Active, Window: integrator.DefaultWindow,
		Limits: integrator.Limits{Requests: plenty, Quotes: plenty, Creates: plenty},
		Forwarding: integrator.Forwarding{
			Enabled: true, Egress: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
			Limits: integrator.ClientLimits{Requests: plenty, Creates: plenty},
		},
	}, integrator.Key{
		ID: integrator.KeyID(fmt.Sprintf("key_%026d", n)), Integrator: id, Kind: integrator.Server,
		Digest: integrator.DigestOf(text.Reveal()), Requests: plenty,
	}, text.Reveal(), nil
}

// entrance is what admits a request: everything between its headers and its row.
type entrance struct {
	gate    *access.Gate
	counter *limit.Memory
	headers []http.Header
	next    int
}

func newEntrance(ctx context.Context, companies int) (*entrance, error) {
	e := &entrance{}
	r := &roll{access.Changes{Version: 1}}
	for n := range companies {
		i, k, text, err := company(n)
		if err != nil {
			return nil, err
		}
		r.all.Integrators, r.all.Keys = append(r.all.Integrators, i), append(r.all.Keys, k)
		e.headers = append(e.headers, http.Header{
			"X-Integrator-Key": {text}, "X-End-User-Ip": {fmt.Sprintf("198.51.%d.%d", n/250, n%250+1)},
		})
	}
	d, err := access.NewDirectory(ctx, r, access.Config{})
	if err != nil {
		return nil, err
	}
	if e.gate, err = access.NewGate(d, access.Config{}); err != nil {
		return nil, err
	}
	e.counter, err = limit.NewMemory(time.Now(), limit.DefaultEntries)
	return e, err
}

// admit admits the next request, as the door does.
func (e *entrance) admit() error {
	now := time.Now()
	shown := access.Credentials{Header: e.headers[e.next%len(e.headers)], Peer: netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	e.next++
	who, err := e.gate.Admit(&shown, now)
	if err != nil {
		return err
	}
	var room [limit.MaxClaims]limit.Claim
	claims := limit.Claims(room[:0], &who, limit.Quote|limit.Create, limit.DefaultIPLimits)
	if v := e.counter.Take(now, claims); !v.Allowed() || len(claims) != sixLimits {
		return fmt.Errorf("%d limits, allowed: %t", len(claims), v.Allowed())
	}
	return nil
}

// cpuNanoseconds is what CPU a call takes, from calling it for about that long: others
// on the machine make it slower, but not dearer.
func cpuNanoseconds(length time.Duration, f func()) float64 {
	const atOnce = 256
	self := os.Getpid()
	before, err := usedBy(self)
	start, n := time.Now(), 0
	for time.Since(start) < length {
		for range atOnce {
			f()
		}
		n += atOnce
	}
	wall := time.Since(start)
	after, err2 := usedBy(self)
	if err != nil || err2 != nil || after == before { // there is nothing to read it from
		return float64(wall) / float64(n)
	}
	return float64(after-before) / float64(n)
}

// admission measures admission alone.
func admission(ctx context.Context, o options) error {
	e, err := newEntrance(ctx, 1)
	if err != nil {
		return err
	}
	var failed error
	once := func() {
		if err := e.admit(); err != nil {
			failed = err
		}
	}
	allocs := testing.AllocsPerRun(1000, once)
	var times []float64
	for range o.rounds {
		times = append(times, cpuNanoseconds(o.length/2, once))
	}
	if failed != nil {
		return failed
	}
	progress("door: admission takes %.0f ns and %.0f allocations", median(times), allocs)
	o.report.add(result{Bench: "door", Name: "admission alone", Unit: "ns", Ours: median(times), Rounds: o.rounds}.within(admissionGoal))
	o.report.add(result{Bench: "door", Name: "admission alone", Unit: "allocations", Ours: allocs}.within(0))
	return nil
}
