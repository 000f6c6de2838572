package world

import (
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/family/sim"
	"ferry/internal/fault"
	"ferry/internal/house"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// through sends a quote through pools: always where only pools exchange what is given or
// wanted, and now and then elsewhere. It says why it can not be.
func (w *world) through(q *quote.Quote) (refused string, err error) {
	must := poolsOnly(q.Give) || poolsOnly(q.Get)
	if !must && !w.chance(6) {
		return "", nil
	}
	err = w.h.Through(w.ctx, q, w.now)
	var f *fault.Error
	var b *market.Bounds
	switch {
	case err == nil || !must:
		return "", nil
	case errors.As(err, &f):
		return f.Code, nil
	case errors.As(err, &b):
		return "amount_out_of_range", nil
	case errors.Is(err, house.ErrNoRoute):
		return "no_route", nil
	}
	return "", err
}

func poolsOnly(a chain.Asset) bool { return a == house.Token || a == house.Far }

// push moves the price of a chain's pool: by a little, or so far that steps fail. Others
// bring it back after a while, as they would.
func (w *world) push(n *sim.Net) {
	p, has := w.h.Pools[n.ID()]
	if !has {
		return
	}
	a, b := p.Token, p.USD
	if w.chance(2) {
		a, b = b, a
	}
	by, kind := 1+w.r.IntN(15), "pool_drift"
	if w.chance(4) {
		by, kind = 50+w.r.IntN(300), "pool_pushed"
	}
	w.count(kind)
	w.pour(n, p, a, by)
	w.agenda.at(w.soon(20*time.Minute), func() { w.pour(n, p, b, by) })
}

// pour adds so many thousandths of what a pool has of an asset.
func (w *world) pour(n *sim.Net, p house.Pool, a chain.Asset, by int) {
	more, err := n.Balance(p.At, a).MulDiv(money.FromUint64(uint64(by)), money.FromUint64(1000), money.Up)
	if err == nil {
		err = n.Faucet(p.At, a, more)
	}
	if err != nil {
		w.broken = fmt.Errorf("pool of %s: %w", n.ID(), err)
	}
}

// swapped reports whether a reorg would take back a swap that was final. Done anew, it
// brings another amount or fails: the books rest on a word that the chain broke, and only
// an operator can mend them, whom the audit of the treasury calls.
func (w *world) swapped(n *sim.Net, depth int) bool {
	tip, final := n.Height(), n.Final().Height
	for _, l := range n.Sent(order.HotWallet, 0) {
		if len(l.Data) > 0 && l.Block.Height <= final && l.Block.Height+uint64(depth) > tip {
			return true
		}
	}
	return false
}

// steps counts what became of an order's steps.
func (w *world) steps(o order.Order) {
	for _, c := range o.Calls {
		w.out.steps["calls"]++
		if c.State == order.OutDead {
			w.out.steps["calls_failed"]++
		}
	}
	if len(o.Quote.Steps) > 0 {
		w.out.steps["orders"]++
	}
	if o.Failure == order.StepBroke {
		w.out.steps["failed"]++
	}
	for i := range min(o.Step, len(o.Quote.Steps)) {
		if o.Quote.Steps[i].Venue != quote.Inventory {
			w.out.steps["done"]++
		}
	}
}
