package feed

import "sync"

// Line is a listener that keeps what it hears in a channel until it is taken. A line
// that is full is closed: whoever reads it goes on in the log from the last entry.
type Line struct {
	C <-chan Entry

	mu   sync.Mutex
	ch   chan Entry
	shut bool
}

// NewLine makes a line for so many entries.
func NewLine(buffer int) *Line {
	ch := make(chan Entry, buffer)
	return &Line{C: ch, ch: ch}
}

// Heard implements Listener.
func (l *Line) Heard(e *Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		return
	}
	select {
	case l.ch <- *e:
	default:
		l.close()
	}
}

// Close ends the line; what is in it can still be taken.
func (l *Line) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.shut {
		l.close()
	}
}

func (l *Line) close() {
	l.shut = true
	close(l.ch)
}
