package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
)

// TestARunningTreasuryBringsDepositsHomeAndFindsWhatIsMissing compares the books with
// the chains again and again while everything moves. Nothing of that may be taken for
// missing; what really is halts its chain.
func TestARunningTreasuryBringsDepositsHomeAndFindsWhatIsMissing(t *testing.T) {
	t.Parallel()
	const orders = 30 // six of each asset, together worth bringing home
	for _, db := range []database{databases[0], databases[2]} {
		t.Run(db.name, func(t *testing.T) {
			t.Parallel()
			p := pace
			p.Sweep, p.Audit = 3*time.Millisecond, 3*time.Millisecond
			var log bytes.Buffer // a handler writes one line at a time
			w := newTownOf(t, house.Options{URL: db.url(t), Sweep: true, Log: slog.New(slog.NewTextHandler(&log, nil))}, db.processes, p)
			for n := range orders {
				give := w.Assets[n%len(w.Assets)]
				get := w.Assets[(n+1)%len(w.Assets)]
				if err := w.swap(n, give, get); err != nil {
					t.Fatal(err)
				}
			}
			if states := w.ended(orders); states[order.Completed] != orders {
				t.Errorf("they ended as %v", states)
			}
			w.until("something is brought home", func() bool {
				all, err := w.DB.Transfers(t.Context(), "", 1000)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range all {
					if len(r.Transfer.Call.Sources) > 0 && r.Result.Fate == chain.Final {
						return true
					}
				}
				return false
			})
			halts, err := w.DB.Halts(t.Context())
			if err != nil || len(halts) > 0 {
				t.Fatalf("with nothing missing: %v %v", halts, err)
			}
			if err := w.DB.Fund(t.Context(), house.EVMUSD, money.FromUint64(3), w.clock.Now()); err != nil {
				t.Fatal(err)
			}
			w.until("the chain is halted", func() bool {
				halts, err = w.DB.Halts(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return len(halts) > 0
			})
			if len(halts) != 1 || halts[0].Chain != house.EVM || !strings.Contains(halts[0].Why, "3 of sim:evm/usd is missing from the wallet") {
				t.Errorf("halted: %+v", halts)
			}
			w.stop()
			if said := log.String(); !strings.Contains(said, "an audit found that money is missing") || strings.Contains(said, "loop=audit error=\"treasury: money is missing") {
				t.Errorf("what is missing must be told, and is no trouble of the audit: %.500s", said)
			}
			f, err := house.NewAuditor(w.House).Audit(context.Background(), false)
			if err != nil {
				t.Fatal(err)
			}
			if f.DoublePayments != 0 {
				t.Errorf("%d payments twice", f.DoublePayments)
			}
			if err := f.Err(); err == nil || !strings.Contains(err.Error(), "the wallets have -3 beside") {
				t.Error(errors.New("the house does not see what the treasury saw"), err)
			}
		})
	}
}

// until waits for a condition, and fails the test where it does not come.
func (w *town) until(what string, is func() bool) {
	w.t.Helper()
	end := time.After(patience)
	for !is() {
		select {
		case <-end:
			w.t.Fatalf("it never came that %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
