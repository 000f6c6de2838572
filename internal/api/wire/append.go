package wire

import (
	"encoding/binary"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/money"
)

// appender is a value that writes its own JSON: the answers that are asked for most.
// It writes the very bytes that the library writes; a test compares them.
type appender interface {
	appendJSON(b []byte) ([]byte, error)
}

// pen writes the members of objects one after the other. A name comes with what
// stands before it: the bracket or comma, the quotes and the colon.
type pen struct {
	b   []byte
	err error
}

func (p *pen) raw(s string) { p.b = append(p.b, s...) }

func (p *pen) text(name, s string) {
	p.raw(name)
	if !unescaped(s) {
		p.quoted(s)
		return
	}
	p.b = append(append(append(p.b, '"'), s...), '"')
}

// unescaped reports whether a text is ASCII that JSON writes as it is. It looks at
// eight bytes at a time: ids and signatures are long.
func unescaped(s string) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		x := binary.LittleEndian.Uint64([]byte(s[:8]))
		quote, slash := x^ones*'"', x^ones*'\\'
		// The top bit of a byte is set where it is not ASCII, or goes below zero when
		// what it must not reach is taken from it.
		if (x|(x-ones*' ')|(quote-ones)|(slash-ones))&tops != 0 {
			return false
		}
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// quoted leaves what is not plain to the library.
func (p *pen) quoted(s string) {
	b, err := jsontext.AppendQuote(p.b, s)
	if err != nil {
		if p.err == nil {
			p.err = err
		}
		return
	}
	p.b = b
}

func (p *pen) whole(name string, n int) {
	p.raw(name)
	p.b = strconv.AppendInt(p.b, int64(n), 10)
}

func (p *pen) amount(name string, a Amount) {
	p.raw(name)
	p.b = append(a.Append(append(p.b, '"')), '"')
}

func (p *pen) usd(name string, u USD) {
	p.raw(name)
	p.b = append(money.USD(u).Append(append(p.b, '"')), '"')
}

func (p *pen) percent(name string, v Percent) {
	p.raw(name)
	p.b = money.Percent(v).Append(p.b)
}

func (p *pen) moment(name string, t Time) {
	p.raw(name)
	p.b = append(appendTime(append(p.b, '"'), t.Time), '"')
}

// appendTime writes a moment as timeForm says, without reading the form anew each time.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, timeForm)
	}
	hour, minute, second := t.Clock()
	b = append(appendTwo(appendTwo(b, year/100), year%100), '-')
	b = append(appendTwo(b, int(month)), '-')
	b = append(appendTwo(b, day), 'T')
	b = append(appendTwo(b, hour), ':')
	b = append(appendTwo(b, minute), ':')
	b = append(appendTwo(b, second), '.')
	millis := t.Nanosecond() / int(time.Millisecond)
	return append(appendTwo(append(b, '0'+byte(millis/100)), millis%100), 'Z')
}

func appendTwo(b []byte, n int) []byte { return append(b, '0'+byte(n/10), '0'+byte(n%10)) }
