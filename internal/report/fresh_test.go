package report

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/integrator"
	"ferry/internal/order"
)

// slowStore counts how often a report is read, and lets it be held up or fail.
type slowStore struct {
	Public
	reads atomic.Int64
	open  atomic.Int64
	hold  chan struct{} // nil: nobody is held up
	in    chan struct{} // somebody is
	fail  error
}

func (s *slowStore) Tallies(ctx context.Context, _ string, from, _ int64) ([]Tally, error) {
	if from != 0 {
		return nil, nil
	}
	s.reads.Add(1)
	if s.hold != nil {
		s.in <- struct{}{}
		select {
		case <-s.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, s.fail
}

func (s *slowStore) OpenOrders(context.Context, string, time.Time) (int64, error) {
	return s.open.Load(), nil
}

func (s *slowStore) Attributed(context.Context, integrator.ID, Filter, order.Place, int) (Page, error) {
	return Page{}, nil
}

func (s *slowStore) Keys(context.Context, integrator.ID) ([]integrator.Key, error) { return nil, nil }

var (
	acme  = integrator.Integrator{ID: "int_acme", Version: 1, AttributionDays: 30, Window: time.Hour}
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func TestAReportIsLessThanASecondOld(t *testing.T) {
	t.Parallel()
	renamed, other := acme, acme
	renamed.Version, other.ID = 2, "int_other"
	for name, c := range map[string]struct {
		who   integrator.Integrator
		after time.Duration
		reads int64
	}{
		"at once":                     {acme, 0, 1},
		"just before it is too old":   {acme, time.Second - 1, 1},
		"after a second":              {acme, time.Second, 2},
		"when the clock went back":    {acme, -time.Second, 2},
		"with other settings at once": {renamed, 0, 2},
		"of another integrator":       {other, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &slowStore{}
			r := New(s, DefaultProgram)
			if _, err := r.Me(t.Context(), acme, start); err != nil {
				t.Fatal(err)
			}
			s.open.Store(7) // what is read from now on
			m, err := r.Me(t.Context(), c.who, start.Add(c.after))
			if err != nil || s.reads.Load() != c.reads || (m.Usage.OpenOrders == 7) != (c.reads == 2) || m.Integrator.Version != c.who.Version || m.Integrator.ID != c.who.ID {
				t.Errorf("read %d times, %d open, of %+v, %v", s.reads.Load(), m.Usage.OpenOrders, m.Integrator, err)
			}
		})
	}
}

func TestManyWhoAskAtOnceReadOnce(t *testing.T) {
	t.Parallel()
	s := &slowStore{hold: make(chan struct{}), in: make(chan struct{}, 1)}
	r := New(s, DefaultProgram)
	var wg sync.WaitGroup
	ask := func() {
		if m, err := r.Me(t.Context(), acme, start); err != nil || m.At != start {
			t.Errorf("%+v, %v", m.At, err)
		}
	}
	wg.Go(ask)
	<-s.in
	for range 20 {
		wg.Go(ask)
	}
	close(s.hold)
	wg.Wait()
	if n := s.reads.Load(); n != 1 {
		t.Errorf("read %d times", n)
	}
}

func TestWhoGoesAwayTakesNobodyElsesReport(t *testing.T) {
	t.Parallel()
	s := &slowStore{hold: make(chan struct{}), in: make(chan struct{}, 2)}
	r := New(s, DefaultProgram)
	ctx, leave := context.WithCancel(t.Context())
	left, got := make(chan error, 1), make(chan error, 1)
	go func() { _, err := r.Me(ctx, acme, start); left <- err }()
	<-s.in
	go func() { _, err := r.Me(t.Context(), acme, start); got <- err }()
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	<-s.in // the other reads for itself
	close(s.hold)
	if err := <-got; err != nil {
		t.Errorf("who stayed got %v", err)
	}
}

func TestAReportThatFailedIsNotKept(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	s := &slowStore{fail: bad}
	r := New(s, DefaultProgram)
	if _, err := r.Me(t.Context(), acme, start); !errors.Is(err, bad) {
		t.Fatalf("want the store's error, got %v", err)
	}
	s.fail = nil
	if _, err := r.Me(t.Context(), acme, start); err != nil {
		t.Errorf("kept: %v", err)
	}
}

func TestWhatIsMadeOfAReportIsMadeOnceAndGoesWithIt(t *testing.T) {
	t.Parallel()
	r := New(&slowStore{}, DefaultProgram)
	made := 0
	page := func(now time.Time, name string) any {
		m, err := r.Me(t.Context(), acme, now)
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Once(name, func() (any, error) { made++; return name + now.String(), nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a, again, b := page(start, "a"), page(start.Add(time.Millisecond), "a"), page(start, "b")
	if made != 2 || a != again || a == b {
		t.Errorf("made %d: %v, %v and %v", made, a, again, b)
	}
	if later := page(start.Add(time.Second), "a"); made != 3 || later == a {
		t.Errorf("%v was kept longer than its report", later)
	}
}
