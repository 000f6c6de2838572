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

const venues = "../../docs/venues.example.toml"

// Presets know where contracts stand, and switch nothing on by that.
func TestPoolsAndBridgesAreOffUnlessTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{
		"not a word":             "",
		"said to be":             "pools = false\nbridges = []\n",
		"contracts of one's own": "[chains.uniswap]\nrouter = \"0x1111111111111111111111111111111111111111\"\n",
	} {
		c, err := config.Parse([]byte(real+more), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if one := c.Chains[0]; one.Uniswap != nil || one.CCTP != nil || one.Rollup != nil || c.Pools.MaxOff != 0 || c.CCTP.Version != 0 || c.Rollups.Version != 0 {
			t.Errorf("%s: got %+v", name, one)
		}
		if shown := c.String(); strings.Contains(shown, "uniswap") || strings.Contains(shown, "cctp") {
			t.Errorf("%s: what is off is shown:\n%s", name, shown)
		}
	}
}

// The presets that the example does not use are whole too.
func TestEveryPresetHasWhatItSwitchesOn(t *testing.T) {
	t.Parallel()
	const money = "[cctp]\nmin = \"1\"\nmax = \"2\"\n[rollups]\nmin = \"1\"\nmax = \"2\"\n"
	all := map[string][]string{
		"ethereum": {"cctp"}, "arbitrum": {"cctp"}, "base": {"cctp", "rollup"}, "optimism": {"cctp", "rollup"}, "polygon": {"cctp"}, "bnb": nil,
	}
	text := strings.Split(real, "[[chains]]")[0] + money
	for name, bridges := range all {
		text += "[[chains]]\npreset = \"" + name + "\"\nnodes = [\"https://x.example\"]\npools = true\n"
		if len(bridges) > 0 {
			text += `bridges = ["` + strings.Join(bridges, `", "`) + "\"]\n"
		}
	}
	c, err := config.Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Chains) != len(all) {
		t.Fatalf("%d chains", len(c.Chains))
	}
	for _, one := range c.Chains {
		has := strings.Join(all[one.Slug], " ")
		if one.Uniswap == nil || one.Uniswap.Multicall == "" || one.Uniswap.Tokens[0] != one.Uniswap.Wrapped ||
			(one.CCTP != nil) != strings.Contains(has, "cctp") || (one.Rollup != nil) != strings.Contains(has, "rollup") {
			t.Errorf("%s is not whole: %+v", one.Slug, one)
		}
		// Whatever the preset sells must be traded: the two lists are of one network.
		for _, a := range one.Assets {
			if !a.IsNative() && !strings.Contains(strings.Join(one.Uniswap.Tokens, " "), a.Ref) {
				t.Errorf("%s is not among the tokens of the pools", a)
			}
		}
		if one.Uniswap.Poll < 500*time.Millisecond || one.Uniswap.Poll > 3*time.Second {
			t.Errorf("%s is looked at every %s", one.Slug, one.Uniswap.Poll)
		}
	}
	if _, err := config.Parse([]byte(strings.Replace(text, "preset = \"bnb\"", "preset = \"bnb\"\nbridges = [\"cctp\"]", 1)), nil); err == nil || !strings.Contains(err.Error(), ".cctp.domain: is missing") {
		t.Errorf("a chain without USDC of its own: %v", err)
	}
}

