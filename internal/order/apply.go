package order

import (
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/ledger"
	"ferry/internal/money"
)

// turn is one event on its way through the machine.
type turn struct {
	o   Order // as it will be
	ev  Event
	now time.Time
	ch  Change
	err error // first trouble in the books' arithmetic
}

// Apply says what ev makes of o. It reads no clock, no store and no chain.
// It returns ErrKnown for a fact that was applied before and *OutOfTurn for one
// that has no place in this state; both change nothing.
func (o Order) Apply(ev Event, now time.Time) (Change, error) {
	if o.knows(ev) {
		return Change{}, ErrKnown
	}
	t := &turn{o: o.clone(), ev: ev, now: now}
	if err := t.take(); err != nil {
		return Change{}, err
	}
	if t.err != nil {
		return Change{}, t.err
	}
	t.o.Version++
	t.o.UpdatedAt = now
	if keeps(ev) {
		t.o.Keys = append(t.o.Keys, ev.Key())
	}
	t.ch.Was, t.ch.From, t.ch.Now, t.ch.Event, t.ch.At = o.Version, o.State, t.o, ev, now
	if err := t.ch.Entry.Check(); err != nil {
		return Change{}, err
	}
	return t.ch, nil
}

// take is the machine: one case for each event.
func (t *turn) take() error {
	switch ev := t.ev.(type) {
	case DepositSeen:
		return t.depositSeen(ev)
	case DepositFinal:
		return t.depositFinal(ev)
	case DepositGone:
		return t.depositGone(ev)
	case FundingClosed:
		if t.now.Before(t.o.ExpiresAt) {
			return t.out("the funding deadline has not passed")
		}
		return t.close()
	case Cancelled:
		return t.close()
	case StepAsked:
		return t.stepAsked(ev)
	case StepCalled:
		return t.stepCalled(ev)
	case StepDone:
		return t.stepDone(ev)
	case StepFailed:
		return t.stepFailed(ev)
	case StepSubmitted:
		return t.stepSubmitted(ev)
	case BridgeSeen:
		return t.bridgeSeen(ev)
	case PayoutFinal:
		return t.payoutFinal(ev)
	case PayoutFailed:
		return t.payoutFailed(ev)
	case RefundPriced:
		return t.refundPriced(ev)
	case RefundBelowCost:
		return t.refundBelowCost()
	case RefundFinal:
		return t.refundFinal(ev)
	case RefundFailed:
		return t.refundFailed(ev)
	case FeePriced, FeeSkipped, FeePaid, FeeFailed:
		return t.fee(ev)
	case RecoveryPriced, RecoveryDust, RecoveryFinal, RecoveryFailed, RecoveryDue:
		return t.recover(ev)
	case CostCorrected:
		return t.costCorrected(ev)
	case RefundAddressGiven:
		return t.refundAddress(ev)
	case RefundAsked:
		return t.refundAsked()
	case RequoteOffered:
		return t.offered(ev)
	case RequoteAccepted:
		return t.requoted(ev)
	case DeadlinePassed:
		return t.deadline(ev)
	case Stopped:
		return t.stopped(ev)
	case Lifted:
		return t.lifted(ev)
	}
	return t.out("unknown event")
}

// out is the refusal of an event that has no place here.
func (t *turn) out(why string) error {
	return &OutOfTurn{Order: t.o.ID, State: t.o.State, Event: t.ev.Name(), Why: why}
}

// to moves the order to an open state and starts that state's patience.
func (t *turn) to(s State) {
	t.o.State, t.o.Delayed = s, false
	t.o.Deadline = time.Time{}
	if d := t.o.Patience.of(s); d > 0 {
		t.o.Deadline = t.now.Add(d)
	}
	if s != Held {
		t.o.Hold = Hold{}
	}
}

func (p Patience) of(s State) time.Duration {
	switch s {
	case Confirming:
		return p.Confirming
	case Executing:
		return p.Executing
	case Sending:
		return p.Sending
	case Held:
		return p.Held
	case Refunding:
		return p.Refunding
	}
	return 0
}

