package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/testseed"
)

// cut is one life of a service that ends at a failpoint of a transfer.
type cut struct {
	at      failpoint
	purpose order.Purpose
	trade   *trade
}

// TestEveryFailpointOnRealNodes kills the whole service at every failpoint of a payout,
// of a fee and of a refund. Afterwards everybody was paid once, and the books are the
// chains. The families take the failpoints by turns, and which begins is up to the seed;
// with FERRY_TEST_FAILPOINTS=all each of them takes all.
func TestEveryFailpointOnRealNodes(t *testing.T) {
	t.Parallel()
	turn, all := testseed.Rand(t).IntN(3), os.Getenv("FERRY_TEST_FAILPOINTS") == "all"
	families := []struct {
		name     string
		from, to place
		only     []chain.ID
	}{
		{"evm", eth, baseUSD, []chain.ID{Ethereum, Base}},
		{"bitcoin", btc, twinBTC, []chain.ID{Bitcoin, twin}},
		{"solana", sol, solUSD, []chain.ID{Solana}},
	}
	var wg sync.WaitGroup
	for i, f := range families {
		var cuts []cut
		for j, at := range failpoints() {
			for k, purpose := range []order.Purpose{order.ForPayout, order.ForFee, order.ForRefund} {
				if !all && (i+j+k+turn)%len(families) != 0 {
					continue
				}
				cuts = append(cuts, cut{at: at, purpose: purpose})
			}
		}
		wg.Go(func() {
			t.Run(f.name, func(t *testing.T) {
				cutAll(t, stage{prefix: networkPrefix(), only: f.only, blocks: fewBlocks, change: patientWith}, cuts, [2]place{f.from, f.to})
			})
		})
	}
	wg.Wait()
}

// cutAll makes an order for each cut, kills a service at each, and looks in the end.
func cutAll(t *testing.T, s stage, cuts []cut, pair [2]place) {
	s.dir = t.TempDir()
	r := s.begin(t)
	r.closeChains(t)
	fee := money.Whole / 50
	key := r.company(t, "the one who earns", &fee)
	for i := range cuts {
		cuts[i].trade = r.openNamed(t, key, pair[0], pair[1], cuts[i].at.String()+" of the "+string(cuts[i].purpose))
	}
	r.stop()
	for _, c := range cuts {
		percent := uint64(100)
		if c.purpose == order.ForRefund {
			percent = 60
		}
		c.trade.pay(percent)
		s.die(t, c.at, c.trade.id+"/"+string(c.purpose))
	}
	r = s.begin(t)
	var fees money.Amount
	for _, c := range cuts {
		fees = c.look(t, r, fees)
	}
	earner := r.fresh(pair[0].slug, "the one who earns earns")
	if got := r.Network.has(t, r.asset(pair[0]), earner); got != fees || fees.IsZero() {
		t.Errorf("the integrator has %s of %s", got, fees)
	}
	r.booksAreChains(t)
	r.stop()
	t.Logf("%d kills", len(cuts))
}

// die starts a service and waits until it dies of its trap, and of nothing else. What the
// trap is for is an order, or one of its transfers.
func (s stage) die(t *testing.T, at failpoint, of string) {
	t.Helper()
	text, err := json.Marshal(&trap{At: at, Transfer: of, Control: devnettest.Host(t).Control(), Dir: s.dir, Prefix: s.prefix, Only: s.only})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), dieWithin)
	defer cancel()
	var said, stderr bytes.Buffer
	began := time.Now()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), trapEnv+"="+string(text)), &said, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || strings.TrimSpace(said.String()) != at.String() {
		id, _, _ := strings.Cut(of, "/")
		_, events := s.stored(t, id)
		t.Fatalf("the service did not die %s of %s, but said %q: %v\n%v\n%s", at, of, &said, err, events, tail(stderr.String(), 4000))
	}
	t.Logf("died %s of %s in %s", at, of, time.Since(began).Round(time.Millisecond))
}

// dieWithin is how long a service may take to come to its trap.
const dieWithin = 2 * time.Minute

// look holds the nodes to what one order must have paid in the end: once. It adds up the fees.
func (c cut) look(t *testing.T, r *real, fees money.Amount) money.Amount {
	t.Helper()
	w := *c.trade
	w.real = r
	if c.purpose == order.ForRefund {
		came, err := w.order.Quote.In.MulDiv(money.FromUint64(60), money.FromUint64(100), money.Down)
		if err != nil {
			t.Fatal(err)
		}
		w.sentBack(w.until("refunded"), "refund", w.from, came)
		return fees
	}
	var o toldOrder
	w.so("completed with its fee", func(o toldOrder) bool { return o.Status == "completed" && o.FeeStatus == "paid" }, &o)
	w.arrived(o, "delivery", w.to, w.toAddr)
	kept, err := r.DB.Order(t.Context(), order.ID(w.id))
	if err != nil {
		t.Fatal(err)
	}
	if fees, err = fees.Add(kept.Fee.Amount); err != nil {
		t.Fatal(err)
	}
	return fees
}
