package report

import (
	"context"
	"errors"
	"sync"
	"time"
)

// freshFor is how old a report may be when it is shown.
const freshFor = time.Second

// maxKept is how many reports of a kind are kept at most.
const maxKept = 4096

// shelf keeps the newest report on each subject for a moment, and has one caller read
// what many ask for at once.
type shelf[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]*sheet[V]
}

// sheet is a report that is being read or was read. Its fields stand still once done
// is closed.
type sheet[V any] struct {
	at    time.Time // before it was read
	done  chan struct{}
	value V
	err   error
}

// good reports whether a sheet may be shown to somebody who asks at a time.
func (s *sheet[V]) good(now time.Time) bool {
	age := now.Sub(s.at)
	return age >= 0 && age < freshFor
}

// get is the report on a subject, read anew if the one that is kept is too old.
func (s *shelf[K, V]) get(ctx context.Context, of K, now time.Time, read func(context.Context) (V, error)) (V, error) {
	for {
		one, mine := s.sheet(of, now)
		if mine {
			s.fill(ctx, of, one, read)
			return one.value, one.err
		}
		select {
		case <-one.done:
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
		// Whoever read it may have gone away in the middle; then it is the next one's
		// turn. Any other error is everybody's.
		if !errors.Is(one.err, context.Canceled) && !errors.Is(one.err, context.DeadlineExceeded) {
			return one.value, one.err
		}
	}
}

// fill reads a sheet. One that could not be read is not kept.
func (s *shelf[K, V]) fill(ctx context.Context, of K, one *sheet[V], read func(context.Context) (V, error)) {
	whole := false
	defer func() {
		if !whole || one.err != nil {
			s.drop(of, one)
		}
		if !whole {
			one.err = context.Canceled // a panic: nobody may take the empty sheet for a report
		}
		close(one.done)
	}()
	one.value, one.err = read(ctx)
	whole = true
}

// sheet finds the sheet to show or to wait for, or begins one that is the caller's
// to fill.
func (s *shelf[K, V]) sheet(of K, now time.Time) (one *sheet[V], mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one = s.kept[of]; one != nil && one.good(now) {
		return one, false
	}
	if s.kept == nil {
		s.kept = map[K]*sheet[V]{}
	}
	if len(s.kept) >= maxKept {
		clear(s.kept) // whoever waits for one has it, and those who come read again
	}
	one = &sheet[V]{at: now, done: make(chan struct{})}
	s.kept[of] = one
	return one, true
}

func (s *shelf[K, V]) drop(of K, one *sheet[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[of] == one {
		delete(s.kept, of)
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
