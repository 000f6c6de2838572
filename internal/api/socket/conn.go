package socket

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gobwas/ws"
)

// state is how far a connection has come.
type state uint8

const (
	open    state = iota
	leaving       // the code is settled, the close frame is not queued yet
	closing       // it is the last in the queue, or sent
)

// Conn is one connection. Its methods may be called from anywhere.
type Conn struct {
	// Data is the handler's own; it is set before Opened and in it, and not after.
	Data any

	server *Server
	writer *writer
	conn   net.Conn
	raw    syscall.RawConn // nil where reading and writing must wait
	index  int             // among the server's connections

	heard   atomic.Int64 // when the last frame came
	begun   atomic.Int64 // when the message began of which a part has come; 0 is none
	working atomic.Bool  // what came is being looked at

	mu       sync.Mutex
	queue    queue
	busy     bool // somebody writes, or is about to
	state    state
	said     bool // the close frame is sent
	answered bool // the peer's close frame has come
	deaf     bool // what comes is not looked at any more
	ended    bool // nothing will come, and the handler hears of it when said
	gone     bool // it was cut
	code     uint16
	deadline time.Duration // when it is cut; 0 is not yet
	pinged   time.Duration
	drained  chan struct{} // closed when nothing is queued any more; nil while nobody waits

	in inbound
}

// Send queues a text and never waits. It reports false if the connection is closing or
// its queue is full; in that case it is closed with Slow, after what is queued and
// what the handler's Farewell says.
func (c *Conn) Send(m Message) bool {
	cfg := &c.server.cfg
	c.mu.Lock()
	if c.state != open {
		c.mu.Unlock()
		return false
	}
	if q := &c.queue; q.frames >= cfg.MaxQueued || q.frames > 0 && q.bytes+len(m.Head)+len(m.Body) > cfg.MaxQueue {
		c.leave(Slow, cfg.TakeWithin)
		c.mu.Unlock()
		go c.part("slow consumer", true) // the handler may hold what its Farewell needs
		return false
	}
	c.push(frame{m, ws.OpText})
	c.mu.Unlock()
	return true
}

// Drained waits until everything that was sent is written, and reports whether that is
// so: the connection may end before, or the context.
func (c *Conn) Drained(ctx context.Context) bool {
	c.mu.Lock()
	if c.state != open {
		c.mu.Unlock()
		return false
	}
	if !c.busy {
		c.mu.Unlock()
		return true
	}
	if c.drained == nil {
		c.drained = make(chan struct{})
	}
	drained := c.drained
	c.mu.Unlock()
	select {
	case <-drained:
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state == open && ctx.Err() == nil
}

// wake tells those who wait that the queue is empty or the connection over. The lock is
// held.
func (c *Conn) wake() {
	if c.drained != nil {
		close(c.drained)
		c.drained = nil
	}
}

// Close says what is queued and then goodbye. Further calls do nothing.
func (c *Conn) Close(code int, reason string) {
	c.mu.Lock()
	first := c.leave(code, c.server.cfg.CloseWithin)
	c.mu.Unlock()
	if first {
		c.part(reason, false)
	}
}

// expel is Close with the handler's last words.
func (c *Conn) expel(code int, reason string) {
	c.mu.Lock()
	first := c.leave(code, c.server.cfg.CloseWithin)
	c.mu.Unlock()
	if first {
		c.part(reason, true)
	}
}

// leave settles the code and by when the connection is over, and reports whether it is
// the first to do so. The lock is held.
func (c *Conn) leave(code int, within time.Duration) bool {
	if c.state != open {
		return false
	}
	c.state, c.code, c.deadline = leaving, uint16(code), c.server.now()+within
	c.wake()
	return true
}

// part queues the last frames of a connection that is leaving.
func (c *Conn) part(reason string, lastWords bool) {
	var last []Message
	if lastWords {
		c.server.guard(func() { last = c.server.handler.Farewell(c, int(c.code)) })
	}
	var body []byte
	if c.code != NoCode {
		body = ws.NewCloseFrameBody(ws.StatusCode(c.code), reason)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range last {
		c.push(frame{m, ws.OpText})
	}
	c.push(frame{Text(body), ws.OpClose})
	c.state = closing
}

// control queues a ping or a pong. One more than fits is left out: an answer to the
// ping that follows will do.
func (c *Conn) control(op ws.OpCode, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == open && c.queue.frames < c.server.cfg.MaxQueued {
		c.push(frame{Text(body), op})
	}
}

// push queues a frame and sees to it that somebody writes. The lock is held.
func (c *Conn) push(f frame) {
	c.queue.add(f)
	if c.busy {
		return
	}
	c.busy = true
	if c.raw == nil {
		go c.drain(nil, false)
		return
	}
	c.writer.add(c)
}

// take moves what is queued to the end of the bytes to be written.
func (c *Conn) take(to *out, most int) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queue.take(to, most)
}

// wrote follows a write that took everything. It reports whether there is more, and if
// not, the next that is queued is for somebody else to write.
func (c *Conn) wrote(last bool) (more bool) {
	c.mu.Lock()
	if !last {
		defer c.mu.Unlock()
		if c.busy = c.queue.frames > 0; !c.busy {
			c.wake()
		}
		return c.busy
	}
	c.said = true
	answered, deaf := c.answered || c.ended, c.deaf
	c.mu.Unlock()
	switch half, ok := c.conn.(interface{ CloseWrite() error }); {
	case answered:
		c.cut()
	case deaf && ok:
		_ = half.CloseWrite() // were it closed with something unread, what was said would be lost
	}
	return false
}

// drain writes in a goroutine of its own, for a peer that does not take everything at
// once, until nothing is queued.
func (c *Conn) drain(rest out, last bool) {
	for {
		if len(rest) == 0 {
			last = c.take(&rest, slowWrite)
		}
		err := c.conn.SetWriteDeadline(time.Now().Add(c.server.cfg.TakeWithin))
		if err == nil {
			_, err = c.conn.Write(rest)
		}
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.mu.Lock()
				c.leave(Slow, 0)
				c.mu.Unlock()
			}
			c.cut()
			return
		}
		if c.conn.SetWriteDeadline(time.Time{}) != nil {
			c.cut()
			return
		}
		rest = rest[:0]
		if !c.wrote(last) {
			return
		}
	}
}

// cut ends the connection at once. Whoever reads it tells the handler.
func (c *Conn) cut() {
	_ = c.conn.Close()
	c.mu.Lock()
	ended := c.ended
	c.ended, c.gone = false, true
	c.mu.Unlock()
	if ended {
		go c.over() // the handler may take its time, and whoever cuts has others to look after
	}
}

// over is the end of a connection that nobody reads any more.
func (c *Conn) over() {
	_ = c.conn.Close()
	c.mu.Lock()
	c.leave(Lost, 0)
	code := int(c.code)
	c.queue.clear()
	c.state = closing
	c.mu.Unlock()
	c.server.guard(func() { c.server.handler.Closed(c, code) })
	c.server.remove(c)
}
