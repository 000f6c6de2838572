package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/family/sim"
	"ferry/internal/feed"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
	"ferry/internal/testseed"
	"ferry/internal/watch"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(child(path))
	}
	goleak.VerifyTestMain(m)
}

var pace = daemon.Pace{Watch: 2 * time.Millisecond, Settle: time.Millisecond, Send: time.Millisecond, Feed: 5 * time.Millisecond}

// patience bounds every wait of these tests; none of them should come near it.
const patience = 2 * time.Minute

// town is a house whose daemons run, with chains that make a block whenever the
// watchers have read the last ones.
type town struct {
	*house.House
	t     *testing.T
	clock *daemon.Clock
	first *daemon.Daemon
	all   []*daemon.Daemon
	ends  <-chan feed.Entry // of orders
	stop  func()            // ends everything and waits for it

	caught atomic.Int64
	blocks chan struct{}
}

// newTown runs a daemon for every handle on its database.
func newTown(t *testing.T, url string, processes int) *town {
	t.Helper()
	return newTownOf(t, house.Options{URL: url}, processes, pace)
}

// endings hears only how orders end.
type endings struct{ line *feed.Line }

func (e endings) Heard(one *feed.Entry) {
	if one.State.Finished() {
		e.line.Heard(one)
	}
}

func newTownOf(t *testing.T, o house.Options, processes int, pace daemon.Pace) *town {
	t.Helper()
	url := o.URL
	h, err := house.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	w := &town{House: h, t: t, blocks: make(chan struct{}, 1)}
	if w.clock, err = daemon.NewClock(t.Context(), slog.Default(), h.DB.Time); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, processes)
	for n := range processes {
		mine := *h
		if n > 0 {
			if mine.DB, err = store.Open(t.Context(), store.Config{URL: url}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { mine.DB.Close() })
		}
		d, err := mine.Daemon(t.Context(), w.hook)
		if err != nil {
			t.Fatal(err)
		}
		w.all = append(w.all, d)
		if n == 0 { // the watchers find their feet before anybody pays
			if err := d.Step(t.Context(), w.clock.Now); err != nil {
				t.Fatal(err)
			}
			w.first = d
			line := feed.NewLine(1000)
			w.ends = line.C
			d.Hub.Listen(feed.Everything, endings{line})
		}
		go func() { ran <- d.Run(ctx, pace, w.clock.Now) }()
	}
	mined := make(chan struct{})
	go func() {
		defer close(mined)
		w.mine(ctx)
	}()
	w.stop = sync.OnceFunc(func() {
		t.Helper()
		cancel()
		<-mined
		for range processes {
			if err := await(t, ran); err != nil {
				t.Errorf("the daemon ended with %v", err)
			}
		}
	})
	t.Cleanup(w.stop)
	return w
}

// await receives, and fails the test where nothing comes.
func await[T any](t *testing.T, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return v
}

// hook lets the chains go on when as many watchers as there are stood at the tip.
func (w *town) hook(c house.Crossing) error {
	if c.Name == "Caught" && c.After && w.caught.Add(1)%int64(len(w.Nets)) == 0 {
		select {
		case w.blocks <- struct{}{}:
		default:
		}
	}
	return nil
}

func (w *town) mine(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.blocks:
			for _, n := range w.Nets {
				n.Mine(1)
			}
		}
	}
}

// swap makes an order and pays it.
func (w *town) swap(n int, give, get chain.Asset) error {
	id := order.ID(fmt.Sprintf("ord_%03d", n))
	now := w.clock.Now()
	dollars, err := w.Rates.Convert(w.t.Context(), money.FromUint64(200_000_000), house.EVMUSD, give, money.Up)
	if err != nil {
		return err
	}
	q, err := w.Terms("quo_1", give, get, dollars, now)
	if err != nil {
		return err
	}
	o, err := w.first.Settler.Create(w.t.Context(), w.Ask(id, q, w.Net(get.Chain).User("to-"+string(id)), chain.Address{}), now)
	if err != nil {
		return err
	}
	_, err = w.Net(give.Chain).Send(sim.Payment{From: "payer-" + string(id), Outs: []sim.Out{{To: o.DepositTo, Asset: give, Amount: q.In}}})
	return err
}

