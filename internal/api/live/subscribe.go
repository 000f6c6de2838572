package live

import (
	"context"
	"errors"
	"strconv"
	"time"

	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/desk"
	"ferry/internal/fault"
)

var (
	errUnknownChannel = fault.New(fault.Invalid, "unknown_channel", "There is no such channel; GET /v2/asyncapi describes those there are.")
	errServerKey      = fault.New(fault.Forbidden, "server_key_required", "This channel is for server keys only. Open the connection from your backend with one.")
	errKeyRequired    = fault.New(fault.Unauthenticated, "key_required", "This channel needs a server key: send X-Integrator-Key with the upgrade, or integratorKey in hello.")
)

// begin is how each channel begins.
var begin = map[string]func(*conn, *asking) error{
	"order":             (*conn).followOrder,
	"session":           (*conn).followSession,
	"integrator_orders": (*conn).followIntegrator,
	"integrator_usage":  (*conn).followUsage,
	"quote":             (*conn).followQuote,
	"status":            (*conn).followStatus,
	"activity":          func(c *conn, a *asking) error { return c.live.followActivity(c, a) },
	"stats":             func(c *conn, a *asking) error { return c.live.followStats(c, a) },
	"points":            func(c *conn, a *asking) error { return c.live.followPoints(c, a) },
}

// asking is a subscribe that is being answered.
type asking struct {
	text []byte
	id   string
	at   time.Time // when it came
}

// subscribe answers a subscribe. Every one counts as a request.
func (c *conn) subscribe(e envelope, text []byte, now time.Time) error {
	follow, known := begin[e.channel]
	if !known {
		return errUnknownChannel
	}
	c.mu.Lock()
	full := len(c.subs) >= c.live.cfg.Subscriptions
	c.mu.Unlock()
	if full {
		return fault.New(fault.Exhausted, "rate_limited", "A connection has at most %d subscriptions (ws_subscriptions). End one first, or open another connection.", c.live.cfg.Subscriptions).
			With("retryAfterSeconds", 1)
	}
	who := c.principal()
	if err := c.live.ports.Access.Take(&who, api.Requests, now); err != nil {
		return err
	}
	return follow(c, &asking{text: text, id: e.id, at: now})
}

// add makes a subscription that is not yet told anything. It is nil if the connection
// is over.
func (c *conn) add(channel string) *sub {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil
	}
	c.next++
	s := &sub{conn: c, id: "s" + strconv.Itoa(c.next), channel: channel}
	c.subs = append(c.subs, s)
	return s
}

// errGone says that the client is gone, and there is nobody to tell.
var errGone = errors.New("live: the connection is over")

// abandon ends a subscription that could not be begun.
func (c *conn) abandon(s *sub, err error) error {
	c.drop(s.id)
	s.end()
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// accepted tells the client that it is subscribed.
func (s *sub) accepted(replyTo string, seq, replayed int64) {
	s.conn.send(wire.Subscribed{Type: "subscribed", ReplyTo: replyTo, SubscriptionID: s.id, Channel: s.channel, Seq: int(seq), Replayed: int(replayed)})
}

// serverKey is refused to whoever has none.
func (c *conn) serverKey() error {
	who := c.principal()
	switch {
	case who.Server():
		return nil
	case who.Key == nil:
		return errKeyRequired
	}
	return errServerKey
}

// proven runs what needs a proof: who has shown too many wrong ones is refused before
// anything is looked for, a wrong one is counted, and its refusal takes the same time
// whatever was found.
func (c *conn) proven(a *asking, do func() error) error {
	who := c.principal()
	if err := c.live.ports.Access.MayTry(&who, a.at); err != nil {
		return err
	}
	err := do()
	if errors.Is(err, desk.ErrNoOrder) {
		c.live.ports.Access.Failed(&who, a.at)
		desk.EvenOut(c.live.running, a.at)
	}
	return err
}

// replay tells what the log has after what the client has, in a goroutine of its own:
// that may take as long as the client takes.
func (s *sub) replay() {
	l := s.conn.live
	ctx, cancel := context.WithCancel(l.running)
	s.mu.Lock()
	s.cancel = cancel
	over := s.over
	s.mu.Unlock()
	if over {
		cancel()
		return
	}
	l.work.Go(func() {
		defer cancel()
		if err := s.catchUp(ctx); err != nil && ctx.Err() == nil {
			s.fail(err)
		}
	})
}

// fail ends a subscription that can no longer be served, and says so.
func (s *sub) fail(err error) {
	if s.conn.drop(s.id) == nil {
		return
	}
	s.end()
	e := s.conn.live.errorOf(err)
	e.SubscriptionID = s.id
	s.conn.send(e)
	s.conn.send(wire.Unsubscribed{Type: "unsubscribed", SubscriptionID: s.id, Reason: "refused"})
}
