package limit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// tradeAtOnce is how many subjects go to the pool together.
const tradeAtOnce = 64

// asking is what to ask the pool for, or somebody else's question to wait for.
type asking struct {
	flight   chan struct{}
	rack     *rack
	subjects []Subject
	offered  []*stock
	offers   []Offer
	sent     int64
	by       *life
	reports  [][]Bit
}

// asks is what to ask for so that a request may be let in; nil if it is of no use. What
// there is none of does not keep it from asking for the rest: whoever is refused is told
// how long to wait for all of it. The caller holds the lock of the rack.
func (s *Shared) asks(r *rack, t int64, claims []Claim, stocks *[MaxClaims]*stock, lacks *[MaxClaims]bool) *asking {
	var need []int
	for i, st := range stocks {
		switch {
		case !lacks[i]:
		case st.flight != nil:
			return &asking{flight: st.flight}
		case t < st.barren || st.have > 0: // of a claim that is made twice there is less than two
		default:
			need = append(need, i)
		}
	}
	if len(need) == 0 {
		return nil
	}
	a := &asking{rack: r}
	for _, i := range need {
		if !slices.Contains(a.offered, stocks[i]) {
			s.offer(a, claims[i].Subject, stocks[i], stocks[i].block())
		}
	}
	return a
}

// offer adds an offer. What was spent goes with it and stays there until it is known
// to have arrived. The caller holds the lock of the rack.
func (s *Shared) offer(a *asking, subject Subject, st *stock, want int64) {
	a.subjects, a.offered = append(a.subjects, subject), append(a.offered, st)
	a.offers = append(a.offers, Offer{Subject: subject.text(), Limit: st.limit, Held: st.have, Want: want})
	a.reports = append(a.reports, st.spent)
	st.spent = nil
}

// open closes the door of the rack behind the offers: until the flight is over nobody
// else asks for the same. The caller holds the lock, and has not when it returns.
func (a *asking) open(s *Shared) *asking {
	a.flight = make(chan struct{})
	for _, st := range a.offered {
		st.flight = a.flight
	}
	a.by = s.life.Load()
	a.rack.mu.Unlock()
	a.sent = s.reading(s.cfg.Now())
	for i := range a.offers {
		a.offers[i].Seq = s.seq.Add(1)
		for _, b := range a.reports[i] {
			a.offers[i].Spent = append(a.offers[i].Spent, Bit{a.sent - b.At, b.N})
		}
	}
	return a
}

// trade asks the pool and takes what it gives.
func (s *Shared) trade(a *asking, offers []Offer) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	deals, err := s.cfg.Pool.Trade(ctx, a.by.name, offers)
	if err == nil && len(deals) != len(offers) {
		err = fmt.Errorf("limit: %d answers to %d offers", len(deals), len(offers))
	}
	now := s.reading(s.cfg.Now())
	if last := s.told.Load(); err != nil && now-last >= int64(sulk) && s.told.CompareAndSwap(last, now) {
		s.cfg.Trouble(fmt.Errorf("allowances could not be had: %w", err))
	}
	lost := false
	a.rack.mu.Lock()
	// A name that was given up meanwhile took everything with it.
	mine := s.life.Load().name == a.by.name
	for i, st := range a.offered {
		st.flight = nil
		switch {
		case !mine:
		case err != nil:
			// Nobody knows whether it arrived. It is told again: twice is too much.
			st.spent = append(a.reports[i], st.spent...)
			st.barren, st.away = now+int64(sulk), true
		case deals[i].Lost:
			lost = true
		default:
			st.take(deals[i], offers[i].Limit, now)
			used := s.mem.Used(s.cfg.Now(), a.subjects[i])[0]
			st.other = max(st.limit-used-st.have-st.free, 0)
		}
	}
	close(a.flight)
	a.rack.mu.Unlock()
	if lost {
		s.begin(a.by)
		return errLost
	}
	return err
}

// take is what the pool gave for a limit, which may be another by now.
func (s *stock) take(d Deal, limit, now int64) {
	s.told, s.away = now, false
	if limit != s.limit {
		return // given back with the next trade
	}
	s.have, s.free, s.barren = s.have+d.Granted, d.Free, 0
	if d.Granted > 0 {
		s.since = now
	}
	if d.Wait > 0 {
		s.barren = now + int64(d.Wait)
	}
}

