package serve

import (
	"slices"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/desk"
	"ferry/internal/family/evm"
	"ferry/internal/front"
	"ferry/internal/prices"
)

// Whoever copies the example must get what it says: every address with its checksum,
// every market in what it is counted in.
func TestEverySourceOfTheExampleCanBeMade(t *testing.T) {
	t.Parallel()
	c, err := config.Load("../../docs/mainnet.example.toml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var chains []front.Chain
	for _, one := range c.Chains {
		f := front.Chain{Chain: desk.Chain{ID: one.ID}}
		if one.Family == chain.EVM {
			f.Contracts = (*evm.Chain)(nil) // nobody asks it here
		}
		chains = append(chains, f)
	}
	sources, err := sourcesOf(c, chains)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[prices.Kind]int{}
	for _, s := range sources {
		kinds[s.Kind()]++
	}
	if kinds[prices.Exchange] < 3 || kinds[prices.Oracle] < 3 || kinds[prices.Pool] < 1 {
		t.Errorf("the example has %v", kinds)
	}
	cfg := board(c)
	if _, err := prices.New(cfg, sources...); err != nil {
		t.Error(err)
	}
	if !slices.Contains(cfg.Symbols, "USDC") {
		t.Error("what others are counted in is not priced")
	}
	if _, err := sourcesOf(c, nil); err == nil {
		t.Error("contracts are read on chains that are not served")
	}
	for _, spoil := range []func(s *config.Source){
		func(s *config.Source) {
			s.Feeds = map[string]string{"ETH": "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8418"}
		},
		func(s *config.Source) { s.Sequencer = "up" },
		func(s *config.Source) { s.Pool = "here" },
	} {
		for _, p := range c.Prices {
			spoil(&p)
			if p.Kind == "chainlink" && p.Pool == "" || p.Kind == "uniswapV3" && p.Pool == "here" {
				if _, err := sourceOf(p, map[chain.ID]prices.Contracts{p.Chain: (*evm.Chain)(nil)}); err == nil {
					t.Errorf("%+v was taken", p)
				}
			}
		}
	}
}
