package front_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/dev"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/office"
	"ferry/internal/prices"
	"ferry/internal/store/pgtest"
)

// The engines that every table is run over.
const (
	overSQLite   = "sqlite"
	overPostgres = "postgres"
)

// engines runs a subtest for each engine, side by side.
func engines(t *testing.T, run func(t *testing.T, engine string)) {
	t.Helper()
	for _, engine := range raced {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			run(t, engine)
		})
	}
}

// rig is a whole service on a loopback listener: the real server, the real store and
// simulated chains. It trusts one proxy, this machine, so that a request can come
// from any address; see request.From.
type rig struct {
	*dev.Dev
	engine string
	host   string // of the API
	log    *watched
	checks *checks

	mu      sync.Mutex
	notices []access.Notice
	marks   integrator.ID // an integrator whose keys show how far the directory is

	peers atomic.Uint32
	stop  func() error
}

// peerNetwork is the network of the peers that are nobody in particular.
const peerNetwork = 10 << 24

// setup is how a rig differs from the usual one.
type setup struct {
	database string              // instead of one of the engine's own
	funding  time.Duration       // instead of the network's own
	change   func(*front.Config) // after the rig's own settings
	sources  []prices.Source     // instead of the network's own
}

// newRig starts a service for one test. Tables whose cases do not disturb one
// another take the one of shared.
func newRig(t *testing.T, engine string, s ...setup) *rig {
	t.Helper()
	var with setup
	if len(s) > 0 {
		with = s[0]
	}
	if with.database == "" && engine == overPostgres {
		with.database = pgtest.URL(t)
	}
	r, err := start(engine, t.TempDir(), with)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// Settings of the usual rig. Changes are asked for so often that nobody waits for
// them, and addresses may try more keys than the tables have wrong ones.
const (
	askEvery = 40 * time.Millisecond
	ownProxy = "127.0.0.1/32"
)

// start starts a service and waits until it answers.
func start(engine, dir string, with setup) (*rig, error) {
	r := &rig{engine: engine, log: &watched{}}
	var err error
	r.Dev, err = dev.New(context.Background(), dev.Options{
		Dir: dir, Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "1.2.3", Database: with.database, Funding: with.funding, Sources: with.sources,
		Log: slog.New(slog.NewJSONHandler(r.log, nil)),
		Change: func(c *front.Config) {
			r.settings(c)
			if with.change != nil {
				with.change(c)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	r.host = r.Card.API[len("http://"):]
	if r.checks, err = checksOf(r.Front.Door); err != nil {
		return nil, err
	}
	if err := r.run(); err != nil {
		return nil, err
	}
	i, err := r.Front.Office.Create(context.Background(), "Marks", operator)
	r.marks = i.ID
	return r, err
}

func (r *rig) settings(c *front.Config) {
	c.Access.Every, c.Access.FailuresPerMin = askEvery, 1000
	c.Access.Notice = func(n access.Notice) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notices = append(r.notices, n)
	}
	var err error
	if c.Proxies, err = access.NewProxies([]netip.Prefix{netip.MustParsePrefix(ownProxy)}, "X-Forwarded-For"); err != nil {
		panic(err)
	}
}

// run serves in the background until stop.
func (r *rig) run() error {
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- r.Run(ctx, func() { close(ready) }) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		err := <-done
		if n := r.Front.Door.Panics(); n > 0 {
			err = errors.Join(err, fmt.Errorf("%d requests panicked: %s", n, r.log.trouble()))
		}
		return errors.Join(err, r.log.leaked())
	})
	select {
	case <-ready:
		return nil
	case err := <-done:
		cancel()
		return fmt.Errorf("the service ended before it answered: %w", errors.Join(err, errors.New(r.log.trouble())))
	}
}

// seen are the notices to the operator so far.
func (r *rig) seen() []access.Notice {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]access.Notice(nil), r.notices...)
}

