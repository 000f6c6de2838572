package solana_test

import (
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
)

func TestAPaymentLinkIsThatOfSolanaPay(t *testing.T) {
	t.Parallel()
	const mainnet chain.ID = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
	to := chain.CanonicalAddress(chain.Solana, wallet)
	token := chain.Asset{Chain: mainnet, Ref: usdc}
	for _, row := range []struct {
		name     string
		asset    chain.Asset
		to       chain.Address
		amount   uint64
		decimals int
		want     string // a link, or what an error says
		refuse   bool
	}{
		{name: "a whole SOL", asset: mainnet.Native(), to: to, amount: 1_000_000_000, decimals: 9, want: "solana:" + wallet + "?amount=1"},
		{name: "a lamport", asset: mainnet.Native(), to: to, amount: 1, decimals: 9, want: "solana:" + wallet + "?amount=0.000000001"},
		{name: "SOL has nine decimals whatever is said", asset: mainnet.Native(), to: to, amount: 10_000_000, decimals: 6, want: "solana:" + wallet + "?amount=0.01"},
		{name: "a token", asset: token, to: to, amount: 10_000, decimals: 6, want: "solana:" + wallet + "?amount=0.01&spl-token=" + usdc},
		{name: "a token without decimals", asset: token, to: to, amount: 7, want: "solana:" + wallet + "?amount=7&spl-token=" + usdc},
		{name: "nothing", asset: token, to: to, decimals: 6, want: "nothing", refuse: true},
		{name: "nobody", asset: token, amount: 1, decimals: 6, want: "recipient", refuse: true},
		{name: "the system program", asset: token, to: chain.CanonicalAddress(chain.Solana, systemProgram), amount: 1, decimals: 6, want: "recipient", refuse: true},
		{name: "no mint", asset: chain.Asset{Chain: mainnet, Ref: "usd"}, to: to, amount: 1, decimals: 6, want: "mint", refuse: true},
		{name: "fewer than no decimals", asset: token, to: to, amount: 1, decimals: -1, want: "-1 decimals", refuse: true},
		{name: "more decimals than a byte counts", asset: token, to: to, amount: 1, decimals: 256, want: "256 decimals", refuse: true},
	} {
		got, err := codec.PaymentURI(row.asset, row.to, money.FromUint64(row.amount), row.decimals)
		switch {
		case row.refuse && (err == nil || got != "" || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %q, %v", row.name, got, err)
		case !row.refuse && (err != nil || got != row.want):
			t.Errorf("%s: %q, %v, want %q", row.name, got, err, row.want)
		}
	}
}
