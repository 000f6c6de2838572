package settle_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/house"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/send"
	"ferry/internal/settle"
)

// oracle is a venue that says what a test wants.
type oracle func(s quote.Step, known quote.Progress) quote.Move

func (v oracle) Next(_ context.Context, s quote.Step, known quote.Progress) (quote.Move, error) {
	return v(s, known), nil
}

// stepping is a rig whose orders have one step of a venue.
type stepping struct {
	*rig
	o   order.Order
	now time.Time
}

func newStepping(t *testing.T, v settle.Venue) *stepping {
	t.Helper()
	r := &stepping{rig: newRig(t, "", house.Settling()), now: begin}
	p := r.ports(r.DB)
	p.Venues = map[string]settle.Venue{"oracle": v}
	s, err := settle.New(house.Settling(), p)
	r.must(err)
	r.b = s
	q, err := r.Terms("quo_1", house.EVMUSD, house.ETH, money.FromUint64(100_000_000), begin)
	r.must(err)
	q.Steps = []quote.Step{{Venue: "oracle", In: house.EVMUSD, Out: house.ETH, Give: q.In, Bring: q.Out, MinOut: q.Out}}
	r.o, err = r.b.Create(t.Context(), r.Ask("ord_1", q, r.Net(house.EVM).User("to"), r.Net(house.EVM).User("back")), begin)
	r.must(err)
	r.o = r.tell(r.o, final(r.o, 1), begin)
	return r
}

// step lets the settler work, some seconds later each time.
func (r *stepping) step() error {
	r.now = r.now.Add(10 * time.Minute)
	return r.b.Step(r.t.Context(), r.now)
}

// land ends the newest transaction of the step.
func (r *stepping) land(fate chain.Fate) {
	r.t.Helper()
	o := r.order(r.o.ID)
	c := o.Calls[len(o.Calls)-1]
	r.must(r.DB.End(r.t.Context(), send.ID(o.CallName(c)), send.Result{Fate: fate, Tx: chain.TxID(fmt.Sprint("tx-", len(o.Calls))), Cost: money.FromUint64(1), Block: chain.Block{Height: 9, Hash: "h9"}}, r.now))
}

func take(known quote.Progress, n money.Amount) quote.Send {
	return quote.Send{Call: chain.Call{Chain: house.EVM, To: chain.CanonicalAddress(chain.EVM, "pool"), Asset: house.EVMUSD, Amount: n, Data: []byte("swap")}}
}

// A venue whose last transaction took what the step had must be heard, also when it may
// ask for no other: the step is done, and a refund would pay it a second time.
func TestAStepThatUsedUpItsCallsIsAskedHowItEnded(t *testing.T) {
	t.Parallel()
	r := newStepping(t, oracle(func(s quote.Step, known quote.Progress) quote.Move {
		if n := len(known.Calls); n > 0 && known.Calls[n-1].Fate == chain.Final {
			return quote.Done{In: known.In, Out: money.FromUint64(30_000_000)}
		}
		return take(known, known.In)
	}))
	for i := range order.MaxCalls {
		for r.order(r.o.ID).Asked(0) <= i {
			r.must(r.step())
		}
		for len(r.transfers()) <= i {
			r.must(r.step())
		}
		fate := chain.Reverted
		if i == order.MaxCalls-1 {
			fate = chain.Final
		}
		r.land(fate)
		r.must(r.step())
		r.must(r.step())
	}
	if o := r.order(r.o.ID); o.State != order.Sending || o.InHand.Asset != house.ETH {
		t.Errorf("the order is %s with %+v in hand", o.State, o.InHand)
	}
}

// A step that only ever failed is given up: nothing has left us.
func TestAStepThatAlwaysFailsIsGivenUp(t *testing.T) {
	t.Parallel()
	r := newStepping(t, oracle(func(_ quote.Step, known quote.Progress) quote.Move { return take(known, known.In) }))
	for i := range order.MaxCalls {
		for len(r.transfers()) <= i {
			r.must(r.step())
		}
		r.land(chain.Reverted)
		r.must(r.step())
		r.must(r.step())
	}
	r.must(r.step())
	if o := r.order(r.o.ID); o.State != order.Refunding || o.Failure != order.StepBroke {
		t.Errorf("the order is %s for %s", o.State, o.Failure)
	}
}

