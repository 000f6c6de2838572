package front_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"ferry/internal/api/contract/contracttest"
)

// livePatience is how long a message may take that must come.
const livePatience = 90 * time.Second

// message is what the server says, as far as tests look at it.
type message struct {
	Type, ReplyTo, SubscriptionID, Channel, Code, Message, Event, EventID, Reason string
	Seq, Replayed                                                                 int
	RetryAfterSeconds                                                             *int
	Errors                                                                        []struct{ Pointer, Code string }
	Data                                                                          json.RawMessage
	raw                                                                           string
}

// data reads the data of a message.
func (m message) data(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal(m.Data, into); err != nil {
		t.Fatalf("%v in %s", err, m.raw)
	}
}

// liveWire is a live connection.
type liveWire struct {
	t    testing.TB
	live *contracttest.LiveChecker
	conn net.Conn
	in   chan message
	over chan struct{} // closed with code
	code ws.StatusCode

	mu   sync.Mutex
	next int
}

// socket opens a live connection from an address of its own.
func (r *rig) socket(t testing.TB, header ...string) *liveWire {
	t.Helper()
	h := http.Header{"X-Forwarded-For": {r.peer()}}
	for i := 0; i+1 < len(header); i += 2 {
		h[header[i]] = []string{header[i+1]}
	}
	d := ws.Dialer{Header: ws.HandshakeHeaderHTTP(h), Protocols: []string{"swap.v2.json"}, Timeout: livePatience}
	conn, early, shake, err := d.Dial(t.Context(), "ws://"+r.host+"/v2/ws")
	if err != nil {
		t.Fatalf("no live connection: %v", err)
	}
	if shake.Protocol != "swap.v2.json" || len(shake.Extensions) > 0 {
		t.Errorf("the handshake chose %q and %v", shake.Protocol, shake.Extensions)
	}
	w := &liveWire{t: t, live: r.checks.live, conn: conn, in: make(chan message, 10_000), over: make(chan struct{})}
	var from io.Reader = conn
	if early != nil {
		from = early
	}
	go w.read(from)
	t.Cleanup(w.cut)
	return w
}

// read takes messages until the connection ends.
func (w *liveWire) read(from io.Reader) {
	defer close(w.in)
	defer close(w.over)
	followed := map[string]string{} // channels by subscription
	for {
		text, code, err := w.frame(from)
		if w.code = code; err != nil || code != 0 {
			return
		}
		if text == nil {
			continue
		}
		m := message{raw: string(text)}
		if err := json.Unmarshal(text, &m); err != nil {
			w.t.Errorf("%v in %s", err, text)
			return
		}
		if err := w.live.Told(followed[m.SubscriptionID], text); err != nil {
			w.t.Errorf("the contract does not allow %s: %v", text, err)
		}
		if m.Type == "subscribed" {
			followed[m.SubscriptionID] = m.Channel
		}
		w.in <- m
	}
}

// frame reads one frame: a text, a code, or neither.
func (w *liveWire) frame(from io.Reader) (text []byte, code ws.StatusCode, err error) {
	f, err := ws.ReadFrame(from)
	if err != nil {
		return nil, 0, err
	}
	switch f.Header.OpCode {
	case ws.OpText:
		return f.Payload, 0, nil
	case ws.OpClose:
		code, _ = ws.ParseCloseFrameData(f.Payload)
		return nil, code, nil
	case ws.OpPing:
		w.mu.Lock()
		defer w.mu.Unlock()
		return nil, 0, wsutil.WriteClientMessage(w.conn, ws.OpPong, f.Payload)
	}
	return nil, 0, nil
}

// cut ends the connection without a word.
func (w *liveWire) cut() { _ = w.conn.Close() }

// say sends a text.
func (w *liveWire) say(text string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := wsutil.WriteClientText(w.conn, []byte(text)); err != nil {
		w.t.Fatalf("nothing can be said: %v", err)
	}
}

// hear is the next message.
func (w *liveWire) hear() message {
	w.t.Helper()
	select {
	case m, open := <-w.in:
		if !open {
			w.t.Fatalf("the connection ended with %d", w.code)
		}
		return m
	case <-time.After(livePatience):
		w.t.Fatalf("nothing came within %s", livePatience)
	}
	return message{}
}

// of is the next message of a type, those before it are passed over, and so is how deep
// a payment is: it comes with blocks, and not by what happens to orders.
func (w *liveWire) of(kind string) message {
	w.t.Helper()
	for {
		if m := w.hear(); m.Type == kind && m.Event != "order.confirmations" {
			return m
		} else if m.Type == "error" {
			w.t.Fatalf("instead of %s: %s", kind, m.raw)
		}
	}
}

// ask sends a message and gives the answer to it.
func (w *liveWire) ask(format string, args ...any) message {
	w.t.Helper()
	w.mu.Lock()
	w.next++
	id := fmt.Sprint("q", w.next)
	w.mu.Unlock()
	w.say(fmt.Sprintf(`{"id":"%s",`+format+"}", append([]any{id}, args...)...))
	for {
		if m := w.hear(); m.ReplyTo == id || m.Type == "error" && m.ReplyTo == "" {
			return m
		}
	}
}

// subscribe subscribes, which must be accepted.
func (w *liveWire) subscribe(channel, rest string) message {
	w.t.Helper()
	m := w.ask(`"type":"subscribe","channel":"%s"%s`, channel, rest)
	if m.Type != "subscribed" {
		w.t.Fatalf("not subscribed to %s: %s", channel, m.raw)
	}
	return m
}

// ended waits for the end of the connection and its code; what was said before it is
// given.
func (w *liveWire) ended() (code ws.StatusCode, last []message) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), livePatience)
	defer cancel()
	for {
		select {
		case m, open := <-w.in:
			if !open {
				return w.code, last
			}
			last = append(last, m)
		case <-ctx.Done():
			w.t.Fatal("the connection does not end")
		}
	}
}

// proof is the parameters that open an order on the channel.
func (m made) proof() string {
	return fmt.Sprintf(`,"params":{"orderId":"%s","sessionId":"%s"}`, m.id, m.session)
}
