package settle_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/send"
	"ferry/internal/settle"
)

// span is a bridge that stands where a test says, by the first transaction that was told.
type span struct {
	mu     sync.Mutex
	stands quote.Standing
	looks  int
}

func (b *span) set(s quote.Standing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stands = s
}

func (b *span) Look(context.Context, quote.Trip, time.Time) (quote.Standing, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks++
	return b.stands, nil
}

func (b *span) Build(_ context.Context, t quote.Trip, leg string, _ time.Time) ([]chain.Call, error) {
	if leg != "mint" {
		return nil, quote.ErrNotReady
	}
	return []chain.Call{{Chain: t.Get.Chain, To: t.To, Asset: t.Get.Chain.Native(), Data: []byte("mint")}}, nil
}

func stands(moved uint64, proofs []string, legs ...quote.LegStands) quote.Standing {
	return quote.Standing{Legs: legs, Proofs: proofs, Moved: money.FromUint64(moved), Brought: money.FromUint64(moved), Again: time.Second}
}

const bridged = 100_000_000

// bridgeRig is a rig whose first settler serves one bridge.
func bridgeRig(t *testing.T) (*rig, *span) {
	r := newRig(t, "", house.Settling())
	b := &span{}
	p := r.ports(r.DB)
	p.Bridges = map[string]settle.Bridge{"span": b}
	var err error
	r.b, err = settle.New(house.Settling(), p)
	r.must(err)
	return r, b
}

func (r *rig) bridge(id order.ID, auto bool) order.Order {
	r.t.Helper()
	q, err := r.Terms("quo_1", house.EVMUSD, house.Sol, money.FromUint64(bridged), begin)
	r.must(err)
	q.Fee, q.Steps = nil, nil
	a := r.Ask(id, q, r.Net(house.SOL).User("to-"+string(id)), r.Net(house.EVM).User("back"))
	a.Origin.Bridge = "span"
	a.Bridge = &order.BridgeAsk{Auto: auto, Legs: []quote.Leg{
		{ID: "burn", Actor: quote.ByUser, Chain: house.EVM}, {ID: "mint", Actor: quote.ByUser, Chain: house.SOL, Claim: true},
	}}
	o, err := r.b.Create(r.t.Context(), a, begin)
	r.must(err)
	return o
}

func TestATripThatOnlyWaitsIsNotLookedAt(t *testing.T) {
	t.Parallel()
	r, b := bridgeRig(t)
	o := r.bridge("ord_a", false)
	r.must(r.b.Step(t.Context(), begin))
	if b.looks != 0 {
		t.Fatal("a trip that was not begun was looked at")
	}
	ready := begin.Add(7 * time.Hour)
	b.set(stands(bridged, []string{"p"}, quote.LegStands{ID: "burn", Status: quote.LegConfirmed},
		quote.LegStands{ID: "mint", Status: quote.LegWaiting, ReadyAt: ready}))
	r.tell(o, order.StepSubmitted{Step: "burn", Tx: "0xa"}, begin)
	for at := begin; at.Before(ready); at = at.Add(10 * time.Minute) {
		r.must(r.b.Step(t.Context(), at))
	}
	if got := r.order(o.ID); b.looks != 1 || got.State != order.Executing {
		t.Fatalf("a trip that waits was looked at %d times and is %s", b.looks, got.State)
	}
	b.set(stands(bridged, []string{"p"}, quote.LegStands{ID: "burn", Status: quote.LegConfirmed}, quote.LegStands{ID: "mint", Status: quote.LegConfirmed}))
	r.must(r.b.Step(t.Context(), ready))
	if got := r.order(o.ID); got.State != order.Completed || r.work() != 0 {
		t.Fatalf("it is %s with %d pieces of work left", got.State, r.work())
	}
	r.checkHistory(o.ID)
}

func TestTheServiceClaimsOnce(t *testing.T) {
	t.Parallel()
	r, b := bridgeRig(t)
	o := r.bridge("ord_a", true)
	b.set(stands(bridged, []string{"p"}, quote.LegStands{ID: "burn", Status: quote.LegConfirmed}, quote.LegStands{ID: "mint", Status: quote.LegReady}))
	r.tell(o, order.StepSubmitted{Step: "burn", Tx: "0xa"}, begin)
	for i := range 5 {
		r.must(r.b.Step(t.Context(), begin.Add(time.Duration(i)*time.Minute)))
	}
	const name = send.ID("ord_a/step/1/0/" + house.SOL)
	all := r.transfers()
	if k := all[name]; len(all) != 1 || string(k.Transfer.Call.Data) != "mint" || !k.Transfer.Call.Amount.IsZero() {
		t.Fatalf("the transfers are %v", all)
	}
	if got := r.order(o.ID); got.Bridge.Steps[1].Status != quote.LegSubmitted || got.Bridge.Steps[1].Actor != quote.ByService {
		t.Fatalf("the step is %+v", got.Bridge.Steps[1])
	}
	b.set(stands(bridged, []string{"p"}, quote.LegStands{ID: "burn", Status: quote.LegConfirmed}, quote.LegStands{ID: "mint", Status: quote.LegConfirmed}))
	r.tell(o, order.StepCalled{Index: 1, On: house.SOL, Landed: landed(o, "mint")}, begin.Add(time.Hour))
	r.must(r.b.Step(t.Context(), begin.Add(time.Hour)))
	if got := r.order(o.ID); got.State != order.Completed {
		t.Fatalf("it is %s", got.State)
	}
	r.checkHistory(o.ID)
}

func TestATransactionBeginsOneOrderOnly(t *testing.T) {
	t.Parallel()
	r, b := bridgeRig(t)
	b.set(stands(bridged, []string{"p", "q"}, quote.LegStands{ID: "burn", Status: quote.LegConfirmed}, quote.LegStands{ID: "mint", Status: quote.LegReady}))
	var all []order.Order
	for _, id := range []order.ID{"ord_a", "ord_b", "ord_c"} {
		all = append(all, r.bridge(id, false))
		r.tell(all[len(all)-1], order.StepSubmitted{Step: "burn", Tx: "0xa"}, begin)
	}
	r.must(r.b.Step(t.Context(), begin))
	proofs, refused := map[string]bool{}, 0
	for _, o := range all {
		got := r.order(o.ID)
		switch {
		case got.State == order.Executing:
			proofs[got.Bridge.Proof] = true
		case got.State == order.Awaiting && got.Bridge.Steps[0].Error != "" && got.Bridge.Proof == "":
			refused++
		default:
			t.Errorf("order %s is %s by %q", o.ID, got.State, got.Bridge.Proof)
		}
	}
	if len(proofs) != 2 || refused != 1 {
		t.Errorf("two proofs began %d orders, and %d were refused", len(proofs), refused)
	}
}
