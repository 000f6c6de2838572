package evm_test

import (
	"strings"
	"testing"

	"ferry/internal/chain"
	"ferry/internal/money"
)

func TestAPaymentLinkIsThatOfEIP681(t *testing.T) {
	t.Parallel()
	const usdc = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	to := chain.CanonicalAddress(chain.EVM, strings.ToLower(good))
	for _, row := range []struct {
		name   string
		asset  chain.Asset
		to     chain.Address
		amount string
		want   string // a link, or what an error says
		refuse bool
	}{
		{
			name: "the chain's own coin", asset: chain.ID("eip155:1").Native(), to: to, amount: "2014000000000000000",
			want: "ethereum:" + good + "@1?value=2014000000000000000",
		},
		{
			name: "another chain", asset: chain.ID("eip155:42161").Native(), to: to, amount: "1",
			want: "ethereum:" + good + "@42161?value=1",
		},
		{
			name: "a token", asset: chain.Asset{Chain: "eip155:8453", Ref: usdc}, to: to, amount: "1500000",
			want: "ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48@8453/transfer?address=" + good + "&uint256=1500000",
		},
		{name: "nothing", asset: chain.ID("eip155:1").Native(), to: to, amount: "0", want: "nothing", refuse: true},
		{name: "nobody", asset: chain.ID("eip155:1").Native(), amount: "1", want: "recipient", refuse: true},
		{name: "no token", asset: chain.Asset{Chain: "eip155:1", Ref: "usd"}, to: to, amount: "1", want: "token", refuse: true},
		{name: "no number", asset: chain.ID("eip155:").Native(), to: to, amount: "1", want: "eip155", refuse: true},
		{name: "number nought", asset: chain.ID("eip155:0").Native(), to: to, amount: "1", want: "eip155", refuse: true},
		{name: "number with a sign", asset: chain.ID("eip155:+1").Native(), to: to, amount: "1", want: "eip155", refuse: true},
		{name: "number with a nought before", asset: chain.ID("eip155:01").Native(), to: to, amount: "1", want: "eip155", refuse: true},
		{name: "number and more", asset: chain.ID("eip155:1?value=2&x").Native(), to: to, amount: "1", want: "eip155", refuse: true},
		{name: "another family", asset: chain.ID("sim:1").Native(), to: to, amount: "1", want: "eip155", refuse: true},
	} {
		got, err := codec.PaymentURI(row.asset, row.to, money.MustParse(row.amount), 6)
		switch {
		case row.refuse && (err == nil || got != "" || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %q, %v", row.name, got, err)
		case !row.refuse && (err != nil || got != row.want):
			t.Errorf("%s: %q, %v, want %q", row.name, got, err, row.want)
		}
	}
}
