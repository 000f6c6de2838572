package cctp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// What the transactions of a transfer take, rounded up from what is seen on chains. It
// prices a route; what is really paid is known when it is paid.
const (
	gasApprove = 60_000
	gasBurn    = 170_000
	gasMint    = 220_000
	gasPayout  = 65_000
)

// Venue moves the token between the configured chains. It may be used by many at once.
type Venue struct {
	cfg      Config
	domains  map[chain.ID]Domain
	chains   map[chain.ID]Chain
	attester Attester
	gas      Gas

	mu    sync.Mutex
	known map[market.Pair]lane
}

// lane is what was read of a pair of chains.
type lane struct {
	limit money.Amount // of one burn
	since uint64       // a final height of the other side
	at    time.Time
}

// New makes a venue of chains that are all there.
func New(cfg Config, chains map[chain.ID]Chain, a Attester, g Gas) (*Venue, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("cctp: %w", err)
	}
	if a == nil || g == nil {
		return nil, errors.New("cctp: an attester and a price of gas are needed")
	}
	v := &Venue{cfg: cfg, domains: map[chain.ID]Domain{}, chains: map[chain.ID]Chain{}, attester: a, gas: g, known: map[market.Pair]lane{}}
	for _, d := range cfg.Domains {
		if chains[d.Chain] == nil {
			return nil, fmt.Errorf("cctp: chain %s of domain %d is not there", d.Chain, d.Number)
		}
		v.domains[d.Chain], v.chains[d.Chain] = d, chains[d.Chain]
	}
	return v, nil
}

// Check asks at start whether the contracts are what the configuration says: of that
// domain, of one another, and of the messengers on the other chains.
func (v *Venue) Check(ctx context.Context) error {
	for _, d := range v.cfg.Domains {
		on := v.chains[d.Chain]
		number, err := ask[uint32](ctx, on, d.Transmitter, "localDomain")
		if err != nil {
			return fmt.Errorf("cctp: %s: %w", d.Chain, err)
		}
		if number != d.Number {
			return fmt.Errorf("cctp: %s: the transmitter is of domain %d, and %d is configured", d.Chain, number, d.Number)
		}
		by, err := askAddress(ctx, on, d.Messenger, "localMessageTransmitter")
		if err != nil {
			return fmt.Errorf("cctp: %s: %w", d.Chain, err)
		}
		if by != d.Transmitter {
			return fmt.Errorf("cctp: %s: the messenger speaks through %s, and %s is configured", d.Chain, by.Text(), d.Transmitter.Text())
		}
		for _, to := range v.cfg.Domains {
			if to.Number == d.Number {
				continue
			}
			if err := v.linked(ctx, d, to); err != nil {
				return fmt.Errorf("cctp: %s: %w", d.Chain, err)
			}
		}
	}
	return nil
}

// linked refuses a messenger that sends to another one than is configured there.
func (v *Venue) linked(ctx context.Context, from, to Domain) error {
	w, err := ask[[32]byte](ctx, v.chains[from.Chain], from.Messenger, "remoteTokenMessengers", to.Number)
	if err != nil {
		return err
	}
	if chain.Word(w) != addressWord(to.Messenger) {
		return fmt.Errorf("the messenger of domain %d is %s, and %s is configured", to.Number, addressIn(w).Text(), to.Messenger.Text())
	}
	return nil
}

// pair are the two sides of a bridge.
func (v *Venue) pair(b Bridge) (from, to Domain, err error) {
	from, ok := v.domains[b.From]
	to, there := v.domains[b.To]
	if !ok || !there || b.From == b.To {
		return Domain{}, Domain{}, fmt.Errorf("%w: from %s to %s", ErrDomain, b.From, b.To)
	}
	return from, to, nil
}

// Name implements market.Venue.
func (v *Venue) Name() string { return Name }

// plan is what a step keeps of the quote.
type plan struct {
	Version int           `json:"v"`
	Since   uint64        `json:"since"`  // a height of the other side before the transfer
	MaxFee  money.Percent `json:"maxFee"` // as it was when the output was promised
	Salt    string        `json:"salt"`
}

const planVersion = 1

