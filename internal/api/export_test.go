package api

import "net/http"

// ServerOf is the server that a door is served by.
func ServerOf(d *Door) *http.Server { return Server(d, d.cfg.Log) }

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

// ConnectionLog is where net/http complains.
func ConnectionLog(d *Door) interface{ Write([]byte) (int, error) } {
	return connectionLog{d.cfg.Log}
}
