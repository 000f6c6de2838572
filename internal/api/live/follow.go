package live

import (
	"context"
	"errors"

	"ferry/internal/access"
	"ferry/internal/api/wire"
	"ferry/internal/feed"
)

// followOrder follows one order.
func (c *conn) followOrder(a *asking) error {
	var m wire.SubscribeOrder
	if err := wire.Decode(a.text, &m); err != nil {
		return err
	}
	return c.proven(a, func() error {
		who := c.principal()
		by := c.seeker(&who, m.Params.SessionID, m.Params.Verify)
		o, right, err := c.live.ports.Desk.Read(c.live.running, m.Params.OrderID, by)
		if err != nil {
			return err
		}
		s := c.add("order")
		if s == nil {
			return nil
		}
		s.log = &log{
			number: func(e *feed.Entry) int64 { return e.Version },
			right:  func(*feed.Entry) access.Right { return right },
			read: func(ctx context.Context, after int64, n int) ([]feed.Entry, error) {
				return c.live.ports.History.OrderLog(ctx, o.ID, after, n)
			},
		}
		if !s.listen(feed.OfOrder(o.ID)) {
			return nil
		}
		if m.After != nil && int64(*m.After) <= o.Version {
			s.minds(&o)
			return s.goOn(a, int64(*m.After), o.Version)
		}
		// What it is now, which is not before what was heard of it meanwhile.
		if o, _, err = c.live.ports.Desk.Read(c.live.running, string(o.ID), by); err != nil {
			return c.abandon(s, err)
		}
		s.minds(&o)
		return s.beginAt(a, m.After, o.Version, func() any {
			return wire.OrderSnapshot{
				Type: "snapshot", SubscriptionID: s.id, Seq: int(o.Version),
				Data: wire.SnapshotOrder{Order: c.live.ports.Show.Order(&o, right, c.live.cfg.Now())},
			}
		})
	})
}

// goOn takes a subscription on from what the client has.
func (s *sub) goOn(a *asking, after, head int64) error {
	s.told.Store(after)
	s.accepted(a.id, head, head-after)
	if after == head && s.settled() {
		return nil
	}
	s.replay()
	return nil
}

// beginAt begins a subscription with a snapshot of how everything is at a number. Where
// the client asked for what came after one that was never given, it is told.
func (s *sub) beginAt(a *asking, asked *int, head int64, snapshot func() any) error {
	s.told.Store(head)
	s.accepted(a.id, head, 0)
	if asked != nil {
		s.conn.send(wire.ResyncRequired{Type: "resync_required", SubscriptionID: s.id, Reason: s.why(*asked, head), Seq: int(head)})
	}
	s.conn.send(snapshot())
	if !s.settled() {
		s.replay()
	}
	return nil
}

// why a client cannot go on from the number it has.
func (s *sub) why(asked int, head int64) string {
	if int64(asked) > head {
		return "unknown_seq"
	}
	return "retention_exceeded"
}

// sessionOrders is how many orders a snapshot of a session has.
const sessionOrders = 100

// followSession follows all orders of a session.
func (c *conn) followSession(a *asking) error {
	var m wire.SubscribeSession
	if err := wire.Decode(a.text, &m); err != nil {
		return err
	}
	return c.proven(a, func() error {
		who := c.principal()
		by := c.seeker(&who, m.Params.SessionID, "")
		ports, group := &c.live.ports, c.live.ports.Desk.Group(m.Params.SessionID)
		s := c.add("session")
		if s == nil {
			return nil
		}
		s.log = &log{
			number: (*feed.Entry).InSession,
			right: func(e *feed.Entry) access.Right {
				if right := ports.Desk.Right(e.Now, by); right == access.Act {
					return right
				}
				return access.None
			},
			read: func(ctx context.Context, after int64, n int) ([]feed.Entry, error) {
				return ports.History.SessionLog(ctx, group, after, n)
			},
		}
		if !s.listen(feed.OfSession(group)) {
			return nil
		}
		return c.beginSession(a, s, &m, group, &who)
	})
}

// beginSession goes on from what the client has, or shows what there is.
func (c *conn) beginSession(a *asking, s *sub, m *wire.SubscribeSession, group string, by *access.Principal) error {
	ctx, ports := c.live.running, &c.live.ports
	newest, err := ports.History.SessionNewest(ctx, group, sessionOrders)
	if err != nil {
		return c.abandon(s, err)
	}
	head := int64(0)
	shown := wire.Orders{Orders: []wire.Order{}}
	for i := range newest {
		e := &newest[i]
		head = max(head, e.InSession())
		if s.log.right(e) != access.None {
			s.minds(e.Now)
			shown.Orders = append(shown.Orders, ports.Show.Order(e.Now, access.Act, c.live.cfg.Now()))
		}
	}
	if len(shown.Orders) == 0 {
		ports.Access.Failed(by, a.at)
	}
	if m.After != nil && int64(*m.After) <= head {
		// Only where the log can be read is it promised.
		missed, err := s.log.read(ctx, int64(*m.After), replayPage)
		if err != nil && !errors.Is(err, feed.ErrTooWide) {
			return c.abandon(s, err)
		}
		if err == nil && len(missed) < replayPage {
			s.told.Store(int64(*m.After))
			s.accepted(a.id, head, int64(len(missed)))
			s.replay()
			return nil
		}
	}
	return s.beginAt(a, m.After, head, func() any {
		return wire.SessionSnapshot{Type: "snapshot", SubscriptionID: s.id, Seq: int(head), Data: shown}
	})
}

// integratorOrders is how many orders a snapshot of an integration has.
const integratorOrders = 50

// followIntegrator follows the orders of a whole integration.
func (c *conn) followIntegrator(a *asking) error {
	var m wire.SubscribeIntegratorOrders
	if err := wire.Decode(a.text, &m); err != nil {
		return err
	}
	if err := c.serverKey(); err != nil {
		return err
	}
	ctx, ports, whose := c.live.running, &c.live.ports, c.principal().Integrator.ID
	s := c.add("integrator_orders")
	if s == nil {
		return nil
	}
	s.log = &log{
		view:   forIntegrator,
		number: func(e *feed.Entry) int64 { return e.Number },
		right:  func(*feed.Entry) access.Right { return access.Act },
		read: func(ctx context.Context, after int64, n int) ([]feed.Entry, error) {
			return ports.History.IntegratorLog(ctx, whose, after, n)
		},
	}
	if !s.listen(feed.OfIntegrator(whose)) {
		return nil
	}
	head, err := ports.History.IntegratorHead(ctx, whose)
	if err != nil {
		return c.abandon(s, err)
	}
	if m.After != nil && int64(*m.After) <= head {
		return s.goOn(a, int64(*m.After), head)
	}
	newest, err := ports.History.IntegratorNewest(ctx, whose, integratorOrders)
	if err != nil {
		return c.abandon(s, err)
	}
	shown := wire.AttributedOrders{Orders: []wire.AttributedOrder{}}
	for i := range newest {
		head = max(head, newest[i].Number)
		shown.Orders = append(shown.Orders, ports.Show.Attributed(newest[i].Now))
	}
	return s.beginAt(a, m.After, head, func() any {
		return wire.IntegratorSnapshot{Type: "snapshot", SubscriptionID: s.id, Seq: int(head), Data: shown}
	})
}
