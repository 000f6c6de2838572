package money

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// USD is millionths of a dollar, for display, limits and reports. It never
// decides how much moves on a chain.
type USD int64

// Dollar is one dollar.
const Dollar USD = 1_000_000

// String shows dollars with at most six decimals.
func (u USD) String() string {
	var room [maxFixed]byte
	return string(u.Append(room[:0]))
}

// Append writes the dollars behind b.
func (u USD) Append(b []byte) []byte { return appendFixed(b, int64(u), int64(Dollar)) }

// ParseUSD reads a decimal number of dollars with at most six decimals.
func ParseUSD(s string) (USD, error) {
	bad := fmt.Errorf("dollars %q: want a number with at most six decimals", clip(s))
	whole, frac, dotted := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if !allDigits(whole) || (dotted && !allDigits(frac)) || len(frac) > 6 || (len(whole) > 1 && whole[0] == '0') {
		return 0, bad
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 64)
	if err != nil {
		return 0, bad
	}
	if strings.HasPrefix(s, "-") {
		n = -n
	}
	return USD(n), nil
}

// PlusCapped is u+v, kept inside what a USD can hold: a sum for a limit must
// never wrap around into a small number.
func (u USD) PlusCapped(v USD) USD {
	if v > 0 && u > math.MaxInt64-v {
		return math.MaxInt64
	}
	if v < 0 && u < math.MinInt64-v {
		return math.MinInt64
	}
	return u + v
}
