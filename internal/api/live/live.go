package live

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/socket"
	"ferry/internal/api/wire"
	"ferry/internal/fault"
	"ferry/internal/feed"
	"ferry/internal/integrator"
)

// Config is how live connections are kept. A zero is the default beside it.
type Config struct {
	Socket socket.Config
	// PerAddress and PerKey are how many connections one address (50), or one server key
	// (1,000), may have at a time; below zero is no limit.
	PerAddress, PerKey int
	// Subscriptions is how many one connection may have: 100; Quotes how many of them may
	// be of prices: 5.
	Subscriptions, Quotes int
	// QuoteEvery is how often a price is asked for (5 s), QuoteFor how long (60 s).
	QuoteEvery, QuoteFor time.Duration
	// UsageEvery is how often an integration hears of its limits: 5 s. StatusEvery is how
	// often it is looked how chains are: 2 s.
	UsageEvery, StatusEvery time.Duration
	// PublicEvery is how often totals, activity and points are looked at: 10 s.
	PublicEvery time.Duration
	// DepthEvery is how often it is looked whether chains that somebody waits for have
	// another block: 1 s.
	DepthEvery time.Duration
	// KeyEvery is how often keys of open connections are looked at again: 5 s.
	KeyEvery time.Duration
	// Replays is how many logs are read at once: 32.
	Replays int
	Log     *slog.Logger
	Now     func() time.Time // the clock of this process, by which limits go
}

func (c Config) filled() Config {
	c.PerAddress = cmp.Or(c.PerAddress, 50)
	c.PerKey = cmp.Or(c.PerKey, 1000)
	c.Subscriptions = cmp.Or(c.Subscriptions, 100)
	c.Quotes = cmp.Or(c.Quotes, 5)
	c.QuoteEvery = cmp.Or(c.QuoteEvery, 5*time.Second)
	c.QuoteFor = cmp.Or(c.QuoteFor, time.Minute)
	c.UsageEvery = cmp.Or(c.UsageEvery, 5*time.Second)
	c.StatusEvery = cmp.Or(c.StatusEvery, 2*time.Second)
	c.PublicEvery = cmp.Or(c.PublicEvery, 10*time.Second)
	c.DepthEvery = cmp.Or(c.DepthEvery, time.Second)
	c.KeyEvery = cmp.Or(c.KeyEvery, 5*time.Second)
	c.Replays = cmp.Or(c.Replays, 32)
	c.Socket.FramesPerMinute = cmp.Or(c.Socket.FramesPerMinute, 120)
	c.Socket.PingEvery = cmp.Or(c.Socket.PingEvery, 20*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Socket.Log = c.Log
	return c
}

// Live keeps the live connections of one process.
type Live struct {
	cfg   Config
	ports Ports

	begin   sync.Once
	server  *socket.Server
	running context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup // goroutines of subscriptions
	replays chan struct{}
	bodies  bodies
	public  public
	deep    deep

	mu     sync.Mutex
	open   map[string]int         // connections by whose they are
	keyed  map[*conn]struct{}     // those that showed a key
	topics map[string]*set        // subscriptions to what is looked at, by channel
	usage  map[integrator.ID]*set // and to limits, by whose they are
	users  atomic.Int64           // of usage
}

// New makes the live half of the API. Run looks after its connections.
func New(cfg Config, ports Ports) *Live {
	l := &Live{
		cfg: cfg.filled(), ports: ports,
		open: map[string]int{}, keyed: map[*conn]struct{}{}, topics: map[string]*set{}, usage: map[integrator.ID]*set{},
	}
	l.replays = make(chan struct{}, l.cfg.Replays)
	l.running, l.stop = context.WithCancel(context.Background())
	return l
}

// path is where connections are opened.
const path = "/v2/ws"

// Row is the way in.
func (l *Live) Row() api.Operation {
	return api.Operation{
		ID: "openSocket", Method: http.MethodGet, Path: path, Tag: "live", Summary: "Follow live updates",
		Description: "A WebSocket of the sub-protocol " + socket.Protocol + ". What is said on it is described by GET /v2/asyncapi. " +
			"A key may be sent with the upgrade or in the first message; no secret is ever part of the URL.",
		Key: api.OptionalKey, Spends: api.Requests, Status: http.StatusSwitchingProtocols,
		Codes: []string{"upgrade_required", "malformed_request", "too_many_connections"}, Do: l.enter,
	}
}

// enter judges an upgrade.
func (l *Live) enter(c *api.Call) (any, error) {
	if err := socket.Upgrade(c.Headers, c.SetHeader); err != nil {
		return nil, err
	}
	whose, most := l.subject(&c.Who)
	if !l.count(whose, most) {
		return nil, fault.New(fault.Exhausted, "too_many_connections", "There are %d live connections open already. Close some before you open another.", most).
			With("retryAfterSeconds", 5).With("resource", "ws_connections")
	}
	n := &conn{live: l, who: c.Who, whose: whose}
	return &api.Switch{Take: func(conn net.Conn, early []byte) {
		l.begin.Do(func() { l.server = socket.New(l.cfg.Socket, l) })
		if l.server == nil { // it is stopping
			_ = conn.Close()
			l.uncount(whose)
			return
		}
		if l.server.Accept(conn, early, n) == nil {
			l.uncount(whose)
		}
	}}, nil
}

// subject is whose connection it is, and how many they may have.
func (l *Live) subject(p *access.Principal) (whose string, most int) {
	if p.Server() {
		return "key/" + string(p.Key.ID), l.cfg.PerKey
	}
	return "address/" + p.Client.String(), l.cfg.PerAddress // of IPv6 a whole line's
}

func (l *Live) count(whose string, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most >= 0 && l.open[whose] >= most {
		return false
	}
	l.open[whose]++
	return true
}

func (l *Live) uncount(whose string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[whose]--; l.open[whose] <= 0 {
		delete(l.open, whose)
	}
}

// stopWithin is how long connections may take to hear that the service stops.
const stopWithin = 5 * time.Second

// Run looks after keys and tells what is looked at, until the context ends; then it says
// goodbye to everybody.
func (l *Live) Run(ctx context.Context) error {
	_, leave := l.ports.Hub.Listen(feed.Everything, &l.public)
	defer leave()
	var beats sync.WaitGroup
	for _, b := range []struct {
		every time.Duration
		beat  func(context.Context)
	}{
		{l.cfg.KeyEvery, l.lookAtKeys},
		{l.cfg.UsageEvery, l.tellUsage},
		{l.cfg.StatusEvery, l.tellStatus},
		{l.cfg.DepthEvery, l.tellDepths},
		{l.cfg.PublicEvery, l.tellStats},
		{l.cfg.PublicEvery, l.tellActivity},
		{l.cfg.PublicEvery, l.tellPoints},
	} {
		beats.Go(func() {
			t := time.NewTicker(b.every)
			defer t.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-t.C:
					b.beat(ctx)
				}
			}
		})
	}
	beats.Wait()
	l.stop()
	var err error
	l.begin.Do(func() {}) // nobody may begin any more
	if l.server != nil {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
		defer cancel()
		err = l.server.Close(stopping, socket.Restart, "restart")
	}
	l.work.Wait()
	if err != nil {
		l.cfg.Log.WarnContext(ctx, "some live connections did not hear that the service stops", "error", err)
	}
	return nil
}

