package socket_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"go.uber.org/goleak"

	"ferry/internal/api/socket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// echo says back what it is told, and keeps what it saw.
type echo struct {
	message  func(c *socket.Conn, text []byte) // instead of saying it back
	farewell []socket.Message

	mu     sync.Mutex
	change sync.Cond
	opened int
	closed []int // codes
	wrong  error
	stages map[*socket.Conn]int
}

func (e *echo) step(c *socket.Conn, from, to int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stages[c] != from {
		e.wrong = fmt.Errorf("a connection went from %d to %d", e.stages[c], to)
	}
	e.stages[c] = to
	e.change.Broadcast()
}

func (e *echo) Opened(c *socket.Conn) {
	e.step(c, 0, 1)
	e.mu.Lock()
	e.opened++
	e.mu.Unlock()
}

func (e *echo) Message(c *socket.Conn, text []byte) {
	e.step(c, 1, 2)
	defer e.step(c, 2, 1)
	if e.message != nil {
		e.message(c, text)
		return
	}
	c.Send(socket.Text(append([]byte(nil), text...)))
}

func (e *echo) Farewell(*socket.Conn, int) []socket.Message { return e.farewell }

func (e *echo) Closed(c *socket.Conn, code int) {
	e.step(c, 1, 3)
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.stages, c)
	e.closed = append(e.closed, code)
	e.change.Broadcast()
}

// ends waits until so many connections were closed and gives their codes.
func (e *echo) ends(t *testing.T, n int) []int {
	t.Helper()
	late := time.AfterFunc(patience, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.wrong = errors.New("they were not all closed in time")
		e.change.Broadcast()
	})
	defer late.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.closed) < n && e.wrong == nil {
		e.change.Wait()
	}
	if e.wrong != nil {
		t.Fatal(e.wrong)
	}
	return append([]int(nil), e.closed...)
}

// rig is a server behind a listener.
type rig struct {
	*testing.T
	*echo
	server *socket.Server
	addr   string
	conns  chan *socket.Conn
}

func newRig(t *testing.T, cfg socket.Config, change ...func(*echo)) *rig {
	t.Helper()
	r := &rig{T: t, echo: &echo{stages: map[*socket.Conn]int{}}, conns: make(chan *socket.Conn, 10_000)}
	r.change.L = &r.mu
	for _, f := range change {
		f(r.echo)
	}
	if cfg.FramesPerMinute == 0 {
		cfg.FramesPerMinute = 1 << 20
	}
	r.server = socket.New(cfg, r.echo)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = l.Addr().String()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if c := r.server.Accept(conn, nil, nil); c != nil {
				r.conns <- c
			}
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.server.Close(ctx, socket.Restart, "restart"); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.wrong != nil || r.opened != len(r.closed) {
			t.Errorf("%d opened, %d closed, %v", r.opened, len(r.closed), r.wrong)
		}
	})
	return r
}

// peer is the other side.
type peer struct {
	testing.TB
	net.Conn
}

func (r *rig) dial() *peer {
	r.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.Fatal(err)
	}
	p := &peer{r.T, conn}
	r.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		r.Fatal(err)
	}
	return p
}

// said is a frame of a peer as it is on the wire.
func said(op ws.OpCode, fin bool, payload string) []byte {
	f := ws.NewFrame(op, fin, []byte(payload))
	return ws.MustCompileFrame(ws.MaskFrame(f))
}

func text(payload string) []byte { return said(ws.OpText, true, payload) }

func closeBody(code int, reason string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(code))) + reason
}

// say sends bytes; a server that has hung up already is no trouble.
func (p *peer) say(parts ...[]byte) {
	for _, b := range parts {
		if _, err := p.Write(b); err != nil {
			return
		}
	}
}

// hear is the next frame, in short: its kind and what it says, or how it all ended.
func (p *peer) hear() string {
	f, err := ws.ReadFrame(p)
	switch {
	case errors.Is(err, io.EOF):
		return "end"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "nothing"
	case err != nil:
		return "broken"
	}
	if f.Header.Masked || f.Header.Rsv != 0 || !f.Header.Fin {
		p.Errorf("the server sent the frame %+v", f.Header)
	}
	switch f.Header.OpCode {
	case ws.OpText:
		return "text " + string(f.Payload)
	case ws.OpPing:
		return "ping " + string(f.Payload)
	case ws.OpPong:
		return "pong " + string(f.Payload)
	case ws.OpClose:
		if len(f.Payload) < 2 {
			return "close"
		}
		return "close " + strconv.Itoa(int(binary.BigEndian.Uint16(f.Payload)))
	}
	return "what?"
}

func (p *peer) expect(all ...string) {
	p.Helper()
	for i, want := range all {
		if got := p.hear(); got != want {
			p.Fatalf("answer %d is %.100q, want %.100q", i, got, want)
		}
	}
}

// lives makes sure that somebody else is served as ever.
func (p *peer) lives() {
	p.Helper()
	p.say(text("are you there?"))
	p.expect("text are you there?")
}
