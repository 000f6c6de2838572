package world

import (
	"errors"
	"fmt"
	"slices"

	"ferry/internal/order"
	"ferry/internal/settle"
)

// over reports whether everything has come to an end.
func (w *world) over() (bool, error) {
	for _, n := range w.h.Nets {
		// Workers may only have come to the end of a step that began before the last
		// blocks: books that were filled up with them would be compared without them.
		track, err := w.h.DB.Track(w.ctx, n.ID())
		if err != nil || track.Cursor.Height < n.Final().Height {
			return false, err
		}
		jobs, err := w.h.DB.Live(w.ctx, n.ID(), order.HotWallet)
		if err != nil {
			return false, err
		}
		untold, err := w.h.DB.Untold(w.ctx, n.ID(), 1)
		if err != nil || len(jobs) > 0 || len(untold) > 0 {
			return false, err
		}
		unripe, err := w.h.DB.Unripe(w.ctx, n.ID())
		if err != nil || len(unripe) > 0 {
			return false, err
		}
	}
	for _, id := range w.ids() {
		o, err := w.h.DB.Order(w.ctx, id)
		if errors.Is(err, settle.ErrNotFound) {
			continue
		}
		if err != nil || open(o) != "" {
			return false, err
		}
	}
	return true, nil
}

// ids are all orders that are there or may be.
func (w *world) ids() []order.ID {
	ids := slices.Clone(w.unsure)
	for _, c := range w.clients {
		ids = append(ids, c.id)
	}
	return ids
}

// open says what of an order is not at its end; empty if all is.
func open(o order.Order) string {
	if !o.State.Finished() && o.State != order.Held {
		return "it is " + string(o.State)
	}
	if o.State == order.Held && o.Stop == "" && !o.RefundTo.IsZero() && !o.Delayed {
		return "it is held and could be refunded"
	}
	if o.FeeStatus == order.FeeProjected && o.State == order.Completed && o.Fee.State != order.OutDead {
		return "its fee is not settled"
	}
	for _, d := range o.Deposits {
		switch {
		case d.State == order.DepositPending:
			return "a deposit is pending"
		case d.State == order.Returning:
			return "a recovered deposit is on its way"
		case d.State == order.Detected && !d.Deadline.IsZero():
			return "a recovered deposit could go back"
		}
	}
	return ""
}

// judge counts how the orders ended and audits to the last unit.
func (w *world) judge() error {
	var errs []error
	kinds := map[order.ID]string{}
	for _, c := range w.clients {
		kinds[c.id] = c.kind
	}
	w.out.orders = len(w.clients)
	sums := newSums()
	for _, id := range w.ids() {
		o, err := w.h.DB.Order(w.ctx, id)
		if errors.Is(err, settle.ErrNotFound) {
			if kinds[id] != "" { // we said yes, and it is not there
				w.out.lost++
				errs = append(errs, fmt.Errorf("order %s is lost", id))
			}
			continue
		}
		if err != nil {
			return err
		}
		w.out.endings[string(o.State)]++
		sums.add(o)
		w.steps(o)
		if why := open(o); why != "" {
			w.out.unfinished++
			errs = append(errs, fmt.Errorf("order %s (%s) is unfinished: %s", id, kinds[id], why))
		}
		w.note("%s %s %d", o.ID, o.State, o.Version)
	}
	if err := w.audit(true); err != nil {
		errs = append(errs, err)
	}
	if err := w.told(sums); err != nil {
		errs = append(errs, err)
	}
	if len(errs) > 5 {
		errs = append(errs[:5], fmt.Errorf("and %d more", len(errs)-5))
	}
	return errors.Join(append(errs, w.traceFeed())...)
}

// traceFeed writes the whole log into the trace.
func (w *world) traceFeed() error {
	for {
		es, err := w.h.DB.Since(w.ctx, w.feed, 1000)
		if err != nil {
			return err
		}
		for _, e := range es {
			w.note("%d %s %d %s %s", e.Seq, e.Order, e.Version, e.Event, e.State)
			w.feed = e.Seq
		}
		if len(es) < 1000 {
			return nil
		}
	}
}
