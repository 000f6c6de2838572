package live

import (
	"context"
	"strconv"
	"time"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/fault"
	"ferry/internal/integrator"
)

// set are subscriptions to the same.
type set struct{ subs map[*sub]struct{} }

// watch puts a subscription among those to the same, until it ends.
func watch[K comparable](l *Live, all map[K]*set, key K, s *sub, left func()) bool {
	l.mu.Lock()
	if all[key] == nil {
		all[key] = &set{subs: map[*sub]struct{}{}}
	}
	all[key].subs[s] = struct{}{}
	l.mu.Unlock()
	return s.until(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if delete(all[key].subs, s); len(all[key].subs) == 0 {
			delete(all, key)
		}
		if left != nil {
			left()
		}
	})
}

// members are the subscriptions to the same.
func members[K comparable](l *Live, all map[K]*set, key K) (subs []*sub) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := all[key]; one != nil {
		for s := range one.subs {
			subs = append(subs, s)
		}
	}
	return subs
}

// now tells an event of a channel without a log, with the subscription's own number.
func (s *sub) now(event func(seq int, id string) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	seq := s.told.Add(1)
	s.conn.send(event(int(seq), wire.EventIDOf("live/"+s.id+"/"+strconv.FormatInt(time.Now().UnixNano(), 10))))
}

// followUsage follows the limits of an integration.
func (c *conn) followUsage(a *asking) error {
	var m wire.SubscribeIntegratorUsage
	if err := wire.Decode(a.text, &m); err != nil {
		return err
	}
	if err := c.serverKey(); err != nil {
		return err
	}
	who := c.principal()
	s := c.add("integrator_usage")
	if s == nil {
		return nil
	}
	s.accepted(a.id, 0, 0)
	c.live.users.Add(1)
	if watch(c.live, c.live.usage, who.Integrator.ID, s, func() { c.live.users.Add(-1) }) {
		s.usage(&who, "usage.updated", "")
	}
	return nil
}

// usage tells what is left of the limits.
func (s *sub) usage(who *access.Principal, event, exhausted string) {
	l := s.conn.live
	data := wire.Usage{ConfigVersion: int(who.Integrator.Version), Limits: l.ports.Access.Left(who, l.cfg.Now())}
	if exhausted != "" {
		data.Exhausted = &exhausted
	}
	s.now(func(seq int, id string) any {
		return wire.UsageEvent{Type: "event", SubscriptionID: s.id, Seq: seq, EventID: id, Event: event, OccurredAt: wire.Time{Time: time.Now()}, Data: data}
	})
}

// tellUsage tells everybody who follows limits what is left of them.
func (l *Live) tellUsage(context.Context) {
	l.mu.Lock()
	whose := make([]integrator.ID, 0, len(l.usage))
	for id := range l.usage {
		whose = append(whose, id)
	}
	l.mu.Unlock()
	for _, id := range whose {
		for _, s := range members(l, l.usage, id) {
			who := s.conn.principal()
			s.usage(&who, "usage.updated", "")
		}
	}
}

// Exhausted is told when a limit of an integration refused somebody. It costs nothing
// where nobody follows limits, and never waits.
func (l *Live) Exhausted(id integrator.ID, resource string) {
	if l.users.Load() == 0 {
		return
	}
	subs := members(l, l.usage, id)
	if len(subs) == 0 {
		return
	}
	for _, s := range subs {
		who := s.conn.principal()
		if s.mayWarn(resource, l.cfg.Now()) {
			s.usage(&who, "limit.exhausted", resource)
		}
	}
}

// warnEvery is how often one subscription hears that the same limit is used up.
const warnEvery = time.Second

// mayWarn keeps a flood of refusals from becoming a flood of events.
func (s *sub) mayWarn(resource string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warned == nil {
		s.warned = map[string]time.Time{}
	}
	if last, ok := s.warned[resource]; ok && now.Sub(last) < warnEvery {
		return false
	}
	s.warned[resource] = now
	return true
}

// configChanged tells a connection that follows limits that its settings are others.
func (l *Live) configChanged(c *conn, who *access.Principal) {
	for _, s := range members(l, l.usage, who.Integrator.ID) {
		if s.conn == c {
			s.usage(who, "config.changed", "")
		}
	}
}

