package market

import (
	"context"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/integrator"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// Depth is how many confirmations a payment waits for, up to a value.
type Depth struct {
	UpTo          money.USD // zero in the last one: any value above
	Confirmations uint64
}

// Chain is what offers say of a chain.
type Chain struct {
	ID     chain.ID
	Family chain.Family
	Depths []Depth // from small to large values
	// Deposit and Payout are how long each typically takes until it is believed.
	Deposit, Payout time.Duration
	Slippage        money.Percent // of a float offer that comes from here, where none is asked for
}

// Config is how offers are made.
type Config struct {
	Chains      []Chain
	Account     chain.Account // of ours, from which fees are sent
	Float       time.Duration // how long an offer of that mode is good
	Fixed       time.Duration
	Tolerance   quote.Tolerance
	Deadline    time.Duration // in which costs must be told and venues must answer
	MaxSlippage money.Percent
}

// Defaults are the times and bounds that most deployments want; chains, account and
// tolerance have none.
func Defaults() Config {
	return Config{Float: time.Minute, Fixed: 2 * time.Minute, Deadline: 2 * time.Second, MaxSlippage: 10 * money.Whole / 100}
}

// Ports are what a market needs.
type Ports struct {
	Treasury Treasury
	Costs    Costs
	Venues   []Venue
}

// Market makes offers.
type Market struct {
	cfg     Config
	listing *Listing
	ports   Ports
	chains  map[chain.ID]Chain
	near    []bool // of each venue: it is Near
	distant int    // how many are not
}

// New checks the settings; one that is missing is refused, never taken as unlimited.
func New(cfg Config, l *Listing, p Ports) (*Market, error) {
	m := &Market{cfg: cfg, listing: l, ports: p, chains: make(map[chain.ID]Chain, len(cfg.Chains))}
	switch {
	case l == nil || p.Treasury == nil || p.Costs == nil || len(p.Venues) == 0:
		return nil, fmt.Errorf("market: needs a listing, a treasury, costs and at least one venue")
	case cfg.Account == "":
		return nil, fmt.Errorf("market: needs the account that fees are sent from")
	case cfg.Float <= 0 || cfg.Fixed <= 0 || cfg.Deadline <= 0:
		return nil, fmt.Errorf("market: offers need a lifetime for each mode and venues a deadline")
	case cfg.MaxSlippage <= 0 || cfg.MaxSlippage >= money.Whole:
		return nil, fmt.Errorf("market: the most slippage must be above 0 and below 100 percent")
	}
	if err := checkTolerance(cfg.Tolerance); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, v := range p.Venues {
		if names[v.Name()] || v.Name() == "" {
			return nil, fmt.Errorf("market: venue %q has no name or stands there twice", v.Name())
		}
		names[v.Name()] = true
		_, near := v.(Near)
		if m.near = append(m.near, near); !near {
			m.distant++
		}
	}
	for _, c := range cfg.Chains {
		if err := m.admit(c); err != nil {
			return nil, fmt.Errorf("market: chain %s: %w", c.ID, err)
		}
	}
	for id := range l.chains {
		if _, ok := m.chains[id]; !ok {
			return nil, fmt.Errorf("market: chain %s: has assets and no settings", id)
		}
	}
	return m, nil
}

// checkTolerance lets the quote itself judge, with nothing else that could be wrong.
func checkTolerance(t quote.Tolerance) error {
	q := quote.Quote{
		ID: "quo_", Give: chain.Asset{Chain: "a"}, Get: chain.Asset{Chain: "b"}, In: one, Out: one, MaxIn: one,
		Mode: quote.Float, Tolerance: t,
	}
	if err := q.Check(); err != nil {
		return fmt.Errorf("market: deposits: %w", err)
	}
	return nil
}

func (m *Market) admit(c Chain) error {
	_, twice := m.chains[c.ID]
	switch {
	case twice:
		return fmt.Errorf("stands there twice")
	case c.ID == "" || c.Family == "":
		return fmt.Errorf("has no name or no family")
	case c.Deposit <= 0 || c.Payout <= 0:
		return fmt.Errorf("needs how long a deposit and a payout take")
	case c.Slippage <= 0 || c.Slippage > m.cfg.MaxSlippage:
		return fmt.Errorf("its slippage must be above 0 and at most %s percent", m.cfg.MaxSlippage)
	case len(c.Depths) == 0:
		return fmt.Errorf("no depth never means no confirmations")
	}
	for i, d := range c.Depths {
		last := i == len(c.Depths)-1
		if d.Confirmations == 0 || last != (d.UpTo == 0) || d.UpTo < 0 || (i > 0 && !last && d.UpTo <= c.Depths[i-1].UpTo) {
			return fmt.Errorf("depth %d: each needs confirmations and all but the last a value, from small to large", i+1)
		}
	}
	m.chains[c.ID] = c
	return nil
}

// confirmations is what a payment of that value waits for.
func (c Chain) confirmations(worth money.USD) uint64 {
	for _, d := range c.Depths {
		if d.UpTo == 0 || worth <= d.UpTo {
			return d.Confirmations
		}
	}
	return c.Depths[len(c.Depths)-1].Confirmations
}

// Side says which amount of an ask is exact.
type Side string

// The sides.
const (
	From Side = "from" // what is given
	To   Side = "to"   // what is got
)

// Ask is what an offer is asked for.
type Ask struct {
	Give, Get  chain.Asset
	Side       Side
	Amount     money.Amount // of Give or of Get, as Side says
	Mode       quote.RateMode
	Slippage   *money.Percent // of a float offer; nil is the chain's own
	To         chain.Address  // who will get it; zero while nobody said
	Integrator integrator.ID  // empty: nobody
	Fees       integrator.FeePolicy
	Override   *money.Percent // of the fee, for this offer only
}

// Quote makes the best offer there is. It has no side effects.
func (m *Market) Quote(ctx context.Context, a Ask, now time.Time) (Offer, error) {
	slippage, err := m.check(&a)
	if err != nil {
		return Offer{}, err
	}
	bounded := within(ctx, m.cfg.Deadline)
	defer bounded.end()
	ctx = bounded
	give, err := m.listing.value(a.Give, now)
	if err != nil {
		return Offer{}, err
	}
	get, err := m.listing.value(a.Get, now)
	if err != nil {
		return Offer{}, err
	}
	guess := a.Amount
	if a.Side == To {
		if guess, err = get.in(&give, a.Amount, money.Up); err != nil {
			return Offer{}, tooMuch(err)
		}
	}
	rule, err := m.shareOf(ctx, &a, &give, guess, now)
	if err != nil {
		return Offer{}, err
	}
	in := Intent{Give: a.Give, Get: a.Get, Side: a.Side, Amount: a.Amount, Mode: a.Mode, To: a.To, Over: m.cfg.Tolerance.Over, Slippage: slippage, At: now}
	if a.Side == From {
		in.Amount = rule.onward(a.Amount)
	}
	found, err := m.best(ctx, &in)
	if err != nil {
		return Offer{}, err
	}
	d := draft{Ask: a, slippage: slippage, give: give, get: get, rule: rule, now: now}
	if found.venue == "" {
		return Offer{}, d.refused(found.dropped)
	}
	return m.offer(&d, &found)
}

// check refuses an ask that no offer could be made for, before anybody is asked.
func (m *Market) check(a *Ask) (money.Percent, error) {
	invalid := func(code, text string, args ...any) (money.Percent, error) {
		return 0, fault.New(fault.Invalid, code, text, args...)
	}
	for _, asset := range [...]*chain.Asset{&a.Give, &a.Get} {
		if m.listing.assets[*asset] == nil {
			return 0, m.listing.unlisted(*asset)
		}
	}
	switch {
	case a.Give == a.Get:
		return invalid("same_asset", "The asset to give and the asset to get are the same; choose two.")
	case a.Amount.IsZero():
		return invalid("invalid_amount", "The amount is nothing; send a whole number of smallest units above zero.")
	case a.Side != From && a.Side != To:
		return invalid("invalid_field", "side must be \"from\" or \"to\".")
	case a.Mode != quote.Float && a.Mode != quote.Fixed:
		return invalid("invalid_field", "rateMode must be \"float\" or \"fixed\".")
	case a.Override != nil && a.Integrator == "":
		return invalid("integrator_key_required", "integratorFeePercent needs an integrator key; send X-Integrator-Key, or leave the fee out.")
	case a.Slippage != nil && a.Mode == quote.Fixed:
		return invalid("invalid_slippage", "A fixed rate has no slippage; leave slippagePercent out, or ask for a float rate.")
	case a.Slippage != nil && (*a.Slippage <= 0 || *a.Slippage > m.cfg.MaxSlippage):
		return invalid("invalid_slippage", "slippagePercent must be above 0 and at most %s.", m.cfg.MaxSlippage)
	case a.Mode == quote.Fixed:
		return 0, nil
	case a.Slippage != nil:
		return *a.Slippage, nil
	}
	return m.chains[a.Give.Chain].Slippage, nil
}

// tooMuch is the refusal of an amount that passes what can be counted.
func tooMuch(err error) error {
	return fault.New(fault.Unprocessable, "amount_too_high", "The amount is more than can be exchanged; ask for less.").Because(err)
}
