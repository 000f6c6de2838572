package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ferry/internal/chain"
	"ferry/internal/feed"
	"ferry/internal/office"
	"ferry/internal/order"
	"ferry/internal/send"
	"ferry/internal/settle"
	"ferry/internal/treasury"
	"ferry/internal/watch"
)

// Chain is one served chain with how it is read and sent on.
type Chain struct {
	ID      chain.ID
	Assets  []chain.Asset
	Tiers   []watch.Tier
	Window  uint64
	Reader  watch.Reader
	Mempool watch.Mempool // nil where the chain shows none
	Sender  send.Chain
	Every   time.Duration // how often it is looked at; zero is the pace of all
	View    treasury.View // nil where it is not compared with the books
}

// Store is everything that the rooms keep.
type Store interface {
	watch.Store
	send.Store
	settle.Store
	feed.Log
	treasury.Sweeps
	treasury.Books
}

// Config is what a daemon is built from.
type Config struct {
	Settle settle.Config
	// Sweep is how deposits are brought home; nil leaves them where they are.
	Sweep  *treasury.SweepConfig
	Chains []Chain
	Venues map[string]settle.Venue // that carry out steps of routes, by name
	// Bridges are followed for owners that run them, by name.
	Bridges map[string]settle.Bridge
	Log     *slog.Logger
}

// Daemon is the whole service without its doors.
type Daemon struct {
	Settler *settle.Settler
	Hub     *feed.Hub

	log      *slog.Logger
	looks    map[chain.ID]bell
	bells    bells
	every    []time.Duration // how often each chain is looked at
	watchers []*watch.Watcher
	senders  []*send.Sender
	sweeper  *treasury.Sweeper // nil where deposits stay where they are
	auditor  *treasury.Auditor // nil where no chain is compared with the books
	names    []chain.ID
}

// New builds the rooms; it starts nothing.
func New(ctx context.Context, cfg Config, st Store, rates settle.Rates) (*Daemon, error) {
	if len(cfg.Chains) == 0 {
		return nil, errors.New("daemon: no chains are configured; name at least one")
	}
	if cfg.Log == nil {
		return nil, errors.New("daemon: no logger is given; trouble must be told to somebody")
	}
	d := &Daemon{log: cfg.Log, looks: map[chain.ID]bell{}, bells: bells{settle: newBell(), sweep: newBell(), send: map[chain.ID]bell{}}}
	for _, c := range cfg.Chains {
		d.looks[c.ID], d.bells.send[c.ID] = newBell(), newBell()
		d.every = append(d.every, c.Every)
	}
	st = ringing{st, d.bells, cfg.Log}
	ports := settle.Ports{Store: st, Rates: rates, Costs: map[chain.ID]settle.Coster{}, Listed: map[chain.Asset]bool{}, Venues: cfg.Venues, Bridges: cfg.Bridges}
	for _, c := range cfg.Chains {
		if _, twice := ports.Costs[c.ID]; twice {
			return nil, fmt.Errorf("daemon: chain %s is configured twice", c.ID)
		}
		if len(c.Assets) == 0 {
			return nil, fmt.Errorf("daemon: chain %s lists no assets; an empty list never means all of them", c.ID)
		}
		ports.Costs[c.ID] = c.Sender
		for _, a := range c.Assets {
			ports.Listed[a] = true
		}
	}
	var err error
	if d.Settler, err = settle.New(cfg.Settle, ports); err != nil {
		return nil, err
	}
	for _, c := range cfg.Chains {
		w, err := watch.New(watch.Config{Chain: c.ID, Tiers: c.Tiers, Window: c.Window}, watch.Ports{
			Reader: c.Reader, Mempool: c.Mempool, Store: st, Teller: teller{d.Settler, d.bells.settle}, Valuer: rates,
		})
		if err != nil {
			return nil, err
		}
		d.watchers = append(d.watchers, w)
		d.senders = append(d.senders, send.New(c.ID, order.HotWallet, c.Sender, st))
		d.names = append(d.names, c.ID)
	}
	if cfg.Sweep != nil {
		if d.sweeper, err = treasury.NewSweeper(*cfg.Sweep, sweepPorts(cfg, st, rates)); err != nil {
			return nil, err
		}
	}
	if d.auditor, err = newAuditor(cfg, st); err != nil {
		return nil, err
	}
	if d.Hub, err = feed.NewHub(ctx, st); err != nil {
		return nil, err
	}
	return d, nil
}

func sweepPorts(cfg Config, st Store, rates settle.Rates) treasury.SweepPorts {
	p := treasury.SweepPorts{Store: st, Valuer: rates, Chains: map[chain.ID]treasury.Coster{}}
	for _, c := range cfg.Chains {
		p.Chains[c.ID] = c.Sender
		p.Assets = append(p.Assets, c.Assets...)
	}
	return p
}

func newAuditor(cfg Config, st Store) (*treasury.Auditor, error) {
	var all []treasury.Audited
	for _, c := range cfg.Chains {
		if c.View != nil {
			all = append(all, treasury.Audited{ID: c.ID, Assets: c.Assets, View: c.View})
		}
	}
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to compare, which is no error
	}
	return treasury.NewAuditor(order.HotWallet, st, all...)
}

// Sweeper is who brings deposits home, for an operator; false where they stay where
// they are.
func (d *Daemon) Sweeper() (office.Sweeper, bool) {
	return hurrier{d.sweeper, d.bells.sweep}, d.sweeper != nil
}

// Look has the watcher of a chain look now instead of at its next turn.
func (d *Daemon) Look(id chain.ID) { d.looks[id].ring() }

// Step is one pass over all rooms in a fixed order. It goes on after trouble and
// returns all of it.
func (d *Daemon) Step(ctx context.Context, now func() time.Time) error {
	var errs []error
	for _, w := range d.watchers {
		errs = append(errs, w.Step(ctx, now()))
	}
	errs = append(errs, d.Settler.Step(ctx, now()))
	if d.sweeper != nil {
		errs = append(errs, d.sweeper.Step(ctx, now()))
	}
	for _, s := range d.senders {
		errs = append(errs, s.Step(ctx, now()))
	}
	errs = append(errs, d.Hub.Step(ctx))
	return errors.Join(errs...)
}
