package market

import (
	"context"
	"fmt"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/money"
	"ferry/internal/quote"
)

// Pair is two assets in one direction.
type Pair struct{ Give, Get chain.Asset }

// Terms are what a swap from our own inventory costs, and how large it may be.
type Terms struct {
	Spread   money.Percent // the service's fee, taken from the output
	Min, Max money.USD     // of what is given
	Fixed    bool          // whether a fixed rate is offered
	Off      bool          // whether the pair is not served
}

// InventoryConfig is how our own inventory is sold.
type InventoryConfig struct {
	Account chain.Account // of ours, from which payouts are sent
	// Own are our addresses of that account: they stand in for a recipient who is not
	// known yet when the cost of a payout is asked for.
	Own     map[chain.ID]chain.Address
	Default Terms
	Pairs   map[Pair]Terms // where they differ from the default
	// Never are assets that we neither take for our own nor have: others exchange them.
	Never map[chain.Asset]bool
}

// Inventory is the venue that pays from what we have: its routes have no steps.
type Inventory struct {
	cfg      InventoryConfig
	listing  *Listing
	treasury Treasury
	costs    Costs
}

// maxSpread bounds a spread: more is a typing error.
const maxSpread = money.Whole / 2

// NewInventory checks the terms.
func NewInventory(cfg InventoryConfig, l *Listing, t Treasury, c Costs) (*Inventory, error) {
	if l == nil || t == nil || c == nil || cfg.Account == "" {
		return nil, fmt.Errorf("market: inventory needs a listing, a treasury, costs and an account")
	}
	if err := cfg.Default.check(); err != nil {
		return nil, fmt.Errorf("market: inventory: default terms: %w", err)
	}
	for p, terms := range cfg.Pairs {
		if err := terms.check(); err != nil {
			return nil, fmt.Errorf("market: inventory: terms of %s to %s: %w", p.Give, p.Get, err)
		}
	}
	for id := range l.chains {
		if cfg.Own[id].IsZero() {
			return nil, fmt.Errorf("market: inventory: chain %s: has no address of ours", id)
		}
	}
	return &Inventory{cfg: cfg, listing: l, treasury: t, costs: c}, nil
}

func (t Terms) check() error {
	switch {
	case t.Off:
		return nil
	case t.Spread < 0 || t.Spread > maxSpread:
		return fmt.Errorf("the spread must be from 0 to %s percent", maxSpread)
	case t.Min <= 0 || t.Max < t.Min:
		return fmt.Errorf("the minimum must be above zero and the maximum at least that; zero never means unlimited")
	}
	return nil
}

// Name implements Venue.
func (v *Inventory) Name() string { return "inventory" }

// Near implements Near: costs and what is free are mostly known, and whoever is asked
// for them otherwise minds the context.
func (v *Inventory) Near() {}

// terms are those of a pair.
func (v *Inventory) terms(give, get chain.Asset) Terms {
	terms, ok := v.cfg.Pairs[Pair{give, get}]
	if !ok {
		terms = v.cfg.Default
	}
	terms.Off = terms.Off || v.cfg.Never[give] || v.cfg.Never[get]
	return terms
}

// Routes implements Venue.
func (v *Inventory) Routes(ctx context.Context, in Intent) ([]Route, error) {
	terms := v.terms(in.Give, in.Get)
	if terms.Off {
		return nil, nil
	}
	if in.Mode == quote.Fixed && !terms.Fixed {
		return nil, fault.New(fault.Unprocessable, "rate_mode_unsupported", "This pair has no fixed rate; ask for a float rate.")
	}
	d, err := v.deal(ctx, in, terms)
	if err != nil {
		return nil, err
	}
	r, err := d.route(in)
	if err != nil {
		return nil, err
	}
	return []Route{r}, nil
}

// deal is one pair at one moment: its rate, its costs and its limits.
type deal struct {
	give, get valued
	num, den  money.Amount // smallest units to get for one that is given
	keep      money.Amount // what is left of a whole after the spread, in millionths
	network   money.Amount // what the payout costs, in the asset to get
	min, max  money.Amount // of what is given
}

// rated is a pair at its rate, before costs and limits.
func (v *Inventory) rated(p Pair, t Terms, at time.Time) (d deal, err error) {
	d.keep = money.FromUint64(uint64(money.Whole - t.Spread))
	if d.give, err = v.listing.value(p.Give, at); err != nil {
		return deal{}, err
	}
	if d.get, err = v.listing.value(p.Get, at); err != nil {
		return deal{}, err
	}
	d.num, d.den = d.give.rate(&d.get)
	return d, nil
}

// bound limits a deal by its terms and by what is free.
func (v *Inventory) bound(ctx context.Context, d *deal, t Terms, over money.Percent) error {
	get := d.get.Asset.Asset
	free, err := v.treasury.Free(ctx, get)
	if err != nil {
		return fmt.Errorf("free %s: %w", get, err)
	}
	return d.limit(t, d.payable(free, over))
}

