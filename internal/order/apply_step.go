package order

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// advance sends the order on its way: to its next step, or to its payout.
func (t *turn) advance() {
	for t.o.Step < len(t.o.Quote.Steps) {
		if step := &t.o.Quote.Steps[t.o.Step]; step.Venue == quote.Inventory {
			if !t.cross(step) {
				return
			}
			continue
		}
		t.run()
		return
	}
	t.pay()
}

// StepIn is what the order's present step has to work with: the integrator's share stays
// behind before the first.
func (o Order) StepIn() (money.Amount, error) {
	if o.Step > 0 {
		return o.InHand.Amount, nil
	}
	onward, _, err := o.Quote.Split(o.InHand.Amount)
	return onward, err
}

// run starts a venue's step. What a step before it brought is in our wallet and is
// reserved at once; what came from our inventory must be there. A deposit has yet to come
// home, and is reserved when the step first takes something.
func (t *turn) run() {
	if slices.Contains(t.o.Keys, (StepFailed{Index: t.o.Step}).Key()) { // it failed before, and how it ends is told once
		t.uncross()
		t.refundOrHold(StepBroke, true)
		return
	}
	step := t.o.Quote.Steps[t.o.Step]
	in, err := t.o.StepIn()
	if in = must(t, in, err); in.IsZero() {
		t.refundOrHold(BelowMinimum, true)
		return
	}
	t.to(Executing)
	t.void(t.o.payoutName())
	t.reserveCrossing(in)
	if t.o.Step > 0 {
		t.reserve(t.o.stepName(t.o.Step), Sum{step.In, in}, t.o.crossed())
	}
	t.do(RunStep{Index: t.o.Step})
}

// reserveCrossing keeps what our inventory will be asked for when the steps before it
// are done, with some room for steps that bring more than was planned.
func (t *turn) reserveCrossing(in money.Amount) {
	steps, i := t.o.Quote.Steps[t.o.Step:], t.o.nextCrossing()
	if i < 0 {
		return
	}
	n, err := steps[i].Bring.MulDiv(in, steps[0].Give, money.Up)
	n = must(t, n, err)
	extra, err := n.Share(t.o.Quote.Tolerance.Over, money.Up)
	n, err = n.Add(must(t, extra, err))
	t.reserve(t.o.payoutName(), Sum{steps[i].Out, must(t, n, err)}, true)
}

// nextCrossing is after how many steps our inventory is asked for something; below zero
// it is not.
func (o Order) nextCrossing() int {
	return slices.IndexFunc(o.Quote.Steps[o.Step:], func(s quote.Step) bool { return s.Venue == quote.Inventory })
}

// crossed reports whether what is in hand came straight from our inventory.
func (o Order) crossed() bool { return o.Cross.Done && o.Cross.Step == o.Step-1 }

// cross exchanges what is in hand for another asset of ours, in the books, at the rate
// that was quoted. It reports whether the order can go on.
func (t *turn) cross(step *quote.Step) bool {
	in, err := t.o.StepIn()
	in = must(t, in, err)
	out, err := step.Bring.MulDiv(in, step.Give, money.Down)
	if out = must(t, out, err); out.IsZero() {
		t.refundOrHold(BelowMinimum, true)
		return false
	}
	t.o.Cross = Crossing{Done: true, Step: t.o.Step, In: Sum{step.In, in}, Out: Sum{step.Out, out}}
	t.post(t.o.owed(), ledger.Liquidity, step.In, in)
	t.post(ledger.Liquidity, t.o.owed(), step.Out, out)
	t.o.InHand = t.o.Cross.Out
	t.o.Step++
	return true
}

// uncross undoes the exchange, if nothing went on from there: what was given for it is
// in hand again, and can be refunded where it came from.
func (t *turn) uncross() {
	c := t.o.Cross
	if !t.o.crossed() {
		return
	}
	t.post(ledger.Liquidity, t.o.owed(), c.In.Asset, c.In.Amount)
	t.post(t.o.owed(), ledger.Liquidity, c.Out.Asset, c.Out.Amount)
	t.o.Cross, t.o.Step, t.o.InHand = Crossing{}, c.Step, c.In
	if c.Step == 0 {
		t.o.InHand.Amount = t.o.Received // the integrator's share with it
	}
}

