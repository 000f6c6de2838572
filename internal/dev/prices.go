package dev

import (
	"context"
	_ "embed" // the contract and the record
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"

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

// quoted is where the prices of a local network come from: a record that stands for an
// exchange, and the oracle on Ethereum. Nobody writes the oracle by himself, so that it
// may stand still for as long as it likes.
func (l *local) quoted() error {
	record, err := prices.NewRecorded("recorded exchange", recordFile)
	if err != nil {
		return err
	}
	l.net.sources = append(l.net.sources, record)
	i := slices.IndexFunc(l.net.chains, func(c front.Chain) bool { return c.ID == Ethereum })
	if i < 0 || len(l.state.Feeds) == 0 { // it is not started, or an older network made no oracle
		return nil
	}
	cfg := prices.ChainlinkConfig{Name: "oracle on Ethereum", Feeds: map[string]prices.Feed{}}
	for symbol, text := range l.state.Feeds {
		at, err := evm.Codec{}.Parse(text)
		if err != nil {
			return fmt.Errorf("price feed of %s: %w", symbol, err)
		}
		cfg.Feeds[symbol] = prices.Feed{Address: at, Heartbeat: 10 * 365 * 24 * time.Hour}
	}
	oracle, err := prices.NewChainlink(cfg, l.net.chains[i].Contracts)
	if err != nil {
		return err
	}
	l.net.sources = append(l.net.sources, oracle)
	return nil
}

// quoted are the sources of the network's prices.
func (n *Network) quoted() ([]prices.Source, error) {
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
