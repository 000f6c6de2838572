package house

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/family/sim"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/quote"
	"ferry/internal/report"
	"ferry/internal/settle"
	"ferry/internal/store"
	"ferry/internal/treasury"
	"ferry/internal/watch"
)

// The chains of the house, one of each shape.
const (
	EVM chain.ID = "sim:evm"
	BTC chain.ID = "sim:btc"
	SOL chain.ID = "sim:sol"
)

// The assets of the house.
var (
	ETH    = EVM.Native()
	EVMUSD = chain.Asset{Chain: EVM, Ref: "usd"}
	Coin   = BTC.Native()
	Sol    = SOL.Native()
	SOLUSD = chain.Asset{Chain: SOL, Ref: "usd"}
)

func allAssets() []chain.Asset { return []chain.Asset{ETH, EVMUSD, Coin, Sol, SOLUSD} }

// Start is when every story begins.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Options say how a house is built.
type Options struct {
	URL    string // of the database; empty is a private one in memory
	Seed   uint64
	Chains []chain.ID // which of the chains it has; empty is all of them
	// Poor are assets of which the treasury has little.
	Poor []chain.Asset
	// Sweep brings deposits home; without it they stay where they are.
	Sweep bool
	// Pools adds a chain and tokens that only pools exchange.
	Pools bool
	// Addresses are the forms that addresses have, by family; a family that is not in
	// it has the form of the simulation.
	Addresses map[chain.Family]sim.Addresses
	Log       *slog.Logger // of its daemons; nil is the process's own
}

// House is the service over simulated chains.
type House struct {
	DB     *store.DB
	Nets   []*sim.Net
	Assets []chain.Asset
	Rates  Rates
	Pools  map[chain.ID]Pool // by their chain; none in a house without them

	through *market.Through
	log     *slog.Logger
	// addresses are of keys with an index where deposits are brought home; nil where
	// each is of its order's name.
	addresses *treasury.Addresses
}

// prices are trillionths of a dollar for a smallest unit.
func prices() Rates {
	return Rates{
		ETH:    money.FromUint64(3_000_000),   // a billionth of a coin at 3,000
		EVMUSD: money.FromUint64(1_000_000),   // a millionth at 1
		Coin:   money.FromUint64(900_000_000), // a hundred millionth at 90,000
		Sol:    money.FromUint64(150_000),     // a billionth at 150
		SOLUSD: money.FromUint64(1_000_000),

		Gas: money.FromUint64(3_000_000), BaseUSD: money.FromUint64(1_000_000),
		Token: money.FromUint64(2_000_000), Far: money.FromUint64(500_000),
	}
}

// New builds a house with a funded treasury and no daemon yet.
func New(ctx context.Context, o Options) (*House, error) {
	if o.URL == "" {
		o.URL = "sqlite::memory:"
	}
	db, err := store.Open(ctx, store.Config{URL: o.URL})
	if err != nil {
		return nil, err
	}
	h := &House{DB: db, Rates: prices(), Pools: map[chain.ID]Pool{}, log: o.Log}
	if h.log == nil {
		h.log = slog.Default()
	}
	all := allAssets()
	if o.Pools {
		all = append(all, poolAssets()...)
	}
	for _, c := range configs() {
		if len(o.Chains) > 0 && !slices.Contains(o.Chains, c.ID) || c.ID == Base && !o.Pools {
			continue
		}
		c.Seed, c.Addresses = o.Seed, o.Addresses[c.Family]
		for _, a := range all {
			if a.Chain != c.ID {
				continue
			}
			h.Assets = append(h.Assets, a)
			if !a.IsNative() {
				c.Assets = append(c.Assets, a)
			}
		}
		net, err := sim.New(c)
		if err != nil {
			return nil, fmt.Errorf("chain %s: %w", c.ID, err)
		}
		h.Nets = append(h.Nets, net)
	}
	if o.Sweep {
		if err := h.keep(); err != nil {
			return nil, err
		}
	}
	if o.Pools {
		if err := h.openPools(); err != nil {
			return nil, err
		}
	}
	return h, h.fund(ctx, o.Poor)
}

