package live

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"ferry/internal/access"
	"ferry/internal/api/socket"
	"ferry/internal/api/wire"
	"ferry/internal/feed"
	"ferry/internal/order"
)

// sub is one subscription.
type sub struct {
	conn    *conn
	id      string
	channel string
	param   string // what it was asked with, for those that are looked at
	log     *log   // of a channel with durable numbers; nil for the others
	told    atomic.Int64
	cancel  context.CancelFunc // of a goroutine of its own; nil for none

	mu     sync.Mutex
	live   bool // what is heard is told; before that it is read from the log
	missed bool // something was heard before that
	over   bool
	leave  func() // ends listening
	warned map[string]time.Time
	// account is what was told last of the points of an address.
	account wire.PointsAccount
	states  map[string]string // of chains, as they were told last
	// depths are what was told last of payments in sight, by the orders that have some.
	depths map[order.ID]string
}

// log is what a subscription follows.
type log struct {
	view   view
	number func(*feed.Entry) int64
	read   func(ctx context.Context, after int64, n int) ([]feed.Entry, error)
	right  func(*feed.Entry) access.Right
}

// head is how an event begins: what differs between those who hear of it.
func (s *sub) head() []byte {
	if n, err := strconv.Atoi(s.id[1:]); err == nil && n < len(heads) {
		return heads[n]
	}
	return headOf(s.id)
}

func headOf(id string) []byte { return []byte(`{"type":"event","subscriptionId":"` + id + `",`) }

// heads are those of the first subscriptions of every connection, made once.
var heads = func() (all [128][]byte) {
	for n := range all {
		all[n] = headOf("s" + strconv.Itoa(n))
	}
	return all
}()

// Heard implements feed.Listener.
func (s *sub) Heard(e *feed.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.live {
		s.missed = true
		return
	}
	s.tell(e)
}

// tell sends an entry that was not sent before. The lock is held.
func (s *sub) tell(e *feed.Entry) {
	n := s.log.number(e)
	if s.over || n <= s.told.Load() {
		return
	}
	if right := s.log.right(e); right != access.None {
		body := s.conn.live.bodies.of(s.conn.live.ports.Show, e, s.log.view, right, n)
		if !s.conn.sock.Send(socket.Message{Head: s.head(), Body: body}) {
			s.over = true // it is gone, or too slow: nothing may come after what is missing
			return
		}
		s.mind(e.Now)
	}
	s.told.Store(n)
}

// settled reports whether nothing was missed since the log was read, and if so has what
// is heard told from now on.
func (s *sub) settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.missed || s.over {
		s.live = true
		return true
	}
	s.missed = false
	return false
}

// replayPage is how many entries of a log are read at a time, and replayBurst how many of
// them are told before it is waited for the client to take them.
const (
	replayPage  = 100
	replayBurst = 10
)

// catchUp tells what the log has after what was told, until nothing is missing. It goes
// as fast as the client takes it.
func (s *sub) catchUp(ctx context.Context) error {
	l := s.conn.live
	select {
	case l.replays <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.replays }()
	for more := true; more; more = !s.settled() {
		for {
			page, err := s.log.read(ctx, s.told.Load(), replayPage)
			if err != nil {
				return err
			}
			for burst := range slices.Chunk(page, replayBurst) {
				if !s.conn.sock.Drained(ctx) {
					return nil // it is gone, or too slow, which it is told
				}
				s.tellAll(burst)
			}
			if len(page) < replayPage {
				break
			}
		}
	}
	return nil
}

func (s *sub) tellAll(entries []feed.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range entries {
		s.tell(&entries[i])
	}
}

// end stops a subscription. Nothing is told after it.
func (s *sub) end() {
	s.mu.Lock()
	s.over, s.live = true, true
	leave, cancel := s.leave, s.cancel
	s.leave = nil
	for id := range s.depths {
		s.conn.live.deep.leave(s, id)
	}
	s.depths = nil
	s.mu.Unlock()
	if leave != nil {
		leave()
	}
	if cancel != nil {
		cancel()
	}
}

// listen begins to hear. It reports false if the subscription ended meanwhile.
func (s *sub) listen(t feed.Topic) bool {
	_, leave := s.conn.live.ports.Hub.Listen(t, s)
	return s.until(leave)
}

// until has something done when the subscription ends.
func (s *sub) until(leave func()) bool {
	s.mu.Lock()
	over := s.over
	if !over {
		s.leave = leave
	}
	s.mu.Unlock()
	if over {
		leave()
	}
	return !over
}
