package cctp

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"ferry/internal/chain"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// What a step asks for at most. An order has room for more, so that no step is broken off
// after its burn: maxTries is of calls that revert, the others are of all.
const (
	maxTries  = 3
	maxBefore = 12
	maxMints  = 8
)

// longest is the longest that is waited before another look, and idle is between looks
// at what only a person can mend.
const (
	longest = time.Minute
	idle    = 10 * time.Minute
)

// run is a step that runs, as its calls tell it.
type run struct {
	from, to         Domain
	plan             plan
	burns, mints     []quote.Sent
	approved, failed int // approvals that landed, and burns that did not
	open             bool
}

// Next says what a step needs: to approve, to burn, to wait for the attestation, to mint,
// or nothing more. It is a function of the step, of its calls and of what is on chain.
func (v *Venue) Next(ctx context.Context, s quote.Step, known quote.Progress) (quote.Move, error) {
	r, err := v.read(s, known)
	if err != nil {
		return nil, err
	}
	if r.open {
		return quote.Wait{For: v.cfg.Poll, Why: "a transaction is on its way"}, nil
	}
	var landed []quote.Sent
	for _, b := range r.burns {
		if b.Fate == chain.Final {
			landed = append(landed, b)
		}
	}
	switch len(landed) {
	case 0:
		return v.burnNext(ctx, r, known)
	case 1:
		return v.mintNext(ctx, r, landed[0], known.At)
	}
	return nil, fmt.Errorf("cctp: %d burns of one step landed", len(landed))
}

// read sorts the calls of a step by what they are.
func (v *Venue) read(s quote.Step, known quote.Progress) (run, error) {
	from, to, err := v.pair(Bridge{From: s.In.Chain, To: s.Out.Chain})
	if err != nil {
		return run{}, err
	}
	r := run{from: from, to: to}
	if s.Venue != Name || s.In != from.Token || s.Out != to.Token {
		return run{}, fmt.Errorf("cctp: a step of %s from %s to %s is not its own", s.Venue, s.In, s.Out)
	}
	if err := json.Unmarshal(s.Plan, &r.plan); err != nil || r.plan.Version != planVersion || r.plan.MaxFee < 0 || r.plan.MaxFee > maxShare {
		return run{}, fmt.Errorf("cctp: a plan that it did not make: %w", err)
	}
	for _, c := range known.Calls {
		r.open = r.open || !c.Fate.Settled()
		switch {
		case c.Call.Chain == from.Chain && c.Call.To == from.tokenAt():
			if c.Fate == chain.Final {
				r.approved++
			}
		case c.Call.Chain == from.Chain && c.Call.To == from.Messenger:
			r.burns = append(r.burns, c)
			if c.Fate == chain.Reverted {
				r.failed++
			}
		case c.Call.Chain == to.Chain && c.Call.To == to.Transmitter:
			r.mints = append(r.mints, c)
		default:
			return run{}, fmt.Errorf("cctp: a call to %s on %s is not its own", c.Call.To.Text(), c.Call.Chain)
		}
	}
	return r, nil
}

