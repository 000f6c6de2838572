package front

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/live"
	"ferry/internal/api/operator"
	"ferry/internal/api/routes"
	"ferry/internal/api/wire"
	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/desk"
	"ferry/internal/hooks"
	"ferry/internal/hooks/post"
	"ferry/internal/limit"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/order"
	"ferry/internal/prices"
	"ferry/internal/quote"
	"ferry/internal/report"
	"ferry/internal/secret"
	"ferry/internal/settle"
	"ferry/internal/store"
	"ferry/internal/treasury"
)

// Config is how the service behaves.
type Config struct {
	Settle   settle.Config
	Pace     daemon.Pace
	Patience order.Patience
	IP       limit.IPLimits
	Access   access.Config
	Proxies  access.Proxies
	Terms    market.Terms // of what is sold from the treasury
	// PerPairMinute is how many dollars of a pair are sold within a minute.
	PerPairMinute money.USD
	// Sweep is how deposits are brought home; nil leaves them where they are.
	Sweep *treasury.SweepConfig
	// Minimums are what the wallet must have of an asset for anything of it to be sold;
	// of a chain's own coin, for anything on that chain to be sold.
	Minimums map[chain.Asset]money.Amount
	Venues   Venues
	Bridges  []Bridge // native ones that are offered
	Offers   market.Config
	Slippage money.Percent // where a caller asks for none
	Prices   prices.Config
	Points   report.Program // the zero program gives no points
	Room     int64          // requests at once in the whole process
	Live     live.Config
	// Operators are who may use the operator API, by name and digest of their token.
	Operators []operator.Operator
	// Secret is what the deployment's own secrets are derived from; the same in every
	// process of it.
	Secret            secret.Text
	Version, Revision string
	Server            string // where the API is reached from outside
	Log               *slog.Logger
	// Webhooks are how integrators are told; SilentHooks leaves it to another process.
	Webhooks    hooks.Config
	SilentHooks bool
	// Gate lays something over the store that the daemon's rooms work with: what a test
	// puts there. Nil lays nothing.
	Gate func(daemon.Store) daemon.Store
	// Rows are served beside the API's own: what a bench or a test asks for.
	Rows []api.Operation
}

// Front is the whole service.
type Front struct {
	Operator http.Handler
	Office   *office.Office
	Desk     *desk.Desk
	Door     *api.Door
	Live     *live.Live

	cfg       Config
	db        *store.DB
	addresses *treasury.Addresses // nil where no chain has keys
	clock     *daemon.Clock
	daemon    *daemon.Daemon
	directory *access.Directory
	board     *prices.Board
	shared    *limit.Shared // nil where this process counts alone
	uses      uses
	hooks     *hooks.Hooks
	poster    *post.Poster
	offers    *market.Market
	bridges   []*desk.Bridge
	rates     market.Rates
	open      context.Context // ends with the service, for answers that would go on
	stop      context.CancelFunc
}

// New builds the service over chains, a store and sources of prices. It starts
// nothing.
func New(ctx context.Context, cfg Config, db *store.DB, all []Chain, sources ...prices.Source) (*Front, error) {
	f := &Front{cfg: cfg, db: db}
	f.open, f.stop = context.WithCancel(context.Background())
	var err error
	if f.clock, err = daemon.NewClock(ctx, cfg.Log, db.Time); err != nil {
		return nil, err
	}
	if all, f.addresses, err = leased(all, db, cfg.Log); err != nil {
		return nil, err
	}
	known, err := newChains(all)
	if err != nil {
		return nil, err
	}
	if f.board, err = prices.New(cfg.Prices, sources...); err != nil {
		return nil, err
	}
	listing, err := market.NewListing(f.board, known.atlas.Tokens())
	if err != nil {
		return nil, err
	}
	rates := market.Rates{Listing: listing, Now: f.clock.Now}
	var kept daemon.Store = db
	if cfg.Gate != nil {
		kept = cfg.Gate(db)
	}
	if f.daemon, err = daemon.New(ctx, daemon.Config{Settle: cfg.Settle, Sweep: cfg.Sweep, Chains: known.served(), Venues: runnersOf(cfg), Bridges: followed(cfg.Bridges), Log: cfg.Log}, kept, rates); err != nil {
		return nil, err
	}
	if f.offers, err = f.market(known, listing); err != nil {
		return nil, err
	}
	if f.bridges, err = f.offered(known, listing); err != nil {
		return nil, err
	}
	f.rates = rates
	if err := f.counter(known, f.offers); err != nil {
		return nil, err
	}
	return f, f.doors(ctx, known, listing)
}

