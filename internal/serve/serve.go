package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/access"
	"ferry/internal/api/live"
	"ferry/internal/api/operator"
	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/daemon"
	"ferry/internal/front"
	"ferry/internal/hooks"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/settle"
	"ferry/internal/store"
	"ferry/internal/treasury"
)

// Service is everything that a configuration asks for.
type Service struct {
	Front *front.Front

	db   *store.DB
	nets []network
	// letGo closes what holds the keys; nil where there are none.
	letGo func()
	api   net.Listener
	desk  net.Listener // of operators
}

// Options are what is not in the configuration.
type Options struct {
	Version, Revision string
	Log               *slog.Logger
	Ask               Ask // for the passphrase of a seed that no file opens
}

// pace is how often the loops look by themselves.
const pace = 500 * time.Millisecond

// New builds the service and opens its doors; it answers nothing yet.
func New(ctx context.Context, c config.Config, o Options) (s *Service, err error) {
	s = &Service{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	key, err := secretOf(c.API.SecretFile)
	if err != nil {
		return s, err
	}
	if s.db, err = store.Open(ctx, store.Config{URL: c.Database.URL}); err != nil {
		return s, err
	}
	chains, err := s.chains(ctx, c, o)
	if err != nil {
		return s, err
	}
	sources, err := sourcesOf(c, chains)
	if err != nil {
		return s, err
	}
	cfg, err := settings(c, o)
	if err != nil {
		return s, err
	}
	if err := outside(&cfg.Venues, c, chains, o.Log); err != nil {
		return s, err
	}
	b := builder{cfg: c, chains: map[chain.ID]front.Chain{}, gas: &gas{}, log: o.Log}
	if err := b.build(ctx, &cfg, chains); err != nil {
		return s, err
	}
	cfg.Secret = key
	if s.Front, err = front.New(ctx, cfg, s.db, chains, sources...); err != nil {
		return s, err
	}
	b.gas.rates = s.Front
	if s.api, err = net.Listen("tcp", c.API.Listen); err != nil {
		return s, fmt.Errorf("api.listen: %w; give an address that is free", err)
	}
	if s.desk, err = net.Listen("tcp", c.OperatorListen); err != nil {
		return s, fmt.Errorf("operatorApi.listen: %w; give an address that is free", err)
	}
	return s, nil
}

// settings are the front's, out of the operator's.
func settings(c config.Config, o Options) (front.Config, error) {
	proxies, err := access.NewProxies(c.API.Proxies, c.API.Header)
	if err != nil {
		return front.Config{}, err
	}
	offers := market.Defaults()
	offers.Tolerance = quote.Tolerance{
		Under: c.Market.Tolerance, Over: c.Market.Tolerance, UnderAction: quote.Hold, OverAction: quote.ProcessAll, WrongAsset: quote.Hold,
	}
	cfg := front.Config{
		Settle: settle.Config{
			PerHour: c.Caps.PerHour, PerPayment: c.Caps.PerPayment, FeeFactor: 6, Hurry: 10 * time.Minute, GiveUp: time.Hour,
			Lease: 30 * time.Second, PriceTries: 3, PriceWait: 5 * time.Minute,
		},
		Pace:     daemon.Pace{Watch: pace, Settle: pace, Send: pace, Feed: time.Second},
		Patience: c.Orders.Patience, IP: c.Limits, Proxies: proxies, Room: c.API.Room,
		Access: access.Config{Trouble: func(err error) {
			o.Log.Warn("integrators and keys could not be read, will be tried again", "error", err)
		}, Notice: func(n access.Notice) {
			o.Log.Warn("a key is where it should not be", "what", string(n.Sight), "key", string(n.Key), "integrator", string(n.Integrator))
		}},
		Terms:  market.Terms{Spread: c.Market.Spread, Min: c.Market.Min, Max: c.Market.Max, Fixed: c.Market.Fixed},
		Offers: offers, Slippage: c.Market.Slippage, Prices: board(c), Version: o.Version, Revision: o.Revision, Server: c.API.URL, Log: o.Log,
	}
	cfg.SilentHooks, cfg.Webhooks = c.Webhooks.Silent, hooks.Config{
		Loopback: c.Webhooks.Loopback, AtOnce: int(c.Webhooks.AtOnce), PerEndpoint: int(c.Webhooks.PerEndpoint),
	}
	cfg.Points, cfg.PerPairMinute = c.Points, c.Caps.PerPairMinute
	cfg.Live = live.Config{PerAddress: unbounded(c.Live.PerAddress), PerKey: unbounded(c.Live.PerKey), Subscriptions: int(c.Live.Subscriptions)}
	cfg.Pace.Audit, cfg.Minimums = c.Treasury.AuditEvery, c.Treasury.Minimums
	if c.Treasury.Sweep {
		cfg.Sweep = &treasury.SweepConfig{
			Account: order.HotWallet, Least: c.Treasury.Least, Enough: c.Treasury.Enough, Age: c.Treasury.Age,
			Sources: int(c.Treasury.Sources), AtOnce: 4, Share: c.Treasury.Cost, FeeFactor: 6, Hurry: 10 * time.Minute,
			Signed: map[chain.ID]treasury.FeeLimit{},
		}
		for _, one := range c.Chains {
			if one.Family == chain.Bitcoin {
				cfg.Sweep.Signed[one.ID] = treasury.FeeLimit{Share: c.Wallet.FeeShare, Small: money.FromUint64(smallFee)}
			}
		}
	}
	for _, p := range c.Operators {
		cfg.Operators = append(cfg.Operators, operator.Operator{Name: p.Name, Digest: p.Digest})
	}
	return cfg, nil
}

// Addresses are where the API and the operators' API are.
func (s *Service) Addresses() (api, operators string) {
	return s.api.Addr().String(), s.desk.Addr().String()
}

// Run serves until ctx ends, calling ready once every chain was read to its tip.
func (s *Service) Run(ctx context.Context, ready func()) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Front.Ready(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, n := range s.nets {
		g.Go(func() error { return n.run(ctx) })
	}
	g.Go(func() error { return s.Front.Run(ctx) })
	g.Go(func() error { return s.Front.Door.Serve(ctx, s.api) })
	g.Go(func() error { return front.Serve(ctx, s.desk, s.Front.Operator) })
	g.Go(func() error {
		if err := s.Front.Synced(ctx); err != nil {
			return err
		}
		ready()
		return nil
	})
	return g.Wait()
}

// Close lets go of everything; it may be called again.
func (s *Service) Close() error {
	var errs []error
	for _, l := range []net.Listener{s.api, s.desk} {
		if l == nil {
			continue
		}
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if s.letGo != nil {
		s.letGo()
		s.letGo = nil
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
		s.db = nil
	}
	return errors.Join(errs...)
}

// unbounded is a bound in the words of the room: there below zero is none.
func unbounded(n int64) int {
	if n == 0 {
		return -1
	}
	return int(n)
}
