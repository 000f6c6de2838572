package uniswap

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
	"ferry/internal/venue/contract"
)

// maxTries is how often an approval is asked for again, when it does not last.
const maxTries = 4

// run is a step that runs, as its calls tell it.
type run struct {
	step     quote.Step
	known    quote.Progress
	plan     plan
	in, out  common.Address
	approved int
	swaps    []quote.Sent // that were settled
}

// Next says what a step needs: to approve, to swap, to wait, or nothing more. It is a
// function of the step, of its calls and of what is on chain.
func (v *Venue) Next(ctx context.Context, s quote.Step, known quote.Progress) (quote.Move, error) {
	r, open, err := v.read(s, known)
	if err != nil {
		return nil, err
	}
	if open {
		return quote.Wait{For: v.cfg.Poll, Why: "a transaction is on its way"}, nil
	}
	var landed *quote.Sent
	for i := range r.swaps {
		switch c := &r.swaps[i]; {
		case c.Fate == chain.Reverted:
			return quote.Fail{Why: "the swap was refused on chain: it would have brought too little, or came too late"}, nil
		case c.Fate == chain.Final && landed != nil:
			return nil, fmt.Errorf("uniswap: two swaps of one step landed, %s and %s", landed.Tx, c.Tx)
		case c.Fate == chain.Final:
			landed = c
		}
	}
	if landed != nil {
		return v.judge(ctx, &r, landed)
	}
	return v.begin(ctx, &r)
}

// read sorts the calls of a step by what they are.
func (v *Venue) read(s quote.Step, known quote.Progress) (r run, open bool, err error) {
	r = run{step: s, known: known}
	in, ok := v.token(s.In)
	out, fit := v.token(s.Out)
	if s.Venue != Name || !ok || !fit || in == out {
		return r, false, fmt.Errorf("uniswap: a step of %s from %s to %s is not its own", s.Venue, s.In, s.Out)
	}
	r.in, r.out = v.list[in], v.list[out]
	if r.plan, err = decode(s.Plan); err != nil {
		return r, false, err
	}
	if err := v.held(&r); err != nil {
		return r, false, err
	}
	for _, c := range known.Calls {
		open = open || !c.Fate.Settled()
		switch {
		case c.Call.Chain == v.cfg.Chain && c.Call.To == v.cfg.Router:
			r.swaps = append(r.swaps, c)
		case c.Call.Chain == v.cfg.Chain && c.Call.To == contract.Address(r.in):
			if c.Fate == chain.Final || c.Fate == chain.Reverted {
				r.approved++
			}
		default:
			return r, false, fmt.Errorf("uniswap: a call to %s on %s is not its own", c.Call.To.Text(), c.Call.Chain)
		}
	}
	return r, open, nil
}

// held holds a plan to its step: it leads from the one token to the other by tokens that
// are listed.
func (v *Venue) held(r *run) error {
	if r.plan.token != r.in {
		return errPlan
	}
	for _, l := range r.plan.legs {
		for _, h := range l.hops {
			if _, listed := v.tokens[h.to]; !listed {
				return errPlan
			}
		}
		if l.hops[len(l.hops)-1].to != r.out {
			return errPlan
		}
	}
	return nil
}

// begin is a step of which nothing was swapped. What it was given is here, so it may fail.
func (v *Venue) begin(ctx context.Context, r *run) (quote.Move, error) {
	in := fromAmount(r.known.In)
	if in.IsZero() || r.step.Give.IsZero() || r.step.MinOut.IsZero() {
		return quote.Fail{Why: "there is nothing to swap, or nothing that it must bring"}, nil
	}
	least, err := r.step.MinOut.MulDiv(r.known.In, r.step.Give, money.Up)
	if err != nil {
		return nil, err
	}
	call := chain.Call{Chain: v.cfg.Chain, From: hot, To: v.cfg.Router, Asset: r.step.In, Amount: r.known.In}
	if !r.step.In.IsNative() {
		move, err := v.allow(ctx, r, &in)
		if move != nil || err != nil {
			return move, err
		}
	}
	if err := r.plan.scale(&in); err != nil {
		return nil, err
	}
	floor := fromAmount(least)
	s := swap{
		plan: r.plan, own: known(v.cfg.Own), least: floor.ToBig(), until: r.known.At.Add(v.cfg.Patience),
		out: r.out, coinIn: r.step.In.IsNative(), coinOut: r.step.Out.IsNative(),
	}
	call.Data = s.data()
	return quote.Send{Call: call}, nil
}

