package market

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ferry/internal/money"
)

// A price has at most so many digits, and at most so many of them after the point.
// With assets of at most maxDecimals no rate between two prices passes 256 bits.
const (
	maxPriceDigits = 24
	maxDecimals    = 24
	maxPriceText   = 64
)

// ErrPrice is in every refusal of a text that is no price.
var ErrPrice = errors.New("market: not a price")

// Price is dollars for one whole unit of an asset: exact, and above zero unless it
// is the zero value, which is no price.
type Price struct {
	num   money.Amount
	scale uint8 // the price is num divided by ten to this
}

// tens are the powers of ten that fit an amount.
var tens = func() (t [money.MaxDigits]money.Amount) {
	for i := range t {
		t[i] = money.MustParse("1" + strings.Repeat("0", i))
	}
	return t
}()

var one = money.FromUint64(1)

// ParsePrice reads a JSON number above zero, with or without an exponent, from its
// text. What has more digits than a price can hold is refused, not rounded.
func ParsePrice(text string) (Price, error) {
	bad := func(why string) (Price, error) {
		return Price{}, fmt.Errorf("%w: %q %s", ErrPrice, text[:min(len(text), 32)], why)
	}
	if len(text) > maxPriceText {
		return bad("is too long")
	}
	mant, exp := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		digits := text[i+1:]
		if digits != "" && (digits[0] == '+' || digits[0] == '-') {
			digits = digits[1:]
		}
		if !allDigits(digits) || len(digits) > 3 {
			return bad("is not a decimal number")
		}
		exp, _ = strconv.Atoi(text[i+1:])
		mant = text[:i]
	}
	whole, frac, dotted := strings.Cut(mant, ".")
	if !allDigits(whole) || (len(whole) > 1 && whole[0] == '0') || (dotted && !allDigits(frac)) {
		return bad("is not a decimal number above zero")
	}
	digits := strings.TrimLeft(whole+frac, "0")
	if digits == "" {
		return bad("is nothing")
	}
	short := strings.TrimRight(digits, "0")
	shift := exp - len(frac) + len(digits) - len(short)
	if len(short)+max(shift, 0) > maxPriceDigits || -shift > maxPriceDigits {
		return bad("has too many digits")
	}
	num, err := money.Parse(short + strings.Repeat("0", max(shift, 0)))
	if err != nil {
		return bad("is not a decimal number")
	}
	return Price{num: num, scale: uint8(max(-shift, 0))}, nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// IsZero reports whether there is no price.
func (p Price) IsZero() bool { return p.num.IsZero() }

// String is the price in dollars, exact, as ParsePrice reads it.
func (p Price) String() string { return p.num.Decimal(int(p.scale)) }

// aligned is the price in units of which ten to the maxPriceDigits are a dollar; it
// has at most 48 digits.
func (p Price) aligned() money.Amount { return times(p.num, tens[maxPriceDigits-int(p.scale)]) }

// times is a·b where both are known to be small enough for their product.
func times(a, b money.Amount) money.Amount {
	n, err := a.MulDiv(b, one, money.Down)
	if err != nil {
		panic(fmt.Sprintf("market: %s times %s: %v", a, b, err))
	}
	return n
}

// Cmp is -1, 0 or +1 as p is less than, equal to or more than q.
func (p Price) Cmp(q Price) int { return p.aligned().Cmp(q.aligned()) }

// Near reports whether p differs from q by at most that share of q.
func (p Price) Near(q Price, most money.Percent) bool {
	a, b := p.aligned(), q.aligned()
	gap := a.Less0(b)
	if a.Less(b) {
		gap = b.Less0(a)
	}
	allowed := times(b, money.FromUint64(uint64(max(most, 0))))
	return !allowed.Less(times(gap, money.FromUint64(uint64(money.Whole))))
}

// Beyond reports whether p is more than factor times q, or less than q divided by it.
func (p Price) Beyond(q Price, factor uint32) bool {
	a, b, f := p.aligned(), q.aligned(), money.FromUint64(uint64(factor))
	return times(b, f).Less(a) || times(a, f).Less(b)
}

// Median is the price in the middle, or the mean of the two in the middle; the zero
// value where there are none. It sorts what it is given.
func Median(of []Price) Price {
	if len(of) == 0 {
		return Price{}
	}
	slices.SortFunc(of, Price.Cmp)
	mid := len(of) / 2
	if len(of)%2 == 1 {
		return of[mid]
	}
	return mean(of[mid-1], of[mid])
}

// Times is the price where q is what one unit of p's measure is worth in dollars: p·q,
// without the digits past what a price can hold. The zero value is that it holds none.
func (p Price) Times(q Price) Price {
	text, scale := times(p.num, q.num).String(), int(p.scale)+int(q.scale)
	drop := max(len(text)-maxPriceDigits, scale-maxPriceDigits, 0)
	if drop >= len(text) || drop > scale {
		return Price{}
	}
	out, err := ParsePrice(money.MustParse(text[:len(text)-drop]).Decimal(scale - drop))
	if err != nil {
		return Price{}
	}
	return out
}

// mean is halfway between two prices, rounded down past the digits a price can hold.
func mean(a, b Price) Price {
	sum, err := a.aligned().Add(b.aligned())
	if err != nil {
		panic(fmt.Sprintf("market: mean of %s and %s: %v", a, b, err))
	}
	text := divided(sum, money.FromUint64(2)).String()
	if len(text) > maxPriceDigits { // the digits past what a price holds are dropped
		text = text[:maxPriceDigits] + strings.Repeat("0", len(text)-maxPriceDigits)
	}
	p, err := ParsePrice(money.MustParse(text).Decimal(maxPriceDigits))
	if err != nil {
		panic(fmt.Sprintf("market: mean of %s and %s: %v", a, b, err))
	}
	return p
}

// divided is a/b rounded down, for a b that is not zero.
func divided(a, b money.Amount) money.Amount {
	n, err := a.MulDiv(one, b, money.Down)
	if err != nil {
		panic(fmt.Sprintf("market: %s by %s: %v", a, b, err))
	}
	return n
}
