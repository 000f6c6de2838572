package socket

import (
	"context"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

// Server keeps connections.
type Server struct {
	cfg     Config
	handler Handler
	started time.Time
	writers []*writer
	buffers sync.Pool
	running sync.WaitGroup
	stop    chan struct{}

	mu      sync.Mutex
	conns   []*Conn
	next    int // the writer of the next connection
	closing bool
	empty   chan struct{} // closed when the last has gone after closing
}

// New makes a server. Close ends what it starts.
func New(cfg Config, handler Handler) *Server {
	s := &Server{cfg: cfg.Filled(), handler: handler, stop: make(chan struct{}), empty: make(chan struct{})}
	s.started = s.cfg.Now()
	s.buffers.New = func() any {
		b := make([]byte, s.cfg.MaxMessage+ws.MaxHeaderSize)
		return &b
	}
	for range s.cfg.Writers {
		w := newWriter()
		s.writers = append(s.writers, w)
		s.running.Go(w.run)
	}
	s.running.Go(s.sweep)
	return s
}

// now is the time since the server started, which never jumps.
func (s *Server) now() time.Duration { return s.cfg.Now().Sub(s.started) }

// Accept takes over a connection whose upgrade was answered, with what was read of it
// already. Data becomes Conn.Data. It is nil, and the connection closed, if the server
// is closing.
func (s *Server) Accept(conn net.Conn, early []byte, data any) *Conn {
	if sized, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = sized.SetWriteBuffer(s.cfg.SendBuffer) // the system's own bound will do if it cannot be
	}
	now := s.now()
	c := &Conn{Data: data, server: s, conn: conn, raw: rawOf(conn), pinged: now}
	c.heard.Store(int64(now))
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		_ = conn.Close()
		return nil
	}
	c.writer = s.writers[s.next%len(s.writers)]
	s.next++
	c.index = len(s.conns)
	s.conns = append(s.conns, c)
	s.mu.Unlock()
	if !s.guard(func() { s.handler.Opened(c) }) {
		c.refuse(Failed, "internal error")
	}
	early = append([]byte(nil), early...)
	go func() {
		if len(early) > 0 {
			c.look(early)
		}
		go c.wait()
	}()
	return c
}

// remove forgets a connection that is over.
func (s *Server) remove(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.conns) - 1
	s.conns[c.index] = s.conns[last]
	s.conns[c.index].index = c.index
	s.conns[last] = nil
	s.conns = s.conns[:last]
	if s.closing && last == 0 {
		close(s.empty)
	}
}

// Len is how many connections there are.
func (s *Server) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// all appends the connections there are.
func (s *Server) all(to []*Conn) []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(to, s.conns...)
}

// Close says goodbye to everybody with this code and waits until all are gone, or until
// the context ends: then they are cut. No further connection is accepted.
func (s *Server) Close(ctx context.Context, code int, reason string) error {
	s.mu.Lock()
	again := s.closing
	s.closing = true
	if !again && len(s.conns) == 0 {
		close(s.empty)
	}
	s.mu.Unlock()
	for _, c := range s.all(nil) {
		c.expel(code, reason)
	}
	err := s.emptied(ctx)
	if !again {
		close(s.stop)
		for _, w := range s.writers {
			w.stop()
		}
	}
	s.running.Wait()
	return err
}

// emptied waits until all connections are gone. Those that are left when the context
// ends are cut; a handler that does not return even then is not waited for.
func (s *Server) emptied(ctx context.Context) error {
	select {
	case <-s.empty:
		return nil
	case <-ctx.Done():
	}
	left := s.all(nil)
	for _, c := range left {
		c.cut()
	}
	enough := time.NewTimer(s.cfg.CloseWithin)
	defer enough.Stop()
	select {
	case <-s.empty:
	case <-enough.C:
	}
	return fmt.Errorf("%d live connections were cut: %w", len(left), ctx.Err())
}

// guard calls the handler and reports whether it came back: a panic ends one
// connection, not the process.
func (s *Server) guard(call func()) (came bool) {
	defer func() {
		if why := recover(); why != nil {
			s.cfg.Log.Error("the handler of a live connection panicked", "panic", why, "stack", string(debug.Stack()))
		}
	}()
	call()
	return true
}
