package dev

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ferry/internal/api/operator"
	"ferry/internal/api/wire"
	"ferry/internal/integrator"
	"ferry/internal/secret"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
	watching "ferry/internal/tail" // the package has a tail of its own
	"ferry/internal/testseed"
)

func TestSweepATailMissesNothingThroughKillsOnSQLite(t *testing.T) {
	t.Parallel()
	tailed(t, "sqlite:"+filepath.Join(t.TempDir(), "ferry.db"))
}

func TestSweepATailMissesNothingThroughKillsOnPostgres(t *testing.T) {
	t.Parallel()
	tailed(t, pgtest.URL(t))
}

// tailed kills the service again and again while everybody asks for orders, with an
// operator and an integrator who follow through all of it, and holds what they were shown
// to the log.
func tailed(t *testing.T, url string) {
	rng := testseed.Rand(t)
	l := &load{t: t, url: url, answered: map[string]answer{}}
	api, office := newGateway(t), newGateway(t)
	var token string
	begin := func() *service {
		s := start(t, url)
		office.mu.Lock()
		token = s.token
		office.mu.Unlock()
		api.lead(s.api)
		office.lead(s.office)
		return s
	}
	s := begin()
	l.reach(s)
	key := s.key
	all := follows(t, func() watching.Source {
		office.mu.Lock()
		defer office.mu.Unlock()
		c, err := operator.NewClient(office.url(), secret.New(token))
		if err != nil {
			t.Error(err)
		}
		return watching.Office{Client: c}
	})
	theirs := follows(t, func() watching.Source {
		c, err := watching.NewSocket(api.url())
		if err != nil {
			t.Error(err)
			return nil
		}
		c.Key = secret.New(key)
		return c
	})
	for n := range max(2, kills/2) {
		if n > 0 {
			s = begin()
		}
		l.round(s, 1+rng.IntN(200))
	}
	s = begin()
	l.reach(s)
	l.repeat(s)
	s.stop() // which says goodbye, and waits for nobody who listens
	s = begin()
	l.reach(s)
	end, err := s.create(newRequest(l.next.Add(4)&^3+1, l.key)) // of the integrator
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*followsUp{all, theirs} {
		f.until(t, end.OrderID)
	}
	s.stop()
	compare(t, url, all, theirs)
}

// compare holds what was shown to the log.
func compare(t *testing.T, url string, all, theirs *followsUp) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	head, err := db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	entries, err := db.Since(t.Context(), 0, int(head))
	if err != nil {
		t.Fatal(err)
	}
	var whose integrator.ID
	for _, e := range entries {
		if string(e.Order) == theirs.shown[0].Data.OrderID {
			whose = e.Integrator
		}
	}
	var wantAll, wantTheirs []row
	for _, e := range entries {
		wantAll = append(wantAll, row{e.Seq, wire.EventID(e.Order, e.Version)})
		if e.Integrator == whose {
			wantTheirs = append(wantTheirs, row{e.Number, wire.EventID(e.Order, e.Version)})
		}
	}
	for name, c := range map[string]struct {
		want []row
		got  *followsUp
	}{"everything": {wantAll, all}, "the integration": {wantTheirs, theirs}} {
		if len(c.got.shown) != len(c.want) {
			t.Errorf("%s: %d events were shown, and there are %d", name, len(c.got.shown), len(c.want))
		}
		for i := range min(len(c.want), len(c.got.shown)) {
			if got := c.got.shown[i].row; got != c.want[i] {
				t.Fatalf("%s: at place %d stands %+v, not %+v", name, i, got, c.want[i])
			}
		}
	}
	t.Logf("%d events of everything and %d of the integration, over %d and %d connections", len(wantAll), len(wantTheirs), all.tries, theirs.tries)
}

type row struct {
	Seq     int64  `json:"seq"`
	EventID string `json:"eventId"`
}

// followsUp is a tail that runs until it is stopped.
type followsUp struct {
	source func() watching.Source
	tries  int

	mu    sync.Mutex
	shown []told
	stop  func()
}

type told struct {
	row
	Data struct {
		OrderID string `json:"orderId"`
	} `json:"data"`
}

// follows begins a tail at the beginning of a log.
func follows(t *testing.T, source func() watching.Source) *followsUp {
	t.Helper()
	f := &followsUp{source: source}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- watching.New(watching.Config{
			Source: f, From: watching.From{After: new(int64)}, Dense: true, First: 10 * time.Millisecond, Most: 100 * time.Millisecond, Show: f.show,
		}).Run(ctx)
	}()
	f.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(f.stop)
	return f
}

// Hear implements tail.Source: a service that was killed has another token when it is
// back, and nobody there at first.
func (f *followsUp) Hear(ctx context.Context, from watching.From, tell func(watching.Item) error) error {
	f.tries++
	err := f.source().Hear(ctx, from, tell)
	if no, is := errors.AsType[*watching.Refusal](err); is && (no.Code == "operator_token_invalid" || no.Code == "invalid_key") {
		return errors.New(no.Error())
	}
	return err
}

func (f *followsUp) show(i watching.Item) error {
	var one told
	if err := json.Unmarshal(i.Text, &one); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.shown = append(f.shown, one)
	return nil
}

// until waits until an order was shown, and ends.
func (f *followsUp) until(t *testing.T, id string) {
	t.Helper()
	seen := func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for i := len(f.shown) - 1; i >= 0; i-- {
			if f.shown[i].Data.OrderID == id {
				return true
			}
		}
		return false
	}
	for end := time.Now().Add(patience); !seen(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("order %s was never shown; %d events were", id, len(f.shown))
		}
	}
	f.stop()
}

// gateway is an address that stays the same while the service behind it moves.
type gateway struct {
	in net.Listener

	mu sync.Mutex
	to string
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{in: in}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			c, err := in.Accept()
			if err != nil {
				return
			}
			open.Go(func() { g.carry(c) })
		}
	})
	t.Cleanup(func() {
		_ = in.Close()
		open.Wait()
	})
	return g
}

func (g *gateway) url() string { return "http://" + g.in.Addr().String() }

func (g *gateway) lead(to string) {
	u, err := url.Parse(to)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.to = to; err == nil {
		g.to = u.Host
	}
}

// carry passes on what both sides say until one of them ends.
func (g *gateway) carry(c net.Conn) {
	g.mu.Lock()
	to := g.to
	g.mu.Unlock()
	out, err := net.Dial("tcp", to)
	if err != nil {
		_ = c.Close()
		return
	}
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_, _ = to.Close(), from.Close()
	}
	both.Go(func() { pass(out, c) })
	both.Go(func() { pass(c, out) })
	both.Wait()
}
