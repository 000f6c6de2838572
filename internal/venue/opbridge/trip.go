package opbridge

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/quote"
)

// The steps of transfers that owners run: a deposit is begun and relayed, a withdrawal
// begun, proven and finalized.
const (
	legInitiate = "initiate"
	legRelay    = "relay"
	legProve    = "prove"
	legFinalize = "finalize"
)

// Trips are transfers that owners run over a bridge.
type Trips struct {
	b     *Bridge
	pairs []quote.Lane // from below to above
	cfg   TripConfig
}

// TripConfig is how trips are followed and what is told of them beforehand.
type TripConfig struct {
	Poll time.Duration // how soon is looked again
	// Relay is how long a deposit usually takes, Told until a state of the rollup is told
	// below, and Challenge how long a proof may be disputed.
	Relay, Told, Challenge time.Duration
}

// NewTrips follows trips of the assets that are named, as pairs from below to above.
func NewTrips(b *Bridge, pairs []quote.Lane, cfg TripConfig) (*Trips, error) {
	if cfg.Poll <= 0 || cfg.Relay <= 0 || cfg.Told <= 0 || cfg.Challenge <= 0 {
		return nil, errors.New("opbridge: how soon is looked again and how long a bridge takes must be above zero")
	}
	for _, p := range pairs {
		if p.Give.Chain != b.cfg.Below || p.Get.Chain != b.cfg.Above || p.Give.IsNative() != p.Get.IsNative() {
			return nil, fmt.Errorf("opbridge: %s and %s are no pair of the bridge to %s", p.Give, p.Get, b.cfg.Above)
		}
	}
	return &Trips{b: b, pairs: pairs, cfg: cfg}, nil
}

// Up is the bridge upwards as owners run it; whoever offers it gives it its name.
func (t *Trips) Up() quote.Bridge {
	return quote.Bridge{
		Kind: quote.Canonical, Direction: "deposit", From: t.b.cfg.Below, To: t.b.cfg.Above, Takes: t.cfg.Relay, Assets: t.pairs,
		Legs: []quote.Leg{
			{ID: legInitiate, Title: "Deposit into the bridge", Actor: quote.ByUser, Chain: t.b.cfg.Below},
			{ID: legRelay, Title: "Wait for the rollup", Actor: quote.ByNetwork, Chain: t.b.cfg.Above, Takes: t.cfg.Relay},
		},
	}
}

// Down is the bridge downwards.
func (t *Trips) Down() quote.Bridge {
	b := quote.Bridge{
		Kind: quote.Canonical, Direction: "withdraw", From: t.b.cfg.Above, To: t.b.cfg.Below, Takes: t.cfg.Told + t.cfg.Challenge,
		Legs: []quote.Leg{
			{ID: legInitiate, Title: "Begin the withdrawal", Actor: quote.ByUser, Chain: t.b.cfg.Above},
			{ID: legProve, Title: "Prove the withdrawal", Actor: quote.ByUser, Chain: t.b.cfg.Below, Claim: true},
			{ID: legFinalize, Title: "Finalize the withdrawal", Actor: quote.ByUser, Chain: t.b.cfg.Below, Claim: true},
		},
	}
	for _, p := range t.pairs {
		b.Assets = append(b.Assets, quote.Lane{Give: p.Get, Get: p.Give})
	}
	return b
}

// Begin: the chains say all there is to know.
func (t *Trips) Begin(context.Context, string, quote.Trip, time.Time) ([]byte, error) {
	return nil, nil
}

// transfer is what a trip carries, and whether it goes up.
func (t *Trips) transfer(trip quote.Trip) (x Transfer, up bool) {
	below, above := trip.Give, trip.Get
	if up = trip.Give.Chain == t.b.cfg.Below; !up {
		below, above = above, below
	}
	x = Transfer{From: trip.From, To: trip.To, Amount: trip.Amount}
	if !below.IsNative() {
		x.Token, x.Twin = chain.CanonicalAddress(chain.EVM, below.Ref), chain.CanonicalAddress(chain.EVM, above.Ref)
	}
	return x, up
}

// is reports whether a transfer that was seen is the one that was meant.
func (x Transfer) is(seen Transfer) bool {
	return seen.Token == x.Token && seen.Twin == x.Twin && seen.To == x.To && seen.Amount == x.Amount && (x.From.IsZero() || seen.From == x.From)
}

// start is what a trip may have begun by.
type start struct {
	proof      string
	deposit    Deposit
	withdrawal Withdrawal
}

