package dev

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/access"
	"ferry/internal/api/operator"
	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/desk"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/limit"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/order"
	"ferry/internal/prices"
	"ferry/internal/report"
	"ferry/internal/secret"
	"ferry/internal/settle"
	"ferry/internal/store"
	"ferry/internal/treasury"
)

// Options say how the network is started.
type Options struct {
	Dir      string // where the database and the card are
	Listen   string // of the API, such as 127.0.0.1:8080
	Operator string // of the operators' API
	Version  string
	Log      *slog.Logger
	// Local runs real nodes; nil simulates the chains.
	Local *Local
	// Database is another than the one in Dir, empty and for this network alone.
	Database string
	// Funding is how long an order waits for its money; zero is half an hour.
	Funding time.Duration
	// Change changes the settings before anything is built of them; nil changes nothing.
	Change func(*front.Config)
	// Sources are where prices come from, instead of the network's own; none are those.
	Sources []prices.Source
	// Tokens are more of a simulated network, of which the treasury has nothing.
	Tokens []Token
	// over lays something over the chains before anything is built of them: what a test
	// puts there. Nil lays nothing.
	over func([]front.Chain)
}

// Token is a token that only pools exchange.
type Token struct {
	market.Asset
	Price string // dollars of a whole unit
}

// ownDatabase is the one in Dir.
func (o Options) ownDatabase() string { return "sqlite:" + filepath.Join(o.Dir, "dev.db") }

// Card is what a newcomer needs: where the service is and what opens it.
type Card struct {
	API           string   `json:"api"`
	OperatorAPI   string   `json:"operatorApi"`
	OperatorToken string   `json:"operatorToken"`
	IntegratorID  string   `json:"integratorId"`
	ServerKey     string   `json:"serverKey"`
	PublicKey     string   `json:"publicKey"`
	Chains        []string `json:"chains"`
	// Wallets are the addresses that pay, by chain, and Tokens the names of tokens there,
	// by chain and symbol.
	Wallets map[string]string            `json:"wallets"`
	Tokens  map[string]map[string]string `json:"tokens"`
}

// cardFile is where the card is kept for the commands that come later.
const cardFile = "dev.json"

// ReadCard reads the card of a network that runs.
func ReadCard(dir string) (Card, error) {
	var c Card
	text, err := os.ReadFile(filepath.Join(dir, cardFile))
	if err != nil {
		return c, fmt.Errorf("no network runs in %s: %w; start one with: ferry dev --data %s", dir, err, dir)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s: %w", filepath.Join(dir, cardFile), err)
	}
	return c, nil
}

// Dev is a network that runs.
type Dev struct {
	Card    Card
	Front   *front.Front
	Network *Network
	DB      *store.DB
	Kept    bool // it goes on where an earlier one stopped

	token  operator.Digest
	secret string
	lock   io.Closer    // of the folder
	whole  func() error // writes down that everything is set up; nil where it need not
	api    net.Listener
	office net.Listener
	dir    string
	now    func() time.Time
}

// New makes a network. A simulated one begins anew: whatever an earlier one left in the
// folder is removed, since its chains are gone. One of real nodes goes on.
func New(ctx context.Context, o Options) (d *Dev, err error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of the network: %w", err)
	}
	d = &Dev{dir: o.Dir, now: func() time.Time { return time.Now().UTC() }}
	if d.lock, err = lock(o.Dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if o.Database == "" {
		o.Database = o.ownDatabase()
	}
	kept := false
	if o.Local != nil {
		kept, err = makeLocal(ctx, d, o)
	} else {
		err = d.simulate(ctx, o)
	}
	if err != nil {
		return d, err
	}
	token, err := d.mint(kept)
	if err != nil {
		return d, err
	}
	if err := d.build(ctx, o); err != nil {
		return d, err
	}
	if err := d.listen(o); err != nil {
		return d, err
	}
	if err := d.introduce(ctx, token, kept); err != nil {
		return d, err
	}
	if d.whole != nil {
		return d, d.whole()
	}
	return d, nil
}

