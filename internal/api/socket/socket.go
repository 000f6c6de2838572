package socket

import (
	"context"
	"net"
)

// Server keeps connections.
type Server struct{}

// New makes a server. Close ends what it starts.
func New(cfg Config, handler Handler) *Server { panic("to come") }

// Accept takes over a connection whose upgrade was answered, with what was read of it
// already. Data becomes Conn.Data. It is nil, and the connection closed, if the server
// is closing.
func (s *Server) Accept(conn net.Conn, early []byte, data any) *Conn { panic("to come") }

// Close says goodbye to everybody with this code and waits until all are gone, or until
// the context ends: then they are cut. No further connection is accepted.
func (s *Server) Close(ctx context.Context, code int, reason string) error { panic("to come") }

// Len is how many connections there are.
func (s *Server) Len() int { panic("to come") }

// Conn is one connection. Its methods may be called from anywhere.
type Conn struct {
	// Data is the handler's own; it is set before Opened and in it, and not after.
	Data any
}

// Send queues a text and never waits. It reports false if the connection is closing or
// its queue is full; in that case it is closed with Slow, after what is queued and
// what the handler's Farewell says.
func (c *Conn) Send(m Message) bool { panic("to come") }

// Close says what is queued and then goodbye. Further calls do nothing.
func (c *Conn) Close(code int, reason string) { panic("to come") }
