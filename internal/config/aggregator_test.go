package config_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/money"
)

// served is a configuration of a chain on which an aggregator may be used.
const served = `
[database]
url = "sqlite:ferry.db"
[caps]
perHourUsd = "50000"
perPaymentUsd = "10000"
[wallet]
seedFile = "ferry.seed"
[[chains]]
id = "eip155:1"
family = "evm"
kind = "rpc"
nodes = ["https://one.example"]
assets = ["native", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599"]
finalDepth = 12
tiers = [{confirmations = 6}]
[[chains]]
id = "eip155:5"
family = "evm"
kind = "sim"
assets = ["native", "usdc"]
finalDepth = 12
tiers = [{confirmations = 6}]
`

const aggregating = `
[aggregator]
enabled = true
clientId = "my-ferry"
[[aggregator.chains]]
chain = "eip155:1"
slug = "ethereum"
executors = ["0x63242A4Ea82847b20E506b63B0e2e2eFF0CC6cB0"]
assets = ["native", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]
hubs = ["0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]
`

func TestAnAggregatorIsOffUnlessItIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"not a word":    served,
		"said to be":    served + "[aggregator]\nenabled = false\n",
		"no word of it": served + strings.Replace(aggregating, "enabled = true\n", "", 1),
	} {
		c, err := config.Parse([]byte(text), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(config.Aggregator{}, c.Aggregator); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAnAggregatorIsReadAndShown(t *testing.T) {
	t.Parallel()
	usdc := chain.Asset{Chain: "eip155:1", Ref: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}
	want := config.Aggregator{
		On: true, URL: "https://aggregator-api.kyberswap.com", ClientID: "my-ferry", PerSecond: 3, MaxOff: money.Whole / 100, Slippage: money.Whole / 200,
		Approve: 4, Patience: 5 * time.Minute,
		Chains: []config.AggregatorChain{{
			ID: "eip155:1", Slug: "ethereum", Router: "0x6131b5fae19ea4f9d964eac0408e4408b66337b5",
			Executors: []string{"0x63242a4ea82847b20e506b63b0e2e2eff0cc6cb0"}, Assets: []chain.Asset{{Chain: "eip155:1"}, usdc}, Hubs: []chain.Asset{usdc},
		}},
	}
	c, err := config.Parse([]byte(served+aggregating), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Aggregator); diff != "" {
		t.Error(diff)
	}
	for range 2 { // what is shown can be read again, and showing changes nothing
		back, err := config.Parse([]byte(c.String()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, back.Aggregator); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAnAggregatorThatCannotBeMeantIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, key string }{
		{`clientId = "my-ferry"`, ``, "aggregator.clientId"},
		{`clientId = "my-ferry"`, "clientId = \"x\"\nurl = \"ftp://x\"", "aggregator.url"},
		{`clientId = "my-ferry"`, "clientId = \"x\"\nurl = \"http://far.example\"", "aggregator.url"},
		{`clientId = "my-ferry"`, "clientId = \"x\"\nperSecond = 0", "aggregator.perSecond"},
		{`clientId = "my-ferry"`, "clientId = \"x\"\nmaxOffPercent = \"0\"", "aggregator.maxOffPercent"},
		{`clientId = "my-ferry"`, "clientId = \"x\"\nslippagePercent = \"100\"", "aggregator.slippagePercent"},
		{`clientId = "my-ferry"`, "clientId = \"x\"\napproveTimes = 0", "aggregator.approveTimes"},
		{`clientId = "my-ferry"`, "clientId = \"x\"\npatience = \"0s\"", "aggregator.patience"},
		{`clientId = "my-ferry"`, "clientId = \"x\"\nroutr = \"0s\"", "aggregator.routr"},
		{`chain = "eip155:1"`, `chain = "eip155:7"`, "aggregator.chains[0].chain"},
		{`chain = "eip155:1"`, `chain = "eip155:5"`, "aggregator.chains[0].chain"},
		{`slug = "ethereum"`, ``, "aggregator.chains[0].slug"},
		{`slug = "ethereum"`, `slug = "../x"`, "aggregator.chains[0].slug"},
		{`slug = "ethereum"`, "slug = \"ethereum\"\nrouter = \"0x1\"", "aggregator.chains[0].router"},
		{`executors = ["0x63242A4Ea82847b20E506b63B0e2e2eFF0CC6cB0"]`, ``, "aggregator.chains[0].executors"},
		{`executors = ["0x63242A4Ea82847b20E506b63B0e2e2eFF0CC6cB0"]`, `executors = []`, "aggregator.chains[0].executors"},
		{`executors = ["0x63242A4Ea82847b20E506b63B0e2e2eFF0CC6cB0"]`, `executors = ["any"]`, "aggregator.chains[0].executors[0]"},
		{`assets = ["native", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]`, ``, "aggregator.chains[0].assets"},
		{`assets = ["native", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]`, `assets = ["native"]`, "aggregator.chains[0].assets"},
		{`assets = ["native", "0xA0b8`, `assets = ["native", "0xB0b8`, "aggregator.chains[0].assets"},
		{`hubs = ["0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"]`, `hubs = ["0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599"]`, "aggregator.chains[0].hubs"},
		{aggregating, "[aggregator]\nenabled = true\nclientId = \"x\"\n", "aggregator.chains"},
		{aggregating, aggregating + aggregating[strings.Index(aggregating, "[[aggregator"):], "aggregator.chains[1].chain"},
	} {
		text := strings.Replace(aggregating, c.from, c.to, 1)
		_, err := config.Parse([]byte(served+text), nil)
		var p *config.Problem
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.key+": ") {
			t.Errorf("%s: %v", c.to, err)
		}
	}
}