// lookAtKeys ends connections whose key is no longer good, and tells those whose
// settings changed.
func (l *Live) lookAtKeys(context.Context) {
	l.mu.Lock()
	all := make([]*conn, 0, len(l.keyed))
	for c := range l.keyed {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		c.lookAgain()
	}
}

// Len is how many connections there are.
func (l *Live) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, k := range l.open {
		n += k
	}
	return n
}

// errorOf is how a refusal is told. What is not in the catalogue is internal: it is
// logged and not shown.
func (l *Live) errorOf(err error) wire.LiveError {
	f := fault.Of(err)
	_, known := wire.CodeOf(f.Code)
	for _, code := range wire.SocketCodes {
		known = known || code == f.Code
	}
	if !known || f.Kind == fault.Internal {
		if l.ports.Down != nil && l.ports.Down(err) {
			f = errDown
		} else {
			l.cfg.Log.Error("a live message failed inside", "error", err)
			f = errInternal
		}
	}
	e := wire.LiveError{Type: "error", Code: f.Code, Message: f.Text, Errors: problemsOf(f)}
	if seconds, ok := f.Detail["retryAfterSeconds"].(int); ok {
		e.RetryAfterSeconds = &seconds
	}
	return e
}

var (
	errInternal = fault.New(fault.Internal, "internal_error", "Something went wrong on our side. Try again; report it to the operator if it stays.")
	errDown     = fault.New(fault.Unavailable, "service_unavailable", "The service cannot reach its own records now; try again in a few seconds.").With("retryAfterSeconds", 5)
)
