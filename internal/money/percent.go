package money

import (
	"fmt"
	"strconv"
	"strings"
)

// Percent is a share in millionths: 5 % is 50_000.
type Percent int32

// Whole is 100 %.
const Whole Percent = 1_000_000

// perPoint is how many millionths one percent point has.
const perPoint = 10_000

// maxPercentText bounds the text that ParsePercent looks at.
const maxPercentText = 64

// ParsePercent reads a JSON number of percent points, such as 0.5 or 5e-1, from
// its text. It takes at most four decimals and never goes through a float, so
// 5.00000000000000000001 is not 5 but an error. -0 is 0.
func ParsePercent(text string) (Percent, error) {
	bad := func(why string) (Percent, error) {
		return 0, fmt.Errorf("percent %q: %s", clip(text), why)
	}
	if len(text) > maxPercentText {
		return bad("too long")
	}
	mant, exp, err := splitNumber(text)
	if err != nil {
		return bad(err.Error())
	}
	neg := strings.HasPrefix(mant, "-")
	mant = strings.TrimPrefix(mant, "-")
	whole, frac, _ := strings.Cut(mant, ".")
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return 0, nil
	}
	if neg {
		return bad("below zero")
	}
	// The value is digits · 10^shift points, so digits · 10^(shift+4) millionths.
	shift := exp - len(frac) + 4
	for shift < 0 {
		if !strings.HasSuffix(digits, "0") {
			return bad("more than four decimals")
		}
		digits = digits[:len(digits)-1]
		shift++
	}
	if len(digits)+shift > 9 {
		return bad("too large")
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", shift), 10, 32)
	if err != nil {
		return bad("too large")
	}
	return Percent(n), nil
}

// splitNumber checks the grammar of a JSON number and parts mantissa and exponent.
func splitNumber(s string) (mant string, exp int, err error) {
	notNumber := fmt.Errorf("not a JSON number")
	mant, rest, hasExp := cutAny(s, "eE")
	if hasExp {
		digits := strings.TrimPrefix(strings.TrimPrefix(rest, "+"), "-")
		if len(rest)-len(digits) > 1 || !allDigits(digits) || len(digits) > 4 {
			return "", 0, notNumber
		}
		if exp, err = strconv.Atoi(rest); err != nil {
			return "", 0, notNumber
		}
	}
	whole, frac, dotted := strings.Cut(strings.TrimPrefix(mant, "-"), ".")
	if !allDigits(whole) || (len(whole) > 1 && whole[0] == '0') || (dotted && !allDigits(frac)) {
		return "", 0, notNumber
	}
	return mant, exp, nil
}

func cutAny(s, chars string) (before, after string, found bool) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// String shows percent points, as ParsePercent reads them.
func (p Percent) String() string {
	var room [maxFixed]byte
	return string(p.Append(room[:0]))
}

// Append writes the percent points behind b.
func (p Percent) Append(b []byte) []byte { return appendFixed(b, int64(p), perPoint) }

// maxFixed is longer than any number that appendFixed writes.
const maxFixed = 32

// appendFixed writes n/scale, scale being a power of ten, without trailing zeros.
func appendFixed(b []byte, n, scale int64) []byte {
	u := uint64(n)
	if n < 0 {
		b, u = append(b, '-'), -uint64(n)
	}
	b = strconv.AppendUint(b, u/uint64(scale), 10)
	frac := u % uint64(scale)
	if frac == 0 {
		return b
	}
	b = append(b, '.')
	for place := uint64(scale) / 10; frac > 0; place /= 10 {
		b = append(b, '0'+byte(frac/place))
		frac %= place
	}
	return b
}
