package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"ferry/internal/feed"
	"ferry/internal/integrator"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
	"ferry/internal/testseed"
)

// Whatever is followed, and however often the connection or the service itself is
// killed: nobody hears of what is not his, nothing is missing, nothing goes back, and
// whoever reads after an event sees at least what it said.
func TestSweepHistoriesOfFollowersOnSQLite(t *testing.T) {
	t.Parallel()
	followed(t, "sqlite:"+filepath.Join(t.TempDir(), "ferry.db"))
}

func TestSweepHistoriesOfFollowersOnPostgres(t *testing.T) {
	t.Parallel()
	followed(t, pgtest.URL(t))
}

const (
	makers    = 3
	followers = 24
)

func followed(t *testing.T, url string) {
	rng := testseed.Rand(t)
	target := int64(histories)
	if text := os.Getenv("FERRY_TEST_HISTORIES"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		target = n
	}
	c := &crowd{t: t, url: url, target: target}
	c.live.Store(start(t, url))
	c.keys = c.live.Load().keys
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var making, following sync.WaitGroup
	for range makers {
		r := rand.New(rand.NewPCG(rng.Uint64(), 1))
		making.Go(func() { c.make(ctx, r) })
	}
	for range followers {
		r := rand.New(rand.NewPCG(rng.Uint64(), 2))
		following.Go(func() { c.follow(ctx, r) })
	}
	done := make(chan struct{})
	go func() { following.Wait(); close(done) }()
	killed := 0
	for over := false; !over; {
		select {
		case <-done:
			over = true
		case <-time.After(time.Duration(200+rng.IntN(1500)) * time.Millisecond):
			s := c.live.Load()
			s.kill()
			s.wasKilled()
			killed++
			c.live.Store(start(t, url))
		}
	}
	cancel()
	making.Wait()
	c.live.Load().stop()
	c.judge()
	t.Logf("%d histories with %d connections and %d events over %d kills of the service; %d reads after an event", c.finished.Load(), c.dials.Load(), len(c.heard), killed, c.reads.Load())
}

// crowd is everybody who makes and follows orders.
type crowd struct {
	t      *testing.T
	url    string
	keys   []string // of integrations that have nothing to do with each other
	live   atomic.Pointer[service]
	target int64

	made                   atomic.Int64
	finished, dials, reads atomic.Int64

	mu     sync.Mutex
	orders []followedOrder
	heard  []hearing
}

// followedOrder is an order and what opens it.
type followedOrder struct{ id, session, key, to string }

// hearing is one event that one follower heard.
type hearing struct {
	what  subject
	order string
	seq   int64
	prev  int64 // the number before it, as far as the follower knows
}

// subject is what is followed.
type subject struct {
	channel string
	of      followedOrder
	verify  bool
}

// sessionOf is one of a few sessions of an integration.
func sessionOf(key, n int) string { return fmt.Sprintf("7d444840-9dc0-41b3-8f5b-%06d%06d", key, n) }

// make makes orders and changes them.
func (c *crowd) make(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		s := c.live.Load()
		q := newRequest(c.made.Add(1), "")
		q.repeat, q.key = "", ""
		q.body = strings.TrimSuffix(strings.Split(q.body, `,"sessionId"`)[0], "}")
		if who := r.IntN(3); who < len(c.keys) {
			q.key = c.keys[who]
			if r.IntN(2) == 0 {
				q.body += `,"sessionId":"` + sessionOf(who, r.IntN(8)) + `"`
			}
		}
		q.body += "}"
		a, err := s.create(q)
		if err != nil {
			s.gone(ctx)
			continue
		}
		var body struct{ ToAddress string }
		_ = json.Unmarshal([]byte(q.body), &body)
		o := followedOrder{a.OrderID, a.Session, q.key, body.ToAddress}
		c.mu.Lock()
		c.orders = append(c.orders, o)
		c.mu.Unlock()
		if r.IntN(2) == 0 {
			_, _, _ = s.call(http.MethodPost, "/v2/orders/"+o.id+"/refund-address", request{session: o.session, key: o.key},
				`{"refundAddress":"`+map[bool]string{true: "7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs", false: "0x52908400098527886E0F7030069857D2E4169EE7"}[strings.Contains(q.body, `"fromChainId":"solana"`)]+`"}`)
		}
		if r.IntN(3) > 0 {
			_, _, _ = s.call(http.MethodPost, "/v2/orders/"+o.id+"/cancel", request{session: o.session, key: o.key}, "{}")
		}
		time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond) // so that followers have something new now and then
	}
}