func TestTheExampleOfPoolsAndBridgesIsReadAndShown(t *testing.T) {
	t.Parallel()
	c, err := config.Load(venues, nil)
	if err != nil {
		t.Fatal(err)
	}
	five := 5 * money.Dollar
	usdc := chain.Asset{Chain: "eip155:1", Ref: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}
	const weth, dollars = "0x82af49447d8a07e3bd95bd0d56f35241523fbab1", "0xaf88d065e77c8cc2239327c5edb3a432268e5831"
	for what, d := range map[string]string{
		"pools": cmp.Diff(config.Pools{MaxOff: money.Whole / 100}, c.Pools),
		"cctp": cmp.Diff(config.CCTP{
			Terms: config.Terms{Claim: &five, Version: 1, Since: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Poll: 10 * time.Second}, Attester: "https://iris-api.circle.com",
			Min: money.FromUint64(10_000_000), Max: money.FromUint64(100_000_000_000), Perform: true, Fee: money.Whole / 1000,
		}, c.CCTP, byValue),
		"rollups": cmp.Diff(config.Rollups{
			Terms: config.Terms{Version: 1, Since: time.Unix(0, 0).UTC(), Poll: 15 * time.Second},
			Min:   money.MustParse("10000000000000000"), Max: money.MustParse("100000000000000000000"),
		}, c.Rollups, byValue),
		"hubs": cmp.Diff([]chain.Asset{{Chain: "eip155:1"}, usdc}, c.Chains[0].Uniswap.Hubs),
		"domain": cmp.Diff(&config.CCTPSide{
			Messenger: "0x28b5a0e9c621a5badaa536219b3a228c8168cf5d", Transmitter: "0x81d40f21f12a8f0e3252bccb954d722d4c464b64", Token: usdc, Attested: 19 * time.Minute,
		}, c.Chains[0].CCTP),
		"only": cmp.Diff([]config.Pool{
			{3, weth, dollars, 500},
			{3, dollars, "0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9", 100},
		}, c.Chains[1].Uniswap.Only),
		"rollup": cmp.Diff(&config.Rollup{
			Of: "eip155:1", Portal: "0xbeb5fc579115071764c7423a4f12edde41f106ed", Messenger: "0x25ace71c97b33cc4729cf772ae268934f7ab5fa1",
			Bridge: "0x99c9fc46f92e8a1c0dec1b1747d010903e884be1", Games: "0xe5965ab5962edc7477c8520243a95517cd252fa9", Registry: "0x23b2c62946350f4246f9f9d027e071f0264fd113",
			Relay: 5 * time.Minute, Told: time.Hour, Challenge: 7 * 24 * time.Hour,
		}, c.Chains[3].Rollup, byValue),
	} {
		if d != "" {
			t.Errorf("%s: %s", what, d)
		}
	}
	shown := c.String()
	for range 2 { // what is shown can be read again, and showing changes nothing
		back, err := config.Parse([]byte(shown), nil)
		if err != nil {
			t.Fatal(err, shown)
		}
		for i := range back.Chains { // where nodes are is not shown
			back.Chains[i].Nodes.URLs = c.Chains[i].Nodes.URLs
		}
		for i := range back.Prices {
			back.Prices[i].URL = c.Prices[i].URL
		}
		if d := cmp.Diff(c, back, byValue); d != "" {
			t.Error(d)
		}
		shown = back.String()
	}
}

// own is a rollup with contracts that no preset knows, and its chain below.
const own = `
[database]
url = "sqlite:ferry.db"
[caps]
perHourUsd = "50000"
perPaymentUsd = "10000"
[wallet]
seedFile = "ferry.seed"
[pools]
maxOffPercent = "2"
[cctp]
attester = "http://127.0.0.1:9"
min = "1"
max = "9"
maxFeePercent = "0.01"
poll = "1s"
[rollups]
min = "1"
max = "9"
claimUsd = "0"
[[chains]]
id = "eip155:5"
family = "evm"
kind = "rpc"
nodes = ["https://one.example"]
assets = ["native", "0x000000000000000000000000000000000000005a", "0x000000000000000000000000000000000000005b"]
finalDepth = 12
tiers = [{confirmations = 6}]
pools = true
bridges = ["cctp"]
[chains.uniswap]
router = "0x0000000000000000000000000000000000000501"
wrapped = "0x0000000000000000000000000000000000000502"
tokens = ["0x0000000000000000000000000000000000000502", "0x000000000000000000000000000000000000005A"]
hubs = ["native"]
pooled = ["0x000000000000000000000000000000000000005a"]
maxAge = "20s"
poll = "2s"
check = "3m"
patience = "4m"
[[chains.uniswap.only]]
version = 2
tokens = ["0x0000000000000000000000000000000000000502", "0x000000000000000000000000000000000000005a"]
[chains.cctp]
domain = 5
messenger = "0x0000000000000000000000000000000000000503"
transmitter = "0x0000000000000000000000000000000000000504"
token = "0x000000000000000000000000000000000000005a"
[[chains]]
id = "eip155:6"
family = "evm"
kind = "rpc"
nodes = ["https://one.example"]
assets = ["native", "0x000000000000000000000000000000000000006a"]
finalDepth = 12
tiers = [{confirmations = 6}]
bridges = ["rollup", "cctp"]
[chains.cctp]
domain = 6
messenger = "0x0000000000000000000000000000000000000603"
transmitter = "0x0000000000000000000000000000000000000604"
token = "0x000000000000000000000000000000000000006a"
[chains.rollup]
of = "eip155:5"
portal = "0x0000000000000000000000000000000000000505"
messenger = "0x0000000000000000000000000000000000000506"
bridge = "0x0000000000000000000000000000000000000507"
oracle = "0x0000000000000000000000000000000000000508"
gas = 300000
challenge = "1h"
[[chains.rollup.tokens]]
below = "0x000000000000000000000000000000000000005b"
above = "0x000000000000000000000000000000000000006a"
min = "10"
max = "20"
`

