package report

import (
	"context"
	"errors"
	"sync"
	"time"

	"ferry/internal/integrator"
)

// freshFor is how old a report may be when it is shown.
const freshFor = time.Second

// maxKept is how many integrators' reports are kept at most.
const maxKept = 4096

// shelf keeps the newest report of each integrator for a moment, and has one caller
// read what many ask for at once.
type shelf struct {
	mu   sync.Mutex
	kept map[integrator.ID]*sheet
}

// sheet is a report that is being read or was read. Its fields stand still once done
// is closed.
type sheet struct {
	at      time.Time // before it was read
	version int64     // of the settings in it
	done    chan struct{}
	me      Me
	err     error
}

// good reports whether a sheet may be shown to somebody who asks at a time.
func (s *sheet) good(version int64, now time.Time) bool {
	age := now.Sub(s.at)
	return s.version == version && age >= 0 && age < freshFor
}

// get is the report of an integrator, read anew if the one that is kept is too old
// or knows other settings.
func (s *shelf) get(ctx context.Context, i integrator.Integrator, now time.Time, read func(context.Context) (Me, error)) (Me, error) {
	for {
		one, mine := s.sheet(i, now)
		if mine {
			s.fill(ctx, i.ID, one, read)
			return one.me, one.err
		}
		select {
		case <-one.done:
		case <-ctx.Done():
			return Me{}, ctx.Err()
		}
		// Whoever read it may have gone away in the middle; then it is the next one's
		// turn. Any other error is everybody's.
		if !errors.Is(one.err, context.Canceled) && !errors.Is(one.err, context.DeadlineExceeded) {
			return one.me, one.err
		}
	}
}

// fill reads a sheet. One that could not be read is not kept.
func (s *shelf) fill(ctx context.Context, id integrator.ID, one *sheet, read func(context.Context) (Me, error)) {
	whole := false
	defer func() {
		if !whole || one.err != nil {
			s.drop(id, one)
		}
		if !whole {
			one.err = context.Canceled // a panic: nobody may take the empty sheet for a report
		}
		close(one.done)
	}()
	one.me, one.err = read(ctx)
	one.me.made = &sync.Map{}
	whole = true
}

// sheet finds the sheet to show or to wait for, or begins one that is the caller's
// to fill.
func (s *shelf) sheet(i integrator.Integrator, now time.Time) (one *sheet, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one = s.kept[i.ID]; one != nil && one.good(i.Version, now) {
		return one, false
	}
	if s.kept == nil {
		s.kept = map[integrator.ID]*sheet{}
	}
	if len(s.kept) >= maxKept {
		clear(s.kept) // whoever waits for one has it, and those who come read again
	}
	one = &sheet{at: now, version: i.Version, done: make(chan struct{})}
	s.kept[i.ID] = one
	return one, true
}

func (s *shelf) drop(id integrator.ID, one *sheet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[id] == one {
		delete(s.kept, id)
	}
}

// Once is what was made of this very report under a name, made now if nobody did. It
// is gone when the report is. make may be called twice at the same time.
func (m Me) Once(name string, make func() (any, error)) (any, error) {
	if m.made == nil {
		return make()
	}
	if found, ok := m.made.Load(name); ok {
		return found, nil
	}
	v, err := make()
	if err != nil {
		return nil, err
	}
	v, _ = m.made.LoadOrStore(name, v)
	return v, nil
}
