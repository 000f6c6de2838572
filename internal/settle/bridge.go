package settle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/order"
	"ferry/internal/quote"
)

// Bounds of looking at bridges that owners run.
const (
	busyWait = time.Minute      // longest while a transaction is under way
	idleWait = 10 * time.Minute // longest while somebody may act
	longWait = 24 * time.Hour   // longest while only time is waited for
)

// look asks a bridge where a trip stands and tells the order what is new. One look goes
// on for each order, as often as something may change: until its time has come, a trip
// that only waits costs nothing.
func (s *Settler) look(ctx context.Context, id order.ID, e order.LookBridge, now time.Time) error {
	o, err := s.ports.Store.Order(ctx, id)
	if err != nil {
		return fmt.Errorf("bridge of %s: %w", id, err)
	}
	if !looksOn(o, e) {
		return nil
	}
	bridge, ok := s.ports.Bridges[o.Origin.Bridge]
	if !ok {
		return fmt.Errorf("bridge of %s: %q is not served here", id, o.Origin.Bridge)
	}
	stands, err := bridge.Look(ctx, o.Trip(), now)
	if err != nil {
		return fmt.Errorf("bridge %s of %s: %w", o.Origin.Bridge, id, err)
	}
	if o, err = s.seen(ctx, o, stands, now); err != nil {
		return err
	}
	if !looksOn(o, e) {
		return nil
	}
	next, ok := o.Bridge.Next()
	if ok && next.Actor == quote.ByService && len(o.Calls) < order.MaxCalls {
		return s.claim(ctx, o, bridge, next.ID, now)
	}
	return later{lookAgain(o, stands.Again, now), "the bridge is not done"}
}

// looksOn reports whether a look is the order's last and there is something to see. While
// a transaction of ours is under way its end is what is told next.
func looksOn(o order.Order, e order.LookBridge) bool {
	running := o.State == order.Confirming || o.State == order.Executing || o.State == order.Held
	return running && o.Bridge != nil && o.Bridge.Turn == e.Turn && !o.Calling()
}

// lookAgain is how long to wait: until its time where that is known, and otherwise the
// longer the longer nothing has changed.
func lookAgain(o order.Order, soon time.Duration, now time.Time) time.Duration {
	since, most := o.UpdatedAt, idleWait
	switch at := o.Bridge.Waits(); {
	case o.Bridge.Busy():
		most = busyWait
	case at.After(now):
		return min(max(at.Sub(now), soon), longWait)
	case !at.IsZero(): // it takes longer than was thought
		since, most = at, busyWait
	}
	return max(min(now.Sub(since)/8, most), soon, time.Second/10)
}

// seen tells the order what is new. Of several things that may have begun it, the first
// counts that began no other order.
func (s *Settler) seen(ctx context.Context, o order.Order, stands quote.Standing, now time.Time) (order.Order, error) {
	proofs := stands.Proofs
	if o.Bridge.Proof != "" || len(proofs) == 0 {
		proofs = []string{o.Bridge.Proof}
	}
	for _, proof := range proofs {
		after, err := s.told(ctx, o, stands, proof, now)
		var claimed *order.Claimed
		if errors.As(err, &claimed) {
			continue
		}
		return after, err
	}
	stands = quote.Standing{Legs: []quote.LegStands{{
		ID: stands.Legs[0].ID, Status: quote.LegFailed, Why: "that transaction began another order already",
	}}}
	return s.told(ctx, o, stands, "", now)
}

func (s *Settler) told(ctx context.Context, o order.Order, stands quote.Standing, proof string, now time.Time) (order.Order, error) {
	ev, news := o.SeenAs(stands, proof)
	if !news {
		return o, nil
	}
	after, err := s.Tell(ctx, o.ID, ev, now)
	var turn *order.OutOfTurn
	if errors.As(err, &turn) {
		return o, later{time.Second, turn.Error()} // it went on since: it is looked at again
	}
	return after, err
}

// claim asks for the transaction by which the service does a step.
func (s *Settler) claim(ctx context.Context, o order.Order, bridge Bridge, step string, now time.Time) error {
	calls, err := bridge.Build(ctx, o.Trip(), step, now)
	if errors.Is(err, quote.ErrNotReady) {
		return later{busyWait, err.Error()}
	}
	if err != nil {
		return fmt.Errorf("step %s of %s: %w", step, o.ID, err)
	}
	if len(calls) != 1 {
		return fmt.Errorf("step %s of %s: it takes %d transactions, and the service does one", step, o.ID, len(calls))
	}
	i, _ := o.Bridge.Step(step)
	_, err = s.Tell(ctx, o.ID, order.StepAsked{Index: i, N: o.Asked(i), Call: calls[0]}, now)
	var turn *order.OutOfTurn
	if errors.As(err, &turn) {
		return later{time.Second, turn.Error()}
	}
	return err
}
