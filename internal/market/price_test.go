package market_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ferry/internal/market"
	"ferry/internal/money"
	"ferry/internal/testseed"
)

func price(t testing.TB, text string) market.Price {
	t.Helper()
	p, err := market.ParsePrice(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParsePrice(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1": "1", "1.0": "1", "0.5": "0.5", "97100.25": "97100.25", "1e3": "1000", "1.5E-3": "0.0015", "12e+1": "120", "100e-2": "1",
		"0.000000000000000000000001": "0.000000000000000000000001", "999999999999999999999999": "999999999999999999999999",
		"1e-24": "0.000000000000000000000001", "1e23": "100000000000000000000000", "0.10": "0.1", "5.00000000000000000001": "5.00000000000000000001",
	} {
		p, err := market.ParsePrice(text)
		if err != nil || p.String() != want {
			t.Errorf("%s: got %s, %v, want %s", text, p, err, want)
		}
	}
	for _, text := range []string{
		"", "0", "0.0", "-0", "0e9", "-1", "+1", "NaN", "Infinity", "-inf", "1.", ".5", "01", "1e", "1e+", "1e1.5", "1e1000", "1e-25", "1e24",
		"0x10", "1_000", "1,5", " 1", "1 ", "1\n", "٣", "null", "1234567890123456789012345", "0.1234567890123456789012345", strings.Repeat("1", 65),
	} {
		if p, err := market.ParsePrice(text); !errors.Is(err, market.ErrPrice) || !p.IsZero() {
			t.Errorf("%q was taken as %s, %v", text, p, err)
		}
	}
}

func FuzzParsePrice(f *testing.F) {
	for _, s := range []string{"1", "0.5", "1e3", "1.5E-3", "-1", "NaN", "0", "1e-25", "00", "999999999999999999999999", "1e+7"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := market.ParsePrice(s)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(s)
		if !ok || !json.Valid([]byte(s)) || want.Sign() <= 0 || rat(t, p).Cmp(want) != 0 {
			t.Fatalf("%q was taken as %s", s, p)
		}
		if back, err := market.ParsePrice(p.String()); err != nil || back != p {
			t.Fatalf("%q became %s, which reads back as %s, %v", s, p, back, err)
		}
	})
}

func rat(t testing.TB, p market.Price) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(p.String())
	if !ok {
		t.Fatalf("%s is no number", p)
	}
	return r
}

// randomPrice draws from all magnitudes and lengths that a price may have.
func randomPrice(t testing.TB, r *rand.Rand) market.Price {
	digits := 1 + r.IntN(24)
	text := fmt.Sprint(1 + r.IntN(9))
	for range digits - 1 {
		text += fmt.Sprint(r.IntN(10))
	}
	return price(t, fmt.Sprintf("%se%d", text, r.IntN(25)-digits-min(24-digits, r.IntN(25))))
}

func TestComparisonsOfPricesAreExact(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	near, beyond := 0, 0
	for range 20_000 {
		p, q := randomPrice(t, r), randomPrice(t, r)
		if r.IntN(2) == 0 { // close to one another
			bumped := new(big.Rat).Mul(rat(t, p), big.NewRat(int64(90+r.IntN(20)), 100))
			text := bumped.FloatString(24)
			if q2, err := market.ParsePrice(strings.TrimSuffix(text[:min(25, len(text))], ".")); err == nil {
				q = q2
			}
		}
		a, b := rat(t, p), rat(t, q)
		if p.Cmp(q) != a.Cmp(b) {
			t.Fatalf("%s and %s compare as %d", p, q, p.Cmp(q))
		}
		most := money.Percent(1 + r.Int32N(100_000))
		gap := new(big.Rat).Sub(a, b)
		gap.Abs(gap)
		want := gap.Cmp(new(big.Rat).Mul(b, big.NewRat(int64(most), int64(money.Whole)))) <= 0
		if p.Near(q, most) != want {
			t.Fatalf("%s is within %s percent of %s: got %t", p, most, q, !want)
		}
		factor := 2 + r.Uint32N(20)
		f := big.NewRat(int64(factor), 1)
		far := a.Cmp(new(big.Rat).Mul(b, f)) > 0 || b.Cmp(new(big.Rat).Mul(a, f)) > 0
		if p.Beyond(q, factor) != far || q.Beyond(p, factor) != far {
			t.Fatalf("%s is beyond %d times %s: got %t", p, factor, q, !far)
		}
		if want {
			near++
		}
		if far {
			beyond++
		}
	}
	if near < 500 || beyond < 500 {
		t.Errorf("only %d were near and %d beyond", near, beyond)
	}
}

func TestMedianIsTheMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ of, want string }{
		{"", "0"},
		{"5", "5"},
		{"1 2", "1.5"},
		{"3 1 2", "2"},
		{"1 1000000 2 3", "2.5"},
		{"0.000000000000000000000001 0.000000000000000000000002", "0.000000000000000000000001"}, // halfway has no digits left
		{"100000000000000000000000 100000000000000000000001", "100000000000000000000000"},       // nor here
		{"123456789012.123456789012 123456789012.123456789014", "123456789012.123456789013"},    // but here it has
		{"99999999999999999999999.9 0.000000000000000000000001", "49999999999999999999999.9"},   // of 46 digits 24 are kept
		{"97000.5 97001", "97000.75"},
	} {
		var of []market.Price
		for _, text := range strings.Fields(c.of) {
			of = append(of, price(t, text))
		}
		if got := market.Median(of); got.String() != c.want {
			t.Errorf("%s: got %s, want %s", c.of, got, c.want)
		}
	}
	r := testseed.Rand(t)
	for range 5_000 {
		of := make([]market.Price, 1+r.IntN(9))
		for i := range of {
			of[i] = randomPrice(t, r)
		}
		m := market.Median(slices.Clone(of))
		below, above := 0, 0
		for _, p := range of {
			if p.Cmp(m) <= 0 {
				below++
			}
			if p.Cmp(m) >= 0 {
				above++
			}
		}
		if m.IsZero() || below < len(of)/2 || above < (len(of)+1)/2 {
			t.Fatalf("%v: %s is not in the middle", of, m)
		}
		if _, err := market.ParsePrice(m.String()); err != nil {
			t.Fatalf("the median of %v is no price: %v", of, err)
		}
	}
}

func TestPricesAreMultipliedWithoutMoreDigitsThanTheyHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want string }{
		{"97090.105", "1", "97090.105"},
		{"125", "0.8", "100"},
		{"0.1", "0.1", "0.01"},
		{"123456789012345678901234", "1", "123456789012345678901234"},
		{"123456789012345678901234", "2", "246913578024691357802468"},
		{"123456789012345678901234", "100", ""},
		{"1.23456789012345678901234", "1.23456789012345678901234", "1.52415787532388367504952"},
		{"0.000000000000000000000001", "0.1", ""},
		{"0.00000000000000000000003", "0.15", "0.000000000000000000000004"},
	} {
		got := price(t, c.a).Times(price(t, c.b))
		back := price(t, c.b).Times(price(t, c.a))
		if got != back || got.IsZero() != (c.want == "") || (c.want != "" && got.String() != c.want) {
			t.Errorf("%s times %s is %s, want %s", c.a, c.b, got, c.want)
		}
	}
}
