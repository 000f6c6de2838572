package money_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"ferry/internal/money"
	"ferry/internal/testseed"
)

var (
	two256  = new(big.Int).Lsh(big.NewInt(1), 256)
	maxText = new(big.Int).Sub(two256, big.NewInt(1)).String()
)

func max256() money.Amount { return money.MustParse(maxText) }

func toBig(t *testing.T, a money.Amount) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(a.String(), 10)
	if !ok {
		t.Fatalf("%q is not a number", a)
	}
	return n
}

// random draws numbers of every length, and often the edges.
func random(r *rand.Rand) money.Amount {
	switch r.IntN(12) {
	case 0:
		return money.Amount{}
	case 1:
		return money.FromUint64(1)
	case 2:
		return max256()
	}
	n := new(big.Int)
	for range 4 {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.Uint64()))
	}
	n.Rsh(n, uint(r.IntN(256)))
	return money.MustParse(n.String())
}

func TestParseTakesWholeNumbersOnly(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"0", "1", "10", "18446744073709551616", maxText} {
		a, err := money.Parse(s)
		if err != nil || a.String() != s {
			t.Errorf("%q: got %s, %v", s, a, err)
		}
	}
	over := two256.String()
	for s, want := range map[string]error{
		"": money.ErrSyntax, " 1": money.ErrSyntax, "1 ": money.ErrSyntax, "+1": money.ErrSyntax, "-1": money.ErrSyntax,
		"-0": money.ErrSyntax, "01": money.ErrSyntax, "00": money.ErrSyntax, "1.0": money.ErrSyntax, "1e3": money.ErrSyntax,
		"0x10": money.ErrSyntax, "1_000": money.ErrSyntax, "١": money.ErrSyntax, "1\x00": money.ErrSyntax,
		over: money.ErrOverflow, strings.Repeat("9", 78): money.ErrOverflow, strings.Repeat("1", 79): money.ErrSyntax,
		strings.Repeat("9", 1_000_000): money.ErrSyntax,
	} {
		a, err := money.Parse(s)
		if !errors.Is(err, want) || !a.IsZero() {
			t.Errorf("%.20q: got %s, %v, want %v", s, a, err, want)
		}
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("%.20q: the error is %d letters long", s, len(err.Error()))
		}
	}
}

func TestMustParsePanicsOnBadText(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("it did not")
		}
	}()
	money.MustParse("many")
}

func TestAmountIsAPlainValue(t *testing.T) {
	t.Parallel()
	a, b := money.MustParse("12345678901234567890123"), money.MustParse("12345678901234567890123")
	if a != b || map[money.Amount]bool{a: true}[b] != true {
		t.Error("equal amounts differ")
	}
	if _, err := a.Add(money.FromUint64(1)); err != nil || a != b {
		t.Error("arithmetic changed its operand")
	}
}

func TestAmountTravelsAsText(t *testing.T) {
	t.Parallel()
	type row struct{ N money.Amount }
	for _, s := range []string{"0", "1", maxText} {
		text, err := json.Marshal(row{money.MustParse(s)})
		if err != nil || string(text) != `{"N":"`+s+`"}` {
			t.Errorf("got %s, %v", text, err)
		}
		var back row
		if err := json.Unmarshal(text, &back); err != nil || back.N.String() != s {
			t.Errorf("got %s, %v", back.N, err)
		}
	}
	for _, text := range []string{`{"N":1}`, `{"N":"01"}`, `{"N":"-1"}`, `{"N":""}`, `{"N":"1.5"}`} {
		kept := row{money.FromUint64(7)}
		if err := json.Unmarshal([]byte(text), &kept); err == nil {
			t.Errorf("%s was taken", text)
		} else if kept.N != money.FromUint64(7) {
			t.Errorf("%s was refused and still changed the value", text)
		}
	}
}

