package money_test

import (
	"math/big"
	"testing"

	"ferry/internal/money"
	"ferry/internal/testseed"
)

// The decimal form of every magnitude is that of the big numbers, and small operands,
// which are divided in one step, round as large ones do.
func TestShortcutsAgreeWithBigNumbers(t *testing.T) {
	t.Parallel()
	random := testseed.Rand(t)
	edge := func() *big.Int {
		x := new(big.Int).Lsh(big.NewInt(1), uint(random.IntN(257)))
		if random.IntN(2) == 0 {
			x = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(random.IntN(78))), nil)
		}
		x.Add(x, big.NewInt(int64(random.IntN(5)-2)))
		if x.Sign() < 0 || x.Cmp(two256) >= 0 {
			x.SetUint64(random.Uint64())
		}
		return x
	}
	for range 20_000 {
		x := edge()
		a := money.MustParse(x.String())
		if text := a.String(); text != x.String() || a.Digits() != len(text) || string(a.Append([]byte("n="))) != "n="+text {
			t.Fatalf("%s is shown as %s of %d digits", x, text, a.Digits())
		}
		n, m, d := random.Uint64()>>random.IntN(64), random.Uint64()>>random.IntN(64), random.Uint64()>>random.IntN(64)|1
		product := new(big.Int).Mul(new(big.Int).SetUint64(n), new(big.Int).SetUint64(m))
		whole, rest := new(big.Int).QuoRem(product, new(big.Int).SetUint64(d), new(big.Int))
		for _, r := range []money.Rounding{money.Down, money.Up} {
			want := new(big.Int).Set(whole)
			if r == money.Up && rest.Sign() > 0 {
				want.Add(want, big.NewInt(1))
			}
			if got, err := money.FromUint64(n).MulDiv(money.FromUint64(m), money.FromUint64(d), r); err != nil || got.String() != want.String() {
				t.Fatalf("%d·%d/%d is %s, %v; want %s", n, m, d, got, err, want)
			}
		}
	}
}
