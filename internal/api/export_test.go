package api

import "net/http"

// Find matches a path against rows: the template and the values.
func Find(rows []Operation, path string) (string, []string) {
	r, values := newMatcher(rows).find(path)
	if r == nil {
		return "", nil
	}
	return r.template, values[:len(r.names)]
}

// ReadQuery reads a query for a row: names and values in their order.
func ReadQuery(raw string, o *Operation) ([][2]string, error) {
	pairs, err := readQuery(raw, o)
	var all [][2]string
	for _, p := range pairs {
		all = append(all, [2]string{p.name, p.value})
	}
	return all, err
}

// ConnectionLog is where the HTTP server complains.
func ConnectionLog(d *Door) interface{ Printf(string, ...any) } { return connectionLog{d.cfg.Log} }

// ReadHeaders reads a target and the headers of a request.
func ReadHeaders(target, raw []byte) (http.Header, string, bool) {
	var r headerReader
	text, ok := r.read(target, raw, true)
	return r.header, text, ok
}
