package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/order"
)

func (w *world) cursor(_ context.Context, id chain.ID) (chain.Block, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	return chain.Block{Height: w.head, Hash: fmt.Sprint(id, "/", w.head)}, w.unreadable
}

func (w *world) Depths(_ context.Context, orders ...*order.Order) (map[chain.DepositID]uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	depths, ids := map[chain.DepositID]uint64{}, []order.ID{}
	for _, o := range orders {
		ids = append(ids, o.ID)
		for _, d := range o.InSight() {
			if w.in > 0 {
				depths[d] = w.head - w.in + 1
			}
		}
	}
	w.looks = append(w.looks, ids)
	return depths, w.unreadable
}

// pays has the order paid, or what it was paid with in another state.
func (w *world) pays(s order.DepositState) {
	w.mu.Lock()
	w.deposits = []order.Deposit{{ID: "d", Tx: "0xd", State: s}}
	w.mu.Unlock()
	w.happen()
}

func (w *world) mined(in, head uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in, w.head = in, head
}

// quiet is a room whose beat is the test's own.
func quiet(t *testing.T) *room {
	t.Helper()
	r := newRoom(t, Config{DepthEvery: time.Hour})
	r.mined(0, 1)
	r.happen()
	return r
}

// until hears everything up to an event of a number.
func (r *room) until(t *testing.T, seq int) {
	t.Helper()
	for {
		m, code := r.hear(t)
		if code != 0 {
			t.Fatalf("ended with %d", code)
		}
		if m.Type == "event" && m.Seq == seq {
			return
		}
	}
}

// depth hears how deep the payment is; -1 is that nothing is told.
func (r *room) depth(t *testing.T) int {
	t.Helper()
	r.live.tellDepths(t.Context())
	r.say(t, `{"type":"ping","id":"p"}`)
	n := -1
	for {
		m, code := r.hear(t)
		switch {
		case code != 0:
			t.Fatalf("ended with %d", code)
		case m.Type == "pong":
			return n
		case m.Event != "order.confirmations" || m.SubscriptionID != "s1" || n >= 0:
			t.Fatalf("heard %+v after %d", m, n)
		}
		var data wire.Confirmations
		if err := json.Unmarshal(m.Data, &data); err != nil || data.OrderID != "ord_1" || len(data.Deposits) != 1 ||
			data.Deposits[0].TxHash != "0xd" || data.Deposits[0].RequiredConfirmations != 6 {
			t.Fatalf("heard %s, %v", m.Data, err)
		}
		n = data.Deposits[0].Confirmations
	}
}

// soon hears how deep the payment is once the subscription has caught up with its log,
// and nothing before.
func (r *room) soon(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		switch got := r.depth(t); got {
		case want:
			return
		case -1:
		default:
			t.Fatalf("%d is told instead of %d", got, want)
		}
	}
	t.Fatalf("%d is not told", want)
}

// TestAPaymentIsToldBlockByBlock: from the mempool to its finality, each number once, a
// block that is taken back too, and nothing before it and after it.
func TestAPaymentIsToldBlockByBlock(t *testing.T) {
	t.Parallel()
	r := quiet(t)
	r.say(t, followIt)
	r.until(t, 1)
	told := func(want int) {
		t.Helper()
		if got := r.depth(t); got != want {
			t.Errorf("%d is told instead of %d", got, want)
		}
	}
	told(-1)
	if r.asked != 0 {
		t.Errorf("a chain was looked at %d times for nobody", r.asked)
	}
	r.pays(order.DepositPending)
	r.until(t, 2)
	r.soon(t, 0)
	told(-1)
	for n := range 3 {
		r.mined(2, uint64(2+n))
		told(n + 1)
		told(-1)
	}
	r.mined(3, 3) // another branch has it in another block
	told(1)
	r.happen() // what else becomes of the order makes it no deeper
	r.until(t, 3)
	told(-1)
	r.pays(order.DepositCounted)
	r.until(t, 4)
	before := r.asked
	r.mined(3, 9)
	told(-1)
	if r.asked != before || len(r.live.deep.orders) != 0 {
		t.Errorf("looked %d times for an order without a payment in sight", r.asked-before)
	}
}

// TestWhoComesLaterIsToldHowDeepItIs: with a snapshot, with what was missed, and with
// nothing missed.
func TestWhoComesLaterIsToldHowDeepItIs(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]string{"a snapshot": "", "what was missed": `,"after":1`, "nothing missed": `,"after":2`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := quiet(t)
			r.mined(4, 6)
			r.pays(order.DepositPending)
			r.say(t, strings.Replace(followIt, `,"after":0`, after, 1))
			for {
				m, _ := r.hear(t)
				if m.Type == "snapshot" || m.Type == "event" || after == `,"after":2` && m.Type == "subscribed" {
					break
				}
			}
			r.soon(t, 3)
		})
	}
}

