package settle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/fault"
	"ferry/internal/ledger"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
)

// Config is how orders are settled.
type Config struct {
	// PerHour and PerPayment cap what goes out of a chain. Zero is refused: it
	// never means unlimited.
	PerHour, PerPayment money.USD
	// FeeFactor is how many times the going price a transfer may cost at most.
	FeeFactor uint64
	// Hurry is the time in which a transfer's whole fee budget may be spent.
	Hurry time.Duration
	// GiveUp is when a payout that has not landed is cancelled and refunded.
	// Refunds and fees are never given up.
	GiveUp time.Duration
	// Lease is for how long taken work belongs to its worker.
	Lease time.Duration
	// PriceTries is how often a transfer that is not worth its cost is priced
	// again before that is believed, and PriceWait how long between.
	PriceTries int
	PriceWait  time.Duration
}

// Check refuses a configuration in which a forgotten value would mean "trust all".
func (c Config) Check() error {
	switch {
	case c.PerHour <= 0:
		return errors.New("settle: the cap per hour is not set; zero never means unlimited, say how many dollars may leave a chain in an hour")
	case c.PerPayment <= 0:
		return errors.New("settle: the cap per payment is not set; zero never means unlimited, say how many dollars one payment may be worth")
	case c.FeeFactor == 0:
		return errors.New("settle: the fee factor is not set; say how many times the going price a transfer may cost")
	case c.Hurry <= 0 || c.GiveUp <= c.Hurry:
		return errors.New("settle: the time to give a payout up must be set and later than the time to hurry")
	case c.Lease <= 0:
		return errors.New("settle: the lease of work is not set")
	case c.PriceTries < 0 || c.PriceWait <= 0:
		return errors.New("settle: the wait between two prices is not set")
	}
	return nil
}

// Ports are what a settler works with: a coster for each chain, and the assets
// that are served.
type Ports struct {
	Store  Store
	Costs  map[chain.ID]Coster
	Listed map[chain.Asset]bool
	Rates  Rates
	Venues map[string]Venue // of steps, by name
	// Bridges that owners run, by name.
	Bridges map[string]Bridge
}

// Settler moves orders.
type Settler struct {
	cfg   Config
	ports Ports
	late  late
}

// New makes a settler.
func New(cfg Config, p Ports) (*Settler, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if len(p.Costs) == 0 || len(p.Listed) == 0 {
		return nil, errors.New("settle: no chains or no assets; an empty list never means all of them")
	}
	return &Settler{cfg: cfg, ports: p}, nil
}

// Refusals of creation.
var (
	errNoLiquidity = fault.New(fault.Unprocessable, "insufficient_liquidity", "We do not have enough of that asset now. Try a smaller amount, or later.")
	errNoVenue     = fault.New(fault.Unprocessable, "no_route", "No venue can carry out that route.")
	errNoAsset     = fault.New(fault.Invalid, "unsupported_token", "That asset is not served here.")
	errHalted      = fault.New(fault.Unavailable, "chain_paused", "That chain is paused. Nothing should be sent to it now; try later.")
)

// Create makes an order: its payout is reserved and its address watched from the
// moment it exists.
func (s *Settler) Create(ctx context.Context, a order.Ask, now time.Time) (order.Order, error) {
	open := []chain.ID{a.Quote.Give.Chain, a.Quote.Get.Chain}
	needs := []chain.Asset{a.Quote.Give, a.Quote.Get}
	for _, step := range a.Quote.Steps {
		if _, ok := s.ports.Venues[step.Venue]; !ok && step.Venue != quote.Inventory {
			return order.Order{}, errNoVenue
		}
		needs = append(needs, step.Out)
		if !slices.Contains(open, step.Out.Chain) {
			open = append(open, step.Out.Chain)
		}
	}
	if _, ok := s.ports.Bridges[a.Origin.Bridge]; a.Bridge != nil && !ok {
		return order.Order{}, errNoVenue
	}
	for _, asset := range needs {
		id := asset.Chain
		if !s.ports.Listed[asset] || s.ports.Costs[id] == nil {
			return order.Order{}, errNoAsset.With("asset", asset.String())
		}
	}
	c, err := order.New(a, now)
	if err != nil {
		return order.Order{}, err
	}
	// Both are looked at where the order is written: a halt lets none through.
	c.Open, c.Watched = open, a.Quote.Give.Chain
	err = s.ports.Store.Create(ctx, c)
	var closed *order.Closed
	switch {
	case errors.Is(err, ledger.ErrShort):
		return order.Order{}, errNoLiquidity.Because(err)
	case errors.As(err, &closed):
		return order.Order{}, errHalted.With("chainId", string(closed.Chain)).Because(err)
	}
	if err != nil {
		return order.Order{}, fmt.Errorf("create order %s: %w", a.ID, err)
	}
	return c.Now, nil
}

// Tell is the only way to move an order. A fact that the order knows already is
// no error. Where the books cannot reserve what the fact would pay, the order is
// told the same fact without liquidity, and is held.
func (s *Settler) Tell(ctx context.Context, id order.ID, ev order.Event, now time.Time) (order.Order, error) {
	move := func(ev order.Event) (order.Order, error) {
		return s.ports.Store.Move(ctx, id, func(o order.Order) (order.Change, error) { return o.Apply(ev, now) })
	}
	o, err := move(ev)
	if errors.Is(err, ledger.ErrShort) {
		if poorer, ok := order.WithoutLiquidity(ev); ok {
			o, err = move(poorer)
		} else {
			return o, errNoLiquidity.Because(err)
		}
	}
	if errors.Is(err, order.ErrKnown) {
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("tell %s to order %s: %w", ev.Name(), id, err)
	}
	return o, nil
}