// market sells from the treasury.
func (f *Front) market(known *chains, listing *market.Listing) (*market.Market, error) {
	const costsGoodFor = 10 * time.Second
	tariff, err := market.NewTariff(known.senders(), costsGoodFor, f.clock.Now)
	if err != nil {
		return nil, err
	}
	free := &stock{books: f.db, now: f.clock.Now, least: f.cfg.Minimums}
	inventory, err := market.NewInventory(market.InventoryConfig{Account: order.HotWallet, Own: known.own(), Default: f.cfg.Terms, Never: f.cfg.Venues.never()}, listing, free, tariff)
	if err != nil {
		return nil, err
	}
	venues := []market.Venue{inventory}
	through, err := f.cfg.Venues.through(known, inventory)
	if err != nil {
		return nil, err
	}
	venues = append(venues, through...)
	offers := f.cfg.Offers
	offers.Chains, offers.Account = known.priced(f.cfg.Slippage), order.HotWallet
	return market.New(offers, listing, market.Ports{Treasury: free, Costs: tariff, Venues: venues})
}

// counter is the desk with what it works with.
func (f *Front) counter(known *chains, m *market.Market) error {
	seal, err := market.NewSeal(secret.New(derive(f.cfg.Secret.Reveal(), "quotes")))
	if err != nil {
		return err
	}
	var ids []chainID
	for _, c := range known.all {
		ids = append(ids, c.ID)
	}
	proofs, err := access.NewProofs(known, ids)
	if err != nil {
		return err
	}
	f.Desk, err = desk.New(desk.Config{
		Funding: known.funding(), Patience: f.cfg.Patience, IP: f.cfg.IP, Own: known.own(), Secret: secret.New(derive(f.cfg.Secret.Reveal(), "desk")),
		Award: f.cfg.Points.Award, PerPairMinute: f.cfg.PerPairMinute,
	}, desk.Ports{
		Market: m, Seal: seal, Settler: f.daemon.Settler, Store: f.db, Proofs: proofs, Codecs: known, Funder: known, Atlas: known.atlas, Look: f.daemon.Look, Bridges: f.bridges, Worth: f.rates.USD,
	})
	return err
}

// doors are the API and the operators' own.
func (f *Front) doors(ctx context.Context, known *chains, listing *market.Listing) error {
	access1 := f.heard(ctx)
	var err error
	if f.directory, err = access.NewDirectory(ctx, register{f.db}, access1); err != nil {
		return err
	}
	gate, err := access.NewGate(f.directory, access1)
	if err != nil {
		return err
	}
	counter, err := f.allowances(ctx)
	if err != nil {
		return err
	}
	room, err := limit.NewGate(f.cfg.Room)
	if err != nil {
		return err
	}
	signer, err := market.NewSigner(secret.New(derive(f.cfg.Secret.Reveal(), "signatures")))
	if err != nil {
		return err
	}
	if err := f.webhooks(known); err != nil {
		return err
	}
	lim := &limiter{counter: counter, cfg: f.cfg.IP}
	rooms := routes.Rooms{
		Now: f.clock.Now, Desk: f.Desk, Report: report.New(f.db, f.cfg.Points), Hooks: f.hooks, Log: f.db, Atlas: known.atlas, Show: known.show, ShowOf: known.showOf, URI: known.uri,
		Check: known.check, Anyone: known.Anyone, Price: f.price(listing), Rates: f.offers.Indications, Health: f.health, Recheck: lim.recheck, Failed: lim.failed, MayTry: lim.mayTry,
		Sign: func(o *market.Offer) (string, error) { return signer.Sign(known.public(*o)) },
	}
	f.Live = f.sockets(rooms, gate, lim)
	rows := append(routes.All(rooms), f.Live.Row())
	f.Door, err = api.New(api.Config{
		Version: f.cfg.Version, Revision: f.cfg.Revision, Server: f.cfg.Server, QuoteKey: signer.PublicKey(), Log: f.cfg.Log, Now: time.Now, Down: store.Down, Live: f.Live.Contract(),
	}, api.Ports{Admitter: &admitter{gate: gate, proxies: f.cfg.Proxies, uses: &f.uses}, Limiter: lim, Ceiling: ceiling{room}}, append(rows, f.cfg.Rows...))
	if err != nil {
		return err
	}
	f.Office = office.New(waking{f.db, f.directory.Wake}, families(known.ofs), f.clock.Now)
	if s, sweeps := f.daemon.Sweeper(); sweeps {
		f.Office = f.Office.With(s)
	}
	f.Office = f.Office.WithPrices(pricer{f.board})
	show := liveShow{rooms}
	f.Operator, err = operator.New(operator.Config{
		Office: f.Office, Operators: f.cfg.Operators, Log: f.cfg.Log,
		Events: &operator.Events{
			Hub: f.daemon.Hub, Journal: f.db, Stop: f.open.Done(),
			Show: func(o *order.Order, at time.Time) wire.Order { return show.Order(o, access.Act, at) },
		},
	})
	return err
}

