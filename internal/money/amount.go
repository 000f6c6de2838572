package money

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/holiman/uint256"
)

// MaxDigits is the length of the largest 256-bit number in decimal.
const MaxDigits = 78

// Errors of amount arithmetic and parsing.
var (
	ErrOverflow  = errors.New("money: more than 256 bits")
	ErrNegative  = errors.New("money: below zero")
	ErrDivByZero = errors.New("money: division by zero")
	ErrSyntax    = errors.New("money: not a whole decimal number")
)

// Rounding says who keeps the remainder of a division.
type Rounding bool

// Down leaves the remainder with the one who pays, Up takes it from him.
const (
	Down Rounding = false
	Up   Rounding = true
)

// Amount is a number of smallest units of one asset: never negative, at most
// 256 bits, a plain value that may be compared with == and used as a map key.
type Amount struct{ v uint256.Int }

// FromUint64 makes an amount of n smallest units.
func FromUint64(n uint64) Amount {
	var a Amount
	a.v.SetUint64(n)
	return a
}

// Parse reads a whole decimal number without sign, blanks or leading zeros.
func Parse(s string) (Amount, error) {
	if s == "" || len(s) > MaxDigits || (len(s) > 1 && s[0] == '0') {
		return Amount{}, fmt.Errorf("%w: %q", ErrSyntax, clip(s))
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return Amount{}, fmt.Errorf("%w: %q", ErrSyntax, clip(s))
		}
	}
	var a Amount
	if err := a.v.SetFromDecimal(s); err != nil {
		return Amount{}, fmt.Errorf("%w: %q", ErrOverflow, clip(s))
	}
	return a, nil
}

// MustParse is Parse for constants in tests and tables; it panics on bad text.
func MustParse(s string) Amount {
	a, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return a
}

// clip keeps error texts short whatever a caller sends.
func clip(s string) string {
	if len(s) > 32 {
		return s[:32] + "…"
	}
	return s
}

// FromWords makes an amount of a number of 256 bits, its lowest 64 first.
func FromWords(words [4]uint64) Amount { return Amount{words} }

// Words is the amount as a number of 256 bits, its lowest 64 first.
func (a Amount) Words() [4]uint64 { return a.v }

// Uint64 is the amount as a machine number, if it fits.
func (a Amount) Uint64() (n uint64, fits bool) { return a.v.Uint64(), a.v.IsUint64() }

// String is the decimal form that Parse reads back.
func (a Amount) String() string {
	var room [MaxDigits]byte
	return string(a.Append(room[:0]))
}

// Append writes the decimal form behind b.
func (a Amount) Append(b []byte) []byte {
	if a.v.IsUint64() {
		return strconv.AppendUint(b, a.v.Uint64(), 10)
	}
	// From the right, as many digits at a time as a machine word holds.
	var room [MaxDigits + chunkDigits]byte
	at, rest, low := len(room), a.v, uint256.Int{}
	for !rest.IsUint64() {
		rest.DivMod(&rest, &chunk, &low)
		for digits, n := chunkDigits, low.Uint64(); digits > 0; digits-- {
			at--
			room[at] = '0' + byte(n%10)
			n /= 10
		}
	}
	return append(strconv.AppendUint(b, rest.Uint64(), 10), room[at:]...)
}

// chunk is the largest power of ten in a machine word.
const chunkDigits = 19

var chunk = *uint256.NewInt(10_000_000_000_000_000_000)

// Digits is how long the decimal form is.
func (a Amount) Digits() int {
	if n, fits := a.Uint64(); fits {
		digits := 1
		for ; n >= 10; n /= 10 {
			digits++
		}
		return digits
	}
	var room [MaxDigits]byte
	return len(a.Append(room[:0]))
}

// MarshalText implements encoding.TextMarshaler.
func (a Amount) MarshalText() ([]byte, error) { return a.Append(nil), nil }

// UnmarshalText implements encoding.TextUnmarshaler with the strictness of Parse.
func (a *Amount) UnmarshalText(b []byte) error {
	v, err := Parse(string(b))
	if err != nil {
		return err
	}
	*a = v
	return nil
}

// IsZero reports whether a is nothing.
func (a Amount) IsZero() bool { return a.v.IsZero() }

// Cmp is -1, 0 or +1 as a is less than, equal to or more than b.
func (a Amount) Cmp(b Amount) int { return a.v.Cmp(&b.v) }

// Less reports whether a < b.
func (a Amount) Less(b Amount) bool { return a.v.Lt(&b.v) }

