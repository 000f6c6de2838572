package socket_test

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ferry/internal/api/socket"
)

// often is a time to close that has the server look after its connections often.
const often = 20 * time.Millisecond

// clock goes only when it is told to.
type clock struct{ at atomic.Pointer[time.Time] }

func newClock() *clock {
	c, at := &clock{}, time.Now()
	c.at.Store(&at)
	return c
}

func (c *clock) now() time.Time { return *c.at.Load() }

func (c *clock) pass(d time.Duration) {
	at := c.now().Add(d)
	c.at.Store(&at)
}

func itoa(n int) string { return strconv.Itoa(n) }

// pipe are the two ends of a connection over TCP.
func pipe(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if theirs, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if ours, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	if err := theirs.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

func TestTheServerClosesWithItsCodeAfterWhatIsQueued(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{})
	p := r.dial()
	c := <-r.conns
	for i := range 3 {
		c.Send(socket.Message{Head: []byte("head "), Body: []byte(itoa(i))})
	}
	c.Close(4001, "bad key")
	c.Close(4003, "too late")
	if c.Send(socket.Text([]byte("too late"))) {
		t.Error("a closing connection takes a text")
	}
	p.expect("text head 0", "text head 1", "text head 2", "close 4001")
	p.say(text("not seen"), said(ws.OpClose, true, closeBody(4001, "")))
	p.expect("end")
	if got := r.ends(t, 1); got[0] != 4001 {
		t.Errorf("closed with %v", got)
	}
}

func TestAPeerThatDoesNotAnswerAGoodbyeIsCut(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{CloseWithin: 50 * time.Millisecond})
	p := r.dial()
	(<-r.conns).Close(socket.Normal, "")
	p.expect("close 1000", "end")
	if got := r.ends(t, 1); got[0] != socket.Normal {
		t.Errorf("closed with %v", got)
	}
}

func TestTheCodeOfThePeerAndOfABrokenConnectionAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		say  []byte
		want int
	}{
		{said(ws.OpClose, true, closeBody(3001, "bye")), 3001},
		{said(ws.OpClose, true, ""), socket.NoCode},
		{nil, socket.Lost},
		{text("half a text")[:9], socket.Lost},
		{said(ws.OpText, false, "half"), socket.Lost},
	} {
		r := newRig(t, socket.Config{})
		p := r.dial()
		p.say(c.say)
		if half, ok := p.Conn.(*net.TCPConn); !ok || half.CloseWrite() != nil {
			t.Fatal("the peer cannot hang up")
		}
		if got := r.ends(t, 1); got[0] != c.want {
			t.Errorf("closed with %v, want %d", got, c.want)
		}
	}
}

// TestAPeerThatHangsUpAfterItsGoodbyeIsAnswered: nothing can come any more, and it may
// still read.
func TestAPeerThatHangsUpAfterItsGoodbyeIsAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{})
	for range 100 {
		p := r.dial()
		p.say(said(ws.OpClose, true, closeBody(1000, "")))
		_ = p.Conn.(*net.TCPConn).CloseWrite()
		p.expect("close 1000", "end")
	}
	r.ends(t, 100)
}

func TestAFloodEndsOneConnectionAfterItsLastWords(t *testing.T) {
	t.Parallel()
	for name, frame := range map[string][]byte{
		"pings": said(ws.OpPing, true, ""), "pongs": said(ws.OpPong, true, ""), "texts": text("a"), "fragments": start(""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, socket.Config{FramesPerMinute: 120}, func(e *echo) {
				e.farewell = []socket.Message{socket.Text([]byte("slow down")), socket.Text([]byte("please"))}
			})
			other := r.dial()
			p := r.dial()
			p.say(frame)
			for range 500 {
				if name == "fragments" {
					frame = cont("", false)
				}
				p.say(frame)
			}
			answers := 0
			got := p.hear()
			for ; strings.HasPrefix(got, "pong") || got == "text a"; got = p.hear() {
				answers++
			}
			if answers > 130 || got != "text slow down" {
				t.Errorf("%d answers and then %q", answers, got)
			}
			p.expect("text please", "close 4029", "end")
			if codes := r.ends(t, 1); codes[0] != socket.Flooded {
				t.Errorf("closed with %v", codes)
			}
			other.lives()
		})
	}
}