// openPools makes the pools of the chains that the house has.
func (h *House) openPools() error {
	for _, p := range []Pool{{Token: Token, USD: EVMUSD}, {Token: Far, USD: BaseUSD}} {
		if n := h.Net(p.Token.Chain); n != nil {
			if err := h.deploy(n, p.Token, p.USD); err != nil {
				return fmt.Errorf("pool of %s: %w", p.Token, err)
			}
		}
	}
	return h.plan()
}

// keep makes the house give out addresses that can be emptied. They are fetched only
// when none is left, so that one history is always the same.
func (h *House) keep() (err error) {
	var ids []chain.ID
	for _, n := range h.Nets {
		ids = append(ids, n.ID())
	}
	cfg := treasury.AddressConfig{Block: 128, Patience: time.Minute, Log: h.log}
	h.addresses, err = treasury.NewAddresses(cfg, keys{h}, h.DB, ids...)
	return err
}

// keys are those of all the chains.
type keys struct{ h *House }

// Address implements treasury.Keys.
func (k keys) Address(ctx context.Context, id chain.ID, of chain.Key) (chain.Address, error) {
	return k.h.Net(id).Chain().Address(ctx, id, of)
}

// Sweeping is how the house brings deposits home.
func Sweeping() *treasury.SweepConfig {
	return &treasury.SweepConfig{
		Account: order.HotWallet, Least: 2 * money.Dollar, Enough: 1_000 * money.Dollar, Age: 20 * time.Minute,
		Sources: 8, AtOnce: 3, Share: money.Whole / 4, FeeFactor: 6, Hurry: 10 * time.Minute,
	}
}

func configs() []sim.Config {
	list := []sim.Config{
		{ID: EVM, Family: chain.EVM, Shape: sim.Nonces, FinalDepth: 8, BlockTime: 12 * time.Second, MinFee: money.FromUint64(5)},
		{ID: BTC, Family: chain.Bitcoin, Shape: sim.Coins, FinalDepth: 5, BlockTime: 2 * time.Minute, MinFee: money.FromUint64(2)},
		{ID: Base, Family: chain.EVM, Shape: sim.Nonces, FinalDepth: 6, BlockTime: 4 * time.Second, MinFee: money.FromUint64(2)},
		{ID: SOL, Family: chain.Solana, Shape: sim.Expiring, FinalDepth: 4, BlockTime: 4 * time.Second, MinFee: money.FromUint64(5)},
	}
	for i := range list {
		list[i].Start, list[i].Accounts = Start, []chain.Account{order.HotWallet}
	}
	return list
}

// The hot wallets begin with rich units of each asset, or with poor ones; on the
// chain of coins in this many coins.
const (
	treasuryCoins = 200
	rich          = 1_000_000_000_000_000
	poor          = 2_000_000_000_000
)

func (h *House) fund(ctx context.Context, scarce []chain.Asset) error {
	for _, a := range h.Assets {
		if h.addresses != nil && (a == Token || a == Far) {
			continue // what only pools exchange is ours only as far as it was deposited
		}
		net, parts, units := h.Net(a.Chain), uint64(1), uint64(rich)
		if net.Shape() == sim.Coins {
			parts = treasuryCoins
		}
		if slices.Contains(scarce, a) {
			units = poor
		}
		part := money.FromUint64(units / parts)
		for range parts {
			if err := net.Faucet(net.Own(order.HotWallet), a, part); err != nil {
				return fmt.Errorf("fund %s: %w", a, err)
			}
		}
		whole, err := part.MulDiv(money.FromUint64(parts), money.FromUint64(1), money.Down)
		if err != nil {
			return err
		}
		if err := h.DB.Fund(ctx, a, whole, Start); err != nil {
			return fmt.Errorf("book the fund of %s: %w", a, err)
		}
	}
	for _, n := range h.Nets {
		n.MineFinal()
	}
	return nil
}

// Close ends the house.
func (h *House) Close() error {
	if h.addresses != nil {
		return errors.Join(h.addresses.Close(), h.DB.Close())
	}
	return h.DB.Close()
}

// Net is the chain of that name.
func (h *House) Net(id chain.ID) *sim.Net {
	for _, n := range h.Nets {
		if n.ID() == id {
			return n
		}
	}
	return nil
}

