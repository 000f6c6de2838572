package cctp

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// The steps of a transfer that its owner runs.
const (
	legBurn   = "burn"
	legAttest = "attest"
	legMint   = "mint"
)

// Offered is the bridge from one chain to another as owners run it; whoever offers it
// gives it its name.
func (v *Venue) Offered(from, to chain.ID) (quote.Bridge, error) {
	a, b, err := v.pair(Bridge{From: from, To: to})
	if err != nil {
		return quote.Bridge{}, err
	}
	return quote.Bridge{
		Kind: quote.BurnMint, Direction: "transfer", From: from, To: to, Takes: a.Attested, Assets: []quote.Lane{{Give: a.Token, Get: b.Token}},
		Legs: []quote.Leg{
			{ID: legBurn, Title: "Burn the token", Actor: quote.ByUser, Chain: from},
			{ID: legAttest, Title: "Wait for the attestation", Actor: quote.ByNetwork, Chain: from, Takes: a.Attested},
			{ID: legMint, Title: "Mint on the other side", Actor: quote.ByUser, Chain: to, Claim: true},
		},
	}, nil
}

// Performed is the same bridge as the service performs it.
func (v *Venue) Performed(from, to chain.ID) (quote.Bridge, error) {
	b, err := v.Offered(from, to)
	b.Managed = true
	for i := range b.Legs {
		if b.Legs[i].Actor == quote.ByUser {
			b.Legs[i].Actor = quote.ByService
		}
	}
	return b, err
}

// Limits are what one transfer may be.
func (v *Venue) Limits() (least, most money.Amount) { return v.cfg.Min, v.cfg.Max }

// tripPlan is what a trip keeps of its beginning.
type tripPlan struct {
	Version int          `json:"v"`
	Since   uint64       `json:"since"` // a height of the other side before the transfer
	MaxFee  money.Amount `json:"maxFee"`
	Tag     string       `json:"tag"`
}

// Begin is what a trip wants to know again: how far the other side was, what may be kept
// of it, and the tag by which its burn is told from every other.
func (v *Venue) Begin(ctx context.Context, name string, t quote.Trip, now time.Time) ([]byte, error) {
	from, to, err := v.pair(Bridge{From: t.Give.Chain, To: t.Get.Chain})
	if err != nil {
		return nil, err
	}
	l, err := v.lane(ctx, from, to, now)
	if err != nil {
		return nil, err
	}
	fee, err := t.Amount.Share(v.cfg.MaxFee, money.Up)
	if err != nil {
		return nil, err
	}
	tag := TagOf(name)
	return json.Marshal(tripPlan{planVersion, l.since, fee, hex.EncodeToString(tag[:])})
}

// follow is a trip as the venue follows it.
func (v *Venue) follow(t quote.Trip) (Follow, error) {
	var p tripPlan
	if err := json.Unmarshal(t.Plan, &p); err != nil || p.Version != planVersion {
		return Follow{}, fmt.Errorf("cctp: the plan of a trip can not be read: version %d, %w", p.Version, err)
	}
	f := Follow{Since: p.Since, Bridge: Bridge{
		From: t.Give.Chain, To: t.Get.Chain, Depositor: t.From, Recipient: t.To, Amount: t.Amount, MaxFee: p.MaxFee,
	}}
	tag, err := hex.DecodeString(p.Tag)
	if err != nil || len(tag) != len(f.Bridge.Tag) {
		return Follow{}, fmt.Errorf("cctp: the tag of a trip can not be read: %w", err)
	}
	copy(f.Bridge.Tag[:], tag)
	for _, told := range t.Told {
		switch told.Leg {
		case legBurn:
			f.Burn = told.Tx
		case legMint:
			f.Mints = append(f.Mints, told.Tx)
		}
	}
	return f, nil
}

// Look says where a trip stands.
func (v *Venue) Look(ctx context.Context, t quote.Trip, now time.Time) (quote.Standing, error) {
	f, err := v.follow(t)
	if err != nil {
		return quote.Standing{}, err
	}
	out := quote.Standing{Again: v.cfg.Poll}
	told, sent := t.Last(legBurn)
	if !sent {
		out.Legs = legs(quote.LegReady, quote.LegPending, quote.LegPending)
		return out, nil
	}
	s, err := v.Status(ctx, f)
	switch {
	case errors.Is(err, ErrNoBurn) || errors.Is(err, ErrAmbiguous):
		out.Legs = legs(quote.LegFailed, quote.LegPending, quote.LegPending)
		out.Legs[0].Why = "the transaction " + string(f.Burn) + " is not the burn of this order"
		return out, nil
	case err != nil:
		return quote.Standing{}, err
	}
	switch s.Stage {
	case Unseen:
		status, why := quote.Judge(chain.Receipt{Fate: chain.Missing}, told, now)
		out.Legs = legs(status, quote.LegPending, quote.LegPending)
		out.Legs[0].Why = why
		return out, nil
	case Burning:
		out.Legs = legs(quote.LegSubmitted, quote.LegPending, quote.LegPending)
		return out, nil
	case Reverted:
		out.Legs = legs(quote.LegFailed, quote.LegPending, quote.LegPending)
		out.Legs[0].Why = "the transaction " + string(f.Burn) + " reverted"
		return out, nil
	}
	out.Moved, out.Proofs = s.Burn.Message.Amount, []string{fmt.Sprintf("%s/%s/%d", t.Give.Chain, f.Burn, s.Burn.Index)}
	return v.burned(ctx, t, s, out, now)
}