// gone lets a moment pass after a service did not answer: another is on its way.
func (s *service) gone(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// follow goes through histories until there are enough.
func (c *crowd) follow(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		c.mu.Lock()
		n := len(c.orders)
		var o followedOrder
		if n > 0 {
			o = c.orders[n-1-r.IntN(min(n, 50))]
		}
		c.mu.Unlock()
		if n == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		what := subject{channel: "order", of: o, verify: r.IntN(3) == 0}
		switch {
		case r.IntN(3) == 0:
			what = subject{channel: "session", of: o}
		case r.IntN(2) == 0 && o.key != "":
			what = subject{channel: "integrator_orders", of: o}
		}
		h := history{crowd: c, rand: r, what: what, last: -1}
		for range 1 + r.IntN(4) {
			for ctx.Err() == nil && !h.connect(ctx) {
				c.live.Load().gone(ctx)
			}
		}
		if c.finished.Add(1) >= c.target {
			return
		}
	}
}

// history is one follower of one thing over several connections.
type history struct {
	*crowd
	rand *rand.Rand
	what subject
	last int64 // the last number; -1 before the first
}

// said is what the server says.
type said struct {
	Type, Code, Reason, Event string
	Seq                       int64
	Data                      struct {
		OrderID string
		Version int64
		Order   struct{ Version int64 }
	}
}

// connect follows for a while and is cut, in one way or another. It reports whether
// there was anybody.
func (h *history) connect(ctx context.Context) bool {
	s := h.live.Load()
	head := http.Header{}
	if h.what.of.key != "" && !h.what.verify {
		head.Set("X-Integrator-Key", h.what.of.key)
	}
	d := ws.Dialer{Header: ws.HandshakeHeaderHTTP(head), Timeout: patience}
	conn, early, _, err := d.Dial(ctx, "ws"+strings.TrimPrefix(s.api, "http")+"/v2/ws")
	if err != nil {
		return false
	}
	h.dials.Add(1)
	defer conn.Close()
	var from io.Reader = conn
	if early != nil {
		from = early
	}
	if err := wsutil.WriteClientText(conn, []byte(h.ask())); err != nil {
		return false
	}
	if h.rand.IntN(10) > 0 { // else it is gone before the answer
		h.listen(s, conn, from)
	}
	return true
}

func (h *history) ask() string {
	params := ""
	switch h.what.channel {
	case "order":
		params = fmt.Sprintf(`,"params":{"orderId":"%s","sessionId":"%s"}`, h.what.of.id, h.what.of.session)
		if h.what.verify {
			params = fmt.Sprintf(`,"params":{"orderId":"%s","verify":"%s"}`, h.what.of.id, h.what.of.to)
		}
	case "session":
		params = fmt.Sprintf(`,"params":{"sessionId":"%s"}`, h.what.of.session)
	}
	if h.last < 0 && h.rand.IntN(2) == 0 {
		h.last = 0 // from the very beginning, without a snapshot
	}
	if h.last >= 0 {
		params += fmt.Sprintf(`,"after":%d`, h.last)
	}
	return fmt.Sprintf(`{"type":"subscribe","id":"1","channel":"%s"%s}`, h.what.channel, params)
}

// listen takes messages, some or for some time, and holds them to what was promised.
func (h *history) listen(s *service, conn net.Conn, from io.Reader) {
	if err := conn.SetReadDeadline(time.Now().Add(time.Duration(h.rand.IntN(60)) * time.Millisecond)); err != nil {
		return
	}
	for range h.rand.IntN(40) {
		text, err := wsutil.ReadServerText(struct {
			io.Reader
			io.Writer
		}{from, conn})
		if err != nil {
			return
		}
		var m said
		if err := json.Unmarshal(text, &m); err != nil {
			h.t.Errorf("%v in %s", err, text)
			return
		}
		switch m.Type {
		case "error":
			h.t.Errorf("%+v was refused: %s", h.what, text)
			return
		case "snapshot", "resync_required":
			if m.Seq < h.last {
				h.t.Errorf("%+v went back from %d: %s", h.what, h.last, text)
			}
			h.last = m.Seq
		case "event":
			h.event(s, &m, text)
		}
	}
}

