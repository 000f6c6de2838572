package dev

import (
	"context"
	_ "embed" // the contract and the record
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"ferry/internal/chain"
	"ferry/internal/family/evm"
	"ferry/internal/front"
	"ferry/internal/money"
	"ferry/internal/prices"
)

// What the prices of a local network are made of: the contract of a feed, and a day of
// an exchange that there never was, around the prices that the feeds have.
var (
	//go:embed contract/PriceFeed.json
	feedFile []byte
	//go:embed record.json
	recordFile []byte
)

// feedDecimals are those of a feed, as oracles have them.
const feedDecimals = 8

// setupFeeds makes an oracle of each symbol.
func (l *local) setupFeeds(ctx context.Context, g evmNode) error {
	var f struct {
		ABI  json.RawMessage `json:"abi"`
		Code hexutil.Bytes   `json:"code"`
	}
	if err := json.Unmarshal(feedFile, &f); err != nil {
		return fmt.Errorf("contract of a price feed: %w", err)
	}
	words, err := abi.JSON(strings.NewReader(string(f.ABI)))
	if err != nil {
		return fmt.Errorf("contract of a price feed: %w", err)
	}
	all := map[string]string{}
	for symbol, h := range holdings {
		all[symbol] = h.price
	}
	for _, p := range pooled {
		all[p.symbol] = p.price
	}
	for symbol, text := range all {
		price, err := money.ParseDecimal(text, feedDecimals)
		if err != nil {
			return fmt.Errorf("price of %s: %w", symbol, err)
		}
		answer, _ := new(big.Int).SetString(price.String(), 10)
		args, err := words.Pack("", symbol+" / USD", uint8(feedDecimals), answer)
		if err != nil {
			return fmt.Errorf("price feed of %s: %w", symbol, err)
		}
		if l.state.Feeds[symbol], err = g.deploy(ctx, slices.Concat(f.Code, args)); err != nil {
			return err
		}
	}
	return nil
}

// How the pool on Ethereum says what its coin is worth.
const (
	// meanOver is short, so that a new network has it soon, and longer than anybody pushes a
	// pool here. Blocks are a second apart at least, and each is remembered.
	meanOver   = 20 * time.Second
	remembered = 60
	// leastDepth is a small part of what the pool is filled with.
	leastDepth = 1_000_000_000_000_000
	// still is how old the newest block of a local chain may be for what contracts say in
	// it: nobody makes blocks while the network is stopped, and prices come before them.
	still = 10 * 365 * 24 * time.Hour
)

// quoted is where the prices of a local network come from: a record that stands for an
// exchange, the oracle on Ethereum, and of its coin the mean of a pool there. Nobody
// writes the oracle by himself, so that it may stand still for as long as it likes.
func (l *local) quoted() error {
	record, err := prices.NewRecorded("recorded exchange", recordFile)
	if err != nil {
		return err
	}
	l.net.sources = append(l.net.sources, record)
	i := slices.IndexFunc(l.net.chains, func(c front.Chain) bool { return c.ID == Ethereum })
	if i < 0 {
		return nil
	}
	from := l.net.chains[i].Contracts
	if err := l.oracle(from); err != nil {
		return err
	}
	return l.mean(from)
}

// oracle adds the one on Ethereum, unless an older network made none.
func (l *local) oracle(from prices.Contracts) error {
	if len(l.state.Feeds) == 0 {
		return nil
	}
	cfg := prices.ChainlinkConfig{Name: "oracle on Ethereum", Feeds: map[string]prices.Feed{}, MaxLag: still}
	for symbol, text := range l.state.Feeds {
		at, err := evm.Codec{}.Parse(text)
		if err != nil {
			return fmt.Errorf("price feed of %s: %w", symbol, err)
		}
		cfg.Feeds[symbol] = prices.Feed{Address: at, Heartbeat: still}
	}
	oracle, err := prices.NewChainlink(cfg, from)
	if err != nil {
		return err
	}
	l.net.sources = append(l.net.sources, oracle)
	return nil
}

// mean adds what the pool of the coin and the dollar on Ethereum pays in the mean, where
// there are pools. Of three who say what the coin is worth two must agree.
func (l *local) mean(from prices.Contracts) error {
	x, ok := l.state.Exchanges[Ethereum]
	if !ok || x.Pool == "" {
		return nil
	}
	at := func(text string) chain.Address { return chain.CanonicalAddress(chain.EVM, text) }
	pool, err := prices.NewUniswapV3(prices.PoolConfig{
		Name: "pool on Ethereum", Symbol: "ETH", In: "USDC", Pool: at(x.Pool), Base: at(lower(x.WETH)), Quote: at(string(l.state.Tokens[Ethereum])),
		Window: meanOver, Floor: money.FromUint64(leastDepth), MaxLag: still,
	}, from)
	if err != nil {
		return err
	}
	l.net.sources = append(l.net.sources, young{pool})
	l.net.guards = map[string]prices.Guard{"ETH": {Quorum: quorumOf(len(l.net.sources))}}
	return nil
}

// young is a pool that was made a moment ago: what it can not know yet is no trouble.
type young struct{ *prices.UniswapV3 }

// Prices implements prices.Source.
func (y young) Prices(ctx context.Context, now time.Time) (map[string]prices.Quote, error) {
	said, err := y.UniswapV3.Prices(ctx, now)
	if errors.Is(err, evm.ErrReverted) {
		return map[string]prices.Quote{"ETH": {Why: "does not remember " + meanOver.String() + " yet"}}, nil
	}
	return said, err
}

// quoted are the sources of the network's prices. Most of its symbols only one of them
// knows, or two; of others the network says how many must agree.
func (n *Network) quoted(c *prices.Config) ([]prices.Source, error) {
	c.Quorum, c.Guards = 1, n.guards
	if len(n.sources) > 0 {
		return n.sources, nil
	}
	fixed, err := prices.NewFixed("development", n.prices())
	return []prices.Source{fixed}, err
}

// quorumOf is how many sources must agree: two where one may fail, else one.
func quorumOf(sources int) int {
	if sources > 2 {
		return 2
	}
	return 1
}