func TestTheAllowanceComesBackWithTime(t *testing.T) {
	t.Parallel()
	c := newClock()
	r := newRig(t, socket.Config{FramesPerMinute: 120, Now: c.now, PingEvery: time.Hour, IdleAfter: time.Hour})
	p := r.dial()
	for range 120 {
		p.lives()
	}
	c.pass(time.Second)
	p.lives()
	p.lives()
	p.say(text("one too many"))
	p.expect("close 4029")
	c.pass(time.Hour)
	p.expect("end")
}

func TestASilentPeerIsPingedAndThenClosed(t *testing.T) {
	t.Parallel()
	c := newClock()
	r := newRig(t, socket.Config{Now: c.now, CloseWithin: often})
	p := r.dial()
	<-r.conns
	for range 2 {
		c.pass(20 * time.Second)
		p.expect("ping ")
	}
	c.pass(5 * time.Second)
	p.expect("close 4009")
	c.pass(2 * time.Second)
	p.expect("end")
	if codes := r.ends(t, 1); codes[0] != socket.Idle {
		t.Errorf("closed with %v", codes)
	}
}

func TestAPeerThatAnswersPingsStays(t *testing.T) {
	t.Parallel()
	c := newClock()
	r := newRig(t, socket.Config{Now: c.now, CloseWithin: often})
	p := r.dial()
	<-r.conns
	for range 20 {
		c.pass(20 * time.Second)
		p.expect("ping ")
		p.say(said(ws.OpPong, true, ""), said(ws.OpPing, true, "seen?"))
		p.expect("pong seen?")
	}
}

func TestAMessageThatDoesNotComeToItsEndIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string][]byte{
		"half a header": text("abc")[:1], "half a frame": text("abc")[:8], "a fragment": start("abc"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, socket.Config{MessageWithin: 100 * time.Millisecond, CloseWithin: 50 * time.Millisecond})
			other := r.dial()
			p := r.dial()
			p.say(begin)
			if name == "a fragment" { // one that drips is no better
				stop := make(chan struct{})
				var dripping sync.WaitGroup
				dripping.Go(func() {
					for {
						select {
						case <-stop:
							return
						case <-time.After(10 * time.Millisecond):
							p.say(cont("x", false), said(ws.OpPong, true, ""))
						}
					}
				})
				defer dripping.Wait()
				defer close(stop)
			}
			p.expect("close 4009")
			if got := p.hear(); got != "end" && (got != "broken" || name != "a fragment") { // what drips on is cut off
				t.Errorf("then it heard %q", got)
			}
			if codes := r.ends(t, 1); codes[0] != socket.Idle {
				t.Errorf("closed with %v", codes)
			}
			other.lives()
		})
	}
}

// TestAPeerThatNeverReadsIsCutAndNobodyElseWaits: sending to it never blocks, and what
// it does not take is bounded.
func TestAPeerThatNeverReadsIsCutAndNobodyElseWaits(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{TakeWithin: 300 * time.Millisecond, CloseWithin: 50 * time.Millisecond})
	p := r.dial()
	deaf := <-r.conns
	other := r.dial()
	<-r.conns
	body := []byte(strings.Repeat("x", 4<<10))
	sent := 0
	for deaf.Send(socket.Text(body)) {
		if sent++; sent%16 == 0 {
			other.lives()
		}
		if sent > 100_000 {
			t.Fatal("a peer that reads nothing is sent everything")
		}
	}
	if got := r.ends(t, 1); got[0] != socket.Slow {
		t.Errorf("closed with %v", got)
	}
	if most := (256 + 8*1024) / 4; sent > most { // the queue, and what the system holds at both ends
		t.Errorf("%d texts were taken for a peer that reads nothing, more than %d", sent, most)
	}
	other.lives()
	p.Close()
}

// TestASlowPeerGetsWhatIsQueuedThenTheLastWords: it is told why before it is closed.
func TestASlowPeerGetsWhatIsQueuedThenTheLastWords(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{MaxQueued: 64}, func(e *echo) { e.farewell = []socket.Message{socket.Text([]byte("resync"))} })
	p := r.dial()
	c := <-r.conns
	body := strings.Repeat("x", 16<<10)
	sent := 0
	for c.Send(socket.Message{Head: []byte(itoa(sent) + " "), Body: []byte(body)}) {
		sent++
	}
	for i := range sent {
		p.expect("text " + itoa(i) + " " + body)
	}
	p.expect("text resync", "close 4008")
	p.say(said(ws.OpClose, true, closeBody(4008, "")))
	p.expect("end")
	if got := r.ends(t, 1); got[0] != socket.Slow {
		t.Errorf("closed with %v", got)
	}
}

