package config

import (
	"errors"
	"fmt"
	"os"
	"time"

	"ferry/internal/chain"
	"ferry/internal/limit"
	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/order"
	"ferry/internal/report"
	"ferry/internal/watch"
)

// Config is everything an operator decides.
type Config struct {
	Database Database
	Caps     Caps
	Orders   Orders
	Chains   []Chain
	Tokens   []market.Asset
	API      API
	// OperatorListen is where operators come in.
	OperatorListen string
	Limits         limit.IPLimits
	Webhooks       Webhooks
	Live           Live
	Market         Market
	Prices         []Source
	Wallet         Wallet
	Treasury       Treasury
	// Aggregator is off unless it is asked for.
	Aggregator Aggregator
	// Pools, CCTP and Rollups are how pools and native bridges are used on the chains
	// that switch them on.
	Pools   Pools
	CCTP    CCTP
	Rollups Rollups
	// Points is what points are given for; without a season none are.
	Points report.Program
	// Operators may use the operators' API; without any nobody may.
	Operators []Operator
}

// Database is where the state is kept. URL may hold a password: show it only
// through Redacted.
type Database struct{ URL string }

// Caps bound what leaves a chain, and what is sold of a pair within a minute.
type Caps struct{ PerHour, PerPayment, PerPairMinute money.USD }

// Orders says how long an order may take.
type Orders struct {
	Funding  time.Duration // how long a user has to pay
	Patience order.Patience
}

// Kind says what is behind a chain.
type Kind string

// The kinds of chains.
const (
	Sim Kind = "sim" // a simulated chain inside the process
	RPC Kind = "rpc" // real nodes
)

// Chain is one chain that is served.
type Chain struct {
	ID         chain.ID
	Family     chain.Family
	Kind       Kind
	Assets     []chain.Asset
	FinalDepth uint64
	Tiers      []watch.Tier
	Slug, Name string // how callers and people call it
	BlockTime  time.Duration
	Nodes      Nodes
	Explorer   Explorer
	// Uniswap, CCTP and Rollup are its pools and its native bridges; nil where they are
	// not switched on.
	Uniswap *Uniswap
	CCTP    *CCTPSide
	Rollup  *Rollup
}

// ErrRefused is in every refusal of a configuration.
var ErrRefused = errors.New("configuration refused")

// Problem is one thing that is wrong with one key.
type Problem struct{ Key, Why string }

func (p *Problem) Error() string { return p.Key + ": " + p.Why }

// Unwrap makes a problem an ErrRefused.
func (p *Problem) Unwrap() error { return ErrRefused }

// Load reads a file and the environment, given as os.Environ gives it.
func Load(path string, environ []string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("%w: %w; give the path of a TOML file with --config, such as docs/ferry.example.toml", ErrRefused, err)
	}
	c, err := Parse(text, environ)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Parse is Load of a text. It names every problem, not only the first.
func Parse(text []byte, environ []string) (Config, error) {
	raw, err := merge(text, environ)
	if err != nil {
		return Config{}, err
	}
	r := &reader{}
	r.unknown("", raw, known)
	if err := fill(r, raw); err != nil {
		return Config{}, err
	}
	c := Config{
		Database: readDatabase(r, r.table(raw, "database")),
		Caps:     readCaps(r, r.table(raw, "caps")),
		Orders:   readOrders(r, r.table(raw, "orders")),
		Chains:   readChains(r, raw),

		API: readAPI(r, r.table(raw, "api")), OperatorListen: r.address(r.table(raw, "operatorApi"), "listen", "127.0.0.1:8081"),
		Limits: readLimits(r, r.table(raw, "limits")), Market: readMarket(r, r.table(raw, "market")),
		Webhooks: readWebhooks(r, r.table(raw, "webhooks")), Live: readLive(r, r.table(raw, "live")),
		Prices: readPrices(r, raw), Tokens: readTokens(r, raw),

		Treasury: readTreasury(r, r.table(raw, "treasury"), raw), Operators: readOperators(r, raw),
		Points: readPoints(r, r.table(raw, "points")),
	}
	c.Market.Guards = readGuards(r, raw)
	c.Wallet = readWallet(r, r.table(raw, "wallet"), c.Chains)
	c.Aggregator = readAggregator(r, r.table(raw, "aggregator"), c.Chains)
	c.Pools = readPools(r, r.table(raw, "pools"), c.Chains)
	c.CCTP, c.Rollups = readCCTP(r, r.table(raw, "cctp"), c.Chains), readRollups(r, r.table(raw, "rollups"), c.Chains)
	if err := r.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

func readCaps(r *reader, t table) Caps {
	const perHour, perPayment = "50000", "10000"
	c := Caps{PerHour: r.cap(t, "perHourUsd", perHour), PerPayment: r.cap(t, "perPaymentUsd", perPayment)}
	if c.PerHour > 0 && c.PerPayment > c.PerHour {
		r.refuse(t.key("perPaymentUsd"), "is above perHourUsd, so such a payment could never leave; write at most %q", c.PerHour.String())
	}
	if c.PerPairMinute = c.PerHour; t.values["perPairMinuteUsd"] != nil {
		c.PerPairMinute = r.cap(t, "perPairMinuteUsd", perHour)
	}
	return c
}

// cap reads dollars that must be more than nothing.
func (r *reader) cap(t table, name, example string) money.USD {
	text, ok := r.text(t, name)
	if !ok {
		r.missing(t, name, "zero never means unlimited; write how many dollars may leave, such as "+name+" = %q", example)
		return 0
	}
	u, err := money.ParseUSD(text)
	switch {
	case err != nil:
		r.refuse(t.key(name), "%v; write dollars as text, such as %q", err, example)
	case u <= 0:
		r.refuse(t.key(name), "is %q; zero never means unlimited, write how many dollars may leave, such as %q", text, example)
	}
	return u
}

// longest is how long an order may stay in a state at most: what nobody looks
// at for a year has no deadline.
const longest = 365 * 24 * time.Hour

func readOrders(r *reader, t table) Orders {
	return Orders{
		Funding: r.wait(t, "funding", time.Hour),
		Patience: order.Patience{
			Confirming: r.wait(t, "confirming", 2*time.Hour),
			Executing:  r.wait(t, "executing", time.Hour),
			Sending:    r.wait(t, "sending", time.Hour),
			Held:       r.wait(t, "held", 72*time.Hour),
			Refunding:  r.wait(t, "refunding", 6*time.Hour),
			Recovery:   r.wait(t, "recovery", 720*time.Hour),
		},
	}
}

// wait reads a time that must be more than nothing; a key that is left out has
// its default.
func (r *reader) wait(t table, name string, usual time.Duration) time.Duration {
	text, ok := r.text(t, name)
	if !ok {
		return usual
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		r.refuse(t.key(name), "%q is not a time; write a number with its unit, such as %q", clip(text), usual)
	case d <= 0:
		r.refuse(t.key(name), "is %q; zero never means for ever, write how long, such as %q", text, usual)
	case d > longest:
		r.refuse(t.key(name), "is %q, longer than a year; write at most %q", text, longest)
	}
	return d
}
