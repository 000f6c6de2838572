package prices

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"ferry/internal/market"
)

// The contracts' own roots of the price at ticks, times 2^96, as their library has them.
func TestThePriceOfATickIsThatOfTheContracts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tick int64
		root string
	}{
		{-887272, "4295128739"},
		{887272, "1461446703485210103287273052203988822378723970342"},
		{0, "79228162514264337593543950336"},
		{1, "79232123823359799118286999568"},
		{-1, "79224201403219477170569942574"},
		{50, "79426470787362580746886972461"},
		{-100000, "533968626430936354154228408"},
		{100000, "11755562826496067164730007768450"},
	} {
		root, _ := new(big.Int).SetString(c.root, 10)
		num, den := tickPrice(c.tick)
		// root²/2^192 against num/den: their difference is a part in 2^30 at the smallest root.
		left := new(big.Int).Mul(new(big.Int).Mul(root, root), den)
		right := new(big.Int).Lsh(num, 192)
		gap := new(big.Int).Sub(left, right)
		if gap.Abs(gap).Lsh(gap, 30).Cmp(right) > 0 {
			t.Errorf("tick %d: %s is not %s", c.tick, decimal(num, den), root)
		}
	}
	up, one := tickPrice(200_000)
	one2, down := tickPrice(-200_000)
	if up.Cmp(down) != 0 || one.Cmp(one2) != 0 {
		t.Error("a tick below zero is not one above it turned over")
	}
}

func TestMeansAreRoundedAsThePoolDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was, is int64
		window  uint32
		want    int64
	}{
		{0, 600, 60, 10}, {0, 601, 60, 10}, {0, 659, 60, 10}, {0, -600, 60, -10}, {0, -601, 60, -11}, {0, -659, 60, -11}, {0, -660, 60, -11}, {-1000, -400, 60, 10},
	} {
		if got := meanTick(big.NewInt(c.was), big.NewInt(c.is), c.window); got != c.want {
			t.Errorf("from %d to %d in %d s: %d, want %d", c.was, c.is, c.window, got, c.want)
		}
	}
	// Half of the time at 100 and half at 300 units: the harmonic mean is 150.
	per := func(l int64) *big.Int { return new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(30), 128), big.NewInt(l)) }
	sum := new(big.Int).Add(per(100), per(300))
	top := new(big.Int).Lsh(big.NewInt(1), 160)
	for _, was := range []*big.Int{new(big.Int), big.NewInt(12345), new(big.Int).Sub(top, big.NewInt(7))} {
		is := new(big.Int).Mod(new(big.Int).Add(was, sum), top)
		if got := liquidity(was, is, 60); got.Int64() != 150 {
			t.Errorf("beginning at %s it is %s", was, got)
		}
	}
}

func TestASumOfPricesBeginsAgain(t *testing.T) {
	t.Parallel()
	base, quote := big.NewInt(1000), big.NewInt(2000)
	two := new(big.Int).Lsh(big.NewInt(2), 112)
	for _, c := range []struct {
		sum   *big.Int
		since int64
		want  *big.Int
	}{
		{big.NewInt(0), 0, big.NewInt(0)},
		{big.NewInt(5), 3, new(big.Int).Add(new(big.Int).Mul(two, big.NewInt(3)), big.NewInt(5))},
		{new(big.Int).Sub(wrap256, big.NewInt(1)), 1, new(big.Int).Sub(two, big.NewInt(1))},
		{big.NewInt(0), 10 - (1 << 32), new(big.Int).Mul(two, big.NewInt(10))}, // its clock began again
	} {
		if got := accrued(c.sum, base, quote, c.since); got.Cmp(c.want) != 0 {
			t.Errorf("%s after %d s is %s, want %s", c.sum, c.since, got, c.want)
		}
	}
}

func TestFractionsAreWrittenWithTheDigitsOfAPrice(t *testing.T) {
	t.Parallel()
	big10 := func(n int) *big.Int { return tenTo(n) }
	for _, c := range []struct {
		num, den *big.Int
		want     string
	}{
		{big.NewInt(1), big.NewInt(3), "0.333333333333333333333333"},
		{big.NewInt(300000000001), big.NewInt(100000000), "3000.00000001"},
		{big.NewInt(20), big.NewInt(10), "2"},
		{big10(23), big.NewInt(1), "1" + "00000000000000000000000"},
		{big10(24), big.NewInt(1), ""},
		{big.NewInt(1), big10(24), "0.000000000000000000000001"},
		{big.NewInt(1), big10(25), ""},
	} {
		if got := decimal(c.num, c.den); got != c.want {
			t.Errorf("%s / %s is %q, want %q", c.num, c.den, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2)) // any will do: what is held is true of all
	for range 10_000 {
		num, den := new(big.Int).SetUint64(r.Uint64()|1), new(big.Int).SetUint64(r.Uint64()|1)
		num.Lsh(num, r.UintN(40))
		text := decimal(num, den)
		if text == "" {
			continue
		}
		p, err := market.ParsePrice(text)
		if err != nil || p.String() != text {
			t.Fatalf("%s / %s is written %q: %v", num, den, text, err)
		}
	}
}
