package socket

import (
	"errors"
	"sync"
	"syscall"
)

// How many bytes are gathered for one write: by the writers, and for a slow peer, for
// which they are kept until it takes them.
const (
	fastWrite = 64 << 10
	slowWrite = 16 << 10
)

// writer writes what is queued for its share of the connections. It never waits for a
// peer: one that does not take everything gets a goroutine of its own.
type writer struct {
	mu      sync.Mutex
	wake    sync.Cond
	ready   []*Conn
	stopped bool

	out  out
	n    int
	err  error
	once func(fd uintptr) bool // writes out, as far as it goes at once
}

func newWriter() *writer {
	w := &writer{}
	w.wake.L = &w.mu
	w.once = func(fd uintptr) bool {
		w.n, w.err = writeOnce(fd, w.out)
		return true
	}
	return w
}

// add has a connection written.
func (w *writer) add(c *Conn) {
	w.mu.Lock()
	w.ready = append(w.ready, c)
	if len(w.ready) == 1 {
		w.wake.Signal()
	}
	w.mu.Unlock()
}

func (w *writer) stop() {
	w.mu.Lock()
	w.stopped = true
	w.wake.Signal()
	w.mu.Unlock()
}

func (w *writer) run() {
	var now []*Conn
	for {
		w.mu.Lock()
		for len(w.ready) == 0 && !w.stopped {
			w.wake.Wait()
		}
		if w.stopped {
			w.mu.Unlock()
			return
		}
		now, w.ready = w.ready, now[:0]
		w.mu.Unlock()
		for i, c := range now {
			now[i] = nil
			if w.write(c) {
				w.add(c) // behind the others, who have waited longer
			}
		}
	}
}

// write writes what is queued for a connection, and reports whether there is more.
func (w *writer) write(c *Conn) (more bool) {
	w.out = w.out[:0]
	last := c.take(&w.out, fastWrite)
	if len(w.out) == 0 {
		return c.wrote(false)
	}
	w.n, w.err = 0, nil
	err := c.raw.Write(w.once)
	switch {
	case err != nil || w.err != nil && !errors.Is(w.err, syscall.EAGAIN):
		c.cut()
		return false
	case max(w.n, 0) < len(w.out):
		go c.drain(append(out(nil), w.out[max(w.n, 0):]...), last)
		return false
	}
	if cap(w.out) > 2*fastWrite {
		w.out = nil
	}
	return c.wrote(last)
}
