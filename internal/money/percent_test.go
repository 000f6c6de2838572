package money_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"ferry/internal/money"
	"ferry/internal/testseed"
)

func TestParsePercent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]money.Percent{
		"0": 0, "-0": 0, "0.0": 0, "-0.000": 0, "0e9": 0, "-0e-99": 0, "0.00000": 0,
		"5": 50_000, "5.0": 50_000, "5.0000": 50_000, "5.00000000000": 50_000, "0.5": 5_000, "5e-1": 5_000, "5E-1": 5_000,
		"0.0001": 1, "1e-4": 1, "10e-5": 1, "0.00010": 1, "100": 1_000_000, "1e2": 1_000_000, "1E+2": 1_000_000, "0.05e2": 50_000,
		"0.3": 3_000, "4.9999": 49_999, "99999.9999": 999_999_999, "1000e-3": 10_000,
	} {
		if got, err := money.ParsePercent(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " 5", "5 ", "+5", "-5", "-0.0001", "05", "00", ".5", "5.", "-", "-.5", "e5", "5e", "5e+", "5e+-1", "5e--1", "5e1.5",
		"5.00000000000000000001", "0.00001", "1e-5", "0.00005", "100000", "1e5", "1e999", "1e9999", "1e99999", "5e-99999",
		"NaN", "Infinity", "inf", "0x5", "5%", "1_0", "٥", "5,5", "5\n", "\"5\"", "null", "5e١",
		strings.Repeat("1", 65), "0." + strings.Repeat("0", 63),
	} {
		if got, err := money.ParsePercent(text); err == nil {
			t.Errorf("%q was taken as %s", text, got)
		}
	}
}

func TestPercentIsShownAsItIsRead(t *testing.T) {
	t.Parallel()
	for p, want := range map[money.Percent]string{
		0: "0", 1: "0.0001", 5_000: "0.5", 50_000: "5", 1_000_000: "100", 12_345: "1.2345", 999_999_999: "99999.9999",
		-1: "-0.0001", -50_000: "-5", math.MinInt32: "-214748.3648",
	} {
		if got := p.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	r := testseed.Rand(t)
	for range 20_000 {
		p := money.Percent(r.Int32N(1_000_000_000))
		if back, err := money.ParsePercent(p.String()); err != nil || back != p {
			t.Fatalf("%d is shown as %s and read as %d, %v", p, p, back, err)
		}
	}
}

func FuzzParsePercent(f *testing.F) {
	for _, s := range []string{"5", "-0", "5e-1", "5.00000000000000000001", "1e9999", "0.0001", "1E+2", "05", "-5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := money.ParsePercent(s)
		if err != nil {
			return
		}
		if !json.Valid([]byte(s)) {
			t.Fatalf("%q is not JSON and was taken as %s", s, p)
		}
		x, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is not a number and was taken as %s", s, p)
		}
		if x.Cmp(big.NewRat(int64(p), 10_000)) != 0 || p < 0 {
			t.Fatalf("%q became %s", s, p)
		}
	})
}

func TestParseUSD(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]money.USD{
		"0": 0, "-0": 0, "1": money.Dollar, "0.000001": 1, "-0.000001": -1, "1.5": 1_500_000, "-1.5": -1_500_000, "1.500000": 1_500_000,
		"9223372036854.775807": math.MaxInt64, "-9223372036854.775807": -math.MaxInt64,
	} {
		if got, err := money.ParseUSD(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "-", "--1", "+1", "01", "1.", ".5", "1.0000000", "1e3", "$1", "1,000", " 1", "NaN", "0x1", "1.-5", "٣",
		"9223372036854.775808", "99999999999999999999", strings.Repeat("9", 10_000),
	} {
		if got, err := money.ParseUSD(text); err == nil {
			t.Errorf("%.20q was taken as %s", text, got)
		}
	}
}

func TestUSDIsShownAsItIsRead(t *testing.T) {
	t.Parallel()
	for u, want := range map[money.USD]string{
		0: "0", 1: "0.000001", money.Dollar: "1", 1_500_000: "1.5", -1_500_000: "-1.5",
		math.MaxInt64: "9223372036854.775807", math.MinInt64: "-9223372036854.775808",
	} {
		if got := u.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	r := testseed.Rand(t)
	for range 20_000 {
		u := money.USD(r.Int64() >> r.IntN(63))
		if r.IntN(2) == 0 {
			u = -u
		}
		if back, err := money.ParseUSD(u.String()); err != nil || back != u {
			t.Fatalf("%d is shown as %s and read as %d, %v", u, u, back, err)
		}
	}
}

func TestPlusCappedNeverWraps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want money.USD }{
		{1, 2, 3},
		{-1, -2, -3},
		{math.MaxInt64, 1, math.MaxInt64},
		{1, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MinInt64, -1, math.MinInt64},
		{math.MinInt64, math.MinInt64, math.MinInt64},
		{math.MinInt64, math.MaxInt64, -1},
		{math.MaxInt64, math.MinInt64, -1},
		{math.MaxInt64 - 1, 1, math.MaxInt64},
	} {
		if got := c.a.PlusCapped(c.b); got != c.want {
			t.Errorf("%d and %d: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
	lo, hi := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	r := testseed.Rand(t)
	for range 20_000 {
		a, b := money.USD(r.Uint64()), money.USD(r.Uint64())
		want := new(big.Int).Add(big.NewInt(int64(a)), big.NewInt(int64(b)))
		if want.Cmp(lo) < 0 {
			want = lo
		} else if want.Cmp(hi) > 0 {
			want = hi
		}
		if got := a.PlusCapped(b); int64(got) != want.Int64() {
			t.Fatalf("%d and %d: got %d, want %s", a, b, got, want)
		}
	}
}

func FuzzParseUSD(f *testing.F) {
	for _, s := range []string{"0", "1.5", "-1.5", "9223372036854.775807", "9223372036854.775808", "1.", ".5", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := money.ParseUSD(s)
		if err != nil {
			return
		}
		x, ok := new(big.Rat).SetString(s)
		if !ok || x.Cmp(big.NewRat(int64(u), int64(money.Dollar))) != 0 {
			t.Fatalf("%q became %s", s, u)
		}
		if back, err := money.ParseUSD(u.String()); err != nil || back != u {
			t.Fatalf("%q became %s, which reads back as %s, %v", s, u, back, err)
		}
	})
}
