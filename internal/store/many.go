package store

import (
	"strconv"
	"strings"
)

// many is a statement over a varying number of rows. It is written out for a few
// numbers only, so that each text is prepared once; its text is made of constants
// and counts, never of data.
type many struct {
	width int
	texts [len(manySizes)]string
}

// manySizes are the numbers of rows a statement is written for, largest first.
var manySizes = [...]int{64, 16, 4, 1}

// inserts is an INSERT of rows: head, "(…), (…)".
func inserts(head string, width int) *many {
	return newMany(head+" VALUES ", "(", ")", "", width)
}

// among is a question for a list of keys: head, "(…)".
func among(head string) *many {
	return newMany(head+" IN (", "", "", ")", 1)
}

func newMany(head, open, shut, tail string, width int) *many {
	m := &many{width: width}
	for i, size := range manySizes {
		var b strings.Builder
		b.WriteString(head)
		for n := range size * width {
			switch {
			case n%width != 0:
				b.WriteString(", ")
			case n > 0:
				b.WriteString(shut + ", " + open)
			default:
				b.WriteString(open)
			}
			b.WriteString("$" + strconv.Itoa(n+1))
		}
		b.WriteString(shut + tail)
		m.texts[i] = b.String()
	}
	return m
}

// each splits values, width by width, into as few statements as there can be.
func (m *many) each(values []any, f func(sql string, args []any)) {
	for i, size := range manySizes {
		for n := size * m.width; len(values) >= n; values = values[n:] {
			f(m.texts[i], values[:n:n])
		}
	}
}
