package prices

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"ferry/internal/chain"
)

// ChainlinkConfig is a source that reads feeds of the form that Chainlink gave them
// (AggregatorV3) on one chain.
type ChainlinkConfig struct {
	Name  string
	Feeds map[string]Feed // by symbol, each in dollars
	// Sequencer is, on a rollup, the feed that says whether the sequencer is up; zero
	// where there is none. While it was down, prices stood still and nobody could act.
	Sequencer chain.Address
	// Grace is for how long nothing is believed after the sequencer came back.
	Grace time.Duration
	// MaxLag is how old the chain's newest block may be; zero is a minute.
	MaxLag time.Duration
}

// Feed is one price of an oracle.
type Feed struct {
	Address chain.Address
	// Heartbeat is how long the feed may stand still: it is written when the price moved
	// by its threshold, and at least so often. Until then its word is of now.
	Heartbeat time.Duration
}

// Chainlink is an oracle on a chain.
type Chainlink struct {
	cfg  ChainlinkConfig
	from Contracts

	mu       sync.Mutex
	decimals map[chain.Address]int // of feeds, which never change theirs
}

// Errors of oracles.
var (
	errSequencer = errors.New("the sequencer of the rollup is down, or came back just now")
	errRound     = errors.New("its last round has no answer")
)

// NewChainlink checks the feeds.
func NewChainlink(cfg ChainlinkConfig, from Contracts) (*Chainlink, error) {
	switch {
	case from == nil:
		return nil, fmt.Errorf("prices: source %s: its chain can not be asked for contracts", cfg.Name)
	case len(cfg.Feeds) == 0:
		return nil, fmt.Errorf("prices: source %s: has no feeds; name one for each symbol", cfg.Name)
	case !cfg.Sequencer.IsZero() && cfg.Grace <= 0:
		return nil, fmt.Errorf("prices: source %s: the time of grace of the sequencer must be above zero", cfg.Name)
	case cfg.MaxLag < 0:
		return nil, fmt.Errorf("prices: source %s: the age of a block must be above zero", cfg.Name)
	}
	for symbol, f := range cfg.Feeds {
		if f.Address.IsZero() || f.Heartbeat <= 0 {
			return nil, fmt.Errorf("prices: source %s: %s: a feed has an address and a heartbeat above zero", cfg.Name, symbol)
		}
	}
	cfg.Feeds = maps.Clone(cfg.Feeds)
	return &Chainlink{cfg: cfg, from: from, decimals: map[chain.Address]int{}}, nil
}

// Name implements Source.
func (c *Chainlink) Name() string { return c.cfg.Name }

// Kind implements Source.
func (c *Chainlink) Kind() Kind { return Oracle }

// Prices implements Source. All feeds are read at one block.
func (c *Chainlink) Prices(ctx context.Context, now time.Time) (map[string]Quote, error) {
	r, err := readAt(ctx, c.from, c.cfg.MaxLag, now)
	if err != nil {
		return nil, err
	}
	if err := c.up(ctx, r, now); err != nil {
		return nil, err
	}
	return gather(ctx, c.cfg.Feeds, func(ctx context.Context, f Feed) (Quote, error) { return c.feed(ctx, r, f, now) })
}

// up reports whether the sequencer has been up for long enough.
func (c *Chainlink) up(ctx context.Context, r reader, now time.Time) error {
	if c.cfg.Sequencer.IsZero() {
		return nil
	}
	out, err := r.ask(ctx, aggregator, c.cfg.Sequencer, "latestRoundData")
	if err != nil {
		return fmt.Errorf("sequencer: %w", err)
	}
	down, since := number(out[1]), number(out[2])
	if down.Sign() != 0 || since.Sign() <= 0 || !since.IsInt64() || now.Sub(time.Unix(since.Int64(), 0)) < c.cfg.Grace {
		return errSequencer
	}
	return nil
}

func (c *Chainlink) feed(ctx context.Context, r reader, f Feed, now time.Time) (Quote, error) {
	places, err := c.places(ctx, r, f.Address)
	if err != nil {
		return Quote{}, err
	}
	out, err := r.ask(ctx, aggregator, f.Address, "latestRoundData")
	if err != nil {
		return Quote{}, err
	}
	round, answer, updated, answered := number(out[0]), number(out[1]), number(out[3]), number(out[4])
	switch {
	case updated.Sign() <= 0 || !updated.IsInt64() || answered.Cmp(round) < 0:
		return Quote{}, errRound
	case answer.Sign() <= 0:
		return Quote{Why: fmt.Sprintf("says %s, which is no price", short(answer.String()))}, nil
	}
	q := Quote{Price: decimal(answer, tenTo(places)), At: time.Unix(updated.Int64(), 0).UTC()}
	if q.Price == "" {
		return Quote{Why: "says more than a price can hold"}, nil
	}
	if age := now.Sub(q.At); age >= 0 && age <= f.Heartbeat {
		q.At = now // it would have been written if the price had moved
	}
	return q, nil
}

// places are the decimals of a feed.
func (c *Chainlink) places(ctx context.Context, r reader, feed chain.Address) (int, error) {
	c.mu.Lock()
	n, known := c.decimals[feed]
	c.mu.Unlock()
	if known {
		return n, nil
	}
	n, err := r.decimals(ctx, feed)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decimals[feed] = n
	return n, nil
}