// burnNext is a step of which nothing is burned. What it was given is here, so it may fail.
func (v *Venue) burnNext(ctx context.Context, r run, known quote.Progress) (quote.Move, error) {
	maxFee, err := known.In.Share(r.plan.MaxFee, money.Up)
	if err != nil {
		return nil, err
	}
	b := Bridge{From: r.from.Chain, To: r.to.Chain, Depositor: r.from.Own, Recipient: r.to.Own, Amount: known.In, MaxFee: maxFee, Tag: r.plan.tag(known.At)}
	switch {
	case !maxFee.Less(known.In):
		return quote.Fail{Why: "there is nothing to burn"}, nil
	case r.failed >= maxTries:
		return quote.Fail{Why: "the burn reverted again and again"}, nil
	case len(known.Calls) >= maxBefore:
		return quote.Fail{Why: "it was tried too often"}, nil
	case len(r.mints) > 0:
		return nil, fmt.Errorf("cctp: a step minted before it burned")
	}
	limit, err := v.limit(ctx, r.from)
	if err != nil {
		return nil, err
	}
	if limit.Less(known.In) {
		return quote.Fail{Why: fmt.Sprintf("%s is above the bridge's limit of %s", known.In, limit)}, nil
	}
	// To whom a message is sent is what the messenger says, and not what was configured.
	if err := v.linked(ctx, r.from, r.to); err != nil {
		return nil, err
	}
	allowed, err := ask[*big.Int](ctx, v.chains[r.from.Chain], r.from.tokenAt(), "allowance", toCommon(r.from.Own), toCommon(r.from.Messenger))
	if err != nil {
		return nil, err
	}
	if fromBig(allowed).Less(known.In) {
		if r.approved >= maxTries {
			return quote.Fail{Why: "the token does not keep what it was allowed"}, nil
		}
		return quote.Send{Call: chain.Call{
			Chain: r.from.Chain, From: hot, To: r.from.tokenAt(), Asset: r.from.Chain.Native(), Data: approveData(r.from.Messenger),
		}}, nil
	}
	return quote.Send{Call: chain.Call{
		Chain: r.from.Chain, From: hot, To: r.from.Messenger, Asset: r.from.Token, Amount: known.In, Data: burnData(b, r.from, r.to),
	}}, nil
}

// mintNext is a step whose burn is final: it goes on until it is minted.
func (v *Venue) mintNext(ctx context.Context, r run, burn quote.Sent, now time.Time) (quote.Move, error) {
	b, ok := burned(burn.Call.Data)
	if !ok || burn.Tx == "" {
		return nil, fmt.Errorf("cctp: the burn %s cannot be read", burn.Tx)
	}
	b.From, b.To = r.from.Chain, r.to.Chain
	f := Follow{Bridge: b, Burn: burn.Tx, Since: r.plan.Since}
	reverted := 0
	for _, m := range r.mints {
		if a, ok := minted(m.Call.Data); ok {
			f.Known = append(f.Known, a)
		}
		if m.Fate == chain.Final {
			f.Mints = append(f.Mints, m.Tx)
		}
		if m.Fate == chain.Reverted {
			reverted++
		}
	}
	s, err := v.Status(ctx, f)
	if err != nil {
		return nil, err
	}
	switch s.Stage {
	case Minted:
		return quote.Done{In: s.Burn.Message.Amount, Out: s.Mint.Amount}, nil
	case Ready:
		if reverted+len(f.Mints) >= maxTries || len(r.mints) >= maxMints { // it is looked at again, and whoever mints it ends it
			return quote.Wait{For: idle, Why: "the mint failed again and again; anybody can hand the message in"}, nil
		}
		return quote.Send{Call: chain.Call{
			Chain: r.to.Chain, From: hot, To: r.to.Transmitter, Asset: r.to.Chain.Native(), Data: mintData(s.Attested),
		}}, nil
	case Attesting, Minting, Burning:
		return quote.Wait{For: min(max(s.ReadyAt.Sub(now), v.cfg.Poll), longest), Why: s.Why}, nil
	}
	return nil, fmt.Errorf("cctp: the burn %s is final and was seen as %s", burn.Tx, s.Stage)
}

// tag is of the burn that is asked for at a time: one quote may have become two orders,
// whose plans are the same. Once it is asked for it stands in its call.
func (p plan) tag(at time.Time) Tag {
	return Tag(crypto.Keccak256([]byte(p.Salt), binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())))[:len(Tag{})])
}

// askAddress asks a contract for an address.
func askAddress(ctx context.Context, c Chain, at chain.Address, method string) (chain.Address, error) {
	a, err := ask[common.Address](ctx, c, at, method)
	if err != nil {
		return chain.Address{}, err
	}
	return addressIn(chain.Word(common.BytesToHash(a[:]))), nil
}