// allow asks for an approval where the router may not take enough; nil is that it may.
func (v *Venue) allow(ctx context.Context, r *run, in *uint256.Int) (quote.Move, error) {
	said, err := v.chain.View(ctx, contract.Address(r.in), protocol.Data("allowance", known(v.cfg.Own), known(v.cfg.Router)))
	if err != nil {
		return nil, fmt.Errorf("uniswap: allowance: %w", err)
	}
	w, err := words(said, 1)
	if err != nil {
		return nil, fmt.Errorf("uniswap: allowance: %w", err)
	}
	switch {
	case !w[0].Lt(in):
		return nil, nil
	case r.approved >= maxTries:
		return quote.Fail{Why: "the token does not keep what it was allowed"}, nil
	}
	return quote.Send{Call: v.approve(r.in, w[0].IsZero())}, nil
}

// judge reads from the receipt of a swap what really moved.
func (v *Venue) judge(ctx context.Context, r *run, c *quote.Sent) (quote.Move, error) {
	got, err := v.chain.Receipt(ctx, c.Tx)
	if err != nil {
		return nil, fmt.Errorf("uniswap: %w", err)
	}
	if !got.Fate.Settled() {
		return quote.Wait{For: v.cfg.Poll, Why: "the receipt of the swap is not final yet"}, nil
	}
	if got.Fate != chain.Final || got.Tx != c.Tx || got.From != v.cfg.Own || got.To != v.cfg.Router || !bytes.Equal(got.Data, c.Call.Data) {
		return nil, fmt.Errorf("uniswap: the receipt of %s, %s, is not that of our swap", c.Tx, got.Fate)
	}
	in, out, err := v.moved(r, got.Logs)
	if err != nil {
		return nil, fmt.Errorf("uniswap: receipt of %s: %w", c.Tx, err)
	}
	switch {
	case r.known.In.Less(in):
		return nil, fmt.Errorf("uniswap: swap %s took %s, more than the %s it was given", c.Tx, in, r.known.In)
	case in.IsZero() || out.IsZero():
		return nil, fmt.Errorf("uniswap: swap %s took %s and brought %s", c.Tx, in, out)
	}
	return quote.Done{In: in, Out: out}, nil
}

// moved is what left us and what came to us by a swap. Coins leave no log of their own:
// those that went in were wrapped by the router, and those that came out unwrapped.
func (v *Venue) moved(r *run, logs []chain.Log) (in, out money.Amount, err error) {
	own := known(v.cfg.Own)
	if r.step.In.IsNative() {
		in, err = v.wraps(logs, topicDeposit, 2)
	} else {
		in, err = flow(logs, contract.Address(r.in), 1, own)
	}
	if err != nil {
		return in, out, err
	}
	if r.step.Out.IsNative() {
		out, err = v.wraps(logs, topicWithdraw, 1)
	} else {
		out, err = flow(logs, contract.Address(r.out), 2, own)
	}
	return in, out, err
}

// wraps is what the router wrapped, or unwrapped, by the event of that. A wrapped coin
// that has none, as Arbitrum's, tells of it as a transfer from nobody to the router, which
// stands at place 2 then, or from the router (1) to nobody.
func (v *Venue) wraps(logs []chain.Log, event chain.Word, place int) (money.Amount, error) {
	router := known(v.cfg.Router)
	told, err := sum(logs, v.cfg.Wrapped, event, 1, router)
	if err != nil || !told.IsZero() {
		return told, err
	}
	var made []chain.Log
	for i := range logs {
		if l := &logs[i]; len(l.Topics) == 3 && l.Topics[3-place] == (chain.Word{}) {
			made = append(made, *l)
		}
	}
	return sum(made, v.cfg.Wrapped, topicTransfer, place, router)
}

// flow is what moved from us (1) or to us (2), less what moved the other way.
func flow(logs []chain.Log, token chain.Address, place int, own common.Address) (money.Amount, error) {
	there, err := sum(logs, token, topicTransfer, place, own)
	if err != nil {
		return there, err
	}
	back, err := sum(logs, token, topicTransfer, 3-place, own)
	if err != nil {
		return there, err
	}
	return there.Sub(back)
}

// sum adds the amounts of an event of a contract that names an address at a place.
func sum(logs []chain.Log, by chain.Address, event chain.Word, place int, who common.Address) (total money.Amount, err error) {
	for i := range logs {
		l := &logs[i]
		if l.Address != by || len(l.Topics) <= place || l.Topics[0] != event || common.Hash(l.Topics[place]) != common.BytesToHash(who[:]) {
			continue
		}
		w, err := words(l.Data, 1)
		if err != nil {
			return total, err
		}
		if total, err = total.Add(toAmount(&w[0])); err != nil {
			return total, err
		}
	}
	return total, nil
}
