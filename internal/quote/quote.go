package quote

import (
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/integrator"
	"ferry/internal/money"
)

// ID names a quote.
type ID string

// RateMode says whether the payout follows what a route's steps bring.
type RateMode string

// The rate modes.
const (
	Float RateMode = "float"
	Fixed RateMode = "fixed"
)

// Action is what to do with a deposit outside the tolerance.
type Action string

// The actions.
const (
	Hold       Action = "requote"     // keep it until the user accepts a new quote, tops up or asks for a refund
	Refund     Action = "refund"      // send it back where a refund address is known
	ProcessAll Action = "process_all" // pay for all of it at the order's own rate (over-payment only)
)

// Tolerance is how far a deposit may be from the quoted amount.
type Tolerance struct {
	Under, Over             money.Percent
	UnderAction, OverAction Action
	WrongAsset              Action // Hold or Refund
}

// Step is one leg of a route: through a venue, or from our own inventory, which needs
// no transaction. A route without steps is paid from the inventory, too.
type Step struct {
	Venue   string
	In, Out chain.Asset
	// Give becomes Bring by the plan. What a venue really brings is seen on chain; the
	// inventory exchanges at exactly this rate.
	Give, Bring money.Amount
	MinOut      money.Amount // for Give; what a venue brings is never less
	Plan        []byte       // what the venue needs to know again
}

// Inventory is the venue of a step that exchanges one of our assets for another, on
// any two chains, in the books alone.
const Inventory = "inventory"

// Toll is what the service keeps of what a route's last step brought: a share, and
// what sending it and the steps cost, in that asset.
type Toll struct {
	Share money.Percent
	Flat  money.Amount
}

// Rest is what is left of an amount after the toll, rounded against whoever is paid.
func (t Toll) Rest(n money.Amount) (money.Amount, error) {
	share, err := n.Share(t.Share, money.Up)
	if err != nil {
		return money.Amount{}, err
	}
	return n.Less0(share).Less0(t.Flat), nil
}

// Fee is the integrator's share of what comes in, on the chain it comes in on.
type Fee struct {
	Percent money.Percent
	PayTo   chain.Address
	// Skipped: already at quoting it did not cover its own transfer; it is
	// shown, not charged.
	Skipped bool
}

// Charged is which share is taken; nothing where none was asked for or it is skipped.
func (f *Fee) Charged() money.Percent {
	if f == nil || f.Skipped {
		return 0
	}
	return f.Percent
}

// Quote is a promise: In of Give becomes Out of Get.
type Quote struct {
	ID           ID
	Give, Get    chain.Asset
	In, Out      money.Amount
	MinIn, MaxIn money.Amount
	Mode         RateMode
	Tolerance    Tolerance
	Steps        []Step
	Toll         Toll // of a route with steps; without them Out is less it already
	Fee          *Fee
	Integrator   integrator.ID
	USD          money.USD // what In was worth when quoted
	ExpiresAt    time.Time
	Shown        Shown
}

// Shown is what the customer was told beside the promise. No money moves by it.
type Shown struct {
	ExactOut      bool // Out was asked for, not In
	Slippage      money.Percent
	MinOut, MaxIn money.Amount
	OutUSD        money.USD
	NetworkUSD    money.USD
	ServiceUSD    money.USD
	FeeUSD        money.USD // of the integrator
	Confirmations uint64
	Takes         time.Duration
}

// Errors of quotes.
var (
	ErrIncomplete = errors.New("quote: incomplete")
	ErrFeeTooHigh = errors.New("quote: integrator fee above 5 percent")
	ErrNoPayTo    = errors.New("quote: no payout address for the source family")
)

// Check refuses a quote that no order could be made of.
func (q Quote) Check() error {
	bad := func(why string) error { return fmt.Errorf("%w: %s: %s", ErrIncomplete, q.ID, why) }
	switch {
	case q.ID == "":
		return bad("no id")
	case q.Give.Chain == "" || q.Get.Chain == "":
		return bad("no pair")
	case q.Give == q.Get:
		return bad("an asset for itself")
	case q.In.IsZero() || q.Out.IsZero():
		return bad("nothing for something, or something for nothing")
	case q.In.Less(q.MinIn) || q.MaxIn.Less(q.In):
		return bad("outside its own limits")
	case q.Tolerance.Under < 0 || q.Tolerance.Under >= money.Whole || q.Tolerance.Over < 0:
		return bad("tolerance out of range")
	case q.Tolerance.UnderAction == ProcessAll || !q.Tolerance.known():
		return bad("tolerance without an action")
	case q.Mode != Float && q.Mode != Fixed:
		return bad("no rate mode")
	case q.Toll.Share < 0 || q.Toll.Share >= money.Whole:
		return bad("a toll of everything")
	case !q.connected():
		return bad("its steps do not lead from what is given to what is got")
	case q.Fee != nil && (q.Fee.Percent <= 0 || q.Fee.Percent > integrator.MaxFee):
		return ErrFeeTooHigh
	case q.Fee != nil && !q.Fee.Skipped && (q.Fee.PayTo.IsZero() || q.Integrator == ""):
		return ErrNoPayTo
	}
	return nil
}

