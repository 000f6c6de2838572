package dev

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/order"
	"ferry/internal/store"
	"ferry/internal/testseed"
)

// TestKillsBetweenStepsOnRealNodes kills the whole service at every move of a withdrawal
// and of a transfer of dollars that it claims, and of an order through pools of two
// chains, before the move or after it as the seed says. All end as if nothing had
// happened, and the books are the chains.
func TestKillsBetweenStepsOnRealNodes(t *testing.T) {
	t.Parallel()
	random := testseed.Rand(t)
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
		ids = slices.DeleteFunc(ids, func(id string) bool {
			o, _ := s.stored(t, id)
			return o.State.Finished()
		})
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
		s.die(t, failpoint{moveStep, random.IntN(3) > 0}, id)
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

// stored reads what is stored of an order, while no service runs.
func (s stage) stored(t *testing.T, id string) (o order.Order, events []string) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(s.dir, "dev.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if o, err = db.Order(t.Context(), order.ID(id)); err != nil {
		t.Fatal(err)
	}
	all, err := db.OrderEvents(t.Context(), order.ID(id), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		events = append(events, fmt.Sprintf("%s %s→%s", e.Key, e.From, e.To))
	}
	return o, events
}
