package desk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"ferry/internal/access"
	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/order"
	"ferry/internal/settle"
)

var randomness = rand.Reader

// ErrNoOrder is the one answer for an order that is not there and for one that the
// proof does not open.
var ErrNoOrder = fault.New(fault.NotFound, "order_not_found", "No such order, or no access to it.")

// refusalTakes is how long a refused proof takes. An order that is there takes longer
// to read than one that is missing, by some millionths of a second, which adds up to
// an answer for whoever asks often enough; this is many times what either takes.
const refusalTakes = 5 * time.Millisecond

// EvenOut waits until the time of a refusal is over that was asked for at a time, so
// that it says nothing of what was found.
func EvenOut(ctx context.Context, asked time.Time) {
	t := time.NewTimer(refusalTakes - time.Since(asked)%refusalTakes)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Seeker is who asks for an order, and what they show for it.
type Seeker struct {
	Who   *access.Principal
	Proof access.Proof
}

// find reads an order and judges the proof, in the same steps whatever comes of it.
func (d *Desk) find(ctx context.Context, text string, by Seeker) (*order.Order, access.Right, error) {
	id := named(text)
	o, err := d.ports.Store.Order(ctx, id)
	found := &o
	switch {
	case errors.Is(err, settle.ErrNotFound):
		found = nil
	case err != nil:
		return nil, access.None, fault.New(fault.Unavailable, "service_unavailable", "The order can not be read now; try again shortly.").Because(err)
	}
	right := d.ports.Proofs.RightTo(id, found, by.Proof)
	if found != nil && !by.may(found) {
		right = access.None
	}
	if found != nil {
		d.twin.Store(&found.ID)
	}
	if right == access.None {
		d.even(ctx, found != nil)
	}
	return found, right, nil
}

// even makes up for what a refusal did not do: an order that is there was read and
// taken apart, one that is missing was not. Either way one of each is read, so that
// the time of a refusal does not tell them apart. What it finds is of no matter.
func (d *Desk) even(ctx context.Context, there bool) {
	id := order.ID(nobody)
	if known := d.twin.Load(); known != nil && !there {
		id = *known
	}
	_, _ = d.ports.Store.Order(ctx, id)
}

// may reports whether the key that is shown, if one is, may be used for the order: a
// session opens nothing of one integrator for another.
func (s Seeker) may(o *order.Order) bool {
	mine := integratorOf(s.Who)
	return mine == "" || o.Integrator == "" || o.Integrator == mine
}

// Read shows an order to whoever may see it.
func (d *Desk) Read(ctx context.Context, text string, by Seeker) (order.Order, access.Right, error) {
	o, right, err := d.find(ctx, text, by)
	if err != nil {
		return order.Order{}, access.None, err
	}
	if right == access.None {
		return order.Order{}, access.None, ErrNoOrder
	}
	return *o, right, nil
}

// Events are what happened to an order after a version.
func (d *Desk) Events(ctx context.Context, text string, by Seeker, after int64, n int) ([]Happening, access.Right, error) {
	o, right, err := d.find(ctx, text, by)
	if err != nil {
		return nil, access.None, err
	}
	if right == access.None {
		return nil, access.None, ErrNoOrder
	}
	all, err := d.ports.Store.History(ctx, o.ID, after, n)
	if err != nil {
		return nil, access.None, fmt.Errorf("events of order %s: %w", o.ID, err)
	}
	return all, right, nil
}

// Depths says how deep the payments of orders are buried that may still vanish: how many
// blocks stand on and with each. Those in no block are left out. It is nil, and asks
// nobody, where there are none.
func (d *Desk) Depths(ctx context.Context, orders ...*order.Order) (map[chain.DepositID]uint64, error) {
	var ids []chain.DepositID
	for _, o := range orders {
		ids = append(ids, o.InSight()...)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return d.ports.Store.Depths(ctx, ids)
}

// Group is the name under which the orders of a session are kept together.
func (d *Desk) Group(session string) string { return d.group(session) }

// Right is what somebody may do with an order that was read already.
func (d *Desk) Right(o *order.Order, by Seeker) access.Right {
	if !by.may(o) {
		return access.None
	}
	return d.ports.Proofs.RightTo(o.ID, o, by.Proof)
}

// List is the orders of a session, newest first, and where the list goes on. A text
// that is no session has no orders.
func (d *Desk) List(ctx context.Context, by Seeker, from order.Place, n int) (all []order.Order, next order.Place, err error) {
	session := ""
	if len(by.Proof.Session) == 1 {
		session = by.Proof.Session[0]
	}
	found, err := d.ports.Store.SessionOrders(ctx, d.group(session), from, n+1)
	if err != nil {
		return nil, next, fmt.Errorf("orders of a session: %w", err)
	}
	if len(found) > n {
		found = found[:n]
		next = order.Place{At: found[n-1].CreatedAt, ID: found[n-1].ID}
	}
	by.Proof.Verify = nil
	for _, o := range found {
		if by.may(&o) && d.ports.Proofs.RightTo(o.ID, &o, by.Proof) == access.Act {
			all = append(all, o)
		}
	}
	return all, next, nil
}

// group is the name under which the orders of a session are listed.
func (d *Desk) group(session string) string { return d.short("group", session) }

// owned is an order that the proof lets be acted on.
func (d *Desk) owned(ctx context.Context, text string, by Seeker) (order.Order, error) {
	by.Proof.Verify = nil // it only ever reads
	o, right, err := d.find(ctx, text, by)
	if err != nil {
		return order.Order{}, err
	}
	if right != access.Act {
		return order.Order{}, ErrNoOrder
	}
	return *o, nil
}

// tell passes on what an owner asks for.
func (d *Desk) tell(ctx context.Context, o order.Order, ev order.Event, now time.Time) (order.Order, error) {
	after, err := d.ports.Settler.Tell(ctx, o.ID, ev, now)
	var turn *order.OutOfTurn
	switch {
	case err == nil:
		return after, nil
	case errors.Is(err, order.ErrKnown): // asked for before: it is as it was wanted
		return d.ports.Store.Order(ctx, o.ID)
	case errors.As(err, &turn):
		return order.Order{}, outOfTurn(turn)
	case errors.Is(err, order.ErrNoRefundAddress):
		return order.Order{}, fault.New(fault.Conflict, "invalid_state", "There is no address to refund to; set one with POST /v2/orders/{orderId}/refund-address first.").
			With("status", string(o.State)).With("allowedActions", []string{"refund-address"})
	}
	return order.Order{}, err
}

func outOfTurn(turn *order.OutOfTurn) error {
	text := "The order is %s, which does not allow this."
	if turn.Why != "" {
		text += " Reason: " + turn.Why + "."
	}
	return fault.New(fault.Conflict, "invalid_state", text, turn.State).With("status", string(turn.State))
}