func (h *history) event(s *service, m *said, text []byte) {
	gapless := h.what.channel != "session"
	if m.Event == "order.confirmations" { // of no log
		if bytes.Contains(text, []byte(`"seq":null`)) && (h.what.channel == "session" || h.what.channel == "order" && m.Data.OrderID == h.what.of.id) {
			return
		}
		h.t.Errorf("%+v: heard %s", h.what, text)
		return
	}
	switch {
	case m.Seq <= h.last, gapless && m.Seq != h.last+1:
		h.t.Errorf("%+v: %d follows %d: %s", h.what, m.Seq, h.last, text)
	case h.what.channel == "order" && (m.Data.OrderID != h.what.of.id || m.Data.Order.Version != m.Seq):
		h.t.Errorf("%+v: heard %s", h.what, text)
	}
	h.mu.Lock()
	h.heard = append(h.heard, hearing{h.what, m.Data.OrderID, m.Seq, h.last})
	h.mu.Unlock()
	h.last = m.Seq
	if h.what.channel == "order" && h.rand.IntN(8) == 0 {
		h.read(s, m)
	}
}

// read asks for the order after an event of it.
func (h *history) read(s *service, m *said) {
	code, text, err := s.call(http.MethodGet, "/v2/orders/"+m.Data.OrderID, request{session: h.what.of.session, key: h.what.of.key}, "")
	if err != nil || code != http.StatusOK {
		return // killed meanwhile
	}
	var now struct{ Version int64 }
	if err := json.Unmarshal(text, &now); err != nil || now.Version < m.Seq {
		h.t.Errorf("event %d, and then version %d is read: %v", m.Seq, now.Version, err)
	}
	h.reads.Add(1)
}

// judge holds everything that was heard to the log.
func (c *crowd) judge() {
	db, err := store.Open(context.Background(), store.Config{URL: c.url})
	if err != nil {
		c.t.Fatal(err)
	}
	defer db.Close()
	type place struct {
		of  string
		seq int64
	}
	inLog, inSession := map[place]string{}, map[place]string{}
	numbers := map[string][]int64{} // of sessions, rising
	for seq := int64(0); ; {
		page, err := db.Since(context.Background(), seq, 1000)
		if err != nil {
			c.t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			e := &page[i]
			inLog[place{string(e.Integrator), e.Number}] = string(e.Order)
			inSession[place{e.Session, e.InSession()}] = string(e.Order)
			numbers[e.Session] = append(numbers[e.Session], e.InSession())
		}
		seq = page[len(page)-1].Seq
	}
	whose := map[string]feed.Entry{}
	for _, h := range c.heard {
		e, known := whose[h.what.of.id]
		if !known {
			log, err := db.OrderLog(context.Background(), order.ID(h.what.of.id), 0, 1)
			if err != nil || len(log) != 1 {
				c.t.Fatalf("order %s: %v", h.what.of.id, err)
			}
			e = log[0]
			whose[h.what.of.id] = e
		}
		c.judgeOne(h, inLog[place{string(e.Integrator), h.seq}], inSession[place{e.Session, h.seq}], numbers[e.Session], e.Integrator)
	}
}

func (c *crowd) judgeOne(h hearing, inLog, inSession string, numbers []int64, whose integrator.ID) {
	switch h.what.channel {
	case "integrator_orders":
		if whose == "" || inLog != h.order {
			c.t.Errorf("%s heard of %s as number %d, which is %s", whose, h.order, h.seq, inLog)
		}
	case "session":
		if inSession != h.order {
			c.t.Errorf("a session heard of %s as number %d, which is %q", h.order, h.seq, inSession)
		}
		if i, _ := slices.BinarySearch(numbers, h.seq); i > 0 && numbers[i-1] > h.prev && h.prev >= 0 {
			c.t.Errorf("a session heard %d after %d, and %d is between them", h.seq, h.prev, numbers[i-1])
		}
	}
}
