package market_test

import (
	"testing"

	"ferry/internal/market"
)

func BenchmarkQuote(b *testing.B) {
	r := newRig(b)
	for name, a := range map[string]market.Ask{
		"exact_in": swap(usdc, 10_000_000), "exact_in_with_fee": withFee(swap(usdc, 10_000_000), 10_000),
		"exact_out": {Give: btc, Get: usdc, Side: market.To, Amount: n(5_000_000_000), Mode: "fixed"},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Quote(b.Context(), a, start); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSeal(b *testing.B) {
	s := newSeal(b, 1)
	_, o := offered(b)
	id, err := s.Close(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("close", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Close(o); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Open(id, "int_1", start); err != nil {
				b.Fatal(err)
			}
		}
	})
	signer, err := market.NewSigner(hexSecret(1))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("sign", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := signer.Sign(o.Public(id)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
