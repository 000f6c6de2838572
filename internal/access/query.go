package access

import (
	"strings"

	"ferry/internal/integrator"
)

// keyMark is what every key has after the two letters of its kind.
const (
	keyMark   = "_live_"
	beforeKey = 2
)

// KeyInQuery reports whether a raw query has a key in it: a parameter that is named
// like one, or the text of one anywhere. It reads the raw text, because a parsed
// query has lost the pairs that were malformed or parted by a semicolon.
func KeyInQuery(rawQuery string) bool {
	if rawQuery == "" {
		return false
	}
	if findKey(rawQuery) >= 0 || keyNamed(rawQuery) {
		return true
	}
	if strings.IndexByte(rawQuery, '%') < 0 {
		return false
	}
	once := unescape(rawQuery)
	return findKey(once) >= 0 || findKey(unescape(once)) >= 0
}

// findKey is where the first key in a text begins, or -1. Keys have no letter that
// parts a query, so the pairs need not be told apart.
func findKey(text string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], keyMark)
		if i < 0 {
			return -1
		}
		start := from + i - beforeKey
		if start >= 0 && start+integrator.KeyLen <= len(text) {
			if _, ok := integrator.KindOf(text[start : start+integrator.KeyLen]); ok {
				return start
			}
		}
		from += i + len(keyMark)
	}
}

// keysIn calls tell for up to a few keys in a query, however they are escaped.
func keysIn(rawQuery string, tell func(key string)) {
	const few = 8
	told := 0
	once := unescape(rawQuery)
	for _, text := range [...]string{rawQuery, once, unescape(once)} {
		for told < few {
			i := findKey(text)
			if i < 0 {
				break
			}
			tell(text[i : i+integrator.KeyLen])
			text = text[i+integrator.KeyLen:]
			told++
		}
	}
}

// keyNamed reports whether a pair of the query has the name of a key.
func keyNamed(rawQuery string) bool {
	for start, i := 0, 0; i <= len(rawQuery); i++ {
		if i < len(rawQuery) && rawQuery[i] != '&' && rawQuery[i] != ';' {
			continue
		}
		name, _, _ := strings.Cut(rawQuery[start:i], "=")
		start = i + 1
		if namesKey(name) {
			return true
		}
		if strings.IndexByte(name, '%') < 0 {
			continue
		}
		once := unescape(name)
		if namesKey(beforeEqual(once)) || namesKey(beforeEqual(unescape(once))) {
			return true
		}
	}
	return false
}

func beforeEqual(s string) string {
	name, _, _ := strings.Cut(s, "=")
	return name
}

// folded is every letter small, and zero for the punctuation that does not count.
var folded = func() (f [256]byte) {
	for c := range f {
		f[c] = byte(c)
	}
	for c := 'A'; c <= 'Z'; c++ {
		f[c] = byte(c - 'A' + 'a')
	}
	for _, c := range "-_. []+" {
		f[c] = 0
	}
	return f
}()

// namesKey reports whether a parameter's name, without its punctuation and in small
// letters, is one that people use for keys.
func namesKey(name string) bool {
	const (
		longest   = len("xintegratorkey")
		kelvin    = "\u212a" // folds to k
		longSmall = "\u017f" // folds to s
	)
	var buf [longest]byte
	n := 0
	for i := 0; i < len(name); i++ {
		c := folded[name[i]]
		switch {
		case c == 0:
			continue
		case c == kelvin[0] && strings.HasPrefix(name[i:], kelvin):
			c, i = 'k', i+len(kelvin)-1
		case c == longSmall[0] && strings.HasPrefix(name[i:], longSmall):
			c, i = 's', i+len(longSmall)-1
		}
		if n == longest {
			return false
		}
		buf[n] = c
		n++
	}
	switch string(buf[:n]) {
	case "integratorkey", "xintegratorkey", "apikey", "xapikey", "key", "accesskey", "token":
		return true
	}
	return false
}

// unescape resolves the escapes that are whole and leaves the rest as it stands, so
// that a broken one hides nothing.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
			if hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
