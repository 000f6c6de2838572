package treasury_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/treasury"
)

// given collects what was given out and fails on what was given twice.
type given struct {
	t    *testing.T
	mu   sync.Mutex
	seen map[chain.Address]string
}

func (g *given) take(who string, a chain.Address, err error) {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch before, twice := g.seen[a]; {
	case err != nil:
		g.t.Error(err)
	case a.IsZero():
		g.t.Error("no address was given")
	case twice:
		g.t.Errorf("%s was given to %s and to %s", a.Text(), before, who)
	}
	g.seen[a] = who
}

func TestNoAddressIsGivenTwice(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, a, b *store.DB) {
		const callers, each = 8, 40
		g := &given{t: t, seen: map[chain.Address]string{}}
		var wg sync.WaitGroup
		for p, db := range []*store.DB{a, b, a} { // the third came after one that crashed
			pool := addresses(t, config(16, 4), keys{}, db)
			for c := range callers {
				wg.Go(func() {
					for i := range each {
						who := order.ID(fmt.Sprintf("ord_%d_%d_%d", p, c, i))
						got, err := pool.DepositAddress(t.Context(), on, who)
						g.take(string(who), got, err)
					}
				})
			}
		}
		wg.Wait()
		if len(g.seen) != 3*callers*each {
			t.Fatalf("%d addresses", len(g.seen))
		}
		for got := range g.seen { // what was given can be swept
			index, known, err := a.AddressIndex(t.Context(), on, got)
			want, _ := keys{}.Address(t.Context(), on, chain.Key{Account: chain.DepositKeys, Index: index})
			if err != nil || !known || want != got {
				t.Fatalf("%s has index %d %t %v", got.Text(), index, known, err)
			}
		}
	})
}

func TestAnAddressIsWrittenDownBeforeItIsGiven(t *testing.T) {
	t.Parallel()
	db := openStore(t, "")
	broken := errors.New("the database is gone")
	for _, stop := range []string{"lease", "key", "keep", "kept"} {
		t.Run("it stops at "+stop, func(t *testing.T) {
			down := atomic.Bool{}
			down.Store(true)
			at := func(call string) error {
				if call == stop && down.Load() {
					return broken
				}
				return nil
			}
			pool := addresses(t, config(4, 1), keys{func(chain.Key) error { return at("key") }}, leases{db, at})
			if a, err := pool.DepositAddress(t.Context(), on, "ord_1"); !errors.Is(err, broken) {
				t.Fatalf("%v was given, %v", a, err)
			}
			down.Store(false)
			for range 9 { // it goes on by itself when the trouble is over
				a, err := pool.DepositAddress(t.Context(), on, "ord_2")
				if err != nil {
					t.Fatal(err)
				}
				if _, known, err := db.AddressIndex(t.Context(), on, a); err != nil || !known {
					t.Fatalf("%s was given and not written down (%v)", a.Text(), err)
				}
			}
		})
	}
}

func TestAddressesAreFetchedBeforeTheyRunOutAndNotForEveryOrder(t *testing.T) {
	t.Parallel()
	db := openStore(t, "")
	calls := atomic.Int64{}
	pool := addresses(t, config(100, 50), keys{}, leases{db, func(string) error { calls.Add(1); return nil }})
	for i := range 1000 {
		if _, err := pool.DepositAddress(t.Context(), on, order.ID(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := pool.Close(); err != nil { // the last refill is over
		t.Fatal(err)
	}
	if n := calls.Load(); n > 3*11 {
		t.Errorf("%d calls to the store for a thousand orders", n)
	}
	if _, err := pool.DepositAddress(t.Context(), on, "late"); err == nil {
		t.Error("a closed pool gave an address")
	}
}

func TestACallerThatCannotWaitLeavesAndTheOthersAreServed(t *testing.T) {
	t.Parallel()
	db := openStore(t, "")
	gate := make(chan struct{})
	pool := addresses(t, config(4, 0), keys{func(chain.Key) error { <-gate; return nil }}, db)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pool.DepositAddress(ctx, on, "ord_1"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(gate)
	if a, err := pool.DepositAddress(t.Context(), on, "ord_2"); err != nil || a.IsZero() {
		t.Errorf("%v, %v", a, err)
	}
	if a, err := pool.DepositAddress(t.Context(), "sim:z", "ord_3"); err == nil {
		t.Errorf("%v was given on a chain that is not served", a)
	}
}

func TestAfterAJumpNoOldAddressIsGiven(t *testing.T) {
	t.Parallel()
	db := openStore(t, "")
	if next, err := db.SkipAddresses(t.Context(), on, 100_000); err != nil || next != 100_000 {
		t.Fatalf("%d %v", next, err)
	}
	pool := addresses(t, config(4, 0), keys{}, db)
	a, err := pool.DepositAddress(t.Context(), on, "ord_1")
	if err != nil {
		t.Fatal(err)
	}
	if i, known, err := db.AddressIndex(t.Context(), on, a); err != nil || !known || i < 100_000 {
		t.Errorf("index %d %t %v", i, known, err)
	}
}

func TestAddressesWithoutLimitsAreRefused(t *testing.T) {
	t.Parallel()
	good := config(4, 1)
	for name, spoil := range map[string]func(*treasury.AddressConfig){
		"no block":       func(c *treasury.AddressConfig) { c.Block = 0 },
		"huge block":     func(c *treasury.AddressConfig) { c.Block = 1 << 20 },
		"low above":      func(c *treasury.AddressConfig) { c.Low = 4 },
		"no patience":    func(c *treasury.AddressConfig) { c.Patience = 0 },
		"nobody to tell": func(c *treasury.AddressConfig) { c.Log = nil },
	} {
		c := good
		spoil(&c)
		if _, err := treasury.NewAddresses(c, keys{}, nil, on); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := treasury.NewAddresses(good, keys{}, nil); err == nil {
		t.Error("no chains were taken")
	}
	if d := treasury.DefaultAddresses(good.Log); d.Block < 100 || d.Patience < time.Second {
		t.Errorf("%+v", d)
	}
}
