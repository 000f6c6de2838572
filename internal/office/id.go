package office

import (
	"crypto/rand"
	"strings"
)

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// NewID is a prefix and 128 random bits as 26 letters that nobody mistakes.
func NewID(prefix string) string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // it never fails: without randomness the program ends
	var b strings.Builder
	b.WriteString(prefix)
	// 26 letters hold 130 bits; the first two of them are zero.
	var acc, bits uint = 0, 2
	for _, c := range raw {
		acc, bits = acc<<8|uint(c), bits+8
		for bits >= 5 {
			bits -= 5
			b.WriteByte(crockford[acc>>bits&31])
		}
	}
	return b.String()
}
