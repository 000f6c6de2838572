package store

import (
	"regexp"
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
var manySizes = [...]int{64, 32, 16, 8, 4, 2, 1}

// inserts is an INSERT of rows: head, "(…), (…)".
func inserts(head string, width int) *many {
	return newMany(head+" VALUES ", "(", ")", "", width)
}

// among is a question for a list of keys: head, "(…)".
func among(head string) *many {
	return newMany(head+" IN (", "", "", ")", 1)
}

// amongOf is a question for a list of keys of one owner: head, "= $1 AND", column,
// "IN (…)". Pairs joined by OR would say the same, but PostgreSQL plans those anew
// each time and may read all that an owner has.
func amongOf(head, column string) *many {
	m := &many{width: 1}
	for i, size := range manySizes {
		keys := make([]string, size)
		for n := range keys {
			keys[n] = "$" + strconv.Itoa(n+2)
		}
		m.texts[i] = head + " = $1 AND " + column + " IN (" + strings.Join(keys, ", ") + ")"
	}
	return m
}

// updates is an UPDATE of single rows of a table. In set, $1 is a row's key, and
// $2 and so on are what else is known of it, in the order of their types.
func updates(table, set, key string, types ...string) *many {
	m := &many{width: len(types)}
	named := func(name func(column int) string) string {
		return placeholder.ReplaceAllStringFunc(set, func(found string) string {
			n, _ := strconv.Atoi(found[1:])
			return name(n)
		})
	}
	cast := func(n int) string { return "CAST($" + strconv.Itoa(n) + " AS " + types[n-1] + ")" }
	// VALUES has the same names for its columns on both engines, and the types of
	// its first row.
	column := func(n int) string { return "m.column" + strconv.Itoa(n) }
	for i, size := range manySizes {
		if size == 1 {
			m.texts[i] = "UPDATE " + table + " SET " + named(cast) + " WHERE " + key + " = $1"
			continue
		}
		var b strings.Builder
		b.WriteString("UPDATE " + table + " SET " + named(column) + " FROM (VALUES ")
		for n := range size * m.width {
			switch {
			case n%m.width != 0:
				b.WriteString(", ")
			case n > 0:
				b.WriteString("), (")
			default:
				b.WriteString("(")
			}
			if n < m.width {
				b.WriteString(cast(n + 1))
				continue
			}
			b.WriteString("$" + strconv.Itoa(n+1))
		}
		b.WriteString(")) AS m WHERE " + table + "." + key + " = " + column(1))
		m.texts[i] = b.String()
	}
	return m
}

var placeholder = regexp.MustCompile(`\$\d+`)

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

// eachOf is each for rows of one owner.
func (m *many) eachOf(owner any, values []any, f func(sql string, args []any)) {
	m.each(values, func(sql string, args []any) { f(sql, append([]any{owner}, args...)) })
}
