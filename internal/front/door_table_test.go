package front_test

import (
	"slices"
	"strings"
	"testing"
)

// tried is one row of a table: a request and everything that its answer must be.
type tried struct {
	name   string // begins with the row of the catalogue it tries
	q      shot
	status int
	code   string
	about  []string // "pointer code" of every problem, in any order; nil: none is listed
	header map[string]string
	more   func(t *testing.T, s *stage, a reply)
}

// try runs a table, each row as a test of its own.
func (s *stage) try(t *testing.T, rows []tried) {
	t.Helper()
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row.name] {
			t.Fatalf("two rows are called %q", row.name)
		}
		seen[row.name] = true
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s.holds(t, row, s.do(t, row.q))
		})
	}
}

// holds compares an answer with its row.
func (s *stage) holds(t *testing.T, row tried, a reply) {
	t.Helper()
	if a.status != row.status || a.code() != row.code {
		t.Fatalf("got %d %q, want %d %q: %s", a.status, a.code(), row.status, row.code, a.body)
	}
	if row.code != "" && row.code != "order_not_found" && a.problem().Status != a.status {
		t.Errorf("the body says status %d", a.problem().Status)
	}
	got, want := a.pointers(), slices.Clone(row.about)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("it is about\n  %s\nand should be about\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	for name, value := range row.header {
		if a.header.Get(name) != value {
			t.Errorf("header %s is %q, want %q", name, a.header.Get(name), value)
		}
	}
	if row.more != nil {
		row.more(t, s, a)
	}
}