// Add is a+b, or ErrOverflow.
func (a Amount) Add(b Amount) (Amount, error) {
	var r Amount
	if _, over := r.v.AddOverflow(&a.v, &b.v); over {
		return Amount{}, fmt.Errorf("add %s and %s: %w", a, b, ErrOverflow)
	}
	return r, nil
}

// Sub is a-b, or ErrNegative.
func (a Amount) Sub(b Amount) (Amount, error) {
	var r Amount
	if _, under := r.v.SubOverflow(&a.v, &b.v); under {
		return Amount{}, fmt.Errorf("subtract %s from %s: %w", b, a, ErrNegative)
	}
	return r, nil
}

// Less0 is a-b where that is not below zero, and nothing otherwise.
func (a Amount) Less0(b Amount) Amount {
	var r Amount
	if _, under := r.v.SubOverflow(&a.v, &b.v); under {
		return Amount{}
	}
	return r
}

// MulDiv is a·num/den, exact in between (512 bits), rounded as said.
func (a Amount) MulDiv(num, den Amount, r Rounding) (Amount, error) {
	if den.IsZero() {
		return Amount{}, ErrDivByZero
	}
	if a.v.IsUint64() && num.v.IsUint64() && den.v.IsUint64() {
		// Most amounts are that small, and one machine division gives both results.
		if high, low := bits.Mul64(a.v[0], num.v[0]); high < den.v[0] {
			n, rem := bits.Div64(high, low, den.v[0])
			if r == Up && rem != 0 {
				return FromUint64(n).Add(FromUint64(1))
			}
			return FromUint64(n), nil
		}
	}
	var q Amount
	if _, over := q.v.MulDivOverflow(&a.v, &num.v, &den.v); over {
		return Amount{}, fmt.Errorf("%s·%s/%s: %w", a, num, den, ErrOverflow)
	}
	if r == Up {
		var rem uint256.Int
		rem.MulMod(&a.v, &num.v, &den.v)
		if !rem.IsZero() {
			return q.Add(FromUint64(1))
		}
	}
	return q, nil
}

// Share is p of a. A share is never more than the whole times the percent, so
// it cannot overflow while p is at most 100 %.
func (a Amount) Share(p Percent, r Rounding) (Amount, error) {
	if p < 0 {
		return Amount{}, fmt.Errorf("share of %s: %w", p, ErrNegative)
	}
	return a.MulDiv(FromUint64(uint64(p)), FromUint64(uint64(Whole)), r)
}

// Decimal shows a with a decimal point, for an asset of that many decimals,
// without trailing zeros.
func (a Amount) Decimal(decimals int) string {
	var room [2 * MaxDigits]byte
	return string(a.appendDecimal(room[:0], decimals))
}

func (a Amount) appendDecimal(b []byte, decimals int) []byte {
	var room [MaxDigits]byte
	s := a.Append(room[:0])
	if decimals <= 0 {
		return append(b, s...)
	}
	whole := max(len(s)-decimals, 0)
	frac := bytes.TrimRight(s[whole:], "0")
	if whole == 0 {
		b = append(b, '0')
	}
	b = append(b, s[:whole]...)
	if len(frac) == 0 {
		return b
	}
	b = append(b, '.')
	for range decimals - len(s) {
		b = append(b, '0')
	}
	return append(b, frac...)
}

// ParseDecimal reads what Decimal writes: more digits after the point than the
// asset has is an error, never a silent rounding.
func ParseDecimal(s string, decimals int) (Amount, error) {
	whole, frac, dotted := strings.Cut(s, ".")
	if dotted && frac == "" || len(frac) > decimals || whole == "" {
		return Amount{}, fmt.Errorf("%w with at most %d decimals: %q", ErrSyntax, decimals, clip(s))
	}
	if len(whole) > 1 && whole[0] == '0' {
		return Amount{}, fmt.Errorf("%w: %q", ErrSyntax, clip(s))
	}
	digits := strings.TrimLeft(whole+frac+strings.Repeat("0", decimals-len(frac)), "0")
	if digits == "" {
		digits = "0"
	}
	return Parse(digits)
}

// Min is the smaller of a and b.
func Min(a, b Amount) Amount {
	if b.Less(a) {
		return b
	}
	return a
}

// Max is the larger of a and b.
func Max(a, b Amount) Amount {
	if a.Less(b) {
		return b
	}
	return a
}

// Sum adds all of them, or says ErrOverflow.
func Sum(as ...Amount) (Amount, error) {
	var total Amount
	var err error
	for _, a := range as {
		if total, err = total.Add(a); err != nil {
			return Amount{}, err
		}
	}
	return total, nil
}