func (v *Inventory) deal(ctx context.Context, in Intent, t Terms) (deal, error) {
	d, err := v.rated(Pair{in.Give, in.Get}, t, in.At)
	if err != nil {
		return deal{}, err
	}
	call := chain.Call{Chain: in.Get.Chain, From: v.cfg.Account, To: in.To, Asset: in.Get, Amount: in.Amount}
	if in.To.IsZero() {
		call.To = v.cfg.Own[in.Get.Chain]
	}
	if in.Side == From {
		if call.Amount, err = in.Amount.MulDiv(d.num, d.den, money.Down); err != nil {
			return deal{}, tooMuch(err)
		}
	}
	call.Amount = money.Max(call.Amount, d.get.Dust)
	if d.network, err = costIn(ctx, v.listing, v.costs, &call, &d.get, in.At); err != nil {
		return deal{}, err
	}
	return d, v.bound(ctx, &d, t, in.Over)
}

// payable is the largest output that what is free covers: creation reserves the
// payout of the largest deposit inside the tolerance, and a payout of a chain's own
// coin pays its cost out of the same coins.
func (d *deal) payable(free money.Amount, over money.Percent) money.Amount {
	if d.get.Asset.Asset.IsNative() {
		free = free.Less0(d.network)
	}
	n, err := free.MulDiv(whole, money.FromUint64(uint64(money.Whole)+uint64(max(over, 0))), money.Down)
	if err != nil {
		return money.Amount{}
	}
	return n
}

// limit turns the terms' dollars and what can be paid into limits of what is given.
func (d *deal) limit(t Terms, payable money.Amount) error {
	var err error
	if d.min, err = d.give.units(t.Min, money.Up); err != nil {
		return err
	}
	if d.min.IsZero() {
		d.min = one
	}
	if d.max, err = d.give.units(t.Max, money.Down); err != nil {
		return err
	}
	if most, err := d.most(payable); err == nil {
		d.max = money.Min(d.max, most) // one that passes what can be counted limits nothing
	}
	if payable.Less(d.get.Dust) || d.max.Less(d.min) {
		return fault.New(fault.Unprocessable, "insufficient_liquidity", "There is not enough %s in the inventory for this pair now; try again later.", d.get.Symbol)
	}
	return nil
}

// route prices the intent.
func (d *deal) route(in Intent) (Route, error) {
	r := Route{Network: d.network, MinIn: d.min, MaxIn: d.max, In: in.Amount}
	var err error
	if in.Side == To {
		if in.Amount.Less(d.get.Dust) {
			return Route{}, d.eaten()
		}
		if r.In, err = d.least(in.Amount); err != nil {
			return Route{}, tooMuch(err)
		}
	}
	if r.In.Less(d.min) || d.max.Less(r.In) {
		return Route{}, &Bounds{Min: d.min, Max: d.max, Low: r.In.Less(d.min)}
	}
	gross, net, err := d.output(r.In)
	if err != nil {
		return Route{}, tooMuch(err)
	}
	if r.Out, err = net.Sub(d.network); err != nil || r.Out.Less(d.get.Dust) {
		return Route{}, d.eaten()
	}
	if in.Side == To { // what the last unit given buys above what is wanted stays here
		r.Out = in.Amount
	}
	r.Service = gross.Less0(d.network).Less0(r.Out)
	return r, nil
}

func (d *deal) eaten() error {
	return fault.New(fault.Unprocessable, "fees_exceed_amount", "After fees nothing that can be sent is left in %s; ask for more.", d.get.Symbol)
}

// output is what an input buys before and after the spread, both rounded down.
func (d *deal) output(in money.Amount) (gross, net money.Amount, err error) {
	if gross, err = in.MulDiv(d.num, d.den, money.Down); err != nil {
		return money.Amount{}, money.Amount{}, err
	}
	net, err = gross.MulDiv(d.keep, whole, money.Down)
	return gross, net, err
}

// least is the smallest input that buys at least out after spread and cost: each of
// the two divisions of output is undone by one that is rounded up.
func (d *deal) least(out money.Amount) (money.Amount, error) {
	net, err := out.Add(d.network)
	if err != nil {
		return money.Amount{}, err
	}
	gross, err := net.MulDiv(whole, d.keep, money.Up)
	if err != nil {
		return money.Amount{}, err
	}
	return gross.MulDiv(d.den, d.num, money.Up)
}

// most is the largest input that buys at most out: one less than the smallest that
// buys more.
func (d *deal) most(out money.Amount) (money.Amount, error) {
	more, err := out.Add(one)
	if err != nil {
		return money.Amount{}, err
	}
	n, err := d.least(more)
	if err != nil {
		return money.Amount{}, err
	}
	return n.Sub(one)
}
