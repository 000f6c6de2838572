package kyber

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/venue/contract"
)

// maxTries is how often an approval is asked for again when it does not last. A swap may
// fail on chain, which costs, maxReverts times, and maxLost times come to nothing at all:
// one that nodes say would fail is never sent.
const (
	maxTries   = 4
	maxReverts = 2
	maxLost    = 5
)

// run is a step that runs, as its calls tell it.
type run struct {
	step     quote.Step
	known    quote.Progress
	in, out  common.Address
	least    money.Amount
	approved int
	swaps    []quote.Sent
	open     bool
}

// Next says what a step needs: to approve, to swap, to wait, or nothing more. What it
// answers of a step that was swapped is a function of its calls and of what is on chain.
// Before that it asks the aggregator, who may answer differently each time: only what is
// stored is ever sent.
func (v *Venue) Next(ctx context.Context, s quote.Step, known quote.Progress) (quote.Move, error) {
	r, err := v.read(s, known)
	if err != nil {
		return nil, err
	}
	if r.open {
		return quote.Wait{For: v.cfg.Poll, Why: "a transaction is on its way"}, nil
	}
	var landed *quote.Sent
	reverted, lost := 0, 0
	for i := range r.swaps {
		switch c := &r.swaps[i]; {
		case c.Fate == chain.Reverted:
			reverted++
		case c.Fate == chain.Final && landed != nil:
			return nil, fmt.Errorf("kyber: two swaps of one step landed, %s and %s", landed.Tx, c.Tx)
		case c.Fate == chain.Final:
			landed = c
		default:
			lost++
		}
	}
	switch {
	case landed != nil:
		return v.done(ctx, &r, landed)
	case reverted >= maxReverts, reverted+lost >= maxLost:
		return quote.Fail{Why: "the swap was refused on chain again and again: it would have brought too little, or came too late"}, nil
	}
	return v.begin(ctx, &r)
}

// read sorts the calls of a step by what they are.
func (v *Venue) read(s quote.Step, known quote.Progress) (r run, err error) {
	r = run{step: s, known: known}
	var ok, listed bool
	r.in, ok = v.token(s.In)
	r.out, listed = v.token(s.Out)
	if s.Venue != Name || !ok || !listed || r.in == r.out || !bytes.Equal(s.Plan, plan) {
		return r, fmt.Errorf("kyber: a step of %s from %s to %s is not its own", s.Venue, s.In, s.Out)
	}
	for _, c := range known.Calls {
		r.open = r.open || !c.Fate.Settled()
		switch {
		case c.Call.Chain == v.cfg.Chain && c.Call.To == v.cfg.Router:
			r.swaps = append(r.swaps, c)
		case c.Call.Chain == v.cfg.Chain && !s.In.IsNative() && c.Call.To == contract.Address(r.in):
			r.approved++
		default:
			return r, fmt.Errorf("kyber: a call to %s on %s is not its own", c.Call.To.Text(), c.Call.Chain)
		}
	}
	return r, nil
}

// begin is a step of which nothing was swapped. What it was given is here, so it may fail.
func (v *Venue) begin(ctx context.Context, r *run) (quote.Move, error) {
	if r.known.In.IsZero() || r.step.Give.IsZero() || r.step.MinOut.IsZero() {
		return quote.Fail{Why: "there is nothing to swap, or nothing that it must bring"}, nil
	}
	var err error
	if r.least, err = r.step.MinOut.MulDiv(r.known.In, r.step.Give, money.Up); err != nil {
		return nil, err
	}
	if !r.step.In.IsNative() {
		move, err := v.allow(ctx, r)
		if move != nil || err != nil {
			return move, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout) // others wait for their turn
	defer cancel()
	data, err := v.swap(ctx, r)
	switch {
	case err == nil:
		return quote.Send{Call: chain.Call{Chain: v.cfg.Chain, From: hot, To: v.cfg.Router, Asset: r.step.In, Amount: r.known.In, Data: data}}, nil
	case errors.Is(err, errMoved), errors.Is(err, errNoWay):
		return quote.Fail{Why: "the aggregator has no way any more that brings enough"}, nil
	case errors.Is(err, errCall):
		v.notice(err)
	}
	return quote.Wait{For: v.cfg.Poll, Why: err.Error()}, nil
}

// errMoved: the market gives less than the step may bring.
var errMoved = errors.New("kyber: the market moved")

// swap asks for a fresh way and for the call that takes it, and reads the call.
func (v *Venue) swap(ctx context.Context, r *run) ([]byte, error) {
	a := ask{v.cfg.Slug, r.in, r.out, r.known.In, known(v.cfg.Router)}
	w, err := v.api.route(ctx, forStep, a)
	if err != nil {
		return nil, err
	}
	slippage, err := v.slippage(w.out, r.least)
	if err != nil {
		return nil, err
	}
	want := wanted{src: r.in, dst: r.out, in: r.known.In, least: r.least}
	if r.step.In.IsNative() {
		want.coins = r.known.In
	}
	data, err := v.api.build(ctx, order{ask: a, way: w, own: v.own, slippage: slippage, until: r.known.At.Add(v.cfg.Patience), coins: want.coins})
	if err != nil {
		return nil, err
	}
	return data, v.judge(data, want)
}

// points are how the aggregator counts slippage: hundredths of a percent.
const points = 10_000

// slippage is how much less than out the call may bring, so that it is never below the
// least. The aggregator reckons again when it writes a call, and is one unit off.
func (v *Venue) slippage(out, least money.Amount) (int64, error) {
	out = out.Less0(money.FromUint64(1))
	room, err := out.Sub(least)
	if err != nil || out.IsZero() {
		return 0, fmt.Errorf("%w: %s of the %s that it must bring", errMoved, out, least)
	}
	share, err := room.MulDiv(money.FromUint64(points), out, money.Down)
	if err != nil {
		return 0, err
	}
	most := int64(v.cfg.Slippage) * points / int64(money.Whole)
	if n, fits := share.Uint64(); fits && n < uint64(most) { //nolint:gosec // a share of the whole
		return int64(n), nil //nolint:gosec // below most
	}
	return most, nil
}

// allow asks for an approval where the router may not take enough; nil is that it may.
// Some tokens want to hear nothing before they allow anything new.
func (v *Venue) allow(ctx context.Context, r *run) (quote.Move, error) {
	said, err := v.chain.View(ctx, contract.Address(r.in), protocol.Data("allowance", v.own, known(v.cfg.Router)))
	if err != nil {
		return nil, fmt.Errorf("kyber: allowance: %w", err)
	}
	allowed, err := word(said)
	switch {
	case err != nil:
		return nil, fmt.Errorf("kyber: allowance: %w", err)
	case !allowed.Less(r.known.In):
		return nil, nil
	case r.approved >= maxTries:
		return quote.Fail{Why: "the token does not keep what it was allowed"}, nil
	case !allowed.IsZero():
		return quote.Send{Call: v.approve(r.in, money.Amount{})}, nil
	}
	n, err := r.known.In.MulDiv(money.FromUint64(v.cfg.Approve), money.FromUint64(1), money.Down)
	if err != nil {
		n = r.known.In
	}
	return quote.Send{Call: v.approve(r.in, n)}, nil
}
