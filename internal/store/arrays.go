package store

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// joined is how many statements may go into one.
const joined = 12

// together are the texts of statements that were joined, by what was joined.
var together sync.Map // of union

// union is what was joined, and which of it are single rows.
type union struct {
	kinds  [joined]*many
	single [joined]bool
}

// arrays writes statements over many rows as single ones over arrays, and those that
// follow each other, which are of different tables and ask nothing, as one.
func arrays(ss []stmt) []stmt {
	all := make([]stmt, 0, len(ss))
	var run []stmt
	end := func() {
		if len(run) > 0 {
			all = append(all, join(run))
		}
		run = run[:0]
	}
	for _, s := range ss {
		switch {
		case s.many == nil:
			end()
			all = append(all, s)
		case s.many.bulk == "":
			end()
			all = append(all, spread([]stmt{s})...)
		case s.each != nil:
			end()
			all = append(all, stmt{sql: s.many.bulk, args: s.arrays(), each: s.each})
		default:
			if len(run) == joined {
				end()
			}
			run = append(run, s)
		}
	}
	end()
	return all
}

func (s stmt) arrays() []any {
	if s.columns != nil {
		return s.columns
	}
	return s.many.columns(s.args)
}

// single reports whether a statement is over one row: its values as they are take the
// database less than an array for each.
func (s stmt) single() bool {
	return s.columns == nil && len(s.args) == s.many.width && s.many.one() != ""
}

// text is what a statement that asks nothing says, and what with.
func (s stmt) text() (string, []any) {
	if s.single() {
		return s.many.one(), s.args
	}
	return s.many.bulk, s.arrays()
}

// join makes one statement of some: all but the last are its common table
// expressions, which see the tables as they were before it.
func join(run []stmt) stmt {
	if len(run) == 1 {
		sql, args := run[0].text()
		return stmt{sql: sql, args: args}
	}
	var key union
	var args []any
	for i, s := range run {
		key.kinds[i], key.single[i] = s.many, s.single()
		_, values := s.text()
		args = append(args, values...)
	}
	text, ok := together.Load(key)
	if !ok {
		text, _ = together.LoadOrStore(key, joinTexts(run))
	}
	return stmt{sql: text.(string), args: args}
}

func joinTexts(run []stmt) string {
	var b strings.Builder
	before := 0
	for i, s := range run {
		sql, values := s.text()
		text := parameter.ReplaceAllStringFunc(sql, func(found string) string {
			n, _ := strconv.Atoi(found[1:])
			return "$" + strconv.Itoa(n+before)
		})
		before += len(values)
		switch {
		case i == len(run)-1:
			b.WriteString(text)
			continue
		case i == 0:
			b.WriteString("WITH ")
		}
		b.WriteString("w" + strconv.Itoa(i) + " AS (" + text + ")")
		if i < len(run)-2 {
			b.WriteString(", ")
		}
		b.WriteString("\n")
	}
	return b.String()
}

var parameter = regexp.MustCompile(`\$\d+`)