// What a venue says and the order can not take is told to somebody, and the order stays
// where it is.
func TestWhatAVenueMayNotSayIsTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say  func(known quote.Progress) quote.Move
		want string
	}{
		"more than there is": {func(k quote.Progress) quote.Move { return take(k, money.FromUint64(100_000_001)) }, "more than the step has"},
		"another chain": {func(k quote.Progress) quote.Move {
			m := take(k, k.In)
			m.Call.Chain = house.SOL
			return m
		}, "a call on sim:sol"},
		"it took a part":     {func(quote.Progress) quote.Move { return quote.Done{In: money.FromUint64(5), Out: money.FromUint64(5)} }, "an operator must look"},
		"it brought nothing": {func(k quote.Progress) quote.Move { return quote.Done{In: k.In} }, "an operator must look"},
		"nothing":            {func(quote.Progress) quote.Move { return nil }, "asks for <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newStepping(t, oracle(func(_ quote.Step, k quote.Progress) quote.Move { return c.say(k) }))
			for range 2 { // it is tried again, and heard again
				if err := r.step(); err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v", err)
				}
			}
			if o := r.order(r.o.ID); o.State != order.Executing || len(o.Calls) != 0 {
				t.Errorf("the order is %s with %d calls", o.State, len(o.Calls))
			}
		})
	}
}

// A venue that says a step failed whose transaction took what it had is not believed:
// a refund would pay it a second time.
func TestAStepThatTookSomethingHasNotFailed(t *testing.T) {
	t.Parallel()
	r := newStepping(t, oracle(func(_ quote.Step, known quote.Progress) quote.Move {
		if len(known.Calls) == 0 {
			return take(known, known.In)
		}
		return quote.Fail{Why: "no reason"}
	}))
	for len(r.transfers()) == 0 {
		r.must(r.step())
	}
	r.land(chain.Final)
	r.must(r.step())
	for range 2 {
		if err := r.step(); err == nil || !strings.Contains(err.Error(), "an operator must look") {
			t.Errorf("got %v", err)
		}
	}
	if o := r.order(r.o.ID); o.State != order.Executing {
		t.Errorf("the order is %s", o.State)
	}
}

// A venue that only ever waits must not keep what it was given for ever: past the order's
// patience the step is given up, unless something of it may have gone.
func TestAStepThatWaitsForEverIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calls []chain.Fate // of calls that take everything, before it waits
		want  order.State
	}{
		"before any call":           {nil, order.Refunding},
		"after a call that failed":  {[]chain.Fate{chain.Reverted}, order.Refunding},
		"after a call that is dead": {[]chain.Fate{chain.Dead}, order.Refunding},
		"after a call that took":    {[]chain.Fate{chain.Final}, order.Executing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newStepping(t, oracle(func(_ quote.Step, known quote.Progress) quote.Move {
				if len(known.Calls) < len(c.calls) {
					return take(known, known.In)
				}
				return quote.Wait{For: time.Second, Why: "nobody answers"}
			}))
			for i, fate := range c.calls {
				for len(r.transfers()) <= i {
					r.must(r.b.Step(t.Context(), r.now))
				}
				r.land(fate)
			}
			r.must(r.b.Step(t.Context(), r.now))
			r.must(r.b.Step(t.Context(), r.now.Add(time.Second)))
			o := r.order(r.o.ID)
			if o.State != order.Executing || o.Delayed {
				t.Fatalf("the order is %s before its patience ended", o.State)
			}
			r.now = o.Deadline
			for range 3 {
				r.must(r.step())
			}
			if o := r.order(r.o.ID); o.State != c.want {
				t.Errorf("the order is %s, and it was delayed: %t", o.State, o.Delayed)
			}
		})
	}
}