func TestArithmeticAgreesWithBigNumbers(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 20_000 {
		a, b := random(r), random(r)
		x, y := toBig(t, a), toBig(t, b)

		sum, err := a.Add(b)
		if want := new(big.Int).Add(x, y); want.Cmp(two256) >= 0 {
			mustBe(t, err, money.ErrOverflow, "%s+%s", a, b)
		} else if err != nil || sum.String() != want.String() {
			t.Fatalf("%s+%s: got %s, %v", a, b, sum, err)
		}

		diff, err := a.Sub(b)
		if want := new(big.Int).Sub(x, y); want.Sign() < 0 {
			mustBe(t, err, money.ErrNegative, "%s-%s", a, b)
			if !a.Less0(b).IsZero() {
				t.Fatalf("%s less %s is not nothing", a, b)
			}
		} else if err != nil || diff.String() != want.String() || a.Less0(b) != diff {
			t.Fatalf("%s-%s: got %s, %v", a, b, diff, err)
		}

		if a.Cmp(b) != x.Cmp(y) || a.Less(b) != (x.Cmp(y) < 0) || a.IsZero() != (x.Sign() == 0) {
			t.Fatalf("%s and %s are compared wrongly", a, b)
		}
		lo, hi := money.Min(a, b), money.Max(a, b)
		if hi.Less(lo) || (lo != a && lo != b) || (hi != a && hi != b) || (lo == hi) != (a == b) {
			t.Fatalf("smaller and larger of %s and %s are %s and %s", a, b, lo, hi)
		}
	}
}

func mustBe(t *testing.T, err, want error, what string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf(what+": got %v, want %v", append(args, err, want)...)
	}
}

// bigMulDiv is a·num/den in numbers without end; the second result is whether it fits.
func bigMulDiv(a, num, den *big.Int, r money.Rounding) (*big.Int, bool) {
	q, rem := new(big.Int).QuoRem(new(big.Int).Mul(a, num), den, new(big.Int))
	if r == money.Up && rem.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q, q.Cmp(two256) < 0
}

func TestMulDivAgreesWithBigNumbers(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	rounded, overflowed := 0, 0
	for range 100_000 {
		a, num, den := random(r), random(r), random(r)
		if r.IntN(3) == 0 {
			den = money.Max(num, money.FromUint64(1)) // results near the operands
		}
		rounding := money.Rounding(r.IntN(2) == 0)
		got, err := a.MulDiv(num, den, rounding)
		if den.IsZero() {
			mustBe(t, err, money.ErrDivByZero, "%s·%s/0", a, num)
			continue
		}
		want, fits := bigMulDiv(toBig(t, a), toBig(t, num), toBig(t, den), rounding)
		if !fits {
			overflowed++
			mustBe(t, err, money.ErrOverflow, "%s·%s/%s", a, num, den)
			if !got.IsZero() {
				t.Fatalf("an error came with %s", got)
			}
			continue
		}
		if err != nil || got.String() != want.String() {
			t.Fatalf("%s·%s/%s rounded up=%t: got %s, %v, want %s", a, num, den, rounding, got, err, want)
		}
		if down, _ := a.MulDiv(num, den, money.Down); down != got {
			rounded++
		}
	}
	if rounded < 1000 || overflowed < 1000 {
		t.Errorf("only %d roundings and %d overflows were tried", rounded, overflowed)
	}
}

func TestMulDivAtTheEdges(t *testing.T) {
	t.Parallel()
	one, two, top := money.FromUint64(1), money.FromUint64(2), max256()
	cases := []struct {
		a, num, den money.Amount
		r           money.Rounding
		want        money.Amount
		err         error
	}{
		{top, top, top, money.Down, top, nil},
		{top, top, top, money.Up, top, nil},
		{top, two, one, money.Down, money.Amount{}, money.ErrOverflow},
		{top, top, one, money.Up, money.Amount{}, money.ErrOverflow},
		{one, one, two, money.Down, money.Amount{}, nil},
		{one, one, two, money.Up, one, nil},
		{one, one, top, money.Up, one, nil},
		{money.Amount{}, top, one, money.Up, money.Amount{}, nil},
		{one, money.Amount{}, one, money.Up, money.Amount{}, nil},
		{one, one, money.Amount{}, money.Down, money.Amount{}, money.ErrDivByZero},
		{money.Amount{}, money.Amount{}, money.Amount{}, money.Up, money.Amount{}, money.ErrDivByZero},
	}
	for _, c := range cases {
		got, err := c.a.MulDiv(c.num, c.den, c.r)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s·%s/%s up=%t: got %s, %v", c.a, c.num, c.den, c.r, got, err)
		}
	}
	almost, err := top.Sub(one)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := top.MulDiv(top, almost, money.Down); !errors.Is(err, money.ErrOverflow) {
		t.Errorf("max²/(max-1): got %v", err)
	}
}

