package dev

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/devnet/devnettest"
	"ferry/internal/order"
	"ferry/internal/store"
)

// TestKillsBetweenStepsOnRealNodes kills the whole service at every move of a withdrawal
// and of a transfer of dollars that it claims, and of an order through pools of two
// chains, before the move or after it as the seed says. All end as if nothing had
// happened, and the books are the chains.
func TestKillsBetweenStepsOnRealNodes(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	s := stage{dir: t.TempDir(), prefix: networkPrefix(), only: []chain.ID{Ethereum, Base}, blocks: fewBlocks, change: patientWith, pools: true}
	r := s.begin(t)
	r.closeChains(t)
	r.key = r.company(t, "nobody", nil)
	r.dollars(t)
	var rides []*ride
	var ids []string
	for _, bridge := range []string{"base_withdraw", "cctp_ethereum_base"} {
		w := r.bridged(t, bridge, fields{"autoClaim": true})
		w.do("pay_fee")
		w.do(w.now().NextAction.StepID)
		rides, ids = append(rides, w), append(ids, w.id)
	}
	trade := r.open(t, r.key, place{"ethereum", "TREE"}, place{"base", "LEAF"})
	trade.pay(100)
	ids = append(ids, trade.id)
	r.stop()
	const most = 60
	killed := map[string]int{}
	for lives := 0; ; lives++ {
		ids = slices.DeleteFunc(ids, func(id string) bool { return r.over(t, s, id) })
		if len(ids) == 0 {
			break
		}
		if lives == most {
			t.Fatalf("%d services were killed, and %v are not done", lives, ids)
		}
		id := ids[random.IntN(len(ids))]
		for _, other := range ids { // each once first, and the quickest before the others
			if killed[other] == 0 {
				id = other
			}
		}
		r.dieOver(t, s, id, failpoint{moveStep, random.IntN(3) > 0})
		killed[id]++
	}
	if len(killed) != 3 {
		t.Errorf("services were killed at moves of %v", killed)
	}
	again := s.begin(t)
	again.key = r.key
	for _, w := range rides {
		w.real = again
		o := w.now()
		for _, step := range o.Steps {
			claims := step.StepID == "prove" || step.StepID == "finalize" || step.StepID == "mint"
			if step.Status != "confirmed" || claims != (step.Actor == "service") || step.Attempts > 0 {
				t.Errorf("%s is %s by the %s after %d failures", step.StepID, step.Status, step.Actor, step.Attempts)
			}
		}
	}
	trade.real = again
	p, err := payout(trade.until("completed"), "delivery")
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Network.has(t, again.asset(trade.to), trade.toAddr); got.String() != p.Amount || len(trade.order.Quote.Steps) != 3 {
		t.Errorf("%s came over %d steps, %s was told", got, len(trade.order.Quote.Steps), p.Amount)
	}
	booksAreChains(t, again.Dev)
	again.stop()
	t.Logf("kills by order: %v", killed)
}

// over reports whether an order has ended, while no service runs.
func (r *real) over(t *testing.T, s stage, id string) bool {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(s.dir, "dev.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	o, err := db.Order(t.Context(), order.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	return o.State.Finished()
}

// history is what became of an order so far, while no service runs.
func (r *real) history(t *testing.T, s stage, id string) (all []string) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(s.dir, "dev.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	events, err := db.OrderEvents(t.Context(), order.ID(id), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		all = append(all, fmt.Sprintf("%s %s→%s", e.Key, e.From, e.To))
	}
	return all
}

// dieOver starts a service that dies at the order's next move, and of nothing else.
func (r *real) dieOver(t *testing.T, s stage, id string, at failpoint) {
	t.Helper()
	text, err := json.Marshal(&trap{At: at, Transfer: id, Control: devnettest.Host(t).Control(), Dir: s.dir, Prefix: s.prefix, Only: s.only})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var said, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), trapEnv+"="+string(text)), &said, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || strings.TrimSpace(said.String()) != at.String() {
		t.Log(r.history(t, s, id))
		t.Fatalf("the service of %s did not die %s, but said %q: %v\n%s", id, at, &said, err, tail(stderr.String(), 4000))
	}
}
