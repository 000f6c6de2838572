package dev

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"ferry/internal/access"
	"ferry/internal/api/operator"
	"ferry/internal/chain"
	"ferry/internal/daemon"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/limit"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/office"
	"ferry/internal/order"
	"ferry/internal/prices"
	"ferry/internal/secret"
	"ferry/internal/settle"
	"ferry/internal/store"
)

// Options say how the network is started.
type Options struct {
	Dir      string // where the database and the card are
	Listen   string // of the API, such as 127.0.0.1:8080
	Operator string // of the operators' API
	Version  string
	Log      *slog.Logger
	// Database is another than the one in Dir, empty and for this network alone.
	Database string
	// Funding is how long an order waits for its money; zero is half an hour.
	Funding time.Duration
	// Change changes the settings before anything is built of them; nil changes nothing.
	Change func(*front.Config)
}

// Card is what a newcomer needs: where the service is and what opens it.
type Card struct {
	API           string   `json:"api"`
	OperatorAPI   string   `json:"operatorApi"`
	OperatorToken string   `json:"operatorToken"`
	IntegratorID  string   `json:"integratorId"`
	ServerKey     string   `json:"serverKey"`
	PublicKey     string   `json:"publicKey"`
	Chains        []string `json:"chains"`
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

	token  operator.Digest
	api    net.Listener
	office net.Listener
	dir    string
	now    func() time.Time
}

// New makes a network. Whatever an earlier one left in the folder is removed: its
// chains are gone.
func New(ctx context.Context, o Options) (d *Dev, err error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder of the network: %w", err)
	}
	for _, name := range []string{"dev.db", "dev.db-wal", "dev.db-shm", cardFile} {
		if err := os.Remove(filepath.Join(o.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("remove what an earlier network left: %w", err)
		}
	}
	d = &Dev{dir: o.Dir, now: func() time.Time { return time.Now().UTC() }}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if o.Database == "" {
		o.Database = "sqlite:" + filepath.Join(o.Dir, "dev.db")
	}
	if d.DB, err = store.Open(ctx, store.Config{URL: o.Database}); err != nil {
		return d, err
	}
	token, digest, err := operator.MintToken(rand.Reader)
	if err != nil {
		return d, err
	}
	d.token = digest
	if err := d.build(ctx, o); err != nil {
		return d, err
	}
	if err := d.listen(o); err != nil {
		return d, err
	}
	return d, d.introduce(ctx, token)
}

// build makes the chains and the service over them.
func (d *Dev) build(ctx context.Context, o Options) error {
	var err error
	if d.Network, err = simulated(ctx, d.DB, d.now); err != nil {
		return err
	}
	chains := d.Network.chains
	fixed, err := prices.NewFixed("development", d.Network.prices())
	if err != nil {
		return err
	}
	if o.Funding == 0 {
		o.Funding = 30 * time.Minute
	}
	for i := range chains {
		chains[i].Funding = o.Funding
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // it never fails
	cfg := config(secret.New(string(raw)), o, d.Network)
	if o.Change != nil {
		o.Change(&cfg)
	}
	cfg.Operators = []operator.Operator{{Name: "dev", Digest: d.token}}
	d.Front, err = front.New(ctx, cfg, d.DB, chains, fixed)
	return err
}

func config(s secret.Text, o Options, n *Network) front.Config {
	const pace = 200 * time.Millisecond
	offers := market.Defaults()
	offers.Tolerance = front.Tolerance()
	board := prices.Defaults()
	board.Quorum = 1
	for symbol := range n.prices() {
		board.Symbols = append(board.Symbols, symbol)
	}
	slices.Sort(board.Symbols)
	return front.Config{
		Settle: settle.Config{
			PerHour: 10_000_000 * money.Dollar, PerPayment: 1_000_000 * money.Dollar, FeeFactor: 6,
			Hurry: 10 * time.Minute, GiveUp: time.Hour, Lease: 30 * time.Second, PriceTries: 3, PriceWait: time.Minute,
		},
		Pace: daemon.Pace{Watch: pace, Settle: pace, Send: pace, Feed: pace},
		Patience: order.Patience{
			Confirming: 30 * time.Minute, Executing: 30 * time.Minute, Sending: 30 * time.Minute,
			Held: 24 * time.Hour, Refunding: time.Hour, Recovery: 24 * time.Hour,
		},
		IP: limit.DefaultIPLimits, Access: access.Config{Every: 500 * time.Millisecond}, Room: 1024,
		Terms:  market.Terms{Spread: money.Whole / 333, Min: 5 * money.Dollar, Max: 50_000 * money.Dollar, Fixed: true},
		Offers: offers, Slippage: money.Whole / 200, Prices: board, Secret: s, Version: o.Version, Log: o.Log,
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

// introduce makes the demo integrator and writes the card.
func (d *Dev) introduce(ctx context.Context, token secret.Text) error {
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
	for _, c := range d.Network.chains {
		d.Card.Chains = append(d.Card.Chains, c.Slug)
	}
	text, err := json.MarshalIndent(d.Card, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.dir, cardFile), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the card: %w", err)
	}
	return nil
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
	return errors.Join(errs...)
}
