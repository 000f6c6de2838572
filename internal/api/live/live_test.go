package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	"go.uber.org/goleak"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/socket"
	"ferry/internal/api/wire"
	"ferry/internal/desk"
	"ferry/internal/feed"
	"ferry/internal/order"
	"ferry/internal/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is everything behind the room, made up: one order with as many changes as a test
// tells, and activity that a test publishes.
type world struct {
	Hub
	Desk
	feed.History
	Show

	mu     sync.Mutex
	log    []feed.Entry
	heards map[feed.Listener]bool
	items  []wire.ActivityItem
	sight
}

// sight is what the made-up order was paid with, and the chain that it is on.
type sight struct {
	deposits   []order.Deposit
	in, head   uint64 // blocks: of the payment, and the newest
	asked      int    // how often it was asked for the newest block
	looks      [][]order.ID
	unreadable error
}

func (w *world) Listen(_ feed.Topic, who feed.Listener) (int64, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heards[who] = true
	return 0, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.heards, who)
	}
}

// happen commits a change, and hands it out as a hub would.
func (w *world) happen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := int64(len(w.log) + 1)
	e := feed.Entry{Seq: n, Order: "ord_1", Version: n, Event: "refund_address_given", State: order.Awaiting, Now: w.order(n)}
	w.log = append(w.log, e)
	for who := range w.heards {
		who.Heard(&e)
	}
}

func (w *world) order(version int64) *order.Order {
	o := &order.Order{ID: "ord_1", Version: version, Deposits: slices.Clone(w.deposits)}
	o.Quote.Give.Chain, o.Quote.Shown.Confirmations = "sim:a", 6
	return o
}

func (w *world) Read(context.Context, string, desk.Seeker) (order.Order, access.Right, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.order(int64(len(w.log))), access.Act, nil
}

func (w *world) OrderLog(_ context.Context, _ order.ID, after int64, n int) ([]feed.Entry, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := w.log[min(int(after), len(w.log)):]
	return append([]feed.Entry(nil), rest[:min(n, len(rest))]...), nil
}

func (w *world) Order(o *order.Order, _ access.Right, _ time.Time) wire.Order {
	return wire.Order{OrderID: string(o.ID), Version: int(o.Version), Metadata: map[string]string{"fill": strings.Repeat("x", 500)}}
}

func (w *world) Activity(context.Context, int) ([]wire.ActivityItem, error) {
	return []wire.ActivityItem{}, nil
}

func (w *world) ActivityAfter(context.Context, *report.ActivityPlace, int) ([]wire.ActivityItem, report.ActivityPlace, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	items := w.items
	w.items = nil
	return items, report.ActivityPlace{}, nil
}

// open lets everybody do everything.
type open struct{}

func (open) Admit(string, *access.Principal, time.Time) (access.Principal, error) {
	return access.Principal{}, nil
}
func (open) Again(p *access.Principal, _ time.Time) (access.Principal, error) { return *p, nil }
func (open) Take(*access.Principal, api.Spend, time.Time) error               { return nil }
func (open) Left(*access.Principal, time.Time) []wire.LimitUsage              { return nil }
func (open) MayTry(*access.Principal, time.Time) error                        { return nil }
func (open) Failed(*access.Principal, time.Time)                              {}

// room is the live half over a made-up world, and a client.
type room struct {
	*world
	live   *Live
	client net.Conn
}