// stepAsked wishes a transaction of a step. One is under way at a time, so that what a
// venue says always rests on all that came before.
func (t *turn) stepAsked(ev StepAsked) error {
	if t.o.Bridge != nil {
		return t.bridgeAsked(ev)
	}
	switch {
	case t.o.State != Executing || ev.Index != t.o.Step:
		return t.out("that step does not run")
	case t.o.Calling():
		return t.out("a transaction of the step is under way")
	case ev.N != t.o.Asked(ev.Index) || len(t.o.Calls) >= MaxCalls:
		return t.out("it is not the step's next transaction")
	case !t.o.MayTake(ev.Call):
		return t.out("it would take more than the step has")
	}
	if ev.Index == 0 && ev.N == 0 {
		in, err := t.o.StepIn()
		if err != nil {
			return err
		}
		// Only what is free: coins that lie here for another order are not the deposit.
		t.reserve(t.o.stepName(0), Sum{t.o.Quote.Steps[0].In, in}, true)
	}
	call := ev.Call
	call.From, call.For = HotWallet, ""
	t.o.Calls = append(t.o.Calls, StepCall{Step: ev.Index, N: ev.N, Outflow: Outflow{Asset: call.Asset, Amount: call.Amount, State: OutWished}})
	t.do(Wish{ID: t.o.callName(ev.Index, ev.N, call.Chain), For: ForStep, Call: call})
	return nil
}

// MayTake reports whether a transaction of the running step, with all that the step asked
// for before and that did not fail, takes no more than the step has.
func (o Order) MayTake(c chain.Call) bool {
	left, err := o.StepIn()
	if err != nil || c.Asset.Chain != c.Chain {
		return false
	}
	for _, before := range o.Calls {
		if before.Step == o.Step && before.Asset == c.Asset && before.State != OutDead {
			left = left.Less0(before.Amount)
		}
	}
	return c.Asset != o.Quote.Steps[o.Step].In || !left.Less(c.Amount)
}

// Asked is how many transactions a step has asked for.
func (o Order) Asked(step int) (n int) {
	for _, c := range o.Calls {
		if c.Step == step {
			n++
		}
	}
	return n
}

// Calling reports whether a transaction of a step is under way.
func (o Order) Calling() bool {
	return len(o.Calls) > 0 && o.Calls[len(o.Calls)-1].State == OutWished
}

// stepCalled books what a step's transaction cost and has the venue asked again.
func (t *turn) stepCalled(ev StepCalled) error {
	c := t.o.call(t.o.callName(ev.Index, ev.N, ev.On))
	if c == nil || c.State != OutWished {
		return t.out("it did not ask for that")
	}
	c.landed(OutFinal, ev.Landed)
	if ev.Failed != "" {
		c.State = OutDead
	}
	t.spent(ev.On, ev.Landed.Cost)
	if t.o.Bridge != nil {
		t.bridgeCalled(ev)
		return nil
	}
	t.do(RunStep{Index: ev.Index})
	return nil
}

func (t *turn) stepDone(ev StepDone) error {
	in, err := t.o.StepIn()
	if err != nil {
		return err
	}
	switch {
	case t.o.Bridge != nil || t.o.State != Executing || ev.Index != t.o.Step:
		return t.out("that step does not run")
	case t.o.Calling() || ev.Calls != t.o.Asked(ev.Index):
		return t.out("the step has gone on since")
	case ev.In != in || ev.Out.IsZero():
		return t.out("that is not what the step was to take, or it brought nothing")
	}
	step := t.o.Quote.Steps[ev.Index]
	t.post(t.o.owed(), ledger.Hot(step.In.Chain), step.In, ev.In)
	t.post(ledger.Hot(step.Out.Chain), t.o.owed(), step.Out, ev.Out)
	t.void(t.o.stepName(ev.Index))
	t.o.InHand = Sum{Asset: step.Out, Amount: ev.Out}
	t.o.Step++
	if ev.Short {
		t.refundOrHold(NoLiquidity, true)
		return nil
	}
	t.advance()
	return nil
}

func (t *turn) stepFailed(ev StepFailed) error {
	switch {
	case t.o.Bridge != nil || t.o.State != Executing || ev.Index != t.o.Step:
		return t.out("that step does not run")
	case t.o.Calling() || ev.Calls != t.o.Asked(ev.Index):
		return t.out("the step has gone on since")
	}
	t.void(t.o.stepName(ev.Index))
	t.uncross()
	t.refundOrHold(StepBroke, true)
	return nil
}

// called reads the name of a step's transfer.
func called(rest string) (index, n int, on chain.ID, err error) {
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) != 3 || parts[2] == "" {
		return 0, 0, "", fmt.Errorf("%q names no call of a step", rest)
	}
	if index, err = strconv.Atoi(parts[0]); err == nil {
		n, err = strconv.Atoi(parts[1])
	}
	return index, n, chain.ID(parts[2]), err
}

// call finds a step's transaction by the name of its transfer.
func (o *Order) call(transfer string) *Outflow {
	i := slices.IndexFunc(o.Calls, func(c StepCall) bool { return o.callName(c.Step, c.N, c.Asset.Chain) == transfer })
	if i < 0 {
		return nil
	}
	return &o.Calls[i].Outflow
}
