package limit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"ferry/internal/limit"
)

// pool is a limit.Pool in memory, with a network that can be bad.
type pool struct {
	now      func() time.Time
	accounts map[string]*limit.Account
	leases   map[string]int64
	// on is asked before and after every call did its work; an error is what the
	// caller gets.
	on func(after bool) error
	n  int // calls
}

func newPool(now func() time.Time) *pool {
	return &pool{now: now, accounts: map[string]*limit.Account{}, leases: map[string]int64{}, on: func(bool) error { return nil }}
}

func (p *pool) reading() int64 { return p.now().UnixNano() }

func (p *pool) Beat(_ context.Context, process string, lease time.Duration, fresh bool) (bool, []string, error) {
	p.n++
	if err := p.on(false); err != nil {
		return false, nil, err
	}
	until, known := p.leases[process]
	if known == fresh || !fresh && until <= p.reading() {
		return false, nil, nil
	}
	p.leases[process] = p.reading() + int64(lease)
	var wanted []string
	for name, a := range p.accounts {
		if a.Wanted > p.reading() {
			wanted = append(wanted, name)
		}
	}
	return true, wanted, p.on(true)
}

func (p *pool) Trade(_ context.Context, process string, offers []limit.Offer) ([]limit.Deal, error) {
	p.n++
	if err := p.on(false); err != nil {
		return nil, err
	}
	var deals []limit.Deal
	for _, o := range offers {
		a := p.accounts[o.Subject]
		if a == nil {
			a = &limit.Account{}
			p.accounts[o.Subject] = a
		}
		deals = append(deals, a.Trade(p.reading(), process, func(name string) (int64, bool) {
			until, known := p.leases[name]
			return until, known
		}, o))
	}
	return deals, p.on(true)
}

// history is a few processes on one pool and one clock, and everything that was let in.
type history struct {
	t     *testing.T
	r     *rand.Rand
	now   time.Time
	pool  *pool
	procs []*limit.Shared
	later [][]func() // of each process, what nobody waits for
	names int
	taken map[limit.Subject][]time.Time
	busy  map[int]bool // which of them wait for the pool
}

func newHistory(t *testing.T, r *rand.Rand, n int) *history {
	h := &history{t: t, r: r, now: noon, taken: map[limit.Subject][]time.Time{}, busy: map[int]bool{}, later: make([][]func(), n), procs: make([]*limit.Shared, n)}
	h.pool = newPool(func() time.Time { return h.now })
	for i := range h.procs {
		h.start(i)
	}
	return h
}

// start begins a process, in the place of one that died.
func (h *history) start(i int) {
	h.t.Helper()
	s, err := limit.NewShared(memory(h.t, h.now), limit.SharedConfig{
		Pool: h.pool, Now: func() time.Time { return h.now }, Trouble: func(error) {},
		Name:  func() string { h.names++; return fmt.Sprint("process-", h.names) },
		Spawn: func(f func()) { h.later[i] = append(h.later[i], f) },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.procs[i], h.later[i] = s, nil
	h.beat(i)
}

func (h *history) beat(i int) {
	h.busy[i] = true
	_ = h.procs[i].Beat(h.t.Context())
	h.busy[i] = false
}

// take asks for a request at a process, and holds what was let in to the law.
func (h *history) take(i int, claims []limit.Claim) limit.Verdict {
	h.t.Helper()
	h.busy[i] = true
	v := h.procs[i].Take(h.now, claims)
	h.busy[i] = false
	if !v.Allowed() {
		return v
	}
	for _, c := range claims {
		all := append(h.taken[c.Subject], h.now)
		h.taken[c.Subject] = all
		if n := h.used(c.Subject); n > c.Limit {
			h.t.Fatalf("%d of %d in a minute of %+v, at %s", n, c.Limit, c.Subject, h.now.Sub(noon))
		}
	}
	return v
}

// used is how much was taken in the last minute, in all processes.
func (h *history) used(s limit.Subject) (n int64) {
	all := h.taken[s]
	for i := len(all) - 1; i >= 0 && all[i].After(h.now.Add(-limit.Window)); i-- {
		n++
	}
	return n
}

// pass lets time go by; every process beats each second.
func (h *history) pass(d time.Duration) {
	for end := h.now.Add(d); h.now.Before(end); {
		h.now = h.now.Add(min(end.Sub(h.now), time.Second))
		h.beats()
	}
}

func (h *history) beats() {
	for i := range h.procs {
		h.beat(i)
		h.run(i)
	}
}

// run does what a process put off.
func (h *history) run(i int) {
	all := h.later[i]
	h.later[i] = nil
	h.busy[i] = true
	for _, f := range all {
		f()
	}
	h.busy[i] = false
}

var errBad = errors.New("the network is bad")