// Routes implements market.Venue: the token for itself on another chain, one for one,
// less what the protocol may keep, Ferry's fee and what the transactions cost.
func (v *Venue) Routes(ctx context.Context, in market.Intent) ([]market.Route, error) {
	from, to, err := v.pair(Bridge{From: in.Give.Chain, To: in.Get.Chain})
	if err != nil || from.Token != in.Give || to.Token != in.Get {
		return nil, nil // it has no such pair, which is no trouble
	}
	if in.Mode == quote.Fixed {
		return nil, fault.New(fault.Unprocessable, "rate_mode_unsupported", "A bridge brings what it brings; ask for a float rate.")
	}
	l, err := v.lane(ctx, from, to, in.At)
	if err != nil {
		return nil, err
	}
	most := money.Min(v.cfg.Max, l.limit)
	if most.Less(v.cfg.Min) {
		return nil, fault.New(fault.Unprocessable, "insufficient_liquidity", "The bridge takes nothing from %s now; try again later.", from.Chain)
	}
	network, err := v.network(ctx, from, to, in.At)
	if err != nil {
		return nil, err
	}
	amount := in.Amount
	if in.Side == market.To {
		if amount, err = v.least(in.Amount, network); err != nil {
			return nil, err
		}
	}
	if amount.Less(v.cfg.Min) || most.Less(amount) {
		return nil, &market.Bounds{Min: v.cfg.Min, Max: most, Low: amount.Less(v.cfg.Min)}
	}
	return v.route(in, lanes{from, to, l}, market.Route{
		In: amount, Network: network, MinIn: v.cfg.Min, MaxIn: most, Takes: from.Attested, Toll: quote.Toll{Share: v.cfg.Service, Flat: network},
	})
}

// lanes is a pair of chains with what was read of it.
type lanes struct {
	from, to Domain
	lane
}

// route fills in what an input brings, and the step that brings it.
func (v *Venue) route(in market.Intent, l lanes, r market.Route) ([]market.Route, error) {
	brought, err := v.brought(r.In)
	if err != nil {
		return nil, err
	}
	if r.Out, err = r.Toll.Rest(brought); err != nil {
		return nil, err
	}
	if r.Out.IsZero() {
		return nil, fault.New(fault.Unprocessable, "fees_exceed_amount", "After fees nothing is left; ask for more.")
	}
	if in.Side == market.To { // what the last unit brings above what is wanted stays here
		r.Out = in.Amount
	}
	r.Service = brought.Less0(r.Network).Less0(r.Out)
	text, err := json.Marshal(plan{planVersion, l.since, v.cfg.MaxFee, rand.Text()})
	if err != nil {
		return nil, err
	}
	r.Steps = []quote.Step{{Venue: Name, In: l.from.Token, Out: l.to.Token, Give: r.In, Bring: brought, MinOut: brought, Plan: text}}
	return []market.Route{r}, nil
}

// brought is what a burn brings at least.
func (v *Venue) brought(in money.Amount) (money.Amount, error) {
	fee, err := in.Share(v.cfg.MaxFee, money.Up)
	if err != nil {
		return money.Amount{}, err
	}
	return in.Sub(fee)
}

// least is the smallest input of which at least out is left after every fee: both
// divisions are undone by one that is rounded up, and each fee may be rounded by one.
func (v *Venue) least(out, network money.Amount) (money.Amount, error) {
	n, err := out.Add(network)
	whole := money.FromUint64(uint64(money.Whole))
	for _, p := range []money.Percent{v.cfg.Service, v.cfg.MaxFee} {
		if err == nil {
			n, err = n.MulDiv(whole, money.FromUint64(uint64(money.Whole-p)), money.Up)
		}
	}
	if err != nil {
		return n, fmt.Errorf("cctp: an input for %s: %w", out, err)
	}
	return n, nil
}

// network is what the transactions cost, in the token on the other side.
func (v *Venue) network(ctx context.Context, from, to Domain, at time.Time) (money.Amount, error) {
	there, err := v.gas.Gas(ctx, from.Chain, gasApprove+gasBurn, to.Token, at)
	if err != nil {
		return money.Amount{}, err
	}
	here, err := v.gas.Gas(ctx, to.Chain, gasMint+gasPayout, to.Token, at)
	if err != nil {
		return money.Amount{}, err
	}
	return there.Add(here)
}

// lane reads what one burn may be and how far the other side is, once in a while.
func (v *Venue) lane(ctx context.Context, from, to Domain, now time.Time) (lane, error) {
	key := market.Pair{Give: from.Token, Get: to.Token}
	v.mu.Lock()
	l, ok := v.known[key]
	v.mu.Unlock()
	if age := now.Sub(l.at); ok && age >= 0 && age < v.cfg.Fresh {
		return l, nil
	}
	limit, err := v.limit(ctx, from)
	if err != nil {
		return lane{}, err
	}
	head, err := v.chains[to.Chain].Head(ctx)
	if err != nil {
		return lane{}, fmt.Errorf("head of %s: %w", to.Chain, err)
	}
	l = lane{limit: limit, since: head.Final.Height, at: now}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.known[key] = l
	return l, nil
}

// limit is the most of one burn.
func (v *Venue) limit(ctx context.Context, from Domain) (money.Amount, error) {
	on := v.chains[from.Chain]
	minter, err := askAddress(ctx, on, from.Messenger, "localMinter")
	if err != nil {
		return money.Amount{}, err
	}
	n, err := ask[*big.Int](ctx, on, minter, "burnLimitsPerMessage", toCommon(from.tokenAt()))
	if err != nil {
		return money.Amount{}, err
	}
	return fromBig(n), nil
}
