package live

import (
	"crypto/rand"
	"errors"
	mrand "math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"ferry/internal/access"
	"ferry/internal/api/socket"
	"ferry/internal/api/wire"
	"ferry/internal/desk"
	"ferry/internal/fault"
)

// Codes with which this room ends connections, beside those of the transport.
const (
	closeProtocol = 4000
	closeBadKey   = 4001
	closeLater    = 1013 // it cannot be said whether the key is good
)

// conn is one connection.
type conn struct {
	live  *Live
	sock  *socket.Conn
	whose string // for how many there may be

	mu    sync.Mutex
	who   access.Principal
	spoke bool // its first message has come
	over  bool
	subs  []*sub
	next  int
}

// Opened implements socket.Handler.
func (l *Live) Opened(s *socket.Conn) {
	c := s.Data.(*conn)
	c.sock = s
	if c.who.Key != nil {
		l.watchKey(c)
	}
}

// watchKey has the key of a connection looked at again.
func (l *Live) watchKey(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keyed[c] = struct{}{}
}

// Message implements socket.Handler.
func (l *Live) Message(s *socket.Conn, text []byte) {
	c := s.Data.(*conn)
	now := l.cfg.Now()
	e, err := peek(text)
	if err != nil {
		c.refuse(e.id, err)
		s.Close(closeProtocol, "this is no message")
		return
	}
	c.mu.Lock()
	first := !c.spoke
	c.spoke = true
	c.mu.Unlock()
	switch e.kind {
	case "hello":
		c.hello(e, text, first, now)
	case "ping":
		c.ping(e, text, now)
	case "subscribe":
		err = c.subscribe(e, text, now)
	case "unsubscribe":
		err = c.unsubscribe(e, text)
	default:
		err = errUnknownMessage
	}
	if err != nil {
		c.refuse(e.id, err)
	}
}

var (
	errUnknownMessage = fault.New(fault.Invalid, "unknown_message", "There is no message of this type. Send hello, subscribe, unsubscribe or ping.")
	errHelloLate      = fault.New(fault.Invalid, "invalid_request", "hello is the first message of a connection or none. Open another connection to show another key.")
	errTwoKeys        = fault.New(fault.Unauthenticated, "invalid_key", "The key of hello is not the one that the connection was opened with.")
)

// Farewell implements socket.Handler.
func (l *Live) Farewell(s *socket.Conn, code int) []socket.Message {
	c := s.Data.(*conn)
	switch code {
	case socket.Slow:
		return c.lastWords()
	case socket.Flooded:
		seconds := 60
		return []socket.Message{socket.Text(encode(wire.LiveError{
			Type: "error", Code: "rate_limited", RetryAfterSeconds: &seconds,
			Message: "More than " + strconv.Itoa(l.cfg.Socket.FramesPerMinute) + " messages came within a minute (ws_messages). Connect again later.",
		}))}
	case socket.Restart:
		const soonest, spread = 500, 4500
		return []socket.Message{socket.Text(encode(wire.Goodbye{Type: "goodbye", Reason: "deploy", ReconnectAfterMs: soonest + mrand.IntN(spread)}))}
	}
	return nil
}

// Closed implements socket.Handler.
func (l *Live) Closed(s *socket.Conn, _ int) {
	c := s.Data.(*conn)
	c.mu.Lock()
	c.over = true
	subs := c.subs
	c.subs = nil
	c.mu.Unlock()
	for _, one := range subs {
		one.end()
	}
	l.mu.Lock()
	delete(l.keyed, c)
	l.mu.Unlock()
	l.uncount(c.whose)
}

// send tells the client something of its own. A connection that is gone is no trouble.
func (c *conn) send(v any) { c.sock.Send(socket.Text(encode(v))) }

// refuse answers a message with why it is refused.
func (c *conn) refuse(replyTo string, err error) {
	e := c.live.errorOf(err)
	if replyTo != "" {
		e.ReplyTo = &replyTo
	}
	c.send(e)
}

// principal is who the client is now.
func (c *conn) principal() access.Principal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.who
}

func (c *conn) seeker(who *access.Principal, session, verify string) desk.Seeker {
	by := desk.Seeker{Who: who}
	if session != "" {
		by.Proof.Session = []string{session}
	}
	if verify != "" {
		by.Proof.Verify = []string{verify}
	}
	return by
}

