package api

import (
	"net/http"
	"slices"
	"strings"

	"ferry/internal/api/contract"
)

// maxPathValues is how many values a path may hold.
const maxPathValues = 4

// route is one path and the operations on it.
type route struct {
	template string
	segments []string // literal, or empty for a value
	names    []string // of the values
	byMethod map[string]*Operation
	allow    string
	open     bool // browsers of any origin may read it
	cached   bool // some answer may be kept by anybody
}

// matcher finds the route of a decoded path. There is one match for every spelling
// of a path and no redirect: a path with a doubled or trailing slash is another path.
type matcher struct {
	exact  map[string]*route
	valued map[int][]*route // by the number of segments, the most literal first
}

func newMatcher(rows []Operation) *matcher {
	m := &matcher{exact: map[string]*route{}, valued: map[int][]*route{}}
	all := map[string]*route{}
	for i := range rows {
		o := &rows[i]
		r := all[o.Path]
		if r == nil {
			r = newRoute(o.Path)
			all[o.Path] = r
			if len(r.names) == 0 {
				m.exact[o.Path] = r
			} else {
				m.valued[len(r.segments)] = append(m.valued[len(r.segments)], r)
			}
		}
		r.byMethod[o.Method] = o
		r.cached = r.cached || o.Cache > 0
	}
	for _, r := range all {
		if get := r.byMethod[http.MethodGet]; get != nil {
			r.byMethod[http.MethodHead] = get
		}
		allowed := []string{http.MethodOptions}
		for method := range r.byMethod {
			allowed = append(allowed, method)
		}
		slices.Sort(allowed)
		r.allow = strings.Join(allowed, ", ")
	}
	for _, routes := range m.valued {
		slices.SortFunc(routes, func(a, b *route) int { return strings.Compare(a.rank(), b.rank()) })
	}
	return m
}

func newRoute(path string) *route {
	r := &route{
		template: path, names: contract.PathParams(path), byMethod: map[string]*Operation{},
		open: !strings.HasPrefix(path, integrator),
	}
	for s := range strings.SplitSeq(path[1:], "/") {
		if strings.HasPrefix(s, "{") {
			s = ""
		}
		r.segments = append(r.segments, s)
	}
	return r
}

// rank sorts literal segments before values, from the left.
func (r *route) rank() string {
	var b strings.Builder
	for _, s := range r.segments {
		if s == "" {
			b.WriteByte('1')
		} else {
			b.WriteByte('0')
		}
	}
	return b.String() + r.template
}

// find gives the route of a path and the values in it; nil if there is none.
func (m *matcher) find(path string) (*route, [maxPathValues]string) {
	var values [maxPathValues]string
	if r := m.exact[path]; r != nil {
		return r, values
	}
	if path == "" || path[0] != '/' {
		return nil, values
	}
	for _, r := range m.valued[strings.Count(path, "/")] {
		if r.fits(path[1:], &values) {
			return r, values
		}
	}
	return nil, values
}

func (r *route) fits(path string, values *[maxPathValues]string) bool {
	n := 0
	for _, want := range r.segments {
		var got string
		got, path, _ = strings.Cut(path, "/")
		switch {
		case want != "" && got != want, got == "":
			return false
		case want == "":
			values[n] = got
			n++
		}
	}
	return true
}