func TestStoppingSaysGoodbyeToEverybody(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{CloseWithin: 500 * time.Millisecond}, func(e *echo) {
		e.farewell = []socket.Message{socket.Text([]byte("goodbye"))}
	})
	var peers []*peer
	for range 50 {
		peers = append(peers, r.dial())
		<-r.conns
	}
	done := make(chan error, 1)
	go func() { done <- r.server.Close(context.Background(), socket.Restart, "restart") }()
	for i, p := range peers {
		p.expect("text goodbye", "close 1012")
		if i%2 == 0 { // the others do not answer
			p.say(said(ws.OpClose, true, closeBody(1012, "")))
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, p := range peers {
		if got := p.hear(); got != "end" && got != "broken" { // it was cut before it answered
			t.Errorf("after the goodbye comes %q", got)
		}
	}
	for _, code := range r.ends(t, 50) {
		if code != socket.Restart {
			t.Errorf("closed with %d", code)
		}
	}
	ours, theirs := pipe(t)
	if r.server.Accept(ours, nil, nil) != nil {
		t.Error("a server that was closed takes a connection")
	}
	(&peer{t, theirs}).expect("end")
}

func TestStoppingDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{CloseWithin: time.Hour})
	r.dial()
	<-r.conns
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := r.server.Close(ctx, socket.Restart, "restart"); err == nil {
		t.Error("nobody says that a connection was cut")
	}
	r.ends(t, 1)
}

func TestAHandlerThatTakesItsTimeHoldsUpItsOwnPeerOnly(t *testing.T) {
	t.Parallel()
	began, release := make(chan struct{}), make(chan struct{})
	now := newClock()
	r := newRig(t, socket.Config{Now: now.now, CloseWithin: often}, func(e *echo) {
		e.message = func(c *socket.Conn, text []byte) {
			if string(text) == "wait" {
				close(began)
				<-release
			}
			c.Send(socket.Text(append([]byte(nil), text...)))
		}
	})
	p, other, silent := r.dial(), r.dial(), r.dial()
	for range 3 { // a peer that is not known yet is not silent yet
		<-r.conns
	}
	p.say(text("wait"))
	<-began
	other.lives()
	now.pass(45 * time.Second) // longer than a peer may be silent: this one waits for us
	silent.expect("close 4009")
	p.expect("ping ")
	close(release)
	p.expect("text wait")
	now.pass(20 * time.Second)
	p.expect("ping ")
	p.lives()
}

func TestAPanicEndsOneConnection(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{}, func(e *echo) {
		e.message = func(c *socket.Conn, text []byte) {
			if string(text) == "panic" {
				panic("canary")
			}
			c.Send(socket.Text(append([]byte(nil), text...)))
		}
	})
	other, p := r.dial(), r.dial()
	p.say(text("panic"))
	p.expect("close 1011", "end")
	p.Close()
	r.ends(t, 1)
	other.lives()
}

// TestAConnectionThatIsNoSocketOfTheSystemIsServedToo: one with TLS, say.
func TestAConnectionThatIsNoSocketOfTheSystemIsServedToo(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{})
	ours, theirs := net.Pipe()
	defer theirs.Close()
	r.server.Accept(ours, nil, nil)
	p := &peer{t, theirs}
	for range 10 {
		p.say(text("hello"))
		p.expect("text hello")
	}
	p.say(said(ws.OpClose, true, closeBody(1000, "")))
	p.expect("close 1000", "end")
	r.ends(t, 1)
}

// TestThousandsComeAndGoSweep leaves no connection and no goroutine behind, which
// TestMain counts.
func TestThousandsComeAndGoSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t, socket.Config{})
	const rounds, at = 10, 200
	for round := range rounds {
		var all sync.WaitGroup
		for i := range at {
			all.Go(func() {
				p := r.dial()
				defer p.Close()
				p.lives()
				switch i % 4 {
				case 0:
					p.say(said(ws.OpClose, true, closeBody(1000, "")))
					p.expect("close 1000", "end")
				case 1:
					p.say(text("half")[:7])
				case 2:
					p.say(bent(text("a"), 0x40))
					p.expect("close 1002")
				}
			})
		}
		all.Wait()
		r.ends(t, (round+1)*at)
	}
	// The end of one is told before it is let go.
	for until := time.Now().Add(patience); r.server.Len() > 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	if n := r.server.Len(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}