func TestContractsOfOnesOwnAreReadAndShown(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(own), nil)
	if err != nil {
		t.Fatal(err)
	}
	five, six := chain.ID("eip155:5"), chain.ID("eip155:6")
	token := func(id chain.ID, end string) chain.Asset {
		return chain.Asset{Chain: id, Ref: "0x00000000000000000000000000000000000000" + end}
	}
	want := config.Uniswap{
		Router: "0x0000000000000000000000000000000000000501", Wrapped: "0x0000000000000000000000000000000000000502",
		Tokens: []string{"0x0000000000000000000000000000000000000502", token(five, "5a").Ref}, Hubs: []chain.Asset{five.Native()}, Pooled: []chain.Asset{token(five, "5a")},
		Only:   []config.Pool{{Version: 2, Zero: "0x0000000000000000000000000000000000000502", One: token(five, "5a").Ref}},
		MaxAge: 20 * time.Second, Poll: 2 * time.Second, Check: 3 * time.Minute, Patience: 4 * time.Minute,
	}
	if d := cmp.Diff(&want, c.Chains[0].Uniswap); d != "" {
		t.Error(d)
	}
	rollup := config.Rollup{
		Of: five, Portal: "0x0000000000000000000000000000000000000505", Messenger: "0x0000000000000000000000000000000000000506", Bridge: "0x0000000000000000000000000000000000000507",
		Oracle: "0x0000000000000000000000000000000000000508", Gas: 300_000, Withdrawals: true, Relay: 5 * time.Minute, Told: time.Hour, Challenge: time.Hour,
		Tokens: []config.RollupToken{{token(five, "5b"), token(six, "6a"), money.FromUint64(10), money.FromUint64(20)}},
	}
	if d := cmp.Diff(&rollup, c.Chains[1].Rollup, byValue); d != "" {
		t.Error(d)
	}
	if c.Rollups.Claim == nil || *c.Rollups.Claim != 0 || c.CCTP.Claim != nil || c.CCTP.MaxFee != money.Whole/10_000 {
		t.Errorf("got %+v and %+v", c.Rollups, c.CCTP)
	}
	back, err := config.Parse([]byte(c.String()), nil)
	if err != nil {
		t.Fatal(err, c.String())
	}
	for i := range back.Chains {
		back.Chains[i].Nodes.URLs = c.Chains[i].Nodes.URLs
	}
	if d := cmp.Diff(c, back, byValue); d != "" {
		t.Error(d)
	}
}