func newRoom(t *testing.T, cfg Config) *room {
	t.Helper()
	w := &world{heards: map[feed.Listener]bool{}}
	l := New(cfg, Ports{Hub: w, History: w, Desk: w, Access: open{}, Show: w, Cursor: w.cursor})
	l.begin.Do(func() { l.server = socket.New(l.cfg.Socket, l) })
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if n := l.Len(); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
	near, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	client, err := net.Dial("tcp", near.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	far, err := near.Accept()
	if err != nil {
		t.Fatal(err)
	}
	l.count("me", 1)
	l.server.Accept(far, nil, &conn{live: l, whose: "me"})
	if err := client.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &room{w, l, client}
}

func (r *room) say(t *testing.T, text string) {
	t.Helper()
	if err := wsutil.WriteClientText(r.client, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// hear is the next text, or the code with which it ended.
func (r *room) hear(t *testing.T) (m struct {
	Type, SubscriptionID, Reason, Event string
	Seq                                 int
	Data                                json.RawMessage
}, code ws.StatusCode,
) {
	t.Helper()
	for {
		f, err := ws.ReadFrame(r.client)
		if err != nil {
			t.Fatalf("nothing to hear: %v", err)
		}
		switch f.Header.OpCode {
		case ws.OpClose:
			code, _ = ws.ParseCloseFrameData(f.Payload)
			return m, code
		case ws.OpText:
			if err := json.Unmarshal(f.Payload, &m); err != nil {
				t.Fatalf("%v in %s", err, f.Payload)
			}
			return m, 0
		}
	}
}

const followIt = `{"type":"subscribe","id":"1","channel":"order","params":{"orderId":"ord_1","sessionId":"s"},"after":0}`

// Whoever does not keep up is told where he is, and cut: nobody waits for him.
func TestASlowConsumerIsToldWhereItIs(t *testing.T) {
	t.Parallel()
	r := newRoom(t, Config{Socket: socket.Config{MaxQueue: 16 << 10, SendBuffer: 4 << 10}})
	r.happen()
	r.say(t, followIt)
	for m, code := r.hear(t); m.Type != "event"; m, code = r.hear(t) {
		if code != 0 {
			t.Fatalf("ended with %d", code)
		}
	}
	for range 20_000 { // without the client taking any
		r.happen()
	}
	last, resync := 1, 0
	for {
		m, code := r.hear(t)
		if code != 0 {
			if code != 4008 || resync != 1 {
				t.Errorf("ended with %d after %d words of it", code, resync)
			}
			return
		}
		switch m.Type {
		case "event":
			if m.Seq != last+1 || resync > 0 {
				t.Fatalf("%d follows %d", m.Seq, last)
			}
			last = m.Seq
		case "resync_required":
			if resync++; m.Reason != "slow_consumer" || m.Seq < last || m.Seq > last+1 {
				t.Errorf("told %+v after %d", m, last)
			}
		}
	}
}

// A log that is longer than any queue is told at the pace of whoever reads it.
func TestALongLogIsToldWhole(t *testing.T) {
	t.Parallel()
	r := newRoom(t, Config{Socket: socket.Config{MaxQueue: 64 << 10, MaxQueued: 2 * replayPage, SendBuffer: 4 << 10}})
	const changes = 3000
	for range changes {
		r.happen()
	}
	r.say(t, followIt)
	var telling sync.WaitGroup
	telling.Go(func() {
		for range 50 { // and what happens meanwhile
			r.happen()
			time.Sleep(time.Millisecond)
		}
	})
	defer telling.Wait()
	for next := 1; next <= changes+50; {
		m, code := r.hear(t)
		if code != 0 {
			t.Fatalf("ended with %d before %d", code, next)
		}
		if m.Type != "event" {
			continue
		}
		if m.Seq != next {
			t.Fatalf("%d instead of %d", m.Seq, next)
		}
		next++
	}
}

func TestActivityIsToldToThoseWhoFollowIt(t *testing.T) {
	t.Parallel()
	r := newRoom(t, Config{PublicEvery: 5 * time.Millisecond})
	r.say(t, `{"type":"subscribe","id":"1","channel":"activity"}`)
	for m, _ := r.hear(t); m.Type != "snapshot"; m, _ = r.hear(t) {
	}
	r.mu.Lock()
	for n := range 3 {
		r.items = append(r.items, wire.ActivityItem{ActivityID: fmt.Sprint("act_", n)})
	}
	r.mu.Unlock()
	for n := range 3 {
		m, _ := r.hear(t)
		var item struct{ ActivityID string }
		if err := json.Unmarshal(m.Data, &item); err != nil || item.ActivityID != fmt.Sprint("act_", n) || m.SubscriptionID != "s1" || m.Event != "activity.completed" {
			t.Errorf("%d: %+v, %v", n, m, err)
		}
	}
}

// Every message of the table is known to the server, and every example is read.
func TestTheTableIsWhatIsSpoken(t *testing.T) {
	t.Parallel()
	channels := map[string]bool{}
	for _, c := range Channels() {
		channels[c.Name] = true
		if begin[c.Name] == nil {
			t.Errorf("nobody serves the channel %s", c.Name)
		}
	}
	if len(channels) != len(begin) {
		t.Errorf("%d channels are described and %d served", len(channels), len(begin))
	}
	names := map[string]bool{}
	for _, m := range Messages() {
		if names[m.Name] || m.Channel != "" && !channels[m.Channel] {
			t.Errorf("%+v", m)
		}
		names[m.Name] = true
	}
	for _, m := range Messages() {
		for _, reply := range m.Replies {
			if !names[reply] {
				t.Errorf("%s is answered with %s, which is not there", m.Name, reply)
			}
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, m := range Messages() {
		if m.FromClient {
			f.Add(encode(m.Payload))
		}
	}
	f.Add([]byte(followIt))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := peek(text)
		if err == nil && e.kind == "" {
			t.Errorf("%q is a message without a type", text)
		}
		if len(e.id) > maxID {
			t.Errorf("an id of %d", len(e.id))
		}
	})
}
