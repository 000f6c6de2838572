package order

import (
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/quote"
)

// Ask is what an order is made of.
type Ask struct {
	ID                         ID
	Session                    [32]byte
	Quote                      quote.Quote
	DepositTo, PayTo, RefundTo chain.Address // RefundTo may be unknown
	PayFrom                    chain.Address // who will pay; known where DepositTo is a reference
	FundingTime                time.Duration
	Patience                   Patience
	Origin                     Origin
	Bridge                     *BridgeAsk // of one that its owner runs; nil otherwise
	Ceilings                   []Ceiling  // none of them may be reached yet
	Flow                       *Flow      // what is sold of its pair; nil: it is not counted
	Once                       *Once      // nil: it may be asked for again and again
}

// byReference reports whether it is paid straight into the wallet.
func (a Ask) byReference() bool {
	_, is := a.DepositTo.Reference()
	return is
}

// New makes an order and reserves its payout.
func New(a Ask, now time.Time) (Change, error) {
	bad := func(why string) (Change, error) { return Change{}, fmt.Errorf("%w: %s: %s", ErrBadOrder, a.ID, why) }
	if err := a.Quote.Check(); err != nil {
		return Change{}, err
	}
	switch {
	case a.Flow != nil && (a.Flow.Pair == "" || a.Flow.USD < 0 || a.Flow.Most <= 0):
		return bad("what is sold of its pair has no bound")
	case a.ID == "":
		return bad("no id")
	case a.DepositTo.IsZero() || a.PayTo.IsZero():
		return bad("no deposit or payout address")
	case a.byReference() && a.PayFrom.IsZero():
		return bad("nobody is known who will pay")
	case a.FundingTime <= 0:
		return bad("no time to pay")
	case a.Patience.Confirming <= 0 || a.Patience.Sending <= 0 || a.Patience.Held <= 0 ||
		a.Patience.Refunding <= 0 || a.Patience.Recovery <= 0 || a.Patience.Executing <= 0:
		return bad("a state without a deadline")
	case a.Bridge != nil && (len(a.Bridge.Legs) == 0 || a.Origin.Bridge == "" || len(a.Quote.Steps) > 0 || a.Quote.Fee != nil):
		return bad("a bridge without steps or name, or one through which money passes")
	}
	t := &turn{now: now, ev: Created{}, o: Order{
		ID: a.ID, Version: 1, State: Awaiting, Session: a.Session, Integrator: a.Quote.Integrator, Quote: a.Quote,
		DepositTo: a.DepositTo, PayTo: a.PayTo, RefundTo: a.RefundTo, PayFrom: a.PayFrom, FeeStatus: FeeNone,
		Patience: a.Patience, CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(a.FundingTime),
		Keys: []string{Created{}.Key()}, Origin: a.Origin,
	}}
	for _, c := range a.Ceilings {
		t.o.Origin.Counts = append(t.o.Origin.Counts, c.Subject)
	}
	switch {
	case a.Quote.Fee == nil:
	case a.Quote.Fee.Skipped:
		t.o.FeeStatus, t.o.FeeReason = FeeSkip, FeeBelowCost
	default:
		t.o.FeeStatus = FeeProjected
	}
	if a.Bridge != nil {
		t.o.Bridge = a.Bridge.begin(a.Quote.Give.Chain)
	} else {
		t.reserveInventory(true)
	}
	if t.err != nil {
		return Change{}, t.err
	}
	t.ch.Now, t.ch.From, t.ch.Event, t.ch.At = t.o, Awaiting, t.ev, now
	t.ch.Ceilings, t.ch.Flow, t.ch.Once = a.Ceilings, a.Flow, a.Once
	return t.ch, t.ch.Entry.Check()
}

// Due says what the passing of time makes of the order: the event that is due
// now, if one is.
func (o Order) Due(now time.Time) (Event, bool) {
	if o.State == Awaiting && !now.Before(o.ExpiresAt) && !(&turn{o: o}).wantedPending() {
		return FundingClosed{}, true
	}
	if !o.Deadline.IsZero() && !now.Before(o.Deadline) {
		return DeadlinePassed{Of: o.Deadline}, true
	}
	for _, d := range o.Deposits {
		if d.due(now) {
			return RecoveryDue{Deposit: d.ID, Of: d.Deadline}, true
		}
	}
	return nil, false
}

func (d Deposit) due(now time.Time) bool {
	waits := d.State == Detected || d.State == AwaitingAddress
	return waits && !d.Deadline.IsZero() && !now.Before(d.Deadline)
}

// NextDue is when time will next make something of the order; zero is never.
func (o Order) NextDue() time.Time {
	var next time.Time
	earlier := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if o.State == Awaiting {
		earlier(o.ExpiresAt)
	}
	earlier(o.Deadline)
	for _, d := range o.Deposits {
		if d.State == Detected || d.State == AwaitingAddress {
			earlier(d.Deadline)
		}
	}
	return next
}