func TestPoolsAndBridgesThatCannotBeMeantAreRefused(t *testing.T) {
	t.Parallel()
	const simulated = "[[chains]]\nid = \"eip155:7\"\nfamily = \"evm\"\nkind = \"sim\"\nassets = [\"native\"]\nfinalDepth = 12\ntiers = [{confirmations = 6}]\n"
	for _, c := range []struct{ from, to, key string }{
		// What is missing is named, whichever it is.
		{`router = "0x0000000000000000000000000000000000000501"`, ``, "chains[0].uniswap.router: is missing"},
		{`wrapped = "0x0000000000000000000000000000000000000502"`, ``, "chains[0].uniswap.wrapped: is missing"},
		{`tokens = ["0x0000000000000000000000000000000000000502", "0x000000000000000000000000000000000000005A"]`, ``, "chains[0].uniswap.tokens: is missing"},
		{`domain = 5`, ``, "chains[0].cctp.domain: is missing"},
		{`messenger = "0x0000000000000000000000000000000000000503"`, ``, "chains[0].cctp.messenger: is missing"},
		{`transmitter = "0x0000000000000000000000000000000000000504"`, ``, "chains[0].cctp.transmitter: is missing"},
		{`token = "0x000000000000000000000000000000000000005a"`, ``, "chains[0].cctp.token: is missing"},
		{`of = "eip155:5"`, ``, "chains[1].rollup.of: is missing"},
		{`portal = "0x0000000000000000000000000000000000000505"`, ``, "chains[1].rollup.portal: is missing"},
		{`messenger = "0x0000000000000000000000000000000000000506"`, ``, "chains[1].rollup.messenger: is missing"},
		{`bridge = "0x0000000000000000000000000000000000000507"`, ``, "chains[1].rollup.bridge: is missing"},
		{`oracle = "0x0000000000000000000000000000000000000508"`, ``, "chains[1].rollup.games: and oracle"},
		{`below = "0x000000000000000000000000000000000000005b"`, ``, "chains[1].rollup.tokens[0].below: is missing"},
		{`max = "20"`, ``, "chains[1].rollup.tokens[0].max: is missing"},
		{"min = \"1\"\nmax = \"9\"\nmaxFee", "max = \"9\"\nmaxFee", "cctp.min: is missing; zero never means unlimited"},
		{"min = \"1\"\nmax = \"9\"\nclaim", "min = \"1\"\nclaim", "rollups.max: is missing; zero never means unlimited"},
		// What is there and wrong.
		{`pools = true`, `pools = "yes"`, "chains[0].pools: is not true or false"},
		{`bridges = ["cctp"]`, `bridges = "cctp"`, "chains[0].bridges: is not a list"},
		{`bridges = ["cctp"]`, `bridges = ["cctp", "hop"]`, `chains[0].bridges: "hop" is not known; write "cctp" or "rollup"`},
		{`bridges = ["cctp"]`, `bridges = ["cctp", "cctp"]`, "chains[0].bridges: has \"cctp\" twice"},
		{`bridges = ["cctp"]`, ``, "chains[1].bridges: has \"cctp\", and no other chain has"},
		{`router = "0x0000000000000000000000000000000000000501"`, `router = "0x501"`, "chains[0].uniswap.router: \"0x501\" is not the address"},
		{`router = "0x0000000000000000000000000000000000000501"`, `rooter = "0x0000000000000000000000000000000000000501"`, "chains[0].uniswap.rooter: is not a key; did you mean chains[0].uniswap.router?"},
		{`maxAge = "20s"`, `maxAge = "0s"`, "chains[0].uniswap.maxAge"},
		{`poll = "2s"`, `poll = "often"`, "chains[0].uniswap.poll"},
		{`hubs = ["native"]`, `hubs = ["0x000000000000000000000000000000000000005b"]`, "chains[0].uniswap.hubs"},
		{`hubs = ["native"]`, `hubs = ["0x000000000000000000000000000000000000005a"]`, "chains[0].uniswap.hubs: eip155:5/0x000000000000000000000000000000000000005a is pooled"},
		{`hubs = ["native"]`, `hubs = []`, "chains[0].uniswap.hubs: is empty"},
		{`pooled = ["0x000000000000000000000000000000000000005a"]`, `pooled = ["0x000000000000000000000000000000000000005f"]`, "chains[0].uniswap.pooled"},
		{`version = 2`, `version = 3`, "chains[0].uniswap.only[0].fee"},
		{`version = 2`, "version = 2\nfee = 500", "chains[0].uniswap.only[0].fee"},
		{`version = 2`, "version = 4", "chains[0].uniswap.only[0].version"},
		{"version = 2\ntokens = [\"0x0000000000000000000000000000000000000502\"", "version = 2\ntokens = [\"0x0000000000000000000000000000000000000509\"", "chains[0].uniswap.only[0].tokens"},
		{`domain = 6`, `domain = 5`, "chains[1].cctp.domain: 5 is that of another chain too"},
		{`domain = 6`, `domain = -1`, "chains[1].cctp.domain"},
		{`token = "0x000000000000000000000000000000000000006a"`, `token = "0x000000000000000000000000000000000000006b"`, "chains[1].cctp.token"},
		{`transmitter = "0x0000000000000000000000000000000000000604"`, `transmitter = "0x0000000000000000000000000000000000000603"`, "chains[1].cctp.transmitter: is the messenger"},
		{`attester = "http://127.0.0.1:9"`, `attester = "http://far.example"`, "cctp.attester"},
		{`maxFeePercent = "0.01"`, `maxFeePercent = "6"`, "cctp.maxFeePercent"},
		{`maxFeePercent = "0.01"`, `feePercent = "1"`, "cctp.feePercent: is for transfers that the service performs"},
		{`poll = "1s"`, `termsVersion = 0`, "cctp.termsVersion"},
		{`poll = "1s"`, `effectiveAt = "soon"`, "cctp.effectiveAt"},
		{`poll = "1s"`, `pol = "1s"`, "cctp.pol: is not a key"},
		{"min = \"1\"\nmax = \"9\"\nclaim", "min = \"10\"\nmax = \"9\"\nclaim", "rollups.max: is below min"},
		{"min = \"1\"\nmax = \"9\"\nclaim", "min = \"0\"\nmax = \"9\"\nclaim", "rollups.min"},
		{`claimUsd = "0"`, `claimUsd = "-1"`, "rollups.claimUsd"},
		{`of = "eip155:5"`, `of = "eip155:6"`, "chains[1].rollup.of"},
		{`of = "eip155:5"`, `of = "eip155:9"`, "chains[1].rollup.of: \"eip155:9\" is no chain"},
		{`oracle = "0x0000000000000000000000000000000000000508"`, "oracle = \"0x0000000000000000000000000000000000000508\"\ngames = \"0x0000000000000000000000000000000000000509\"", "chains[1].rollup.games: and oracle"},
		{`gas = 300000`, `registry = "0x0000000000000000000000000000000000000509"`, "chains[1].rollup.registry: is for rollups with games"},
		{`gas = 300000`, `gas = 0`, "chains[1].rollup.gas"},
		{`challenge = "1h"`, `challenge = "0s"`, "chains[1].rollup.challenge"},
		{`below = "0x000000000000000000000000000000000000005b"`, `below = "0x000000000000000000000000000000000000005c"`, "chains[1].rollup.tokens: eip155:5/0x000000000000000000000000000000000000005c is not served"},
		{`maxOffPercent = "2"`, `maxOffPercent = "0"`, "pools.maxOffPercent"},
		// What is only for chains of real nodes.
		{"[[chains]]\nid = \"eip155:5\"", simulated + "pools = true\n[[chains]]\nid = \"eip155:5\"", "chains[0].pools: is for chains of real nodes"},
		{"[[chains]]\nid = \"eip155:5\"", simulated + "bridges = [\"cctp\"]\n[[chains]]\nid = \"eip155:5\"", "chains[0].bridges: is for chains of real nodes"},
		// What nobody uses.
		{`pools = true`, ``, "pools: is given, and no chain uses it"},
		{`bridges = ["rollup", "cctp"]`, `bridges = ["cctp"]`, "rollups: is given, and no chain uses it"},
	} {
		text := strings.Replace(own, c.from, c.to, 1)
		if text == own {
			t.Fatalf("nothing was changed for %s", c.key)
		}
		_, err := config.Parse([]byte(text), nil)
		var p *config.Problem
		if !errors.As(err, &p) || !strings.Contains(err.Error(), c.key) {
			t.Errorf("%s: got %v", c.key, err)
		}
	}
}