func TestRoundingUpPastTheTopIsAnError(t *testing.T) {
	t.Parallel()
	// Wanted: a·num = max·den + 1, so that the quotient is max and a remainder is left.
	r := testseed.Rand(t)
	found := false
	for range 10_000 {
		den := random(r)
		if den.Less(money.FromUint64(3)) {
			continue
		}
		d := toBig(t, den)
		target := new(big.Int).Mul(toBig(t, max256()), d)
		target.Add(target, big.NewInt(1))
		for _, num := range []int64{2, 3, 5, 7} {
			a, rem := new(big.Int).QuoRem(target, big.NewInt(num), new(big.Int))
			if rem.Sign() != 0 || a.Cmp(two256) >= 0 {
				continue
			}
			found = true
			x := money.MustParse(a.String())
			if q, err := x.MulDiv(money.FromUint64(uint64(num)), den, money.Down); err != nil || q != max256() {
				t.Fatalf("%s·%d/%s down: got %s, %v", x, num, den, q, err)
			}
			if _, err := x.MulDiv(money.FromUint64(uint64(num)), den, money.Up); !errors.Is(err, money.ErrOverflow) {
				t.Fatalf("%s·%d/%s up: got %v", x, num, den, err)
			}
		}
	}
	if !found {
		t.Error("no such case was found")
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	cases := []struct {
		of, percent string
		down, up    string
	}{
		{"1000000", "5", "50000", "50000"},
		{"0", "5", "0", "0"},
		{"1", "5", "0", "1"},
		{"19", "5", "0", "1"},
		{"20", "5", "1", "1"},
		{"21", "5", "1", "2"},
		{"999999", "0.0001", "0", "1"},
		{"1000000", "0.0001", "1", "1"},
		{"123", "0", "0", "0"},
		{"123", "100", "123", "123"},
		{"10", "250", "25", "25"},
		{maxText, "100", maxText, maxText},
	}
	for _, c := range cases {
		p, err := money.ParsePercent(c.percent)
		if err != nil {
			t.Fatal(err)
		}
		down, err1 := money.MustParse(c.of).Share(p, money.Down)
		up, err2 := money.MustParse(c.of).Share(p, money.Up)
		if err1 != nil || err2 != nil || down.String() != c.down || up.String() != c.up {
			t.Errorf("%s %% of %s: got %s and %s, %v, %v", c.percent, c.of, down, up, err1, err2)
		}
	}
	if _, err := money.FromUint64(1).Share(-1, money.Down); !errors.Is(err, money.ErrNegative) {
		t.Errorf("a share below zero: got %v", err)
	}
	if _, err := max256().Share(money.Whole+1, money.Down); !errors.Is(err, money.ErrOverflow) {
		t.Errorf("more than all there is: got %v", err)
	}
}

func TestShareIsWithinOneUnitAndNeverAboveTheWhole(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 20_000 {
		a, p := random(r), money.Percent(r.Int32N(int32(money.Whole)+1))
		down, err1 := a.Share(p, money.Down)
		up, err2 := a.Share(p, money.Up)
		if err1 != nil || err2 != nil {
			t.Fatalf("%s of %s: %v, %v", p, a, err1, err2)
		}
		if a.Less(down) || a.Less(up) || up.Less(down) || money.FromUint64(1).Less(up.Less0(down)) {
			t.Fatalf("%s of %s is %s rounded down and %s rounded up", p, a, down, up)
		}
		rest, err1 := a.Share(money.Whole-p, money.Up)
		whole, err2 := down.Add(rest)
		if err1 != nil || err2 != nil || whole != a {
			t.Fatalf("%s and the rest of %s make %s, %v, %v", p, a, whole, err1, err2)
		}
	}
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		units    string
		decimals int
		want     string
	}{
		{"0", 0, "0"},
		{"0", 18, "0"},
		{"1", 0, "1"},
		{"120", 0, "120"},
		{"1", 6, "0.000001"},
		{"1000000", 6, "1"},
		{"1500000", 6, "1.5"},
		{"10", 1, "1"},
		{"123456789", 8, "1.23456789"},
		{"1000000000000000000", 18, "1"},
		{"1", 24, "0.000000000000000000000001"},
		{"100000000000000000000", 18, "100"},
		{"12", -1, "12"},
	} {
		a := money.MustParse(c.units)
		if got := a.Decimal(c.decimals); got != c.want {
			t.Errorf("%s with %d decimals: got %s, want %s", c.units, c.decimals, got, c.want)
		}
		if c.decimals < 0 {
			continue
		}
		if back, err := money.ParseDecimal(c.want, c.decimals); err != nil || back != a {
			t.Errorf("%s with %d decimals reads back as %s, %v", c.want, c.decimals, back, err)
		}
	}
	for _, c := range []struct {
		text     string
		decimals int
	}{
		{"", 6},
		{".", 6},
		{".5", 6},
		{"1.", 6},
		{"1.0000001", 6},
		{"1.0", 0},
		{"01", 6},
		{"00.1", 6},
		{"-1", 6},
		{"+1", 6},
		{"1e2", 6},
		{"1.2.3", 6},
		{"1,5", 6},
		{" 1", 6},
		{"0x1", 6},
		{"1.-5", 6},
		{"1.+5", 6},
		{"0.١", 6},
		{maxText, 1},
		{"1" + strings.Repeat("0", 78), 0},
		{"1", 80},
		{"1", -1},
	} {
		if a, err := money.ParseDecimal(c.text, c.decimals); err == nil {
			t.Errorf("%q with %d decimals was taken as %s", c.text, c.decimals, a)
		}
	}
	if a, err := money.ParseDecimal("0.50", 6); err != nil || a != money.FromUint64(500_000) {
		t.Errorf("trailing zeros: got %s, %v", a, err)
	}
}

