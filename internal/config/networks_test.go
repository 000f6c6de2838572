package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/chain"
	"ferry/internal/config"
)

const mainnet = "../../docs/mainnet.example.toml"

// real is a configuration with one real chain, and room for more of it.
const real = `
[database]
url = "sqlite:ferry.db"
[caps]
perHourUsd = "50000"
perPaymentUsd = "10000"
[wallet]
seedFile = "ferry.seed"
[[chains]]
preset = "ethereum"
nodes = ["https://one.example/key", "https://user:passw0rd@two.example", "https://three.example"]
`

func TestEveryPresetIsInTheExampleForPublicNetworks(t *testing.T) {
	t.Parallel()
	c, err := config.Load(mainnet, nil)
	if err != nil {
		t.Fatal(err)
	}
	names, err := config.Presets()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range c.Chains {
		got = append(got, one.Slug)
		if one.Kind != config.RPC || one.Nodes.Quorum < 2 || one.Explorer.Tx == "" || one.Explorer.Address == "" || one.BlockTime == 0 {
			t.Errorf("%s is not whole: %+v", one.Slug, one)
		}
		if (one.Nodes.Genesis == "") != (one.Family == chain.Bitcoin) { // whose network says it
			t.Errorf("the first block of %s is %q", one.Slug, one.Nodes.Genesis)
		}
		for _, a := range one.Assets {
			found := false
			for _, k := range c.Tokens {
				found = found || k.Asset == a
			}
			if !found {
				t.Errorf("nothing is said of %s", a)
			}
		}
	}
	want := []string{"bitcoin", "ethereum", "arbitrum", "base", "optimism", "polygon", "bnb", "solana"}
	if d := cmp.Diff(want, got); d != "" || len(names) != len(want) {
		t.Error(d, names)
	}
}

func TestAPresetFillsWhatIsNotSaid(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(real), nil)
	if err != nil {
		t.Fatal(err)
	}
	one := c.Chains[0]
	if one.ID != "eip155:1" || one.Slug != "ethereum" || one.Nodes.Quorum != 2 || !one.Nodes.Verify || len(one.Assets) != 5 || len(c.Tokens) != 5 {
		t.Fatalf("got %+v", one)
	}
	c, err = config.Parse([]byte(real+`
slug = "eth"
quorum = 3
verify = false
assets = ["native", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0x00000000000000000000000000000000000000FF"]
tiers = [{confirmations = 7}]
[[tokens]]
asset = "eip155:1/native"
symbol = "ETHER"
decimals = 18
[[tokens]]
asset = "eip155:1/0x00000000000000000000000000000000000000FF"
symbol = "MINE"
decimals = 2
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	one = c.Chains[0]
	if one.Slug != "eth" || one.Nodes.Quorum != 3 || one.Nodes.Verify || len(one.Tiers) != 1 || one.Tiers[0].Confirmations != 7 {
		t.Fatalf("got %+v", one)
	}
	symbols := map[chain.Asset]string{}
	for _, k := range c.Tokens {
		symbols[k.Asset] = k.Symbol
	}
	want := map[chain.Asset]string{
		{Chain: "eip155:1"}: "ETHER",
		{Chain: "eip155:1", Ref: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"}: "USDC",
		{Chain: "eip155:1", Ref: "0x00000000000000000000000000000000000000ff"}: "MINE",
	}
	if d := cmp.Diff(want, symbols); d != "" {
		t.Error(d)
	}
}

func TestWhatARealChainMustNotBe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ was, is, says string }{
		"unknown preset": {`preset = "ethereum"`, `preset = "etherum"`, "chains[0].preset: \"etherum\" is not known; write one of arbitrum, base"},
		"no nodes":       {`nodes = ["https://one.example/key", "https://user:passw0rd@two.example", "https://three.example"]`, ``, "chains[0].nodes: is missing"},
		"empty nodes":    {`nodes = ["https://one.example/key", "https://user:passw0rd@two.example", "https://three.example"]`, `nodes = []`, "chains[0].nodes: is empty"},
		"no address":     {`"https://three.example"`, `"three.example:passw0rd"`, "chains[0].nodes[2]: is not the address of a node"},
		"too many":       {`preset = "ethereum"`, `preset = "ethereum"` + "\nquorum = 4", "chains[0].quorum: is 4 of 3 nodes"},
		"none agree":     {`preset = "ethereum"`, `preset = "ethereum"` + "\nquorum = 0", "chains[0].quorum: is 0; write from 1"},
		"no seed":        {`seedFile = "ferry.seed"`, ``, "wallet.seedFile: is missing; chain eip155:1 pays with real money"},
		"seed twice":     {`seedFile = "ferry.seed"`, `seedFile = "ferry.seed"` + "\nsignerSocket = \"s\"", "wallet.signerSocket: and a seed are both given"},
		"bitcoin's":      {`preset = "ethereum"`, `preset = "ethereum"` + "\nnetwork = \"mainnet\"", "chains[0].network: is for chains of the family bitcoin"},
		"no block":       {`preset = "ethereum"`, `preset = "ethereum"` + "\ngenesis = \"0xD4E5\"", "chains[0].genesis: is not the hash of a block"},
		"known":          {`preset = "ethereum"`, `preset = "bitcoin"` + "\ngenesis = \"00\"", "chains[0].genesis: is not for chains of the family bitcoin"},
		"simulated":      {`preset = "ethereum"`, `preset = "ethereum"` + "\nkind = \"sim\"", "chains[0].nodes: is for chains of real nodes"},
		"no place":       {`preset = "ethereum"`, `preset = "ethereum"` + "\nexplorerTx = \"https://x.example/\"", "chains[0].explorerTx: is not a page"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(real, c.was, c.is, 1)
			if text == real {
				t.Fatal("nothing was changed")
			}
			_, err := config.Parse([]byte(text), nil)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %s", err, c.says)
			}
			if err != nil && strings.Contains(err.Error(), "passw0rd") {
				t.Errorf("a password is shown: %v", err)
			}
		})
	}
}

func TestWhereNodesAreIsNotShown(t *testing.T) {
	t.Parallel()
	c, err := config.Parse([]byte(real), nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := c.String()
	for _, no := range []string{"passw0rd", "one.example", "two.example"} {
		if strings.Contains(shown, no) {
			t.Errorf("%q is shown", no)
		}
	}
	again, err := config.Parse([]byte(shown), nil)
	if err != nil {
		t.Fatal(err, shown)
	}
	if len(again.Chains[0].Nodes.URLs) != 3 || again.Chains[0].Nodes.Quorum != 2 || again.Wallet != c.Wallet {
		t.Errorf("got %+v", again.Chains[0])
	}
}
