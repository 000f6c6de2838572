package dev

import (
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/api/operator"
	"ferry/internal/chain"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/secret"
)

// unhurried leaves deposits where they are, unless an operator is in a hurry.
func unhurried(c *front.Config) {
	calm(c)
	c.Sweep.Age, c.Sweep.Enough = time.Hour, 1_000_000*money.Dollar
}

// TestAnOperatorInAHurryBringsDepositsHomeOnRealNodes has a deposit of each kind lie on
// its address, asks for all of them twice at once, and finds every one at home once.
func TestAnOperatorInAHurryBringsDepositsHomeOnRealNodes(t *testing.T) {
	t.Parallel()
	r := stage{dir: t.TempDir(), prefix: networkPrefix(), only: []chain.ID{Ethereum, Bitcoin, Solana}, blocks: fewBlocks, change: unhurried}.begin(t)
	r.closeChains(t)
	r.key = r.company(t, "nobody", nil)
	var wg sync.WaitGroup
	var trades []*trade
	for _, p := range [][2]place{{eth, btc}, {usd, sol}, {btc, eth}, {sol, usd}, {solUSD, eth}} {
		w := r.openNamed(t, r.key, p[0], p[1], p[0].String())
		trades = append(trades, w)
		wg.Go(func() {
			w.pay(100)
			w.until("completed")
			if p[0] == sol { // a stranger's lamport must not keep the rest from home
				w.send(w.asset(sol), money.FromUint64(1))
				w.so("in recovery", func(o toldOrder) bool { return o.recovery() != "" }, nil)
			}
		})
	}
	wg.Wait()
	c, err := operator.NewClient(r.Card.OperatorAPI, secret.New(r.Card.OperatorToken))
	if err != nil {
		t.Fatal(err)
	}
	unswept := func() operator.Sweeps {
		t.Helper()
		all, err := c.Unswept(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	r.wait(t, "every deposit is final and waits", func() bool {
		n := 0
		for _, a := range unswept().Assets {
			n += a.Sweep.Addresses
		}
		return n == len(trades)
	})
	for range 2 {
		wg.Go(func() {
			if _, err := c.Sweep(t.Context(), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r.wait(t, "everything is home", func() bool { return len(unswept().Assets) == 0 })
	for _, w := range trades {
		if left := r.Network.has(t, w.order.Quote.Give, w.real.on[w.from.slug].Codec.Show(w.order.DepositTo)); !left.IsZero() {
			t.Errorf("%s of %s is left on the deposit address", left, w.from)
		}
	}
	r.sweptOnce(t, len(trades))
	r.booksAreChains(t)
	if log := r.logs.String(); strings.Contains(log, "did not bring its deposits home") {
		t.Error("a transfer failed")
	}
}

// sweptOnce fails unless each of so many addresses was emptied by one transfer, all of
// which went well.
func (r *real) sweptOnce(t *testing.T, addresses int) {
	t.Helper()
	all, err := r.DB.Transfers(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	emptied := map[chain.Address]int{}
	for _, x := range all {
		for _, src := range x.Transfer.Call.Sources {
			emptied[src.Address]++
			if x.Result.Fate != chain.Final {
				t.Errorf("%s ended %s", x.Transfer.ID, x.Result.Fate)
			}
		}
	}
	for a, n := range emptied {
		if n != 1 {
			t.Errorf("%s was emptied %d times", a.Text(), n)
		}
	}
	if len(emptied) != addresses {
		t.Errorf("%d addresses were emptied, and not %d", len(emptied), addresses)
	}
}
