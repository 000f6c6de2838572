package market_test

import (
	"strings"
	"testing"

	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/testseed"
)

// The short way to a rate gives what the long one does.
func TestARateIsTheSameEitherWay(t *testing.T) {
	t.Parallel()
	random := testseed.Rand(t)
	amount := func() money.Amount {
		if random.IntN(3) == 0 { // ends in zeros, as people ask for
			return money.MustParse(string("123456789"[random.IntN(9)]) + strings.Repeat("0", random.IntN(76)))
		}
		return money.MustParse("1" + strings.Repeat(string("0123456789"[random.IntN(10)]), random.IntN(76)))
	}
	for range 20_000 {
		in, out, shift := amount(), amount(), random.IntN(49)-24
		if got, want := market.RateOf(in, out, shift), market.RateText(in.String(), out.String(), shift); got != want {
			t.Fatalf("%s for %s shifted by %d is %s, want %s", out, in, shift, got, want)
		}
	}
}
