package socket

import (
	"time"

	"github.com/gobwas/ws"
)

// sweep looks after all connections, so that none needs a timer.
func (s *Server) sweep() {
	every := min(s.cfg.PingEvery, s.cfg.IdleAfter, s.cfg.MessageWithin, s.cfg.CloseWithin) / 4
	ticks := time.NewTicker(min(max(every, time.Millisecond), time.Second))
	defer ticks.Stop()
	var all []*Conn
	for {
		select {
		case <-s.stop:
			return
		case <-ticks.C:
		}
		all = s.all(all[:0])
		now := s.now()
		for _, c := range all {
			c.tend(now)
		}
		clear(all)
	}
}

// tend does what it is time for: cutting who does not leave, closing who is silent and
// asking for a sign of life.
func (c *Conn) tend(now time.Duration) {
	cfg := &c.server.cfg
	c.mu.Lock()
	state, deadline := c.state, c.deadline
	ping := state == open && now-c.pinged >= cfg.PingEvery
	if ping {
		c.pinged = now
	}
	c.mu.Unlock()
	if state != open {
		if now >= deadline {
			c.cut()
		}
		return
	}
	begun := time.Duration(c.begun.Load())
	switch {
	case c.working.Load(): // the peer waits for us
	case now-time.Duration(c.heard.Load()) >= cfg.IdleAfter:
		c.Close(Idle, "no sign of life")
		return
	case begun != 0 && now-begun >= cfg.MessageWithin:
		c.Close(Idle, "the message did not come to its end")
		return
	}
	if ping {
		c.control(ws.OpPing, nil)
	}
}