// followStatus follows how chains are.
func (c *conn) followStatus(a *asking) error {
	var m wire.SubscribeStatus
	if err := wire.Decode(a.text, &m); err != nil {
		return err
	}
	all, err := c.live.ports.Show.Status(c.live.running)
	if err != nil {
		return err
	}
	param := ""
	if m.Params != nil && m.Params.ChainID != "" {
		param = m.Params.ChainID
		if all.Chains = only(all.Chains, param); len(all.Chains) == 0 {
			return fault.New(fault.NotFound, "chain_not_found", "There is no such chain; GET /v2/chains lists those there are.").With("field", "chainId")
		}
	}
	s := c.add("status")
	if s == nil {
		return nil
	}
	s.param, s.states = param, statesOf(all.Chains)
	s.accepted(a.id, 0, 0)
	s.conn.send(wire.StatusSnapshot{Type: "snapshot", SubscriptionID: s.id, Data: all})
	watch(c.live, c.live.topics, "status", s, nil)
	return nil
}

func only(all []wire.ChainStatus, id string) (some []wire.ChainStatus) {
	for _, one := range all {
		if one.ChainID == id {
			some = append(some, one)
		}
	}
	return some
}

func statesOf(all []wire.ChainStatus) map[string]string {
	m := make(map[string]string, len(all))
	for _, one := range all {
		m[one.ChainID] = one.Status
	}
	return m
}

// tellStatus tells those who follow it what changed since they were told last.
func (l *Live) tellStatus(ctx context.Context) {
	subs := members(l, l.topics, "status")
	if len(subs) == 0 {
		return
	}
	all, err := l.ports.Show.Status(ctx)
	if err != nil {
		l.cfg.Log.WarnContext(ctx, "the state of chains could not be read for those who follow it, will be tried again", "error", err)
		return
	}
	for _, s := range subs {
		for _, one := range all.Chains {
			if s.param != "" && s.param != one.ChainID || s.states[one.ChainID] == one.Status {
				continue
			}
			s.states[one.ChainID] = one.Status // only this goroutine looks at it
			s.now(func(seq int, id string) any {
				return wire.StatusEvent{Type: "event", SubscriptionID: s.id, Seq: seq, EventID: id, Event: "status.changed", OccurredAt: wire.Time{Time: time.Now()}, Data: one}
			})
		}
	}
}

// followQuote has a price asked for again and again.
func (c *conn) followQuote(a *asking) error {
	var m wire.SubscribeQuote
	if err := wire.Decode(a.text, &m); err != nil {
		return err
	}
	c.mu.Lock()
	quotes := 0
	for _, s := range c.subs {
		if s.channel == "quote" {
			quotes++
		}
	}
	c.mu.Unlock()
	if quotes >= c.live.cfg.Quotes {
		return fault.New(fault.Exhausted, "rate_limited", "A connection follows at most %d prices at a time (ws_subscriptions). End one first.", c.live.cfg.Quotes).With("retryAfterSeconds", 1)
	}
	first, err := c.price(m.Params, a.at)
	if err != nil {
		return err
	}
	s := c.add("quote")
	if s == nil {
		return nil
	}
	s.accepted(a.id, 0, 0)
	s.price(first)
	ctx, cancel := context.WithCancel(c.live.running)
	if s.until(cancel) {
		c.live.work.Go(func() { s.requote(ctx, m.Params) })
	}
	return nil
}

// price asks for a price, which counts as a quote.
func (c *conn) price(r wire.QuoteRequest, now time.Time) (*wire.Quote, error) {
	who := c.principal()
	if err := c.live.ports.Access.Take(&who, api.Requests|api.Quotes, now); err != nil {
		return nil, err
	}
	return c.live.ports.Show.Quote(c.live.running, &who, r)
}

func (s *sub) price(q *wire.Quote) {
	s.now(func(seq int, id string) any {
		return wire.QuoteEvent{Type: "event", SubscriptionID: s.id, Seq: seq, EventID: id, Event: "quote.updated", OccurredAt: wire.Time{Time: time.Now()}, Data: *q}
	})
}

// requote asks until the time is over, the client leaves or a price is refused.
func (s *sub) requote(ctx context.Context, r wire.QuoteRequest) {
	l := s.conn.live
	t := time.NewTicker(l.cfg.QuoteEvery)
	defer t.Stop()
	enough := time.NewTimer(l.cfg.QuoteFor)
	defer enough.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-enough.C:
			if s.conn.drop(s.id) != nil {
				s.end()
				s.conn.send(wire.Unsubscribed{Type: "unsubscribed", SubscriptionID: s.id, Reason: "expired"})
			}
			return
		case <-t.C:
		}
		q, err := s.conn.price(r, l.cfg.Now())
		if err != nil {
			if ctx.Err() == nil {
				s.fail(err)
			}
			return
		}
		s.price(q)
	}
}
