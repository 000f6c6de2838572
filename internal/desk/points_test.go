package desk

import "testing"

func TestWhatStandsForTheSameAssetIsKin(t *testing.T) {
	t.Parallel()
	for pair, same := range map[[2]string]bool{
		{"ETH", "ETH"}: true, {"ETH", "WETH"}: true, {"weth", "eth"}: true, {"BTC", "cbBTC"}: true, {"WBTC", "tBTC"}: true, {"USDC.e", "USDC"}: true, {"SOL", "WSOL"}: true,
		{"USDC", "USDT"}: false, {"ETH", "BTC"}: false, {"W", ""}: false, {"WIF", "IF"}: false,
	} {
		if got := kin(pair[0]) == kin(pair[1]); got != same {
			t.Errorf("%v: %v", pair, got)
		}
	}
}