// connected reports whether the steps lead from one end to the other, over the inventory
// at most once, and whether a fixed rate rests on nothing but it.
func (q Quote) connected() bool {
	at, crossings := q.Give, 0
	for _, s := range q.Steps {
		if s.Venue == Inventory {
			crossings++
		}
		if s.In != at || s.In == s.Out || s.Venue == "" || s.Give.IsZero() || s.Bring.IsZero() {
			return false
		}
		at = s.Out
	}
	return len(q.Steps) == 0 || at == q.Get && crossings <= 1 && (q.Mode == Float || crossings == len(q.Steps))
}

func (t Tolerance) known() bool {
	ok := func(a Action) bool { return a == Hold || a == Refund }
	return ok(t.UnderAction) && (ok(t.OverAction) || t.OverAction == ProcessAll) && ok(t.WrongAsset)
}

// PayoutFor is what in buys at the quoted rate, rounded down.
func (q Quote) PayoutFor(in money.Amount) (money.Amount, error) {
	return q.Out.MulDiv(in, q.In, money.Down)
}

// Reserve is what creation reserves of our own inventory: the most that can be asked of
// it without asking again, which is for the largest deposit inside the tolerance, rounded
// up. It is nothing where all goes through venues.
func (q Quote) Reserve() (chain.Asset, money.Amount, error) {
	asset, n := q.Get, q.Out
	for _, s := range q.Steps {
		asset, n = chain.Asset{}, money.Amount{}
		if s.Venue == Inventory {
			asset, n = s.Out, s.Bring
			break
		}
	}
	extra, err := n.Share(q.Tolerance.Over, money.Up)
	if err != nil {
		return chain.Asset{}, money.Amount{}, err
	}
	n, err = n.Add(extra)
	return asset, n, err
}

// Split divides what came in: the integrator's share, rounded down, stays on the
// source chain; the rest goes on its way.
func (q Quote) Split(in money.Amount) (onward, fee money.Amount, err error) {
	if q.Fee == nil || q.Fee.Skipped {
		return in, money.Amount{}, nil
	}
	if fee, err = in.Share(q.Fee.Percent, money.Down); err != nil {
		return money.Amount{}, money.Amount{}, err
	}
	onward, err = in.Sub(fee)
	return onward, fee, err
}

// Verdict is how a deposited sum stands to the quote.
type Verdict uint8

// The verdicts.
const (
	Within Verdict = iota
	Under
	Over
	AboveMax
)

// Judge compares what is in hand with what was quoted.
func (q Quote) Judge(in money.Amount) (Verdict, error) {
	slack, err := q.In.Share(q.Tolerance.Under, money.Down)
	if err != nil {
		return 0, err
	}
	if in.Less(q.In.Less0(slack)) {
		return Under, nil
	}
	if q.MaxIn.Less(in) {
		return AboveMax, nil
	}
	more, err := q.In.Share(q.Tolerance.Over, money.Down)
	if err != nil {
		return 0, err
	}
	most, err := q.In.Add(more)
	if err != nil {
		return 0, err
	}
	if most.Less(in) {
		return Over, nil
	}
	return Within, nil
}

// FeeAsk is what a fee is decided from.
type FeeAsk struct {
	Policy   integrator.FeePolicy
	Override *money.Percent // asked for on this quote or order
	Source   chain.Family
	In       money.Amount
	Transfer money.Amount // what sending the fee would cost, in the deposited asset
}

// FeeFor decides the integrator's fee: the override or the default, at most 5 %,
// paid to the address of the source family. It is nil when no fee applies, and
// Skipped when it would not cover its own transfer.
func FeeFor(a FeeAsk) (*Fee, error) {
	percent := a.Policy.Default
	if a.Override != nil {
		percent = *a.Override
	}
	if percent < 0 || percent > integrator.MaxFee {
		return nil, fmt.Errorf("%w: %s", ErrFeeTooHigh, percent)
	}
	if percent == 0 {
		return nil, nil
	}
	to, ok := a.Policy.PayTo[a.Source]
	if !ok || to.IsZero() {
		if a.Override != nil {
			return nil, fmt.Errorf("%w: %s", ErrNoPayTo, a.Source)
		}
		return nil, nil
	}
	amount, err := a.In.Share(percent, money.Down)
	if err != nil {
		return nil, err
	}
	return &Fee{Percent: percent, PayTo: to, Skipped: !a.Transfer.Less(amount)}, nil
}
