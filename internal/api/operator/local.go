package operator

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"

	"ferry/internal/office"
	"ferry/internal/secret"
)

// Local is a client of an office in this process, for whoever has the database and
// so needs no token. It goes through the same door as everybody, so that both ways
// take and say the same. Name stands in the log.
func Local(o *office.Office, name string, log *slog.Logger) (*Client, error) {
	d, err := New(Config{Office: o, Log: log})
	if err != nil {
		return nil, err
	}
	return &Client{base: "http://local", token: secret.New(""), http: &http.Client{Transport: inside{door: d, name: name}, CheckRedirect: stay}}, nil
}

// inside carries requests to a door without a network.
type inside struct {
	door *Door
	name string
}

// RoundTrip implements http.RoundTripper.
func (i inside) RoundTrip(r *http.Request) (*http.Response, error) {
	a := &answer{header: http.Header{}, status: http.StatusOK}
	i.door.serve(a, r, i.name)
	if r.Body != nil {
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(&a.body), ContentLength: int64(a.body.Len()), Request: r,
	}, nil
}

// answer keeps what a door writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
