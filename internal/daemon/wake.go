package daemon

import (
	"context"
	"log/slog"
	"time"

	"ferry/internal/chain"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/settle"
	"ferry/internal/treasury"
)

// bell is rung by one loop to have another look at once. A bell that was rung already
// needs no second time.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default: // it is about to look, or nobody listens
	}
}

// bells are those of the loops that wait for one another. Without them nothing would be
// lost, only late: every loop also looks by itself.
type bells struct {
	settle bell
	sweep  bell
	send   map[chain.ID]bell
}

// hurrier brings deposits home, and at once where somebody is in a hurry.
type hurrier struct {
	*treasury.Sweeper
	sweep bell
}

// Hurry implements office.Sweeper.
func (h hurrier) Hurry(id chain.ID, now time.Time) {
	h.Sweeper.Hurry(id, now)
	h.sweep.ring()
}

// teller rings for the work that a fact may have left.
type teller struct {
	*settle.Settler
	settle bell
}

// Tell implements watch.Teller.
func (t teller) Tell(ctx context.Context, id order.ID, ev order.Event, now time.Time) (order.Order, error) {
	o, err := t.Settler.Tell(ctx, id, ev, now)
	if err == nil {
		t.settle.ring()
	}
	return o, err
}

// ringing is the store of rooms whose writing others wait for.
type ringing struct {
	Store
	bells bells
	log   *slog.Logger
}

// Wish implements settle.Store and send.Store.
func (r ringing) Wish(ctx context.Context, t send.Transfer, limit send.Cap, now time.Time) error {
	err := r.Store.Wish(ctx, t, limit, now)
	if err == nil {
		r.bells.send[t.Call.Chain].ring()
		if len(t.Call.Data) > 0 {
			r.bells.sweep.ring() // what the step takes may have to come home first
		}
	}
	return err
}

// Sweep implements treasury.Sweeps.
func (r ringing) Sweep(ctx context.Context, t send.Transfer, now time.Time) error {
	err := r.Store.Sweep(ctx, t, now)
	if err == nil {
		r.bells.send[t.Call.Chain].ring()
	}
	return err
}

// End implements send.Store.
func (r ringing) End(ctx context.Context, id send.ID, res send.Result, now time.Time) error {
	if err := r.Store.End(ctx, id, res, now); err != nil {
		return err
	}
	r.bells.settle.ring()
	if !treasury.IsSweep(id) {
		return nil
	}
	r.bells.sweep.ring() // there may be more than comes home at once
	if res.Fate != chain.Final {
		r.log.WarnContext(ctx, "a transfer did not bring its deposits home, will be tried again",
			"transfer", string(id), "fate", res.Fate.String(), "why", res.Why, "pause", treasury.Pause)
	}
	return nil
}
