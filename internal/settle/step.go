package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/send"
)

// step asks a venue what its running step needs and tells the order, which decides: a
// call becomes a wish under its own name, an end a fact. A venue may be asked twice for
// the same, and what a sleeper heard too early changes nothing.
func (s *Settler) step(ctx context.Context, id order.ID, e order.RunStep, now time.Time) error {
	o, err := s.ports.Store.Order(ctx, id)
	if err != nil {
		return fmt.Errorf("step %d of %s: %w", e.Index, id, err)
	}
	if o.State != order.Executing || o.Step != e.Index {
		return nil // the order went on since
	}
	step := o.Quote.Steps[e.Index]
	venue, ok := s.ports.Venues[step.Venue]
	if !ok {
		return fmt.Errorf("step %d of %s: venue %q is not served here", e.Index, id, step.Venue)
	}
	if o.Calling() {
		return nil // its end is told to the order, and then the venue is asked again
	}
	known, err := s.progress(ctx, o, now)
	if err != nil {
		return fmt.Errorf("step %d of %s: %w", e.Index, id, err)
	}
	move, err := venue.Next(ctx, step, known)
	if err == nil {
		move, err = fits(o, known, move)
	}
	if err != nil {
		return fmt.Errorf("step %d of %s: venue %s: %w", e.Index, id, step.Venue, err)
	}
	return s.move(ctx, o, move, now)
}

// fits holds what a venue says to what the order can take. What it can not is trouble
// that somebody must hear of: an order that was told it would only refuse, and wait. The
// last transaction that there is room for may have done it, so the venue is asked in any
// case, and is not taken to have failed while something may be gone. One that waits past
// the order's patience, with nothing gone, has failed: nobody else would end it.
func fits(o order.Order, known quote.Progress, m quote.Move) (quote.Move, error) {
	step := o.Quote.Steps[o.Step]
	switch m := m.(type) {
	case quote.Send:
		if on := m.Call.Chain; on != step.In.Chain && on != step.Out.Chain {
			return nil, fmt.Errorf("it asks for a call on %s", on)
		}
		if len(o.Calls) >= order.MaxCalls {
			if slices.ContainsFunc(known.Calls, mayHaveTaken) {
				return nil, errors.New("it was tried too often, and something may have gone: an operator must look")
			}
			return quote.Fail{Why: "it was tried too often"}, nil
		}
		if !o.MayTake(m.Call) {
			return nil, fmt.Errorf("it asks to take %s of %s, more than the step has", m.Call.Amount, m.Call.Asset)
		}
	case quote.Wait:
		if o.Delayed && !slices.ContainsFunc(known.Calls, mayYetTake) {
			return quote.Fail{Why: "it waited for too long: " + m.Why}, nil
		}
	case quote.Fail:
		if slices.ContainsFunc(known.Calls, mayHaveTaken) {
			return nil, fmt.Errorf("it says that it failed (%s), and something may have gone: an operator must look", m.Why)
		}
	case quote.Done:
		if m.In != known.In || m.Out.IsZero() {
			return nil, fmt.Errorf("it took %s of %s and brought %s: an operator must look", m.In, known.In, m.Out)
		}
	}
	return m, nil
}

// mayHaveTaken reports whether a transaction landed that could take something from us.
func mayHaveTaken(c quote.Sent) bool { return c.Fate == chain.Final && !c.Call.Amount.IsZero() }

// mayYetTake reports whether a transaction took something from us, or still could.
func mayYetTake(c quote.Sent) bool {
	return c.Fate != chain.Reverted && c.Fate != chain.Dead && !c.Call.Amount.IsZero()
}

// progress is what is known of an order's running step.
func (s *Settler) progress(ctx context.Context, o order.Order, now time.Time) (p quote.Progress, err error) {
	p.At = now
	if p.In, err = o.StepIn(); err != nil {
		return p, err
	}
	for _, c := range o.Calls {
		if c.Step != o.Step {
			continue
		}
		r, err := s.ports.Store.Transfer(ctx, send.ID(o.CallName(c)))
		if err != nil {
			return p, err
		}
		p.Calls = append(p.Calls, quote.Sent{Call: r.Transfer.Call, Tx: r.Result.Tx, Fate: r.Result.Fate, Cost: r.Result.Cost})
	}
	return p, nil
}

// move does what a venue said. What the order does not take, because it went on since,
// is nothing.
func (s *Settler) move(ctx context.Context, o order.Order, m quote.Move, now time.Time) error {
	step, asked := o.Quote.Steps[o.Step], o.Asked(o.Step)
	tell := func(ev order.Event) error {
		_, err := s.Tell(ctx, o.ID, ev, now)
		var turn *order.OutOfTurn
		if errors.As(err, &turn) {
			return nil
		}
		return err
	}
	switch m := m.(type) {
	case quote.Send:
		return funded(step.In, tell(order.StepAsked{Index: o.Step, N: asked, Call: m.Call}))
	case quote.Wait:
		return later{max(m.For, time.Second), m.Why}
	case quote.Done:
		return tell(order.StepDone{Index: o.Step, Calls: asked, In: m.In, Out: m.Out})
	case quote.Fail:
		return tell(order.StepFailed{Index: o.Step, Calls: asked, Why: m.Why})
	}
	return fmt.Errorf("step %d of %s: venue %s asks for %T", o.Step, o.ID, step.Venue, m)
}

// NotHome is why work is put off that our wallet has not enough of an asset for: what was
// deposited has yet to come home, and what lies here meanwhile is for other orders. The
// treasury looks for it, and hurries.
func NotHome(a chain.Asset) string { return "waits for deposits to come home: " + a.String() }

// funded puts off what is short of an asset.
func funded(a chain.Asset, err error) error {
	if errors.Is(err, ledger.ErrShort) {
		return later{homeWait, NotHome(a)}
	}
	return err
}