// legs are the three steps, with their statuses.
func legs(burn, attest, mint quote.LegStatus) []quote.LegStands {
	return []quote.LegStands{{ID: legBurn, Status: burn}, {ID: legAttest, Status: attest}, {ID: legMint, Status: mint}}
}

// burned goes on from a burn that is final.
func (v *Venue) burned(ctx context.Context, t quote.Trip, s Status, out quote.Standing, now time.Time) (quote.Standing, error) {
	const done = quote.LegConfirmed
	switch s.Stage {
	case Attesting:
		out.Legs = legs(done, quote.LegWaiting, quote.LegPending)
		out.Legs[1].ReadyAt, out.Legs[1].Estimate = s.ReadyAt, true
		told, _ := t.Last(legBurn) // a chain's clock may be ahead of ours
		if at := told.At.Add(v.domains[t.Give.Chain].Attested); at.Before(s.ReadyAt) {
			out.Legs[1].ReadyAt = at
		}
	case Minting:
		out.Legs = legs(done, done, quote.LegSubmitted)
	case Minted:
		out.Legs = legs(done, done, done)
		out.Legs[2].Tx, out.Brought = s.Mint.Tx, s.Mint.Amount
	case Ready:
		out.Legs = legs(done, done, quote.LegReady)
		told, sent := t.Last(legMint)
		if !sent {
			break
		}
		r, err := v.chains[t.Get.Chain].Receipt(ctx, told.Tx)
		if err != nil {
			return quote.Standing{}, fmt.Errorf("receipt of %s: %w", told.Tx, err)
		}
		status, why := quote.Judge(r, told, now)
		if status == done { // final, and the message was not used when that was asked before
			again, err := v.again(ctx, t)
			if err != nil {
				return quote.Standing{}, err
			}
			if again.Stage != Ready {
				return v.burned(ctx, t, again, out, now)
			}
			status, why = quote.LegFailed, "the transaction "+string(told.Tx)+" did not mint"
		}
		out.Legs[2].Status, out.Legs[2].Why = status, why
	default:
		return quote.Standing{}, fmt.Errorf("cctp: a burn that is final is %s", s.Stage)
	}
	return out, nil
}

// again asks once more where a trip stands.
func (v *Venue) again(ctx context.Context, t quote.Trip) (Status, error) {
	f, err := v.follow(t)
	if err != nil {
		return Status{}, err
	}
	return v.Status(ctx, f)
}

// Build makes the transaction of a step: the burn after its approval, or the mint.
func (v *Venue) Build(ctx context.Context, t quote.Trip, leg string, _ time.Time) ([]chain.Call, error) {
	f, err := v.follow(t)
	if err != nil {
		return nil, err
	}
	switch leg {
	case legBurn:
		approve, err := v.Approve(f.Bridge)
		if err != nil {
			return nil, err
		}
		burn, err := v.Burn(f.Bridge)
		if err != nil {
			return nil, err
		}
		return []chain.Call{approve.call(t.Give, money.Amount{}), burn.call(t.Give, t.Amount)}, nil
	case legMint:
		if f.Burn == "" {
			return nil, quote.ErrNotReady
		}
		s, err := v.Status(ctx, f)
		if err != nil {
			return nil, err
		}
		if s.Stage != Ready {
			return nil, fmt.Errorf("%w: it is %s", quote.ErrNotReady, s.Stage)
		}
		mint, err := v.Mint(f.Bridge, s)
		if err != nil {
			return nil, err
		}
		return []chain.Call{mint.call(t.Get.Chain.Native(), money.Amount{})}, nil
	}
	return nil, fmt.Errorf("%w: %s is no transaction", quote.ErrNotReady, leg)
}

// call is calldata as a call by which so much leaves whoever sends it.
func (c Calldata) call(x chain.Asset, n money.Amount) chain.Call {
	return chain.Call{Chain: c.Chain, To: c.To, Asset: x, Amount: n, Data: c.Data}
}
