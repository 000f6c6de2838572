package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/config"
	"ferry/internal/money"
)

// live is what a deployment on public networks may ask for its prices.
const live = `
[market]
priceQuorum = 2
priceMinKinds = 2
priceMaxAge = "20s"
priceMaxDeviationPercent = "1.5"
priceMaxJump = 3
[[guards]]
symbol = "SOL"
quorum = 3
minKinds = 1
maxAge = "1m"
maxDeviationPercent = "3"
maxJump = 5
[[prices]]
name = "coinbase"
kind = "coinbase"
markets = { BTC = "BTC-USD" }
[[prices]]
name = "binance"
kind = "binance"
markets = { BTC = "BTCUSDC" }
in = "USDC"
[[prices]]
name = "record"
kind = "recorded"
path = "day.json"
[[prices]]
name = "oracle"
kind = "chainlink"
chain = "eip155:1"
feeds = { ETH = "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419", USDC = "0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6" }
heartbeats = { USDC = "24h" }
sequencer = "0xFdB631F5EE196F0ed6FAa767959853A9F217697D"
[[prices]]
name = "pool"
kind = "uniswapV3"
chain = "eip155:1"
symbol = "ETH"
in = "USDC"
pool = "0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640"
base = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
quote = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
window = "10m"
floor = "1000000000000000000"
`

func TestLiveSourcesAndGuardsAreRead(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(real+live), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Market{
		Guard:  config.Guard{Quorum: 2, MinKinds: 2, MaxAge: 20 * time.Second, MaxDeviation: 15 * money.Whole / 1000, MaxJump: 3},
		Guards: []config.Guard{{Symbol: "SOL", Quorum: 3, MinKinds: 1, MaxAge: time.Minute, MaxDeviation: 3 * money.Whole / 100, MaxJump: 5}},
	}
	got := config.Market{Guard: c.Market.Guard, Guards: c.Market.Guards}
	if d := cmp.Diff(want, got, byValue); d != "" {
		t.Error(d)
	}
	sources := []config.Source{
		{Name: "coinbase", Kind: "coinbase", Markets: map[string]string{"BTC": "BTC-USD"}},
		{Name: "binance", Kind: "binance", Markets: map[string]string{"BTC": "BTCUSDC"}, In: "USDC"},
		{Name: "record", Kind: "recorded", Path: "day.json"},
		{
			Name: "oracle", Kind: "chainlink", Chain: "eip155:1", Heartbeat: time.Hour, Heartbeats: map[string]time.Duration{"USDC": 24 * time.Hour}, Grace: time.Hour,
			Feeds:     map[string]string{"ETH": "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419", "USDC": "0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6"},
			Sequencer: "0xFdB631F5EE196F0ed6FAa767959853A9F217697D",
		},
		{
			Name: "pool", Kind: "uniswapV3", Chain: "eip155:1", Symbol: "ETH", In: "USDC", Pool: "0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640",
			Base: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", Quote: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", Window: 10 * time.Minute, Floor: money.MustParse("1000000000000000000"),
		},
	}
	if d := cmp.Diff(sources, c.Prices, byValue); d != "" {
		t.Error(d)
	}
	back, err := config.Parse([]byte(c.String()), nil)
	if err != nil {
		t.Fatalf("what is shown is refused: %v\n%s", err, c)
	}
	if d := cmp.Diff(c.Prices, back.Prices, byValue); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(c.Market, back.Market, byValue); d != "" {
		t.Error(d)
	}
}

func TestSourcesAndGuardsWithoutSenseAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, was, is, key string }{
		{"no markets", `markets = { BTC = "BTC-USD" }`, ``, "prices[0].markets"},
		{"no market", `markets = { BTC = "BTC-USD" }`, `markets = {}`, "prices[0].markets"},
		{"binance in dollars", `in = "USDC"` + "\n[[prices]]\nname = \"record\"", "[[prices]]\nname = \"record\"", "prices[1].in"},
		{"a record of nowhere", `path = "day.json"`, ``, "prices[2].path"},
		{"a key of another kind", `path = "day.json"`, "path = \"day.json\"\nfloor = \"1\"", "prices[2].floor"},
		{"an oracle on no chain", "kind = \"chainlink\"\nchain = \"eip155:1\"", `kind = "chainlink"`, "prices[3].chain"},
		{"a heartbeat of nothing", `heartbeats = { USDC = "24h" }`, `heartbeats = { USDC = "0s" }`, "prices[3].heartbeats.USDC"},
		{"a heartbeat of no feed", `heartbeats = { USDC = "24h" }`, `heartbeats = { GOLD = "24h" }`, "prices[3].heartbeats.GOLD"},
		{"a pool that may be empty", `floor = "1000000000000000000"`, ``, "prices[4].floor"},
		{"a floor of nothing", `floor = "1000000000000000000"`, `floor = "0"`, "prices[4].floor"},
		{"a window of a moment", `window = "10m"`, `window = "1m"`, "prices[4].window"},
		{"a pool without a measure", `in = "USDC"` + "\npool", "pool", "prices[4].in"},
		{"a guard of nobody", `symbol = "SOL"`, ``, "guards[0].symbol"},
		{"a guard that guards nothing", `quorum = 3`, `quorum = 0`, "guards[0].quorum"},
		{"an age of nothing", `maxAge = "1m"`, `maxAge = "0s"`, "guards[0].maxAge"},
		{"a jump of nothing", `maxJump = 5`, `maxJump = 1`, "guards[0].maxJump"},
		{"any deviation", `priceMaxDeviationPercent = "1.5"`, `priceMaxDeviationPercent = "100"`, "market.priceMaxDeviationPercent"},
		{"a guard twice", "maxJump = 5\n", "maxJump = 5\n[[guards]]\nsymbol = \"SOL\"\n", "guards[1].symbol"},
	} {
		text := strings.Replace(live, c.was, c.is, 1)
		if text == live {
			t.Fatalf("%s: nothing was changed", c.name)
		}
		if _, err := config.Parse([]byte(real+text), nil); err == nil || !strings.Contains(err.Error(), c.key) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