// tiers are the confirmations that the house asks for: the largest values wait
// for the chain's own finality.
func tiers(n *sim.Net) []watch.Tier {
	deep := uint64(n.Config().FinalDepth) + 1
	return []watch.Tier{
		{UpTo: 1_000 * money.Dollar, Confirmations: max(2, deep/3)},
		{UpTo: 20_000 * money.Dollar, Confirmations: max(2, deep/2)},
		{Confirmations: deep, Finalized: true},
	}
}

// Settling is how the house settles orders.
func Settling() settle.Config {
	return settle.Config{
		PerHour: 10_000_000_000 * money.Dollar, PerPayment: 100_000_000 * money.Dollar,
		FeeFactor: 6, Hurry: 10 * time.Minute, GiveUp: 45 * time.Minute, Lease: 30 * time.Second,
		PriceTries: 3, PriceWait: 5 * time.Minute,
	}
}

// Patience is how long orders of the house wait.
func Patience() order.Patience {
	return order.Patience{
		Confirming: 2 * time.Hour, Executing: time.Hour, Sending: time.Hour,
		Held: time.Hour, Refunding: 2 * time.Hour, Recovery: time.Hour,
	}
}

// Daemon builds a daemon whose every call outside passes the hook.
func (h *House) Daemon(ctx context.Context, hook Hook) (*daemon.Daemon, error) {
	cfg := daemon.Config{Settle: Settling(), Log: h.log}
	if len(h.Pools) > 0 {
		cfg.Venues = map[string]settle.Venue{PoolVenue: swaps{h, hook}}
	}
	if h.addresses != nil {
		cfg.Sweep = Sweeping()
	}
	for _, n := range h.Nets {
		c := n.Chain()
		dc := daemon.Chain{
			ID: n.ID(), Tiers: tiers(n), Window: uint64(n.Config().Keep) * 4,
			Reader: gatedReader{c, hook}, Mempool: gatedMempool{c, hook}, Sender: gatedSender{c, hook}, View: c,
		}
		for _, a := range h.Assets {
			if a.Chain == n.ID() {
				dc.Assets = append(dc.Assets, a)
			}
		}
		cfg.Chains = append(cfg.Chains, dc)
	}
	return daemon.New(ctx, cfg, gatedStore{h.DB, hook}, h.Rates)
}

// Terms quotes an amount at the house's prices with one percent for the service.
func (h *House) Terms(id quote.ID, give, get chain.Asset, in money.Amount, at time.Time) (quote.Quote, error) {
	out, err := h.Rates.Convert(context.Background(), in, give, get, money.Down)
	if err != nil {
		return quote.Quote{}, err
	}
	if out, err = out.Share(99*money.Whole/100, money.Down); err != nil {
		return quote.Quote{}, err
	}
	usd, err := h.Rates.USD(context.Background(), give, in)
	if err != nil {
		return quote.Quote{}, err
	}
	most, err := in.MulDiv(money.FromUint64(100), money.FromUint64(1), money.Up)
	if err != nil {
		return quote.Quote{}, err
	}
	return quote.Quote{
		ID: id, Give: give, Get: get, In: in, Out: out, MinIn: money.FromUint64(1), MaxIn: most, Mode: quote.Float,
		Tolerance: quote.Tolerance{
			Under: money.Whole / 200, Over: money.Whole / 200,
			UnderAction: quote.Hold, OverAction: quote.ProcessAll, WrongAsset: quote.Hold,
		},
		USD: usd, ExpiresAt: at.Add(time.Minute), Shown: quote.Shown{ServiceUSD: usd / 100},
	}, nil
}

// Ask is an order for those terms, whose recipient earns points. Without a deposit address, which only a house that
// is closed has not, it is refused.
func (h *House) Ask(id order.ID, q quote.Quote, payTo, refundTo chain.Address) order.Ask {
	to := h.Net(q.Give.Chain).Codec().Deposit(id)
	if h.addresses != nil {
		to, _ = h.addresses.DepositAddress(context.Background(), q.Give.Chain, id)
	}
	return order.Ask{
		ID: id, Quote: q, DepositTo: to, PayTo: payTo, RefundTo: refundTo,
		FundingTime: 30 * time.Minute, Patience: Patience(),
		Origin: order.Origin{PointsTo: payTo.Text(), Award: report.DefaultProgram.Award(Start)},
	}
}