// refill asks for more of a subject before there is nothing left of it.
func (s *Shared) refill(subject Subject) {
	r := s.rack(subject.Company)
	r.mu.Lock()
	st := r.find(&subject)
	if st == nil || !st.low(s.reading(s.cfg.Now())) {
		r.mu.Unlock()
		return
	}
	a := &asking{rack: r}
	s.offer(a, subject, st, st.block())
	a.offers[0].Spare = true
	_ = s.trade(a.open(s), a.offers) // trouble was told
}

// begin begins under another name, with nothing. What the old one holds or has spent
// and not told counts in the pool for a minute after its lease, which is longer than
// anything that was spent under it.
func (s *Shared) begin(old *life) {
	s.renewing.Lock()
	defer s.renewing.Unlock()
	if !s.life.CompareAndSwap(old, &life{name: s.cfg.Name(), fresh: true}) {
		return
	}
	for i := range s.racks {
		r := &s.racks[i]
		r.mu.Lock()
		r.all(func(st *stock) bool {
			st.have, st.free, st.other, st.spent, st.barren, st.away = 0, 0, 0, nil, 0, false
			return false
		})
		r.mu.Unlock()
	}
}

// Beat renews the lease, gives back what others wait for and what lies idle, and says
// how things stand where nobody has for a while.
func (s *Shared) Beat(ctx context.Context) error {
	l := s.life.Load()
	now := s.reading(s.cfg.Now())
	if !l.fresh && now >= l.until {
		s.begin(l)
		l = s.life.Load()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	alive, wanted, err := s.cfg.Pool.Beat(ctx, l.name, Lease, l.fresh)
	switch {
	case err != nil && l.fresh:
		// It may have been heard of; a name is fresh only once.
		s.begin(l)
		return fmt.Errorf("allowances: %w", err)
	case err != nil:
		return fmt.Errorf("allowances: %w", err)
	case !alive:
		s.begin(l)
		return errLost
	}
	// Measured before the pool was asked, so it ends here before it ends there.
	s.renewing.Lock()
	s.life.CompareAndSwap(l, &life{name: l.name, until: now + int64(Lease)})
	s.renewing.Unlock()
	want := map[Subject]bool{}
	for _, text := range wanted {
		want[subjectNamed(text)] = true
	}
	return s.giveBack(ctx, func(subject Subject, st *stock, t int64) due {
		switch {
		case want[subject] || t-st.used >= int64(idle):
			return back
		case t-st.told >= int64(silence):
			return tell
		}
		return keep
	})
}

// due is what is to be done with a stock.
type due uint8

const (
	keep due = iota
	tell     // the pool how things stand
	back     // it goes, to the pool
)

// giveBack gives back what of it is due, and forgets what is empty.
func (s *Shared) giveBack(ctx context.Context, when func(Subject, *stock, int64) due) error {
	var errs []error
	for i := range s.racks {
		r := &s.racks[i]
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = s.giveBackOf(r, when); err != nil {
				errs = append(errs, err)
				break
			}
		}
	}
	return errors.Join(errs...)
}

// giveBackOf gives back so much of a rack as goes at once, and whether there is more.
func (s *Shared) giveBackOf(r *rack, when func(Subject, *stock, int64) due) (more bool, err error) {
	t := s.reading(s.cfg.Now())
	a := &asking{rack: r}
	r.mu.Lock()
	r.all(func(st *stock) bool {
		what := when(st.subject, st, t)
		switch {
		case st.flight != nil || what == keep:
		case st.empty():
			return t-st.used >= int64(idle)
		case len(a.offers) == tradeAtOnce:
			more = true
		default:
			if what == back {
				st.have, st.free = 0, 0
			}
			s.offer(a, st.subject, st, 0)
		}
		return false
	})
	if len(a.offers) == 0 {
		r.mu.Unlock()
		return false, nil
	}
	return more, s.trade(a.open(s), a.offers)
}

// awayWait is after what time a pool that is away may be back.
const awayWait = 5 * time.Second
