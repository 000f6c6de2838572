package cctp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ferry/internal/chain"
)

// Stage is where a transfer stands.
type Stage string

// The stages, in their order. Reverted is an end, in which nothing was burned.
const (
	Unseen    Stage = "unseen"    // no node knows the burn
	Burning   Stage = "burning"   // it is on its way, or not final
	Reverted  Stage = "reverted"  // the burn failed for good
	Attesting Stage = "attesting" // burned for good, and not attested yet
	Ready     Stage = "ready"     // attested: anybody may mint
	Minting   Stage = "minting"   // handed in by somebody, and not final
	Minted    Stage = "minted"    // done for good
)

// Status is where a transfer stands and what is known of it.
type Status struct {
	Stage Stage
	// Burn is what was burned for good, from Attesting on.
	Burn Burn
	// ReadyAt is about when it can be minted, once it is in a block.
	ReadyAt time.Time
	// Attested is what is handed in, from Ready on.
	Attested Attested
	// Mint is what was minted, when it is Minted.
	Mint Mint
	// Why is what is waited for, in words for an operator.
	Why string
}

// Follow is a transfer that is looked for.
type Follow struct {
	Bridge Bridge
	Burn   chain.TxID
	// Since is a height of the other side at which it was not minted yet: what the
	// transmitter said is looked through from there.
	Since uint64
	// Known are attested messages that were had before, and Mints are transactions that
	// may have handed one in: with them nobody but the chains is asked.
	Known []Attested
	Mints []chain.TxID
}

// Calldata is a transaction for somebody else to sign: no coins go with it.
type Calldata struct {
	Chain chain.ID
	To    chain.Address
	Data  []byte
}

// Approve is what lets the burn of a bridge take the token, for exactly its amount.
func (v *Venue) Approve(b Bridge) (Calldata, error) {
	from, _, err := v.pair(b)
	if err != nil {
		return Calldata{}, err
	}
	return Calldata{b.From, from.tokenAt(), protocol.Data("approve", toCommon(from.Messenger), toBig(b.Amount))}, nil
}

// Burn is what burns the amount of a bridge for its recipient on the other side.
func (v *Venue) Burn(b Bridge) (Calldata, error) {
	from, to, err := v.pair(b)
	if err != nil {
		return Calldata{}, err
	}
	if b.Recipient.Family() != chain.EVM || !b.MaxFee.Less(b.Amount) || b.Tag == (Tag{}) {
		return Calldata{}, errors.New("cctp: a burn needs a recipient, an amount above its fee and a tag of its own")
	}
	return Calldata{b.From, from.Messenger, burnData(b, from, to)}, nil
}

// Mint is what mints a transfer that is Ready.
func (v *Venue) Mint(b Bridge, s Status) (Calldata, error) {
	_, to, err := v.pair(b)
	if err != nil {
		return Calldata{}, err
	}
	if s.Stage != Ready {
		return Calldata{}, fmt.Errorf("cctp: a transfer that is %s cannot be minted", s.Stage)
	}
	return Calldata{b.To, to.Transmitter, mintData(s.Attested)}, nil
}

// Status reads where a transfer stands. A transaction that is not this bridge's burn is
// ErrNoBurn once it is final, and an error is that nothing is known.
func (v *Venue) Status(ctx context.Context, f Follow) (Status, error) {
	from, to, err := v.pair(f.Bridge)
	if err != nil {
		return Status{}, err
	}
	r, err := v.chains[from.Chain].Receipt(ctx, f.Burn)
	if err != nil {
		return Status{}, fmt.Errorf("receipt of %s: %w", f.Burn, err)
	}
	if r.Tx != f.Burn && r.Fate != chain.Missing {
		return Status{}, fmt.Errorf("receipt of %s: it is of %s", f.Burn, r.Tx)
	}
	switch r.Fate {
	case chain.Missing:
		return Status{Stage: Unseen, Why: "no node knows the burn"}, nil
	case chain.Reverted:
		return Status{Stage: Reverted, Why: "the burn reverted"}, nil
	case chain.Final:
	default:
		s := Status{Stage: Burning, Why: "the burn is not final"}
		if !r.Block.IsZero() {
			s.ReadyAt = r.Block.Time.Add(from.Attested)
		}
		return s, nil
	}
	b, err := FindBurn(r, f.Bridge, from, to)
	if err != nil {
		return Status{}, err
	}
	s := Status{Stage: Attesting, Burn: b, ReadyAt: b.Block.Time.Add(from.Attested), Why: "the burn is not attested"}
	return v.beyond(ctx, f, b, s)
}

// beyond goes on from a final burn.
func (v *Venue) beyond(ctx context.Context, f Follow, b Burn, s Status) (Status, error) {
	to := v.domains[f.Bridge.To]
	for _, a := range f.Known { // what was handed in before needs no service
		m, err := ParseMessage(a.Message)
		if err != nil || m.sent() != b.Message.sent() {
			continue
		}
		done, err := v.used(ctx, m, to)
		if err != nil {
			return Status{}, err
		}
		if done {
			return v.settled(ctx, f, m, s)
		}
		switch err := v.holds(ctx, a, m, to); {
		case err == nil: // it was handed in, and that never landed
			s.Stage, s.Attested, s.Why = Ready, a, "it can be minted"
			return s, nil
		case !errors.Is(err, ErrForged):
			return Status{}, err
		}
	}
	got, err := v.attest(ctx, f, b, s)
	if errors.Is(err, ErrForged) || errors.Is(err, ErrBusy) || errors.Is(err, ErrAttester) {
		s.Why = err.Error() // the money waits; nobody is harmed but by time
		return s, nil
	}
	return got, err
}

// attest asks the service, and judges what it says.
func (v *Venue) attest(ctx context.Context, f Follow, b Burn, s Status) (Status, error) {
	to := v.domains[f.Bridge.To]
	a, m, ok, err := v.attested(ctx, b)
	if err != nil || !ok {
		return s, err
	}
	done, err := v.used(ctx, m, to)
	if err != nil {
		return Status{}, err
	}
	if done { // by whom is read from the chain, whoever may sign today
		return v.settled(ctx, f, m, s)
	}
	if err := v.holds(ctx, a, m, to); err != nil {
		return Status{}, err
	}
	s.Stage, s.Attested, s.Why = Ready, a, "it can be minted"
	return s, nil
}

// settled is a transfer whose message was handed in.
func (v *Venue) settled(ctx context.Context, f Follow, m Message, s Status) (Status, error) {
	got, ok, err := v.minted(ctx, m, v.domains[f.Bridge.To], f.Since, f.Mints)
	if err != nil {
		return Status{}, err
	}
	s.Stage, s.Why = Minting, "the mint is not final"
	if ok {
		s.Stage, s.Mint, s.Why = Minted, got, ""
	}
	return s, nil
}
