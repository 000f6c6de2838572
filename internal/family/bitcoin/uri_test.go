package bitcoin_test

import (
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/bitcoin"
	"ferry/internal/money"
)

func TestAPaymentLinkIsThatOfBIP21(t *testing.T) {
	t.Parallel()
	const mainnet chain.ID = "bip122:000000000019d6689c085ae165831e93"
	main, test := codec(t, bitcoin.Mainnet), codec(t, bitcoin.Testnet)
	of := func(s string) chain.Address { return chain.CanonicalAddress(chain.Bitcoin, s) }
	for _, row := range []struct {
		name   string
		codec  bitcoin.Codec
		asset  chain.Asset
		to     chain.Address
		amount uint64
		want   string // a link, or what an error says
		refuse bool
	}{
		{name: "a part of a coin", codec: main, asset: mainnet.Native(), to: of(witness), amount: 100_000, want: "bitcoin:" + witness + "?amount=0.001"},
		{name: "the least", codec: main, asset: mainnet.Native(), to: of(genesis), amount: 1, want: "bitcoin:" + genesis + "?amount=0.00000001"},
		{name: "whole coins", codec: main, asset: mainnet.Native(), to: of(taproot), amount: 2_000_000_000, want: "bitcoin:" + taproot + "?amount=20"},
		{name: "coins and parts", codec: main, asset: mainnet.Native(), to: of(script), amount: 2_030_000_000, want: "bitcoin:" + script + "?amount=20.3"},
		{name: "a test network", codec: test, asset: mainnet.Native(), to: of(testKey), amount: 1_000, want: "bitcoin:" + testKey + "?amount=0.00001"},
		{name: "nothing", codec: main, asset: mainnet.Native(), to: of(witness), want: "nothing", refuse: true},
		{name: "nobody", codec: main, asset: mainnet.Native(), amount: 1, want: "recipient", refuse: true},
		{name: "another network", codec: test, asset: mainnet.Native(), to: of(witness), amount: 1, want: "no address of testnet", refuse: true},
		{name: "a token", codec: main, asset: chain.Asset{Chain: mainnet, Ref: "rune"}, to: of(witness), amount: 1, want: "no tokens", refuse: true},
	} {
		got, err := row.codec.PaymentURI(row.asset, row.to, money.FromUint64(row.amount), 2)
		switch {
		case row.refuse && (err == nil || got != "" || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %q, %v", row.name, got, err)
		case !row.refuse && (err != nil || got != row.want):
			t.Errorf("%s: %q, %v, want %q", row.name, got, err, row.want)
		}
	}
}