// heard is the configuration of access with somebody who hears what it tells. A
// register that does not answer must not end the service: keys are believed for a
// while, and after that refused until it answers again.
func (f *Front) heard(ctx context.Context) access.Config {
	a := f.cfg.Access
	a.Now = time.Now
	if a.Trouble == nil {
		a.Trouble = func(err error) {
			f.cfg.Log.WarnContext(ctx, "integrators and keys could not be read, will be tried again", "error", err)
		}
	}
	if a.Notice == nil {
		a.Notice = func(n access.Notice) {
			f.cfg.Log.WarnContext(ctx, "a key is where it should not be", "sight", string(n.Sight), "key", string(n.Key), "integrator", string(n.Integrator))
		}
	}
	return a
}

// Run drives everything until ctx ends.
func (f *Front) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	context.AfterFunc(ctx, f.stop)
	g.Go(func() error { return f.daemon.Run(ctx, f.cfg.Pace, f.clock.Now) })
	g.Go(func() error { return f.directory.Run(ctx) })
	g.Go(func() error { return f.Live.Run(ctx) })
	g.Go(func() error {
		return f.db.Follow(ctx, func(err error) {
			f.cfg.Log.WarnContext(ctx, "events of other processes may come a little later, will be tried again", "error", err)
		})
	})
	g.Go(func() error {
		f.board.Run(ctx, f.clock.Now, func(err error) {
			f.cfg.Log.WarnContext(ctx, "prices could not be read, will be tried again", "error", err)
		})
		return nil
	})
	g.Go(func() error { return f.cfg.Venues.run(ctx) })
	g.Go(func() error { return f.tidy(ctx) })
	if f.shared != nil {
		g.Go(func() error { return f.shared.Run(ctx) })
	}
	g.Go(func() error { return f.keepUses(ctx) })
	if !f.cfg.SilentHooks {
		g.Go(func() error {
			defer f.poster.Close()
			return f.hooks.Run(ctx)
		})
	}
	err := g.Wait()
	if f.addresses != nil {
		err = errors.Join(err, f.addresses.Close())
	}
	return err
}

// Ready makes what is needed before the first request: prices. A source that does not
// answer is in nobody's way while the others agree on everything.
func (f *Front) Ready(ctx context.Context) error {
	err := f.board.Step(ctx, f.clock.Now())
	if err == nil {
		return nil
	}
	for _, s := range f.board.All() {
		if s.Price.IsZero() {
			return fmt.Errorf("prices: %s has none: %w", s.Symbol, err)
		}
	}
	f.cfg.Log.WarnContext(ctx, "some prices could not be read, will be tried again", "error", err)
	return nil
}

// Requests are remembered for a day, and forgotten in parts.
const (
	requestsKept = 24 * time.Hour
	tidyEvery    = time.Minute
	tidyAtOnce   = 1000
)

func (f *Front) tidy(ctx context.Context) error {
	t := time.NewTicker(tidyEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if err := f.db.ForgetRequests(ctx, f.clock.Now().Add(-requestsKept), tidyAtOnce); err != nil && ctx.Err() == nil {
				f.cfg.Log.WarnContext(ctx, "old requests could not be forgotten, will be tried again", "error", err)
			}
			if pool, shares := f.db.Allowances(); shares {
				if err := pool.Forget(ctx); err != nil && ctx.Err() == nil {
					f.cfg.Log.WarnContext(ctx, "old allowances could not be forgotten, will be tried again", "error", err)
				}
			}
			if err := f.clock.Sync(ctx); err != nil && ctx.Err() == nil {
				f.cfg.Log.WarnContext(ctx, "the database's clock could not be read, will be tried again", "error", err)
			}
		}
	}
}

// Tolerance is what most deployments want of deposits that are not what was quoted.
func Tolerance() quote.Tolerance {
	return quote.Tolerance{
		Under: money.Whole / 200, Over: money.Whole / 200, UnderAction: quote.Hold, OverAction: quote.ProcessAll, WrongAsset: quote.Hold,
	}
}