// TestAPaymentIsLookedAtOnceForEverybody: one look for each block, however many follow,
// and none without a new one; who leaves is forgotten.
func TestAPaymentIsLookedAtOnceForEverybody(t *testing.T) {
	t.Parallel()
	r := quiet(t)
	r.mined(1, 1)
	r.pays(order.DepositPending)
	const many = 50
	for n := range many {
		r.say(t, strings.Replace(followIt, `"id":"1"`, fmt.Sprintf(`"id":"%d"`, n), 1))
	}
	heard := func() (confirmed int) {
		t.Helper()
		r.live.tellDepths(t.Context())
		r.say(t, `{"type":"ping","id":"p"}`)
		for {
			switch m, code := r.hear(t); {
			case code != 0:
				t.Fatalf("ended with %d", code)
			case m.Type == "pong":
				return confirmed
			case m.Event == "order.confirmations":
				confirmed++
			}
		}
	}
	all := 0
	for end := time.Now().Add(30 * time.Second); all < many && time.Now().Before(end); {
		all += heard()
	}
	if all != many {
		t.Fatalf("%d of %d are told", all, many)
	}
	for head := uint64(2); head < 5; head++ {
		r.looks, r.asked = nil, 0
		r.mined(1, head)
		if n := heard() + heard(); n != many || len(r.looks) != 1 || len(r.looks[0]) != 1 || r.asked != 2 {
			t.Errorf("%d are told, after %d looks at %v", n, r.asked, r.looks)
		}
	}
	for n := range many {
		r.say(t, fmt.Sprintf(`{"type":"unsubscribe","id":"u","subscriptionId":"s%d"}`, n+1))
	}
	heard() // and they have left
	r.mined(1, 9)
	if n := heard(); n != 0 || len(r.live.deep.orders) != 0 {
		t.Errorf("%d are told who left, and %d orders are kept", n, len(r.live.deep.orders))
	}
}

func TestWhatCouldNotBeLookedAtIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	r := quiet(t)
	r.mined(1, 1)
	r.pays(order.DepositPending)
	r.say(t, followIt)
	r.until(t, 2)
	r.soon(t, 1)
	r.mined(1, 2)
	r.mu.Lock()
	r.unreadable = errors.New("no disk")
	r.mu.Unlock()
	if got := r.depth(t); got != -1 {
		t.Errorf("%d is told of what cannot be read", got)
	}
	r.mu.Lock()
	r.unreadable = nil
	r.mu.Unlock()
	if got := r.depth(t); got != 2 {
		t.Errorf("%d is told afterwards", got)
	}
}

// TestOneBeatLooksAtSoManyAndNobodyStarves: chains whose heads change with every beat do
// not keep anybody waiting.
func TestOneBeatLooksAtSoManyAndNobodyStarves(t *testing.T) {
	t.Parallel()
	const orders = 2*deepPerBeat + 200
	var d deep
	s := &sub{}
	for n := range orders {
		o := &order.Order{ID: order.ID(fmt.Sprint("ord_", n))}
		o.Quote.Give.Chain = "sim:a"
		d.join(s, o)
	}
	seen := map[order.ID]int{}
	for beat := range 6 {
		due := d.due(map[chain.ID]string{"sim:a": fmt.Sprint("block ", beat)})
		if len(due) != deepPerBeat {
			t.Fatalf("beat %d looks at %d", beat, len(due))
		}
		for _, one := range due {
			seen[one.o.ID]++
		}
	}
	if least := slices.Min(slices.Collect(maps.Values(seen))); len(seen) != orders || least < 2 {
		t.Errorf("%d of %d were looked at, one of them %d times", len(seen), orders, least)
	}
	for n := range orders {
		d.leave(s, order.ID(fmt.Sprint("ord_", n)))
	}
	if len(d.orders) != 0 || len(d.chains()) != 0 {
		t.Errorf("%d are left", len(d.orders))
	}
}

// TestWhoStillReadsTheLogIsToldAfterwards: what was missed comes first.
func TestWhoStillReadsTheLogIsToldAfterwards(t *testing.T) {
	t.Parallel()
	body := func() []byte { t.Error("it was told"); return nil }
	for name, c := range map[string]struct {
		s    *sub
		done bool
	}{
		"reads":      {&sub{depths: map[order.ID]string{"ord_1": ""}}, false},
		"knows":      {&sub{depths: map[order.ID]string{"ord_1": "1"}, live: true}, true},
		"is over":    {&sub{depths: map[order.ID]string{"ord_1": ""}, live: true, over: true}, true},
		"of another": {&sub{depths: map[order.ID]string{"ord_2": ""}, live: true}, true},
	} {
		if got := c.s.confirm("ord_1", "1", body); got != c.done {
			t.Errorf("who %s: %t", name, got)
		}
	}
}