// starts are the transfers of the trip's first transaction that are the trip's.
func (t *Trips) starts(ctx context.Context, trip quote.Trip, tx chain.TxID) ([]start, error) {
	x, up := t.transfer(trip)
	proof := func(id chain.Word) string {
		return fmt.Sprintf("%s/%s/%s", trip.Give.Chain, tx, hex.EncodeToString(id[:]))
	}
	var out []start
	if up {
		all, err := t.b.Deposits(ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, d := range all {
			if x.is(d.Transfer) {
				out = append(out, start{proof: proof(d.Message), deposit: d})
			}
		}
	} else {
		all, err := t.b.Withdrawals(ctx, tx)
		if err != nil {
			return nil, err
		}
		for _, w := range all {
			if x.is(w.Transfer) {
				out = append(out, start{proof: proof(w.Hash), withdrawal: w})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: it carries something else, or to somebody else", ErrForeign)
	}
	return out, nil
}

// begun is what a trip began by, once that is known.
func (t *Trips) begun(ctx context.Context, trip quote.Trip) (start, error) {
	told, sent := trip.Last(legInitiate)
	if !sent || trip.Began == "" {
		return start{}, quote.ErrNotReady
	}
	all, err := t.starts(ctx, trip, told.Tx)
	if err != nil {
		return start{}, err
	}
	for _, s := range all {
		if s.proof == trip.Began {
			return s, nil
		}
	}
	return start{}, fmt.Errorf("%w: %s is not there", ErrForeign, trip.Began)
}

// Look says where a trip stands.
func (t *Trips) Look(ctx context.Context, trip quote.Trip, now time.Time) (quote.Standing, error) {
	out := quote.Standing{Again: t.cfg.Poll}
	_, up := t.transfer(trip)
	told, sent := trip.Last(legInitiate)
	first := quote.LegStands{ID: legInitiate, Status: quote.LegReady}
	if sent && trip.Began == "" {
		var err error
		if first, out.Proofs, err = t.first(ctx, trip, told, now); err != nil {
			return quote.Standing{}, err
		}
		if len(out.Proofs) > 0 {
			out.Moved = trip.Amount
		}
	}
	if trip.Began == "" {
		out.Legs = []quote.LegStands{first}
		return out, nil
	}
	s, err := t.begun(ctx, trip)
	if err != nil {
		return quote.Standing{}, err
	}
	out.Legs, out.Moved = []quote.LegStands{{ID: legInitiate, Status: quote.LegConfirmed}}, trip.Amount
	if up {
		return t.relayed(ctx, s.deposit, told, out)
	}
	return t.withdrawn(ctx, trip, s.withdrawal, out, now)
}

// first is where the first step stands, and what the trip may have begun by.
func (t *Trips) first(ctx context.Context, trip quote.Trip, told quote.Told, now time.Time) (quote.LegStands, []string, error) {
	leg := quote.LegStands{ID: legInitiate}
	on := t.b.below
	if _, up := t.transfer(trip); !up {
		on = t.b.above
	}
	r, err := on.Receipt(ctx, told.Tx)
	if err != nil {
		return leg, nil, err
	}
	if leg.Status, leg.Why = quote.Judge(r, told, now); leg.Status != quote.LegConfirmed {
		return leg, nil, nil
	}
	all, err := t.starts(ctx, trip, told.Tx)
	if errors.Is(err, ErrForeign) {
		leg.Status, leg.Why = quote.LegFailed, "the transaction "+string(told.Tx)+" is not that of this order"
		return leg, nil, nil
	}
	var proofs []string
	for _, s := range all {
		if !s.withdrawal.heavy { // the service may have to pay for what its owner has run below
			proofs = append(proofs, s.proof)
		}
	}
	if err == nil && len(proofs) == 0 {
		leg.Status, leg.Why = quote.LegFailed, "the transaction "+string(told.Tx)+" asks for more gas or says more than that of this order"
	}
	return leg, proofs, err
}

// relayed goes on from a deposit that began.
func (t *Trips) relayed(ctx context.Context, d Deposit, told quote.Told, out quote.Standing) (quote.Standing, error) {
	a, err := t.b.Arrived(ctx, d)
	if err != nil {
		return quote.Standing{}, err
	}
	leg := quote.LegStands{ID: legRelay, Status: quote.LegWaiting, ReadyAt: told.At.Add(t.cfg.Relay), Estimate: true}
	switch a.Stage {
	case Paid:
		leg, out.Brought = quote.LegStands{ID: legRelay, Status: quote.LegConfirmed, Tx: d.Arrives}, a.Amount
	case Stuck, Lost:
		out.Broken = "the deposit is " + a.Stage.String() + " on the rollup"
	}
	out.Legs = append(out.Legs, leg)
	return out, nil
}

// withdrawn goes on from a withdrawal that began. What was said to do a step is looked at
// before the bridge is: what is final then is seen there too.
func (t *Trips) withdrawn(ctx context.Context, trip quote.Trip, w Withdrawal, out quote.Standing, now time.Time) (quote.Standing, error) {
	prove, err := t.told(ctx, trip, legProve, now)
	if err != nil {
		return quote.Standing{}, err
	}
	finalize, err := t.told(ctx, trip, legFinalize, now)
	if err != nil {
		return quote.Standing{}, err
	}
	s, err := t.b.Where(ctx, w)
	if err != nil {
		return quote.Standing{}, err
	}
	if s.ReadyAt, err = t.ours(ctx, s.ReadyAt, now); err != nil {
		return quote.Standing{}, err
	}
	proven := quote.LegStands{ID: legProve, Status: quote.LegConfirmed}
	switch s.Stage {
	case WaitingToProve:
		out.Legs = append(out.Legs, quote.LegStands{ID: legProve, Status: quote.LegWaiting, ReadyAt: s.ReadyAt, Estimate: true}, quote.LegStands{ID: legFinalize, Status: quote.LegPending})
	case ReadyToProve:
		out.Legs = append(out.Legs, prove, quote.LegStands{ID: legFinalize, Status: quote.LegPending})
	case WaitingToFinalize:
		out.Legs = append(out.Legs, proven, quote.LegStands{ID: legFinalize, Status: quote.LegWaiting, ReadyAt: s.ReadyAt, Estimate: true})
	case ReadyToFinalize:
		out.Legs = append(out.Legs, proven, finalize)
	case Finalized:
		return t.finalized(ctx, trip, w, s, out)
	}
	return out, nil
}

// ours is a time of the chain below by our own clock: by what is left until then.
func (t *Trips) ours(ctx context.Context, at, now time.Time) (time.Time, error) {
	if at.IsZero() {
		return at, nil
	}
	head, err := t.b.below.Head(ctx)
	if err != nil {
		return at, err
	}
	return now.Add(max(at.Sub(head.Tip.Time), 0)), nil
}

// told is where a step stands that can be done, by what was said to do it.
func (t *Trips) told(ctx context.Context, trip quote.Trip, leg string, now time.Time) (quote.LegStands, error) {
	out := quote.LegStands{ID: leg, Status: quote.LegReady}
	told, sent := trip.Last(leg)
	if !sent {
		return out, nil
	}
	r, err := t.b.below.Receipt(ctx, told.Tx)
	if err != nil {
		return out, err
	}
	if out.Status, out.Why = quote.Judge(r, told, now); out.Status == quote.LegConfirmed {
		out.Status, out.Why = quote.LegFailed, "the transaction "+string(told.Tx)+" did not do it"
	}
	return out, nil
}

// finalized is a withdrawal that was finalized, by whomever. What it paid is read from
// the transaction where that is known; the message that went through says no other amount.
func (t *Trips) finalized(ctx context.Context, trip quote.Trip, w Withdrawal, s Standing, out quote.Standing) (quote.Standing, error) {
	proven, last := quote.LegStands{ID: legProve, Status: quote.LegConfirmed}, quote.LegStands{ID: legFinalize, Status: quote.LegConfirmed}
	if !s.OK {
		out.Broken = "the withdrawal was finalized, and the bridge did not pay it out"
		last.Status = quote.LegPending
		out.Legs = append(out.Legs, proven, last)
		return out, nil
	}
	out.Brought = w.Amount
	if told, sent := trip.Last(legFinalize); sent {
		p, err := t.b.Paid(ctx, w, told.Tx)
		switch {
		case err == nil && p.OK:
			out.Brought, last.Tx = p.Amount, told.Tx
		case err != nil && !errors.Is(err, ErrForeign) && !errors.Is(err, ErrNotFinal):
			return quote.Standing{}, err
		}
	}
	out.Legs = append(out.Legs, proven, last)
	return out, nil
}

// Build makes the transaction of a step as it must be now.
func (t *Trips) Build(ctx context.Context, trip quote.Trip, leg string, _ time.Time) ([]chain.Call, error) {
	x, up := t.transfer(trip)
	switch leg {
	case legInitiate:
		return t.initiate(x, up)
	case legProve, legFinalize:
	default:
		return nil, fmt.Errorf("%w: %s is no transaction", quote.ErrNotReady, leg)
	}
	if up {
		return nil, quote.ErrNotReady
	}
	s, err := t.begun(ctx, trip)
	if err != nil {
		return nil, err
	}
	at, err := t.b.Where(ctx, s.withdrawal)
	if err != nil {
		return nil, err
	}
	if want := map[string]Stage{legProve: ReadyToProve, legFinalize: ReadyToFinalize}[leg]; at.Stage != want {
		// A second proof by the same account would end its first, and the wait begin anew.
		return nil, fmt.Errorf("%w: it is %s", quote.ErrNotReady, at.Stage)
	}
	if leg == legProve {
		call, err := t.b.Prove(ctx, s.withdrawal)
		if errors.Is(err, ErrNoOutput) {
			return nil, fmt.Errorf("%w: %w", quote.ErrNotReady, err)
		}
		return []chain.Call{call}, err
	}
	call, err := t.b.Finalize(s.withdrawal, at)
	return []chain.Call{call}, err
}

// initiate begins a transfer, after an approval where a token is taken below.
func (t *Trips) initiate(x Transfer, up bool) ([]chain.Call, error) {
	if !up {
		call, err := t.b.Withdraw(x)
		return []chain.Call{call}, err
	}
	deposit, err := t.b.Deposit(x)
	if err != nil || x.Token.IsZero() {
		return []chain.Call{deposit}, err
	}
	approve, err := t.b.Approval(x)
	return []chain.Call{approve, deposit}, err
}
