package socket

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gobwas/ws"
)

// lingerBytes is how much is read, and not looked at, from a peer that was refused.
const lingerBytes = 256 << 10

// inbound is what only the reader of a connection touches.
type inbound struct {
	buffer *[]byte // while something is in it
	n      int
	err    error

	rest       []byte // the beginning of a frame
	text       []byte // the fragments of a message so far
	fragmented bool
	spent      time.Duration // when the allowance of frames is whole again
	dropped    int
}

// wait is a connection of which nothing is to be read. It is a goroutine of its own,
// ended as soon as something comes, so that it never has more than the smallest stack
// there is; nor has it a buffer.
func (c *Conn) wait() {
	if err := c.read(); err != nil || c.in.n <= 0 {
		if c.in.buffer != nil {
			c.server.buffers.Put(c.in.buffer)
			c.in.buffer = nil
		}
		c.ends()
		return
	}
	go c.come()
}

// read waits for bytes and reads them into a buffer, behind the rest.
func (c *Conn) read() error {
	if c.raw == nil {
		c.in.buffer = c.server.buffers.Get().(*[]byte)
		n := copy(*c.in.buffer, c.in.rest)
		m, err := c.conn.Read((*c.in.buffer)[n:])
		c.in.n = n + m
		if m > 0 {
			err = nil
		}
		return err
	}
	if err := c.raw.Read(c.readNow); err != nil {
		return err
	}
	return c.in.err
}

// readNow reads what is there, and reports whether there was anything or never will be.
func (c *Conn) readNow(fd uintptr) bool {
	b := c.server.buffers.Get().(*[]byte)
	rest := len(c.in.rest)
	m, err := readOnce(fd, (*b)[rest:])
	if errors.Is(err, syscall.EAGAIN) {
		c.server.buffers.Put(b)
		return false
	}
	copy(*b, c.in.rest)
	c.in.buffer, c.in.n, c.in.err = b, rest+m, err
	if m <= 0 && err == nil {
		c.in.err = io.EOF
	}
	return true
}

// ends follows the last byte. If the peer has said goodbye and was not yet answered, the
// answer goes first.
func (c *Conn) ends() {
	c.mu.Lock()
	c.ended = c.answered && !c.said && !c.gone
	ended := c.ended
	c.mu.Unlock()
	if !ended {
		c.over()
	}
}

// come looks at what has come, and waits again.
func (c *Conn) come() {
	b, n := c.in.buffer, c.in.n
	c.in.buffer, c.in.n = nil, 0
	c.look((*b)[:n])
	c.server.buffers.Put(b)
	go c.wait()
}

// look takes the frames out of bytes and keeps the rest for later.
func (c *Conn) look(b []byte) {
	c.working.Store(true)
	defer func() { // it was not the peer who was silent meanwhile
		c.heard.Store(int64(c.server.now()))
		c.working.Store(false)
	}()
	used := 0
	if !c.server.guard(func() { used = c.frames(b) }) {
		c.refuse(Failed, "internal error")
	}
	if c.deafened() {
		c.in.rest, c.in.text = nil, nil
		if c.in.dropped += len(b); c.in.dropped > lingerBytes {
			_ = c.conn.Close()
		}
		return
	}
	c.in.rest = nil
	if used < len(b) {
		c.in.rest = append([]byte(nil), b[used:]...)
	}
	if c.in.rest == nil && !c.in.fragmented {
		c.begun.Store(0)
	} else if c.begun.Load() == 0 {
		c.begun.Store(int64(c.server.now()))
	}
}

func (c *Conn) deafened() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deaf
}

// refuse closes a connection of which nothing more is wanted.
func (c *Conn) refuse(code int, reason string) {
	c.mu.Lock()
	c.deaf = true
	c.mu.Unlock()
	c.Close(code, reason)
}