// simulate makes a network of simulated chains.
func (d *Dev) simulate(ctx context.Context, o Options) (err error) {
	if err := clear(o.Dir); err != nil {
		return err
	}
	if d.DB, err = store.Open(ctx, store.Config{URL: o.Database}); err != nil {
		return err
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // it never fails
	d.secret = string(raw)
	d.Network, err = simulated(ctx, d.DB, d.now, o.Tokens)
	return err
}

// mint makes the operator's token, or takes the one that is kept.
func (d *Dev) mint(kept bool) (token secret.Text, err error) {
	if kept {
		if d.Card, err = ReadCard(d.dir); err != nil {
			return token, err
		}
		token = secret.New(d.Card.OperatorToken)
		d.token = sha256.Sum256([]byte(d.Card.OperatorToken))
		return token, nil
	}
	token, d.token, err = operator.MintToken(rand.Reader)
	return token, err
}

// build makes the chains and the service over them.
func (d *Dev) build(ctx context.Context, o Options) error {
	chains := d.Network.chains
	if o.Funding == 0 {
		o.Funding = 30 * time.Minute
	}
	for i := range chains {
		chains[i].Funding = o.Funding
		if o.Local == nil && o.Database != o.ownDatabase() { // it may have the books of an earlier network, whose chains are gone
			chains[i].View = nil
		}
	}
	if o.over != nil {
		o.over(chains)
	}
	cfg := config(secret.New(d.secret), o, d.Network)
	sources := o.Sources
	cfg.Prices.Quorum = quorumOf(len(sources))
	if len(sources) == 0 {
		var err error
		if sources, err = d.Network.quoted(&cfg.Prices); err != nil {
			return err
		}
	}
	cfg.Bridges = d.Network.bridges
	cfg.Webhooks.Loopback = true // whoever builds on it has his server on this machine
	cfg.Sweep = &treasury.SweepConfig{
		Account: order.HotWallet, Least: 5 * money.Dollar, Enough: 500 * money.Dollar, Age: time.Minute, Sources: 50, AtOnce: 4,
		Share: money.Whole / 10, FeeFactor: 6, Hurry: 10 * time.Minute,
	}
	if o.Change != nil {
		o.Change(&cfg)
	}
	cfg.Operators = []operator.Operator{{Name: "dev", Digest: d.token}}
	var err error
	d.Front, err = front.New(ctx, cfg, d.DB, chains, sources...)
	return err
}

// What may leave a chain of the network.
const (
	perHour    = 10_000_000 * money.Dollar
	perPayment = 1_000_000 * money.Dollar
)

func config(s secret.Text, o Options, n *Network) front.Config {
	const pace = 200 * time.Millisecond
	offers := market.Defaults()
	offers.Tolerance = front.Tolerance()
	board := prices.Defaults()
	for symbol := range n.prices() {
		board.Symbols = append(board.Symbols, symbol)
	}
	slices.Sort(board.Symbols)
	return front.Config{
		Settle: settle.Config{
			PerHour: perHour, PerPayment: perPayment, FeeFactor: 6,
			Hurry: 10 * time.Minute, GiveUp: time.Hour, Lease: 30 * time.Second, PriceTries: 3, PriceWait: time.Minute,
		},
		Pace: daemon.Pace{Watch: pace, Settle: pace, Send: pace, Feed: time.Second},
		Patience: order.Patience{
			Confirming: 30 * time.Minute, Executing: 30 * time.Minute, Sending: 30 * time.Minute,
			Held: 24 * time.Hour, Refunding: time.Hour, Recovery: 24 * time.Hour,
		},
		IP: limit.DefaultIPLimits, Access: access.Config{Every: 2 * time.Second}, Room: 1024,
		Terms:  market.Terms{Spread: money.Whole / 333, Min: 5 * money.Dollar, Max: 50_000 * money.Dollar, Fixed: true},
		Offers: offers, Slippage: money.Whole / 200, Prices: board, Secret: s, Version: o.Version, Log: o.Log,
		Points: report.DefaultProgram, Venues: n.venues, PerPairMinute: perHour,
	}
}

func (d *Dev) listen(o Options) (err error) {
	if d.api, err = net.Listen("tcp", o.Listen); err != nil {
		return fmt.Errorf("listen for the API: %w; give another address with --listen", err)
	}
	if d.office, err = net.Listen("tcp", o.Operator); err != nil {
		return fmt.Errorf("listen for operators: %w; give another address with --operator-listen", err)
	}
	return nil
}

// introduce makes the demo integrator, unless there is one, and writes the card.
func (d *Dev) introduce(ctx context.Context, token secret.Text, kept bool) error {
	if d.Kept = kept; kept {
		d.Card.API, d.Card.OperatorAPI = "http://"+d.api.Addr().String(), "http://"+d.office.Addr().String()
		return d.writeCard()
	}
	const by = "dev"
	i, err := d.Front.Office.Create(ctx, "Demo Wallet", by)
	if err != nil {
		return err
	}
	fee := money.Whole / 200
	payTo := map[chain.Family]string{}
	for _, c := range d.Network.chains {
		payTo[c.Family] = c.Codec.Show(c.Codec.Make([]byte("demo wallet's earnings")))
	}
	if _, err := d.Front.Office.SetFees(ctx, i.ID, office.Fees{Default: &fee, PayTo: payTo}, by); err != nil {
		return err
	}
	d.Card = Card{
		API: "http://" + d.api.Addr().String(), OperatorAPI: "http://" + d.office.Addr().String(), OperatorToken: token.Reveal(), IntegratorID: string(i.ID),
	}
	for kind, into := range map[integrator.Kind]*string{integrator.Server: &d.Card.ServerKey, integrator.Public: &d.Card.PublicKey} {
		_, key, err := d.Front.Office.IssueKey(ctx, i.ID, office.NewKey{Kind: kind, Label: "demo " + string(kind)}, by)
		if err != nil {
			return err
		}
		*into = key.Reveal()
	}
	d.Card.Wallets, d.Card.Tokens = map[string]string{}, map[string]map[string]string{}
	for _, c := range d.Network.chains {
		d.Card.Chains = append(d.Card.Chains, c.Slug)
		d.Card.Wallets[c.Slug], d.Card.Tokens[c.Slug] = c.Codec.Show(c.Own), map[string]string{}
		for _, a := range c.Assets {
			d.Card.Tokens[c.Slug][a.Symbol] = desk.TokenName(a.Asset)
		}
	}
	return d.writeCard()
}

func (d *Dev) writeCard() error {
	text, err := json.MarshalIndent(d.Card, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.dir, cardFile), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the card: %w", err)
	}
	return nil
}