func (c *conn) hello(e envelope, text []byte, first bool, now time.Time) {
	var m wire.Hello
	if err := wire.Decode(text, &m); err != nil {
		c.refuse(e.id, err)
		return
	}
	if !first {
		c.refuse(e.id, errHelloLate)
		return
	}
	if m.IntegratorKey != "" {
		if err := c.showKey(m.IntegratorKey, now); err != nil {
			c.refuse(e.id, err)
			c.sock.Close(closeBadKey, "the key is not good")
			return
		}
	}
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails
	c.send(wire.Welcome{
		Type: "welcome", ReplyTo: m.ID, ConnectionID: "con_" + wire.Crockford.EncodeToString(raw[:]), ServerTime: wire.Time{Time: time.Now()},
		HeartbeatSeconds: int(c.live.cfg.Socket.PingEvery / time.Second),
		Limits:           wire.LiveLimits{Subscriptions: c.live.cfg.Subscriptions, MessagesPerMin: c.live.cfg.Socket.FramesPerMinute},
	})
}

// showKey lets the client be who its key says.
func (c *conn) showKey(key string, now time.Time) error {
	who := c.principal()
	known, err := c.live.ports.Access.Admit(key, &who, now)
	if err != nil {
		return err
	}
	if who.Key != nil {
		if known.Key.ID != who.Key.ID {
			return errTwoKeys
		}
		return nil // for whom it asks was said with the upgrade, and stays
	}
	c.mu.Lock()
	c.who = known
	c.mu.Unlock()
	c.live.watchKey(c)
	return nil
}

// lookAgain ends the connection if its key is no longer good.
func (c *conn) lookAgain() {
	was := c.principal()
	now, err := c.live.ports.Access.Again(&was, c.live.cfg.Now())
	if err != nil {
		code := closeBadKey
		if f := fault.Of(err); f.Kind == fault.Unavailable {
			code = closeLater
		}
		c.refuse("", err)
		c.sock.Close(code, "the key is not good")
		return
	}
	c.mu.Lock()
	c.who = now
	c.mu.Unlock()
	if was.Integrator != nil && now.Integrator.Version != was.Integrator.Version {
		c.live.configChanged(c, &now)
	}
}

func (c *conn) ping(e envelope, text []byte, now time.Time) {
	var m wire.Ping
	if err := wire.Decode(text, &m); err != nil {
		c.refuse(e.id, err)
		return
	}
	c.send(wire.Pong{Type: "pong", ReplyTo: m.ID, ServerTime: wire.Time{Time: now}})
}

func (c *conn) unsubscribe(_ envelope, text []byte) error {
	var m wire.Unsubscribe
	if err := wire.Decode(text, &m); err != nil {
		return err
	}
	one := c.drop(m.SubscriptionID)
	if one == nil {
		return fault.New(fault.NotFound, "not_subscribed", "There is no such subscription on this connection.")
	}
	one.end()
	c.send(wire.Unsubscribed{Type: "unsubscribed", ReplyTo: &m.ID, SubscriptionID: m.SubscriptionID, Reason: "requested"})
	return nil
}

// drop takes a subscription off the list.
func (c *conn) drop(id string) *sub {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.subs, func(s *sub) bool { return s.id == id })
	if i < 0 {
		return nil
	}
	one := c.subs[i]
	c.subs = slices.Delete(c.subs, i, i+1)
	return one
}

// lastWords tell a client that was too slow where each of its subscriptions stands.
func (c *conn) lastWords() (all []socket.Message) {
	c.mu.Lock()
	subs := slices.Clone(c.subs)
	c.mu.Unlock()
	for _, s := range subs {
		if s.log != nil {
			all = append(all, socket.Text(encode(wire.ResyncRequired{
				Type: "resync_required", SubscriptionID: s.id, Reason: "slow_consumer", Seq: int(s.told.Load()),
			})))
		}
	}
	return all
}

// encode writes a message. All of them are ours, so that none fails.
func encode(v any) []byte {
	b, err := wire.Bytes(v)
	if err != nil {
		panic(errors.Join(errors.New("live: a message of ours cannot be written"), err))
	}
	return b
}
