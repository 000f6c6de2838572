package chain_test

import (
	"strings"
	"testing"

	"ferry/internal/chain"
)

func TestAssetIsShownAsItIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]chain.Asset{
		"eip155:1/native":      {Chain: "eip155:1"},
		"eip155:1/0xdac17f958": {Chain: "eip155:1", Ref: "0xdac17f958"},
		"sim:a/usd/c":          {Chain: "sim:a", Ref: "usd/c"},
	} {
		got, err := chain.ParseAsset(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: got %v shown as %s, %v", text, got, got, err)
		}
		if got.IsNative() != (want.Ref == "") {
			t.Errorf("%s: native is %t", text, got.IsNative())
		}
	}
	for _, text := range []string{"", "/", "eip155:1", "eip155:1/", "/native", "native"} {
		if got, err := chain.ParseAsset(text); err == nil {
			t.Errorf("%q was taken as %v", text, got)
		} else if !strings.Contains(err.Error(), "chain/token") {
			t.Errorf("%q: %v does not say what to write", text, err)
		}
	}
}

func TestNativeIsTheChainsOwnCoin(t *testing.T) {
	t.Parallel()
	if a := chain.ID("eip155:1").Native(); !a.IsNative() || a.Chain != "eip155:1" {
		t.Errorf("got %v", a)
	}
}

func TestAddressKeepsItsFamilyApart(t *testing.T) {
	t.Parallel()
	a, b := chain.CanonicalAddress(chain.EVM, "0xab"), chain.CanonicalAddress(chain.Solana, "0xab")
	if a == b {
		t.Error("the same text in two families is the same address")
	}
	if a.Family() != chain.EVM || a.Text() != "0xab" || a.IsZero() {
		t.Errorf("got %v", a)
	}
	if !(chain.Address{}).IsZero() {
		t.Error("no address is an address")
	}
}

func TestBlockWithoutHashIsNone(t *testing.T) {
	t.Parallel()
	if !(chain.Block{}).IsZero() || (chain.Block{Hash: "h"}).IsZero() {
		t.Error("a mempool payment must not look as if it were in a block")
	}
}

func TestOnlyThreeFatesAreForGood(t *testing.T) {
	t.Parallel()
	for fate, want := range map[chain.Fate]struct {
		name    string
		settled bool
	}{
		chain.Missing: {"missing", false}, chain.Pending: {"pending", false}, chain.Included: {"included", false},
		chain.Final: {"final", true}, chain.Reverted: {"reverted", true}, chain.Dead: {"dead", true},
	} {
		if fate.String() != want.name || fate.Settled() != want.settled {
			t.Errorf("%s: settled %t", fate, fate.Settled())
		}
	}
	if got := chain.Fate(99).String(); got != "fate(99)" {
		t.Errorf("a fate nobody knows is %q", got)
	}
	if chain.Fate(0) != chain.Missing || chain.Fate(99).Settled() {
		t.Error("what is not known must never count as done")
	}
}

func TestNonceSlotsAreReadBackForTheirAccountOnly(t *testing.T) {
	t.Parallel()
	s := chain.NonceSlot("hot", 18446744073709551615)
	if n, ok := s.Nonce("hot"); !ok || n != 18446744073709551615 || s != "nonce:hot:18446744073709551615" {
		t.Errorf("%s has the nonce %d, %t", s, n, ok)
	}
	for _, other := range []chain.Slot{"nonce:cold:7", "coin:ab:7", "nonce:hot:", "nonce:hot:-1", "nonce:hot:x", ""} {
		if n, ok := other.Nonce("hot"); ok {
			t.Errorf("%s has the nonce %d", other, n)
		}
	}
}
