package store

import (
	"strconv"
	"strings"
)

// many is a statement over a varying number of rows. It is written out for a few
// numbers only, so that each text is prepared once; its text is made of constants
// and counts, never of data.
//
// PostgreSQL has arrays: there an INSERT of any number of rows is one text with an
// array for each column, which also saves it reading thousands of parameters.
type many struct {
	width int
	texts [len(manySizes)]string
	types string // of the columns: t is TEXT, n is BIGINT
	bulk  string // the text over arrays; empty where there is none
}

// manySizes are the numbers of rows a statement is written for, largest first.
var manySizes = [...]int{64, 32, 16, 8, 4, 2, 1}

// inserts is an INSERT of rows with columns of some types: head, "(…), (…)", tail.
func inserts(head, types, tail string) *many {
	m := newMany(head+" VALUES ", "(", ")", tail, len(types))
	m.types = types
	columns := make([]string, len(types))
	for i := range columns {
		columns[i] = "CAST($" + strconv.Itoa(i+1) + " AS " + map[byte]string{'t': "TEXT[]", 'n': "BIGINT[]"}[types[i]] + ")"
	}
	m.bulk = head + " SELECT * FROM unnest(" + strings.Join(columns, ", ") + ")" + tail
	return m
}

// among is a question for a list of keys: head, "(…)".
func among(head string) *many {
	return newMany(head+" IN (", "", "", ")", 1)
}

// anyOf is among over an array.
func anyOf(head string) *many {
	m := among(head)
	m.types, m.bulk = "t", head+" = ANY(CAST($1 AS TEXT[]))"
	return m
}

// updates is an UPDATE of single rows of a table. In set, $1 is a row's key, and
// $2 and so on are what else is known of it, in the order of their types.
func updates(table, set, key string, types ...string) *many {
	m := &many{width: len(types)}
	named := func(name func(column int) string) string {
		return parameter.ReplaceAllStringFunc(set, func(found string) string {
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

// one is the statement over one row.
func (m *many) one() string { return m.texts[len(m.texts)-1] }

// each splits values, width by width, into as few statements as there can be.
func (m *many) each(values []any, f func(sql string, args []any)) {
	for i, size := range manySizes {
		for n := size * m.width; len(values) >= n; values = values[n:] {
			f(m.texts[i], values[:n:n])
		}
	}
}

// spread writes statements over many rows out as single ones.
func spread(ss []stmt) []stmt {
	var all []stmt
	for i, s := range ss {
		if s.many == nil {
			if all != nil {
				all = append(all, s)
			}
			continue
		}
		if all == nil {
			all = append(make([]stmt, 0, 2*len(ss)), ss[:i]...)
		}
		s.many.each(s.args, func(sql string, args []any) { all = append(all, stmt{sql: sql, args: args, each: s.each}) })
	}
	if all == nil {
		return ss
	}
	return all
}

// columns are rows as an array for each column.
func (m *many) columns(rows []any) []any {
	n := len(rows) / m.width
	all := make([]any, m.width)
	for c := range all {
		if m.types[c] == 't' {
			all[c] = column[string](rows[c:], m.width, n)
		} else {
			all[c] = column[int64](rows[c:], m.width, n)
		}
	}
	return all
}

// column is every width-th value; as pointers where one of them is NULL.
func column[T any](rows []any, width, n int) any {
	values := make([]T, n)
	for i := range values {
		v, ok := rows[i*width].(T)
		if !ok {
			return nullable[T](rows, width, n)
		}
		values[i] = v
	}
	return values
}

func nullable[T any](rows []any, width, n int) []*T {
	values := make([]*T, n)
	for i := range values {
		if rows[i*width] != nil {
			v := rows[i*width].(T)
			values[i] = &v
		}
	}
	return values
}
