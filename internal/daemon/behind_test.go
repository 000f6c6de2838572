package daemon_test

import (
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
)

// TestNodesThatAreBehindExpireNothing: all nodes stand still before a payment that
// was mined in time. The order is not closed before its chain was read beyond the
// deadline. The payment was first seen too late for the old price, so it goes into
// recovery.
func TestNodesThatAreBehindExpireNothing(t *testing.T) {
	t.Parallel()
	h, err := house.New(t.Context(), house.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	d, err := h.Daemon(t.Context(), func(house.Crossing) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	now := house.Start.Add(time.Hour)
	step := func() { _ = d.Step(t.Context(), func() time.Time { return now }) }
	step()
	q, err := h.Terms("quo_1", house.EVMUSD, house.Sol, money.FromUint64(100_000_000), now)
	if err != nil {
		t.Fatal(err)
	}
	o, err := d.Settler.Create(t.Context(), h.Ask("ord_1", q, h.Net(house.SOL).User("to"), chain.Address{}), now)
	if err != nil {
		t.Fatal(err)
	}
	n := h.Net(house.EVM)
	n.Pay("payer", o.DepositTo, o.Quote.Give, o.Quote.In)
	n.Mine(5)
	for i := range 3 {
		n.Node(i).Set(sim.Fault{Kind: sim.Stale, Blocks: 5})
	}
	now = now.Add(31 * time.Minute)
	step()
	step()
	state := func() order.Order {
		o, err := h.DB.Order(t.Context(), o.ID)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := state(); o.State != order.Awaiting {
		t.Fatalf("with nodes that are behind the order is %s", o.State)
	}
	for i := range 3 {
		n.Node(i).Heal()
	}
	now = now.Add(time.Minute)
	step()
	step()
	if o := state(); o.State != order.Awaiting || o.RecoveryStatus() != order.AwaitingAddress {
		t.Fatalf("before the chain is read beyond the deadline the order is %s, its recovery %s", o.State, o.RecoveryStatus())
	}
	n.Tick(now)
	n.Mine(1)
	now = now.Add(house.Settling().Lease)
	step()
	step()
	if o := state(); o.State != order.Expired || o.RecoveryStatus() != order.AwaitingAddress {
		t.Errorf("in the end the order is %s, its recovery %s", o.State, o.RecoveryStatus())
	}
}
