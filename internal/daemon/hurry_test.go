package daemon_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/house"
	"ferry/internal/ledger"
	"ferry/internal/order"
	"ferry/internal/treasury"
)

// locked is a log that one may read while another writes.
type locked struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.String()
}

// TestAHurryBringsDepositsHomeOnce: neither enough has come together nor is anything old,
// and the loop that sweeps looks once in an hour; an operator in a hurry has it done at
// once, and however many ask at once, every deposit comes home by one transfer. One that
// fails is told, waits, and is tried again for the next who asks.
func TestAHurryBringsDepositsHomeOnce(t *testing.T) {
	t.Parallel()
	const orders = 10 // two of each asset
	for _, db := range []database{databases[0], databases[2]} {
		t.Run(db.name, func(t *testing.T) {
			t.Parallel()
			p := pace
			p.Sweep = time.Hour
			var log locked
			w := newTownOf(t, house.Options{URL: db.url(t), Sweep: true, Log: slog.New(slog.NewTextHandler(&log, nil))}, db.processes, p)
			for n := range orders {
				if err := w.swap(n, w.Assets[n%len(w.Assets)], w.Assets[(n+1)%len(w.Assets)]); err != nil {
					t.Fatal(err)
				}
			}
			if states := w.ended(orders); states[order.Completed] != orders {
				t.Errorf("they ended as %v", states)
			}
			w.until("every deposit is final", func() bool {
				n := 0
				for _, x := range w.waiting() {
					n += x.Home.Addresses
				}
				return n == orders
			})
			w.Net(house.EVM).RevertNext(sim.Match{To: w.Net(house.EVM).Own(order.HotWallet), Asset: house.EVMUSD})
			var wg sync.WaitGroup
			for n := range 8 {
				s, is := w.all[n%len(w.all)].Sweeper()
				if !is {
					t.Fatal("nobody sweeps")
				}
				wg.Go(func() { s.Hurry("", w.clock.Now()) })
			}
			wg.Wait()
			w.until("all but the one that failed is home", func() bool {
				all := w.waiting()
				return len(all) == 1 && all[0].Asset == house.EVMUSD && all[0].Failed.Addresses == 2 && all[0].Underway == 0
			})
			w.until("it is said", func() bool { return strings.Contains(log.String(), "fate=reverted") })
			// Each process may have seen how it ended.
			if said := log.String(); strings.Count(said, "a transfer did not bring its deposits home") != strings.Count(said, "transfer=sweep/sim:evm/usd/") {
				t.Errorf("the log says %.2000s", said)
			}
			s, _ := w.first.Sweeper()
			s.Hurry(house.EVM, w.clock.Now())
			w.until("that is home too", func() bool { return len(w.waiting()) == 0 })
			w.once(orders)
			w.stop()
			f, err := house.NewAuditor(w.House).Audit(t.Context(), true)
			if err != nil || f.Err() != nil || f.DoublePayments != 0 {
				t.Errorf("audit: %v, %v, %d payments twice", err, f.Err(), f.DoublePayments)
			}
		})
	}
}

// waiting is what is not home.
func (w *town) waiting() []treasury.Waiting {
	w.t.Helper()
	s, _ := w.first.Sweeper()
	all, err := s.Waiting(w.t.Context(), "", w.clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// once fails unless so many deposits came home, each by one transfer.
func (w *town) once(n int) {
	w.t.Helper()
	all, err := w.DB.Transfers(w.t.Context(), "", 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	home := map[chain.DepositID]int{}
	for _, r := range all {
		for _, src := range r.Transfer.Call.Sources {
			for _, d := range src.Deposits {
				if r.Result.Fate == chain.Final {
					home[d]++
				}
			}
		}
	}
	for d, times := range home {
		if times != 1 {
			w.t.Errorf("%s came home %d times", d, times)
		}
	}
	if len(home) != n {
		w.t.Errorf("%d deposits came home, and not %d", len(home), n)
	}
	for _, a := range w.Assets {
		b, err := w.DB.Balance(w.t.Context(), ledger.Key{Account: ledger.Deposits(a.Chain), Asset: a})
		if net, below := b.Net(); err != nil || below || !net.IsZero() {
			w.t.Errorf("%s of %s lies on deposit addresses: %v", b, a, err)
		}
	}
}