// Bridged reports whether a native bridge is offered.
func (d *Dev) Bridged(id string) bool {
	return slices.ContainsFunc(d.Network.bridges, func(b front.Bridge) bool { return b.Bridge.ID == id })
}

// Names are the chains as people call them.
func (d *Dev) Names() (all []string) {
	for _, c := range d.Network.chains {
		all = append(all, c.Name)
	}
	return all
}

// Run serves until ctx ends, calling ready once everything answers.
func (d *Dev) Run(ctx context.Context, ready func()) (err error) {
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.Front.Ready(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.Network.Run(ctx) })
	g.Go(func() error { return d.Front.Run(ctx) })
	g.Go(func() error { return d.Front.Door.Serve(ctx, d.api) })
	g.Go(func() error { return front.Serve(ctx, d.office, d.operators()) })
	g.Go(func() error {
		if err := d.Front.Synced(ctx); err != nil {
			return err
		}
		ready()
		return nil
	})
	return g.Wait()
}

func (d *Dev) close() error {
	var errs []error
	for _, l := range []net.Listener{d.api, d.office} {
		if l == nil {
			continue
		}
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, d.Network.Close())
	if d.DB != nil {
		errs = append(errs, d.DB.Close())
	}
	return errors.Join(append(errs, d.lock.Close())...)
}

// lock takes the folder for this process alone: another one would remove what this one
// works on.
func lock(dir string) (io.Closer, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("folder of the network: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another ferry dev runs in %s; stop it, or give another folder with --data", dir), f.Close())
	}
	return f, nil
}
