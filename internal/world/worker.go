package world

import (
	"context"
	"errors"
	"iter"
	"time"

	"ferry/internal/daemon"
	"ferry/internal/house"
)

// Errors that the world makes up.
var (
	errCrash = errors.New("world: the process was killed")
	errDisk  = errors.New("world: no space left on device")
	errLost  = errors.New("world: the connection broke after the commit was sent")
)

// worker is one process: a daemon that is driven call by call, so that two of them
// can be interleaved at every call they make, put to sleep in the middle of one,
// and killed before or after its effect. Only one of them ever runs at a time.
type worker struct {
	index  int
	resume func() (house.Crossing, bool)
	stop   func()

	killed bool
	sleeps time.Time     // until then
	skew   time.Duration // how far its clock is off
}

// idle is the crossing that a worker reports between two passes.
const idle = "idle"

// start begins a process. fault is asked at each crossing of a process that lives.
func start(ctx context.Context, index int, h *house.House, now func() time.Time, fault func(*worker, house.Crossing) error) *worker {
	w := &worker{index: index}
	w.resume, w.stop = iter.Pull(func(yield func(house.Crossing) bool) {
		hook := func(c house.Crossing) error {
			if w.killed || !yield(c) || w.killed {
				w.killed = true
				return errCrash
			}
			return fault(w, c)
		}
		var d *daemon.Daemon
		for !w.killed {
			if d == nil {
				d, _ = h.Daemon(ctx, hook) // it may fail like any call, and is built again
			} else {
				// What fails is on disk and comes again: the auditor says whether all is well.
				_ = d.Step(ctx, func() time.Time { return now().Add(w.skew) })
			}
			if w.killed || !yield(house.Crossing{Name: idle}) {
				return
			}
		}
	})
	return w
}

// kill ends the process where it stands: nothing that it wanted to do happens.
func (w *worker) kill() {
	w.killed = true
	for {
		if _, alive := w.resume(); !alive {
			break
		}
	}
	w.stop()
}