// end brings the order to an ending. Whatever was reserved for its payout is free again.
func (t *turn) end(s State) {
	t.o.State, t.o.FinishedAt = s, t.now
	t.o.Deadline, t.o.Delayed, t.o.Hold = time.Time{}, false, Hold{}
	t.void(t.o.payoutName())
	if s != Completed && t.o.FeeStatus == FeeProjected {
		t.o.FeeStatus, t.o.FeeReason = FeeNone, OrderNotPaid
	}
}

// hold stops the order with the money in hand. The payout's reservation is given
// back: what is held may be held for long.
func (t *turn) hold(why Reason, wantsRefund bool) {
	t.to(Held)
	t.o.Hold = Hold{Why: why, WantsRefund: wantsRefund, Since: t.o.Version + 1}
	t.void(t.o.payoutName())
	t.do(AskHuman{Why: why})
}

func (t *turn) do(e Effect) { t.ch.Effects = append(t.ch.Effects, e) }

// void ends a reservation, also one that this very change was about to make.
func (t *turn) void(name string) {
	e := &t.ch.Entry
	if !slices.Contains(e.Voids, name) {
		e.Voids = append(e.Voids, name)
	}
	e.Reserve = slices.DeleteFunc(e.Reserve, func(r ledger.Reservation) bool { return r.Name == name })
}

func (t *turn) reserve(name string, s Sum, must bool) {
	t.ch.Entry.Reserve = append(t.ch.Entry.Reserve, ledger.Reservation{
		Name: name, From: ledger.Hot(s.Asset.Chain), Asset: s.Asset, Amount: s.Amount, Must: must,
	})
}

// post books an amount; nothing is not booked.
func (t *turn) post(debit, credit ledger.Account, asset chain.Asset, n money.Amount) {
	if n.IsZero() {
		return
	}
	t.ch.Entry.Postings = append(t.ch.Entry.Postings, ledger.Posting{Debit: debit, Credit: credit, Asset: asset, Amount: n})
}

// spent books what a chain took for one of our transactions.
func (t *turn) spent(id chain.ID, cost money.Amount) {
	t.post(ledger.NetworkFee, ledger.Hot(id), id.Native(), cost)
}

// must keeps the first arithmetic error, which makes Apply refuse the whole change.
func must[T any](t *turn, v T, err error) T {
	if err != nil && t.err == nil {
		t.err = err
	}
	return v
}

// close ends an order that nobody paid.
func (t *turn) close() error {
	if t.o.State != Awaiting {
		return t.out("")
	}
	if t.wantedPending() {
		return t.out("a deposit is in sight")
	}
	if t.o.Bridge != nil {
		t.settleClaim()
	}
	t.end(Expired)
	return nil
}

func (t *turn) deadline(ev DeadlinePassed) error {
	if t.o.Deadline.IsZero() || !t.o.Deadline.Equal(ev.Of) {
		return t.out("that deadline is not the order's")
	}
	if t.now.Before(ev.Of) {
		return t.out("the deadline has not passed")
	}
	if t.o.State == Held && t.o.Stop == "" && t.refundable() {
		t.refund()
		return nil
	}
	t.o.Deadline, t.o.Delayed = time.Time{}, true
	t.do(AskHuman{Why: DeadlineExceeded})
	return nil
}

func (t *turn) stopped(ev Stopped) error {
	if t.o.Bridge != nil {
		return t.out("its money does not pass through the service")
	}
	switch t.o.State {
	case Awaiting, Confirming, Held:
		t.o.Stop = ev.Why
		t.do(AskHuman{Why: ev.Why})
		return nil
	}
	return t.out("its money is on its way")
}

func (t *turn) lifted(ev Lifted) error {
	if t.o.Stop == "" {
		return t.out("it is not stopped")
	}
	why := t.o.Stop
	t.o.Stop = ""
	if t.o.State == Held && t.o.Hold.Why == why {
		return t.judge(ev.Short)
	}
	t.refundNow() // what came due in the meantime
	return nil
}