// ended waits for so many orders to end, and says how.
func (w *town) ended(n int) map[order.State]int {
	w.t.Helper()
	states, seen := map[order.State]int{}, map[order.ID]bool{}
	for len(seen) < n {
		e := await(w.t, w.ends)
		if e.Order == "" {
			w.t.Fatal("the listener was closed")
		}
		if !seen[e.Order] {
			seen[e.Order] = true
			states[e.State]++
		}
	}
	return states
}

// database is where a daemon may keep its state.
type database struct {
	name      string
	processes int
	url       func(*testing.T) string
}

var databases = []database{
	{"SQLite", 1, func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "ferry.db") }},
	{"PostgreSQL", 1, func(t *testing.T) string { return pgtest.URL(t) }},
	{"PostgreSQL with two processes", 2, func(t *testing.T) string { return pgtest.URL(t) }},
}

func TestARunningDaemonCompletesOrdersAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	const orders = 30
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			t.Parallel()
			w := newTown(t, db.url(t), db.processes)
			var wg sync.WaitGroup
			for worker := range 3 {
				wg.Go(func() {
					for n := worker; n < orders; n += 3 {
						give := w.Assets[n%len(w.Assets)]
						get := w.Assets[(n+1+n/len(w.Assets)%(len(w.Assets)-1))%len(w.Assets)]
						if err := w.swap(n, give, get); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			if t.Failed() {
				t.FailNow()
			}
			if states := w.ended(orders); states[order.Completed] != orders {
				t.Errorf("they ended as %v", states)
			}
			w.stop()
			f, err := house.NewAuditor(w.House).Audit(t.Context(), true)
			if err := errors.Join(err, f.Err()); err != nil {
				t.Error(err)
			}
			if f.DoublePayments != 0 {
				t.Errorf("%d payments twice", f.DoublePayments)
			}
			// The last thing may have been cut off between its doing and its note:
			// whoever comes next finds nothing to do twice.
			next := w.clock.Now().Add(house.Settling().Lease + time.Second)
			if err := w.first.Step(t.Context(), func() time.Time { return next }); err != nil {
				t.Error(err)
			}
			counts, err := w.DB.Counts(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if counts.Work != 0 || counts.Live != 0 || counts.Untold != 0 || counts.Transfers != orders {
				t.Errorf("left over: %+v", counts)
			}
		})
	}
}

func TestTroubleInOneChainDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	w := newTown(t, "", 1)
	for i := range 3 {
		w.Net(house.BTC).Node(i).Set(sim.Fault{Kind: sim.Partition})
	}
	for n := range 6 {
		if err := w.swap(n, house.EVMUSD, house.Sol); err != nil {
			t.Fatal(err)
		}
	}
	if states := w.ended(6); states[order.Completed] != 6 {
		t.Errorf("they ended as %v", states)
	}
	for i := range 3 {
		w.Net(house.BTC).Node(i).Heal()
	}
	w.stop()
}