func TestDecimalReadsBackForEveryAsset(t *testing.T) {
	t.Parallel()
	r := testseed.Rand(t)
	for range 20_000 {
		a, d := random(r), []int{0, 6, 8, 9, 18, 24}[r.IntN(6)]
		back, err := money.ParseDecimal(a.Decimal(d), d)
		if err != nil || back != a {
			t.Fatalf("%s with %d decimals: %s, %v", a, d, back, err)
		}
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	if s, err := money.Sum(); err != nil || !s.IsZero() {
		t.Errorf("nothing sums to %s, %v", s, err)
	}
	if s, err := money.Sum(money.FromUint64(1), money.FromUint64(2), money.FromUint64(3)); err != nil || s != money.FromUint64(6) {
		t.Errorf("got %s, %v", s, err)
	}
	if s, err := money.Sum(max256(), money.FromUint64(1)); !errors.Is(err, money.ErrOverflow) || !s.IsZero() {
		t.Errorf("got %s, %v", s, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "1", "01", "-1", "1.5", maxText, two256.String(), " 1", "1e9", "９"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := money.Parse(s)
		n, isNumber := new(big.Int).SetString(s, 10)
		canonical := isNumber && n.String() == s && n.Sign() >= 0 && n.Cmp(two256) < 0
		if (err == nil) != canonical {
			t.Fatalf("%q: got %s, %v", s, a, err)
		}
		if err == nil && a.String() != s {
			t.Fatalf("%q became %s", s, a)
		}
	})
}

func FuzzParseDecimal(f *testing.F) {
	for _, s := range []string{"0", "1.5", "0.000001", "1.", ".5", "00.1", "-1.5", "1.5.5", maxText, "1.-5"} {
		f.Add(s, uint8(6))
	}
	f.Fuzz(func(t *testing.T, s string, places uint8) {
		d := int(places % 80)
		a, err := money.ParseDecimal(s, d)
		if err != nil {
			return
		}
		x, ok := new(big.Rat).SetString(s)
		if !ok || strings.ContainsAny(s, "eE/_xXbBoOpP+-") {
			t.Fatalf("%q with %d decimals was taken as %s", s, d, a)
		}
		x.Mul(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d)), nil)))
		if !x.IsInt() || x.Num().String() != a.String() {
			t.Fatalf("%q with %d decimals became %s, want %s", s, d, a, x)
		}
		if back, err := money.ParseDecimal(a.Decimal(d), d); err != nil || back != a {
			t.Fatalf("%q became %s, which reads back as %s, %v", s, a, back, err)
		}
	})
}

func TestWordsAreTheSameNumber(t *testing.T) {
	r := testseed.Rand(t)
	for range 1000 {
		a := random(r)
		n := new(big.Int)
		words := a.Words()
		for i := len(words) - 1; i >= 0; i-- {
			n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(words[i]))
		}
		if n.Cmp(toBig(t, a)) != 0 || money.FromWords(words) != a {
			t.Fatalf("%s has the words %x", a, words)
		}
	}
}
