package prices

import (
	"math/big"
	"strings"
)

// A price is written with at most so many digits, and at most so many of them after the
// point: what market takes.
const maxDigits = 24

var ten = big.NewInt(10)

func tenTo(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// decimal writes num/den, both above zero, with as many digits as a price has; the rest
// is cut off. It is empty where the price would have more before the point, or nothing.
func decimal(num, den *big.Int) string {
	whole := new(big.Int).Quo(num, den)
	scale := maxDigits
	if whole.Sign() > 0 {
		if scale = maxDigits - len(whole.String()); scale < 0 {
			return ""
		}
	}
	n := new(big.Int).Mul(num, tenTo(scale))
	n.Quo(n, den)
	if n.Sign() <= 0 {
		return ""
	}
	text := n.String()
	if len(text) <= scale {
		text = strings.Repeat("0", scale-len(text)+1) + text
	}
	if scale == 0 {
		return text
	}
	frac := strings.TrimRight(text[len(text)-scale:], "0")
	if text = text[:len(text)-scale]; frac != "" {
		text += "." + frac
	}
	return text
}
