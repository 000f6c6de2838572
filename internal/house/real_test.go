package house

import (
	"testing"

	"ferry/internal/chain"
	"ferry/internal/family/bitcoin"
	"ferry/internal/family/evm"
	"ferry/internal/family/sim"
	"ferry/internal/family/solana"
	"ferry/internal/order"
)

// realAddresses are the forms of the real families.
func realAddresses(t *testing.T) map[chain.Family]sim.Addresses {
	t.Helper()
	regtest, err := bitcoin.NewCodec(bitcoin.Regtest)
	if err != nil {
		t.Fatal(err)
	}
	return map[chain.Family]sim.Addresses{chain.EVM: evm.Codec{}, chain.Bitcoin: regtest, chain.Solana: solana.Codec{}}
}

func TestStoriesEndAlikeWithRealAddresses(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			want, _, err := run(t.Context(), s, Options{}, Cut{})
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := run(t.Context(), s, Options{Addresses: realAddresses(t)}, Cut{})
			if err == nil {
				err = want.differs(s, got)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestSimulatedChainsHandOutRealAddresses(t *testing.T) {
	t.Parallel()
	forms := realAddresses(t)
	h, err := New(t.Context(), Options{Addresses: forms})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	for _, n := range h.Nets {
		family := n.Config().Family
		deposit, err := n.Chain().DepositAddress(t.Context(), n.ID(), "ord_1")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[chain.Address]string{}
		for name, a := range map[string]chain.Address{
			"deposit": deposit, "wallet": n.Own(order.HotWallet), "user": n.User("alice"), "anybody": n.Codec().Make("bob"),
		} {
			if again, err := forms[family].Parse(a.Text()); err != nil || again != a {
				t.Errorf("%s: %s has %v, which is no real address: %v", n.ID(), name, a, err)
			}
			if other, taken := seen[a]; taken {
				t.Errorf("%s: %s and %s have one address", n.ID(), name, other)
			}
			seen[a] = name
		}
	}
}
