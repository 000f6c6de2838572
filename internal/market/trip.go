package market

import (
	"context"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// trip is a way on its way to a route.
type trip struct {
	v     *Through
	in    Intent
	w     way
	give  valued
	get   valued
	steps []quote.Step
	at    money.Amount // where the amount is now
	gas   money.Amount // what the steps cost, in the asset to get
	kept  money.Amount // what the inventory took for itself, in the asset to get
	off   money.Percent
	cross deal
	takes time.Duration
}

// price makes a route of a way.
func (v *Through) price(ctx context.Context, in Intent, w way) (Route, error) {
	t := trip{v: v, in: in, w: w}
	var err error
	if t.give, err = v.inventory.listing.value(in.Give, in.At); err != nil {
		return Route{}, err
	}
	if t.get, err = v.inventory.listing.value(in.Get, in.At); err != nil {
		return Route{}, err
	}
	if w.crosses() {
		if err := t.middle(ctx); err != nil {
			return Route{}, err
		}
	}
	toll, err := t.toll(ctx)
	if err != nil {
		return Route{}, err
	}
	from := in.Amount
	if in.Side == To {
		if from, err = t.back(ctx, toll); err != nil {
			return Route{}, err
		}
	}
	return t.forth(ctx, from, toll)
}

// middle prices the inventory's part, without a payout: the amount of the intent is not
// of its assets, and its own limits are looked at when the amount is known.
func (t *trip) middle(ctx context.Context) (err error) {
	inv, terms := t.v.inventory, t.v.inventory.terms(t.w.b, t.w.c)
	d := deal{keep: money.FromUint64(uint64(money.Whole - terms.Spread))}
	if d.give, err = inv.listing.value(t.w.b, t.in.At); err != nil {
		return err
	}
	if d.get, err = inv.listing.value(t.w.c, t.in.At); err != nil {
		return err
	}
	d.num, d.den = d.give.rate(&d.get)
	free, err := inv.treasury.Free(ctx, t.w.c)
	if err != nil {
		return fmt.Errorf("free %s: %w", t.w.c, err)
	}
	if err := d.limit(terms, d.payable(free, t.in.Over)); err != nil {
		return err
	}
	t.cross = d
	return nil
}

// toll is what is kept at the end: the service's share where no inventory took one
// already, and what the payout and the steps cost.
func (t *trip) toll(ctx context.Context) (quote.Toll, error) {
	inv := t.v.inventory
	toll := quote.Toll{}
	if !t.w.crosses() {
		toll.Share = inv.terms(t.in.Give, t.in.Get).Spread
	}
	call := chain.Call{Chain: t.in.Get.Chain, From: inv.cfg.Account, To: t.in.To, Asset: t.in.Get, Amount: money.Max(one, t.get.Dust)}
	if call.To.IsZero() {
		call.To = inv.cfg.Own[t.in.Get.Chain]
	}
	var err error
	toll.Flat, err = costIn(ctx, inv.listing, inv.costs, &call, &t.get, t.in.At)
	return toll, err
}

// txGas is what the plainest transaction uses: prices of gas are found by it.
const txGas = 21_000

// burn adds what a step's gas costs, in the asset to get.
func (t *trip) burn(ctx context.Context, id chain.ID, gas uint64) error {
	cost, err := t.v.inventory.gas(ctx, id, gas, &t.get, t.in.At)
	if err != nil {
		return err
	}
	if t.gas, err = t.gas.Add(cost); err != nil {
		return tooMuch(err)
	}
	return nil
}

// Gas is what so much gas costs on a chain, in an asset: what venues beside the
// inventory take from what they bring.
func (v *Inventory) Gas(ctx context.Context, on chain.ID, units uint64, in chain.Asset, at time.Time) (money.Amount, error) {
	get, err := v.listing.value(in, at)
	if err != nil {
		return money.Amount{}, err
	}
	return v.gas(ctx, on, units, &get, at)
}

func (v *Inventory) gas(ctx context.Context, on chain.ID, units uint64, get *valued, at time.Time) (money.Amount, error) {
	call := chain.Call{Chain: on, From: v.cfg.Account, To: v.cfg.Own[on], Asset: on.Native(), Amount: one}
	coin, err := v.listing.value(on.Native(), at)
	if err != nil {
		return money.Amount{}, err
	}
	plain, err := costIn(ctx, v.listing, v.costs, &call, &coin, at)
	if err != nil {
		return money.Amount{}, err
	}
	cost, err := plain.MulDiv(money.FromUint64(units), money.FromUint64(txGas), money.Up)
	if err == nil {
		cost, err = coin.in(get, cost, money.Up)
	}
	if err != nil {
		return money.Amount{}, tooMuch(err)
	}
	return cost, nil
}

// pool asks the pools of a chain.
func (t *trip) pool(ctx context.Context, give, get chain.Asset, side Side, n money.Amount) (PoolDeal, error) {
	d, err := t.v.pools[give.Chain].Best(ctx, PoolAsk{Give: give, Get: get, Side: side, Amount: n, At: t.in.At})
	if err != nil {
		return PoolDeal{}, err
	}
	if d.In.IsZero() || d.Out.IsZero() {
		return PoolDeal{}, ErrNoPool
	}
	return d, nil
}

// back finds what must be given to get the amount that is wanted. What steps cost is
// known only of routes that are priced, so it is asked for twice.
func (t *trip) back(ctx context.Context, toll quote.Toll) (money.Amount, error) {
	for range 2 {
		n, err := t.gross(toll)
		if err != nil {
			return money.Amount{}, tooMuch(err)
		}
		t.gas = money.Amount{}
		if t.w.c != t.w.d {
			d, err := t.pool(ctx, t.w.c, t.w.d, To, n)
			if err != nil {
				return money.Amount{}, err
			}
			if err := t.burn(ctx, t.w.d.Chain, d.Gas); err != nil {
				return money.Amount{}, err
			}
			n = d.In
		}
		if t.w.crosses() {
			if n, err = t.cross.least(n); err != nil {
				return money.Amount{}, tooMuch(err)
			}
		}
		if t.w.a != t.w.b {
			d, err := t.pool(ctx, t.w.a, t.w.b, To, n)
			if err != nil {
				return money.Amount{}, err
			}
			if err := t.burn(ctx, t.w.a.Chain, d.Gas); err != nil {
				return money.Amount{}, err
			}
			n = d.In
		}
		t.at = n
	}
	n := t.at
	t.gas, t.at = money.Amount{}, money.Amount{}
	return n, nil
}

// gross is what the last step must bring so that what is wanted is left after the toll.
func (t *trip) gross(toll quote.Toll) (money.Amount, error) {
	n, err := t.in.Amount.Add(toll.Flat)
	if err == nil {
		n, err = n.Add(t.gas)
	}
	if err == nil {
		n, err = n.MulDiv(whole, money.FromUint64(uint64(money.Whole-toll.Share)), money.Up)
	}
	if err == nil {
		n, err = n.Add(one)
	}
	return n, err
}

// forth walks the way with an amount and makes the route of it.
func (t *trip) forth(ctx context.Context, from money.Amount, toll quote.Toll) (Route, error) {
	t.at = from
	legs := 0
	for _, leg := range [][2]chain.Asset{{t.w.a, t.w.b}, {t.w.c, t.w.d}} {
		if leg[0] != leg[1] {
			legs++
		}
	}
	if t.w.a != t.w.b {
		if err := t.swap(ctx, t.w.a, t.w.b, legs); err != nil {
			return Route{}, err
		}
	}
	r := Route{In: from}
	if err := t.bound(&r); err != nil {
		return Route{}, err
	}
	if t.w.crosses() {
		gross, out, err := t.cross.output(t.at)
		if err == nil {
			t.kept, err = t.cross.get.in(&t.get, gross.Less0(out), money.Up)
		}
		if err != nil {
			return Route{}, tooMuch(err)
		}
		t.steps = append(t.steps, quote.Step{Venue: quote.Inventory, In: t.w.b, Out: t.w.c, Give: t.at, Bring: out, MinOut: out})
		t.at = out
	}
	if t.w.c != t.w.d {
		if err := t.swap(ctx, t.w.c, t.w.d, legs); err != nil {
			return Route{}, err
		}
	}
	return t.route(r, toll)
}

// swap adds a pool's step.
func (t *trip) swap(ctx context.Context, give, get chain.Asset, legs int) error {
	d, err := t.pool(ctx, give, get, From, t.at)
	if err != nil {
		return err
	}
	if err := t.burn(ctx, give.Chain, d.Gas); err != nil {
		return err
	}
	slack, err := d.Out.Share(t.in.Slippage/money.Percent(legs), money.Down)
	if err != nil {
		return tooMuch(err)
	}
	t.steps = append(t.steps, quote.Step{
		Venue: t.v.pools[give.Chain].Name(), In: give, Out: get, Give: t.at, Bring: d.Out, MinOut: d.Out.Less0(slack), Plan: d.Plan,
	})
	t.at, t.off, t.takes = d.Out, t.off+d.Impact, t.takes+t.v.cfg.Takes[give.Chain]
	return nil
}

// bound finds how much may be given: what the terms say, and what the inventory can
// carry, at the rate of what came before it.
func (t *trip) bound(r *Route) error {
	terms := t.v.inventory.terms(t.in.Give, t.in.Get)
	if t.w.crosses() {
		terms = t.v.inventory.terms(t.w.b, t.w.c)
	}
	var err error
	if r.MinIn, err = t.give.units(terms.Min, money.Up); err != nil {
		return tooMuch(err)
	}
	if r.MaxIn, err = t.give.units(terms.Max, money.Down); err != nil {
		return tooMuch(err)
	}
	if t.w.crosses() {
		if most, err := t.cross.max.MulDiv(r.In, t.at, money.Down); err == nil {
			r.MaxIn = money.Min(r.MaxIn, most)
		}
	}
	r.MinIn = money.Max(r.MinIn, one)
	if r.In.Less(r.MinIn) || r.MaxIn.Less(r.In) {
		return &Bounds{Min: r.MinIn, Max: r.MaxIn, Low: r.In.Less(r.MinIn)}
	}
	return nil
}

// route finishes a route: its toll, what is left, and whether that is near what prices
// say.
func (t *trip) route(r Route, toll quote.Toll) (Route, error) {
	network, err := toll.Flat.Add(t.gas)
	if err != nil {
		return Route{}, tooMuch(err)
	}
	toll.Flat = network
	r.Steps, r.Toll, r.Impact, r.Takes, r.Network = t.steps, toll, t.off, t.takes, network
	if r.Out, err = toll.Rest(t.at); err != nil {
		return Route{}, tooMuch(err)
	}
	if r.Out.IsZero() || r.Out.Less(t.get.Dust) {
		return Route{}, (&deal{get: t.get}).eaten()
	}
	if t.in.Side == To {
		if r.Out.Less(t.in.Amount) {
			return Route{}, fault.New(fault.Unprocessable, "no_route", "That amount of %s cannot be had exactly; ask by what is given.", t.get.Symbol)
		}
		r.Out = t.in.Amount
	}
	if r.Service, err = t.at.Less0(network).Less0(r.Out).Add(t.kept); err != nil {
		return Route{}, tooMuch(err)
	}
	fair, err := t.give.in(&t.get, r.In, money.Down)
	if err != nil {
		return Route{}, tooMuch(err)
	}
	slack, err := fair.Share(t.v.cfg.MaxOff, money.Down)
	if err != nil {
		return Route{}, tooMuch(err)
	}
	if t.at.Less(fair.Less0(slack)) {
		return Route{}, fault.New(fault.Unprocessable, "insufficient_liquidity", "Pools would give much less for this than it is worth; ask for less, or later.")
	}
	return r, nil
}
