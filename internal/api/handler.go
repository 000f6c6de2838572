package api

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"

	"ferry/internal/api/wire"
)

// ServeHTTP lets a door stand in a server of net/http: one that somebody has already,
// or a test's.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := asked{
		ctx: r.Context(), method: r.Method, path: r.URL.Path, rawPath: r.URL.EscapedPath(), rawQuery: r.URL.RawQuery,
		header: r.Header, length: r.ContentLength,
	}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		a.remote = at.Addr()
	}
	if a.length > wire.MaxBody {
		a.lost = errBodySize
	} else if a.length != 0 && r.Body != nil {
		var err error
		switch a.body, err = io.ReadAll(io.LimitReader(r.Body, wire.MaxBody+1)); {
		case len(a.body) > wire.MaxBody:
			a.lost = errBodySize
		case err != nil:
			a.lost = errBodyLate.Because(err)
		}
	}
	d.serve(&Call{}, &a, plain{w, r})
}

// plain writes an answer to a server of net/http.
type plain struct {
	to   http.ResponseWriter
	from *http.Request
}

// switches implements writer.
func (p plain) switches() bool {
	_, ok := p.to.(http.Hijacker)
	return ok && p.from.ProtoMajor == 1 && p.from.ProtoMinor >= 1
}

// handOver implements writer.
func (p plain) handOver(head []byte, take func(net.Conn, []byte)) error {
	conn, read, err := http.NewResponseController(p.to).Hijack()
	if err != nil {
		return fmt.Errorf("take a connection over: %w", err)
	}
	handOver(conn, head, func() []byte {
		early, _ := read.Reader.Peek(read.Reader.Buffered())
		return append([]byte(nil), early...)
	}, take)
	return nil
}

func (p plain) send(status int, header *Fields, body []byte, _ bool) {
	for _, f := range header.all {
		p.to.Header().Add(f.name, f.value)
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		p.to.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	p.to.WriteHeader(status)
	_, _ = p.to.Write(body) // a caller who went away is no trouble of ours
}
