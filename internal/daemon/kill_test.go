package daemon_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/testseed"
)

// childEnv makes the test binary a child that moves orders in the database of
// that path, and roundEnv names its orders.
const (
	childEnv = "FERRY_TEST_CHILD"
	roundEnv = "FERRY_TEST_ROUND"
)

// movers is how many goroutines of a child move orders.
const movers = 6

// child moves orders until it is killed, and says every move that the store has
// acknowledged.
func child(path string) int {
	ctx := context.Background()
	h, err := house.New(ctx, house.Options{URL: "sqlite:" + path, Chains: []chain.ID{house.EVM, house.SOL}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	d, err := h.Daemon(ctx, func(house.Crossing) error { return nil })
	if err == nil {
		err = d.Step(ctx, func() time.Time { return house.Start })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	errs := make(chan error)
	for n := range movers {
		go func() { errs <- move(ctx, h, d, n) }()
	}
	go func() { // what the orders wish is written too
		for {
			if err := d.Step(ctx, func() time.Time { return house.Start }); err != nil {
				errs <- err
				return
			}
		}
	}()
	fmt.Fprintln(os.Stderr, <-errs)
	return 1
}

// move takes one order after the other to an ending.
func move(ctx context.Context, h *house.House, d *daemon.Daemon, n int) error {
	for i := 0; ; i++ {
		id := order.ID(fmt.Sprintf("ord_%s_%d_%d", os.Getenv(roundEnv), n, i))
		q, err := h.Terms("quo_1", house.EVMUSD, house.Sol, money.FromUint64(1_000_000), house.Start)
		if err != nil {
			return err
		}
		o, err := d.Settler.Create(ctx, h.Ask(id, q, h.Net(house.SOL).User("to"), h.Net(house.EVM).User("back")), house.Start)
		if err != nil {
			return err
		}
		acknowledge(o)
		dep := chain.Deposit{ID: chain.DepositID("dep-" + id), To: o.DepositTo, Asset: o.Quote.Give, Amount: o.Quote.In, Tx: "tx", Block: chain.Block{Height: 1, Hash: "h"}}
		facts := []order.Event{
			order.DepositSeen{Deposit: dep, Sighting: 1, At: house.Start},
			order.DepositFinal{Deposit: dep, Sighting: 1, SeenAt: house.Start},
			order.PayoutFinal{Landed: order.Landed{Tx: "tx", Cost: money.FromUint64(5)}},
		}
		if i%3 == 0 {
			facts = []order.Event{facts[0], order.DepositGone{Deposit: dep, Sighting: 1}, order.Cancelled{}}
		}
		for _, ev := range facts {
			if o, err = d.Settler.Tell(ctx, id, ev, house.Start); err != nil {
				return err
			}
			acknowledge(o)
		}
	}
}

var stdout sync.Mutex

func acknowledge(o order.Order) {
	stdout.Lock()
	defer stdout.Unlock()
	fmt.Printf("%s %d\n", o.ID, o.Version)
}

// TestWhatWasAcknowledgedSurvivesAKill kills a process in the middle of its
// writes, round after round on one file, and looks for every move it had said.
func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	t.Parallel()
	const rounds = 12
	rng := testseed.Rand(t)
	path := filepath.Join(t.TempDir(), "ferry.db")
	acknowledged := map[order.ID]int64{}
	for round := range rounds {
		said := killed(t, path, round, 1+rng.IntN(600))
		for id, version := range said {
			acknowledged[id] = version
		}
		look(t, path, acknowledged)
		if t.Failed() {
			t.Fatalf("after round %d", round)
		}
	}
	t.Logf("%d orders were moved", len(acknowledged))
}

// killed runs a child, kills it after so many moves, and returns what it said.
func killed(t *testing.T, path string, round, moves int) map[order.ID]int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path, fmt.Sprintf("%s=%d", roundEnv, round))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := map[order.ID]int64{}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil { // what came without its end was not said
			break
		}
		var id order.ID
		var version int64
		if _, err := fmt.Sscanf(line, "%s %d\n", &id, &version); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		said[id] = version
		if moves--; moves == 0 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() || moves > 0 {
		t.Fatalf("the child was not killed but ended by itself, %d moves early: %v: %s", moves, err, stderr.String())
	}
	return said
}

// look opens the database and holds it to what was said of it.
func look(t *testing.T, path string, acknowledged map[order.ID]int64) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + path})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for id, version := range acknowledged {
		events, err := db.OrderEvents(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		o, err := db.Order(t.Context(), id)
		if err != nil || o.Version < version || o.Version != int64(len(events)) || events[len(events)-1].To != o.State {
			t.Errorf("order %s was said to be at %d and is at %d with %d events: %v", id, version, o.Version, len(events), err)
		}
	}
	if err := db.Audit(t.Context()); err != nil { // the books told from scratch, and the balances
		t.Error(err)
	}
	head, err := db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	entries, err := db.Since(t.Context(), 0, int(head)+100)
	if err != nil || int64(len(entries)) != head {
		t.Fatalf("the feed has %d entries, its head is %d: %v", len(entries), head, err)
	}
	versions := map[order.ID]int64{}
	for i, e := range entries {
		if e.Seq != int64(i+1) || e.Version != versions[e.Order]+1 {
			t.Fatalf("at place %d the feed has %+v after version %d", i+1, e, versions[e.Order])
		}
		versions[e.Order] = e.Version
	}
}
