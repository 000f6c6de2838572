package serve_test

import (
	"os"
	"regexp"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/config"
	"ferry/internal/family/evm"
	"ferry/internal/family/solana"
	"ferry/internal/serve"
)

// TestPayoutAddressesOfEveryNetworkAreTaken: an operator who sets a fee without a
// configuration at hand may serve any of Bitcoin's networks.
func TestPayoutAddressesOfEveryNetworkAreTaken(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080",
	} {
		if a, err := (serve.Addresses{}).Parse(chain.Bitcoin, text); err != nil || a.Text() != text {
			t.Errorf("%s: %v, %v", text, a, err)
		}
	}
	if _, err := (serve.Addresses{}).Parse(chain.Bitcoin, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"); err == nil {
		t.Error("a wrong checksum was taken")
	}
}

// TestAddressesOfPublicTokensHaveTheirChecksums guards what is shipped as data against
// a wrong letter.
func TestAddressesOfPublicTokensHaveTheirChecksums(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../config/networks.toml")
	if err != nil {
		t.Fatal(err)
	}
	written := regexp.MustCompile(`0x[0-9a-fA-F]{40}\b`).FindAllString(string(text), -1)
	if len(written) < 12 {
		t.Fatalf("found %d addresses", len(written))
	}
	for _, s := range written {
		a, err := evm.Codec{}.Parse(s)
		if err != nil || (evm.Codec{}).Show(a) != s {
			t.Errorf("%s: %v", s, err)
		}
	}
	c, err := config.Load("../../docs/mainnet.example.toml", nil)
	if err != nil {
		t.Fatal(err)
	}
	mints := 0
	for _, k := range c.Tokens {
		if k.Asset.Ref == "" || len(k.Asset.Chain) < 6 || k.Asset.Chain[:6] != "solana" {
			continue
		}
		mints++
		// A mint is no address that money may be sent to, but it is written like one.
		if a, err := (solana.Codec{}).Parse(k.Asset.Ref); err != nil || a != chain.CanonicalAddress(chain.Solana, k.Asset.Ref) {
			t.Errorf("%s: %v", k.Asset, err)
		}
	}
	if mints == 0 {
		t.Error("no mint was looked at")
	}
}
