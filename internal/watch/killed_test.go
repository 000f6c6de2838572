package watch_test

import (
	"context"
	"errors"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/order"
	"ferry/internal/watch"
)

// dies is a store of a process that is killed before it notes what it told.
type dies struct{ watch.Store }

func (dies) Told(context.Context, chain.DepositID, watch.Point, watch.Point) error {
	return errors.New("killed")
}

func (r *rig) dieAtTold() {
	r.ports.Store = dies{r.db}
	r.restart()
	_ = r.tryStep()
	r.ports.Store = r.db
}

// TestAPaymentThatVanishesWhileWeAreDownIsDropped: the process is killed after it
// told an order that a payment is in sight and before it noted that.
func TestAPaymentThatVanishesWhileWeAreDownIsDropped(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, s sim.Shape) {
		r := deepRig(t, s)
		id := r.create()
		r.pay(id, smallCents)
		r.dieAtTold()
		r.net.EvictAll()
		r.restart()
		r.quiet()
		if o := r.order(id); o.State != order.Awaiting {
			t.Errorf("order is %s for ever, its deposit %s; told %q", o.State, o.Deposits[0].State, r.told)
		}
	})
}

// TestACreditThatIsTakenBackWhileWeAreDownIsLost is the same with a payment that
// was told final.
func TestACreditThatIsTakenBackWhileWeAreDownIsLost(t *testing.T) {
	t.Parallel()
	eachShape(t, func(t *testing.T, s sim.Shape) {
		for _, seenFirst := range []bool{false, true} {
			r := deepRig(t, s)
			id := r.create()
			tx := r.pay(id, orderCents)
			if seenFirst {
				r.step()
			}
			r.net.Mine(4)
			r.dieAtTold()
			r.reorg(5, sim.ReorgOptions{Drop: []chain.TxID{tx}})
			r.restart()
			r.quiet()
			t.Logf("seen first %t: told %q, order %s, deposit lost %t, halted %q", seenFirst, r.told, r.order(id).State, r.order(id).Deposits[0].Lost, r.halted())
			r.checkCredited()
		}
	})
}