// frames takes whole frames from the front of bytes until there is none, and reports
// how many bytes they were.
func (c *Conn) frames(b []byte) (used int) {
	for !c.deafened() {
		h, size, err := header(b[used:])
		if err != nil {
			if !errors.Is(err, errPartial) {
				c.refuse(Malformed, err.Error())
			}
			return used
		}
		if !c.fits(h) {
			return used
		}
		end := used + size + int(h.Length)
		if end > len(b) {
			return used
		}
		payload := b[used+size : end]
		ws.Cipher(payload, h.Mask, 0)
		used = end
		now := c.server.now()
		c.heard.Store(int64(now))
		if h.OpCode != ws.OpClose && !c.allowed(now) {
			c.mu.Lock()
			c.deaf = true
			c.mu.Unlock()
			c.expel(Flooded, "too many messages")
			return used
		}
		c.frame(h, payload)
	}
	return used
}

// errPartial is that a header has not come whole.
var errPartial = errors.New("more is to come")

// header reads the header of a frame and its own size.
func header(b []byte) (h ws.Header, size int, err error) {
	r := bytes.NewReader(b)
	h, err = ws.ReadHeader(r)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return h, 0, errPartial
	}
	return h, len(b) - r.Len(), err
}

// fits refuses frames for what their header says, before they have come whole.
func (c *Conn) fits(h ws.Header) bool {
	state := ws.StateServerSide
	if c.in.fragmented {
		state = state.Set(ws.StateFragmented)
	}
	if err := ws.CheckHeader(h, state); err != nil {
		c.refuse(Malformed, err.Error())
		return false
	}
	switch {
	case h.OpCode == ws.OpBinary:
		c.refuse(NoText, "only texts are understood")
	case h.OpCode.IsData() && h.Length > int64(c.server.cfg.MaxMessage-len(c.in.text)):
		c.refuse(TooLarge, "message too large")
	default:
		return true
	}
	return false
}

// allowed takes one frame from the peer's allowance.
func (c *Conn) allowed(now time.Duration) bool {
	each := time.Minute / time.Duration(c.server.cfg.FramesPerMinute)
	spent := max(c.in.spent, now) + each
	if spent-now > time.Minute {
		return false
	}
	c.in.spent = spent
	return true
}

// frame is one frame that may come now.
func (c *Conn) frame(h ws.Header, payload []byte) {
	switch h.OpCode {
	case ws.OpPing:
		c.control(ws.OpPong, append([]byte(nil), payload...))
	case ws.OpPong:
	case ws.OpClose:
		c.goodbye(payload)
	default:
		c.fragment(h, payload)
	}
}

// fragment is a message or a part of one.
func (c *Conn) fragment(h ws.Header, payload []byte) {
	if !h.Fin || c.in.fragmented {
		c.in.text = append(c.in.text, payload...)
		c.in.fragmented = !h.Fin
		if !h.Fin {
			return
		}
		payload, c.in.text = c.in.text, nil
	}
	c.begun.Store(0)
	if !utf8.Valid(payload) {
		c.refuse(NotUTF8, "not UTF-8")
		return
	}
	c.mu.Lock()
	wanted := c.state == open
	c.mu.Unlock()
	if wanted {
		c.server.handler.Message(c, payload)
	}
}

// goodbye is the peer's close frame, which is the last that is looked at.
func (c *Conn) goodbye(payload []byte) {
	code, reason := ws.ParseCloseFrameData(payload)
	registered := code == 1012 || code == 1013 || code == 1014 // after the library's list was made
	switch {
	case len(payload) == 0:
		code = NoCode
	case len(payload) == 1, code > 4999, !registered && ws.CheckCloseFrameData(code, reason) != nil, !utf8.ValidString(reason):
		c.refuse(Malformed, "no such close code or reason")
		return
	}
	c.mu.Lock()
	c.answered, c.deaf = true, true
	said := c.said
	c.mu.Unlock()
	if said {
		_ = c.conn.Close()
		return
	}
	c.Close(int(code), "")
}