func TestADaemonWithForgottenValuesIsRefused(t *testing.T) {
	t.Parallel()
	h, err := house.New(t.Context(), house.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	good := func() daemon.Config {
		cfg := daemon.Config{Settle: house.Settling(), Log: slog.Default()}
		for _, n := range h.Nets {
			cfg.Chains = append(cfg.Chains, daemon.Chain{
				ID: n.ID(), Assets: []chain.Asset{n.ID().Native()}, Tiers: []watch.Tier{{Confirmations: 3}}, Window: 10,
				Reader: n.Chain(), Mempool: n.Chain(), Sender: n.Chain(),
			})
		}
		return cfg
	}
	if _, err := daemon.New(t.Context(), good(), h.DB, h.Rates); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*daemon.Config)
		says   string
	}{
		{"no logger", func(c *daemon.Config) { c.Log = nil }, "no logger"},
		{"no chains", func(c *daemon.Config) { c.Chains = nil }, "no chains"},
		{"a chain twice", func(c *daemon.Config) { c.Chains[1].ID = c.Chains[0].ID }, "twice"},
		{"a chain without assets", func(c *daemon.Config) { c.Chains[1].Assets = nil }, "no assets"},
		{"no cap per hour", func(c *daemon.Config) { c.Settle.PerHour = 0 }, "cap per hour"},
		{"no cap per payment", func(c *daemon.Config) { c.Settle.PerPayment = 0 }, "cap per payment"},
		{"no fee factor", func(c *daemon.Config) { c.Settle.FeeFactor = 0 }, "fee factor"},
		{"no lease", func(c *daemon.Config) { c.Settle.Lease = 0 }, "lease"},
		{"no tiers", func(c *daemon.Config) { c.Chains[2].Tiers = nil }, "tiers"},
		{"no confirmations", func(c *daemon.Config) { c.Chains[2].Tiers[0].Confirmations = 0 }, "zero confirmations"},
		{"a window that forgets too early", func(c *daemon.Config) { c.Chains[0].Window = 2 }, "window"},
		{"a chain without a name", func(c *daemon.Config) { c.Chains[0].ID = "" }, "no chain"},
	} {
		cfg := good()
		c.change(&cfg)
		d, err := daemon.New(t.Context(), cfg, h.DB, h.Rates)
		if err == nil || d != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, %v", c.name, d, err)
		}
	}
}

// TestTheClockNeverGoesBack steps the database's clock and lets it fail.
func TestTheClockNeverGoesBack(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	synctest.Test(t, func(t *testing.T) {
		errAway := errors.New("the database is away")
		var skew time.Duration
		var away error
		c, err := daemon.NewClock(t.Context(), slog.Default(), func(context.Context) (time.Time, error) { return time.Now().Add(skew), away })
		if err != nil {
			t.Fatal(err)
		}
		last := c.Now()
		if !last.Equal(time.Now()) || last.Location() != time.UTC {
			t.Errorf("it begins at %s, not at %s", last, time.Now())
		}
		for range 500 {
			passed := time.Duration(rng.IntN(120)) * time.Second
			time.Sleep(passed) // of a clock that stands still unless everybody waits
			now := c.Now()
			// Where it is ahead of the database it stands still until it is reached.
			if went := now.Sub(last); went < 0 || went > passed {
				t.Fatalf("%s passed, and the clock went on by %s", passed, went)
			}
			last = now
			skew += []time.Duration{0, 0, time.Hour, -time.Hour, time.Second, -time.Minute}[rng.IntN(6)]
			if away = nil; rng.IntN(5) == 0 {
				away = errAway
			}
			if err := c.Sync(t.Context()); !errors.Is(err, away) {
				t.Fatalf("sync: %v", err)
			}
			switch now = c.Now(); {
			case now.Before(last):
				t.Fatalf("it went back from %s to %s", last, now)
			case away == nil && now.Before(time.Now().Add(skew)):
				t.Fatalf("it is at %s, the database at %s", now, time.Now().Add(skew))
			case away != nil && !now.Equal(last):
				t.Fatalf("it went from %s to %s without knowing anything", last, now)
			}
			last = now
		}
	})
}

func TestAClockIsNotMadeWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	errAway := errors.New("the database is away")
	if _, err := daemon.NewClock(t.Context(), slog.Default(), func(context.Context) (time.Time, error) { return time.Time{}, errAway }); !errors.Is(err, errAway) {
		t.Errorf("got %v", err)
	}
}