// peer is an address that nobody has used before, so its allowances are whole.
func (r *rig) peer() string {
	n := peerNetwork | r.peers.Add(1)
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// The services that tables share: one for each engine, as long as the tests run.
var common = map[string]*lasting{overSQLite: {}, overPostgres: {}}

type lasting struct {
	once     sync.Once
	rig      *rig
	err      error
	cleanups []func()
}

// shared is the service of an engine that tables share.
func shared(t *testing.T, engine string) *rig {
	t.Helper()
	l := common[engine]
	l.once.Do(l.start(engine))
	if l.err != nil {
		t.Fatal(l.err)
	}
	return l.rig
}

func (l *lasting) start(engine string) func() {
	return func() {
		dir, err := os.MkdirTemp("", "ferry-front-")
		if err != nil {
			l.err = err
			return
		}
		l.Cleanup(func() { _ = os.RemoveAll(dir) }) // what is left is in a folder of temporary files
		var with setup
		if engine == overPostgres {
			with.database = pgtest.URL(l)
		}
		if l.err == nil {
			l.rig, l.err = start(engine, filepath.Join(dir, engine), with)
		}
	}
}

// Helper, Cleanup and Fatalf make it what pgtest needs of a test.
func (l *lasting) Helper() {}

// Cleanup remembers what to do at the end.
func (l *lasting) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

// Fatalf remembers why there is no service.
func (l *lasting) Fatalf(format string, args ...any) { l.err = fmt.Errorf(format, args...) }

func (l *lasting) close() error {
	var err error
	if l.rig != nil {
		err = l.rig.stop()
	}
	for i := len(l.cleanups) - 1; i >= 0; i-- {
		l.cleanups[i]()
	}
	return err
}

func TestMain(m *testing.M) {
	// Most of what these tests do is waiting: for blocks, for keys to be known, for time.
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // loops say there what they try again, and what matters fails a test
	code := m.Run()
	for _, l := range common {
		if err := l.close(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared service:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// operator is who does what the tests do in the office.
const operator = "tests"

// reported waits for what a report says within a second, asking seldom: it costs requests.
func reported(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 15 {
		if so() {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(250 * time.Millisecond):
		}
	}
	t.Errorf("the report does not say it: %s", what)
}

// wait waits until something is so.
func wait(t *testing.T, what string, so func() bool) {
	t.Helper()
	const patience, look = 30 * time.Second, 10 * time.Millisecond
	for end := time.Now().Add(patience); !so(); {
		if time.Now().After(end) {
			t.Fatalf("waited %s for this: %s", patience, what)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(look):
		}
	}
}

// key is a key with its text.
type key struct {
	integrator.Key
	Text string
}

// header shows it.
func (k key) header() map[string][]string { return map[string][]string{"X-Integrator-Key": {k.Text}} }

// company is an integrator with a key of each kind.
type company struct {
	integrator.Integrator
	Server, Public key
}

// company makes an integrator and waits until the door knows it.
func (r *rig) company(t *testing.T, p office.Patch) company {
	t.Helper()
	i, err := r.Front.Office.Create(t.Context(), "Company of "+clipped(t.Name()), operator)
	if err != nil {
		t.Fatal(err)
	}
	p.AttributionDays = &i.AttributionDays // a patch must name something
	if i, err = r.Front.Office.Change(t.Context(), i.ID, p, operator); err != nil {
		t.Fatal(err)
	}
	c := company{Integrator: i}
	c.Server = r.issue(t, i.ID, office.NewKey{Kind: integrator.Server, Requests: new(int64)})
	c.Public = r.issue(t, i.ID, office.NewKey{Kind: integrator.Public, Requests: new(int64)})
	r.known(t, c.Public)
	return c
}

func clipped(name string) string {
	const most = 60
	if len(name) > most {
		return name[len(name)-most:]
	}
	return name
}

// issue makes a key, which the door may not know yet.
func (r *rig) issue(t *testing.T, id integrator.ID, n office.NewKey) key {
	t.Helper()
	if n.Label == "" {
		n.Label = "key"
	}
	k, text, err := r.Front.Office.IssueKey(t.Context(), id, n, operator)
	if err != nil {
		t.Fatal(err)
	}
	return key{k, text.Reveal()}
}

// probe shows a key and spends nothing: whoever is known is refused next, because
// nobody may forward from an address that nobody has approved.
func (r *rig) probe(t *testing.T, k key) answer {
	t.Helper()
	return r.do(t, request{Path: "/v2/chains", Header: map[string][]string{"X-Integrator-Key": {k.Text}, "X-End-User-IP": {"x"}}})
}

// isKnown is the code of a probe with a key that the door knows.
const isKnown = "forwarding_not_allowed"

// known waits until the door knows a key.
func (r *rig) known(t *testing.T, k key) {
	t.Helper()
	wait(t, "the door knows a new key", func() bool { return r.probe(t, k).Code == isKnown })
}

// settled waits until the door goes by everything that was changed before. Changes
// are told in their order, so whoever knows a later key knows them all.
func (r *rig) settled(t *testing.T) {
	t.Helper()
	r.known(t, r.issue(t, r.marks, office.NewKey{Kind: integrator.Public}))
}

// change changes an integrator and waits until the door goes by it.
func (r *rig) change(t *testing.T, id integrator.ID, p office.Patch) integrator.Integrator {
	t.Helper()
	i, err := r.Front.Office.Change(t.Context(), id, p, operator)
	if err != nil {
		t.Fatal(err)
	}
	r.settled(t)
	return i
}
