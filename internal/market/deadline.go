package market

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time, as context.WithDeadline makes one, but
// has no timer and nobody to stop it before somebody wants to wait: most quotes are
// made from memory, and nobody does.
type deadline struct {
	context.Context // that of whoever asks
	at              time.Time

	mu    sync.Mutex
	timed context.Context // nil until somebody waits
	stop  context.CancelFunc
	over  bool
}

// within makes one that must be ended.
func within(ctx context.Context, d time.Duration) *deadline {
	return &deadline{Context: ctx, at: time.Now().Add(d)}
}

// end lets go of whoever still waits.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	if d.stop != nil {
		d.stop()
	}
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) {
	if sooner, ok := d.Context.Deadline(); ok && sooner.Before(d.at) {
		return sooner, true
	}
	return d.at, true
}

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.stop = context.WithDeadline(d.Context, d.at)
		if d.over {
			d.stop()
		}
	}
	return d.timed.Done()
}

// Err implements context.Context.
func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch err := d.Context.Err(); {
	case d.timed != nil:
		return d.timed.Err()
	case err != nil:
		return err
	case d.over:
		return context.Canceled
	case !time.Now().Before(d.at):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements context.Context. A context that is made of this one finds the one
// with the timer behind it, and needs nobody of its own to wait.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	timed := d.timed
	d.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}
