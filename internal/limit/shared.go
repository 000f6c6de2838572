package limit

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"ferry/internal/integrator"
)

// SharedConfig is how a process shares the limits of companies with others.
type SharedConfig struct {
	Pool Pool
	// Now is the clock whose times are given to Take.
	Now func() time.Time
	// Name makes a name that no process had before.
	Name func() string
	// Trouble hears that the pool did not answer; it is asked again.
	Trouble func(error)
	// Spawn runs what nobody waits for, and not at once: it is called under a lock. Nil
	// is a goroutine.
	Spawn func(func())
}

// Times of the whole process.
const (
	// Lease is how long a process may spend what it holds without the pool: as long
	// as keys are believed without the database.
	Lease = 55 * time.Second
	// beatEvery is how often the pool hears that a process lives.
	beatEvery = time.Second
	// patience is how long a request waits for the pool.
	patience = time.Second
)

// Shared is a Counter for one of several processes. Of what belongs to a company it
// spends only what it has from the pool, in blocks; addresses it counts alone, and
// everything once more in its own memory, which says what is left and how long to
// wait. The pool is asked once for a block and not for a request.
type Shared struct {
	cfg   SharedConfig
	mem   *Memory
	start time.Time
	seed  maphash.Seed
	racks [shards]rack

	seq  atomic.Int64
	told atomic.Int64 // when trouble was last told

	renewing sync.Mutex // held while life changes; racks are locked after it
	life     atomic.Pointer[life]
}

// life is a name of this process and until when it may spend.
type life struct {
	name  string
	fresh bool // the pool has not heard of it
	until int64
}

var _ Counter = (*Shared)(nil)

// errLost: the lease has run out.
var errLost = errors.New("limit: this process was silent for too long, and lost what it held")

// NewShared makes a counter over a memory. It has no lease before Run or Beat.
func NewShared(m *Memory, cfg SharedConfig) (*Shared, error) {
	if m == nil || cfg.Pool == nil || cfg.Now == nil || cfg.Name == nil || cfg.Trouble == nil {
		return nil, errors.New("limit: limits that are shared need a memory, a pool, a clock, names and somebody to tell trouble")
	}
	if cfg.Spawn == nil {
		cfg.Spawn = func(f func()) { go f() }
	}
	s := &Shared{cfg: cfg, mem: m, start: cfg.Now(), seed: maphash.MakeSeed()}
	s.life.Store(&life{name: cfg.Name(), fresh: true})
	return s, nil
}

func (s *Shared) reading(now time.Time) int64 { return int64(now.Sub(s.start)) }

// Look judges as Take does, by this process alone, and takes nothing.
func (s *Shared) Look(now time.Time, claims []Claim) Verdict { return s.mem.Look(now, claims) }

// Used is what was used in this process.
func (s *Shared) Used(now time.Time, subjects ...Subject) []int64 {
	return s.mem.Used(now, subjects...)
}

// Take takes one of every claim, or nothing at all if one of them is used up.
func (s *Shared) Take(now time.Time, claims []Claim) Verdict {
	first := -1
	for i := range claims {
		if shared(&claims[i].Subject) && claims[i].Limit > 0 {
			first = i
			break
		}
	}
	if first < 0 {
		return s.mem.Take(now, claims)
	}
	r := s.rack(claims[first].Company)
	for {
		r.mu.Lock()
		v, asks := s.judge(r, claims[first].Company, now, claims)
		if asks == nil {
			r.mu.Unlock()
			return v
		}
		if asks.flight != nil { // somebody asks already
			r.mu.Unlock()
			<-asks.flight
		} else {
			_ = s.trade(asks.open(s), asks.offers) // trouble was told, and is in the stock
		}
		if later := s.cfg.Now(); later.After(now) {
			now = later
		}
	}
}

// judge takes, or refuses, or says what to ask the pool for; the caller holds the lock
// of the rack. Whoever is refused has asked for all he lacks, so that he can be told
// how long to wait for it.
func (s *Shared) judge(r *rack, id integrator.ID, now time.Time, claims []Claim) (Verdict, *asking) {
	t := s.reading(now)
	var (
		stocks [MaxClaims]*stock
		lacks  [MaxClaims]bool
		short  bool
	)
	leased, shelf := t < s.life.Load().until, r.shelf(id)
	for i := range claims {
		c := &claims[i]
		if c.Limit <= 0 || !shared(&c.Subject) {
			continue
		}
		stocks[i] = r.stock(shelf, c, t)
		if need := 1 + twins(claims[:i], c); stocks[i].have >= need && leased {
			continue
		}
		lacks[i], short = true, true
	}
	if !short {
		v := s.mem.Take(now, claims)
		s.settle(&v, t, claims, &stocks, v.Allowed())
		return v, nil
	}
	if leased {
		if asks := s.asks(r, t, claims, &stocks, &lacks); asks != nil {
			return Verdict{}, asks
		}
	}
	v := s.mem.Look(now, claims)
	v.lack(claims, &stocks, &lacks, t, leased)
	return v, nil
}

// settle writes down what a verdict took out of the stocks, and what is left in all
// processes as far as this one knows.
func (s *Shared) settle(v *Verdict, t int64, claims []Claim, stocks *[MaxClaims]*stock, took bool) {
	n := 0
	for i := range claims {
		if claims[i].Limit <= 0 {
			continue
		}
		if st := stocks[i]; st != nil {
			if took {
				st.spend(t)
			}
			state := &v.states[n]
			state.Left = st.left(state.Left, t)
			if st.low(t) {
				subject := claims[i].Subject
				s.cfg.Spawn(func() { s.refill(subject) })
			}
		}
		n++
	}
}

// lack makes a refusal out of a verdict for claims of which there is nothing here.
func (v *Verdict) lack(claims []Claim, stocks *[MaxClaims]*stock, lacks *[MaxClaims]bool, t int64, leased bool) {
	allowed := v.Allowed()
	n := uint8(0)
	for i := range claims {
		if claims[i].Limit <= 0 {
			continue
		}
		n++
		s := &v.states[n-1]
		if !lacks[i] || s.Exhausted {
			continue
		}
		wait := time.Duration(stocks[i].barren - t)
		switch away := !leased || stocks[i].away; {
		case away && !allowed: // it is somebody's limit all the same
			continue
		case away:
			v.away, wait = true, awayWait
		case stocks[i].have > 0: // more at once than there ever is
			wait = Window
		case wait <= 0: // there may be some, but another has none
			continue
		}
		s.Left, s.Exhausted, s.Seconds = 0, true, min(wholeSeconds(wait), int32(Window/time.Second))
		if v.worst == 0 || s.Seconds > v.states[v.worst-1].Seconds {
			v.worst = n
		}
	}
}

// Run keeps the lease, hears who wants what, and gives back what lies idle, until ctx
// ends. Then it gives back everything.
func (s *Shared) Run(ctx context.Context) error {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		if err := s.Beat(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Trouble(err)
		}
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
			defer cancel()
			if err := s.giveBack(last, func(Subject, *stock, int64) due { return back }); err != nil {
				s.cfg.Trouble(fmt.Errorf("what was left could not be given back, and is free when it is old: %w", err))
			}
			return nil
		case <-tick.C:
		}
	}
}
