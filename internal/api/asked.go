package api

import (
	"bytes"
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"ferry/internal/fault"
)

// asked is a request as it was read, before anything in it is believed. It is good
// until its answer was sent, its texts for longer.
type asked struct {
	ctx      context.Context
	method   string
	path     string // decoded
	rawPath  string // as it was sent
	rawQuery string
	header   http.Header
	remote   netip.Addr // the other end of the connection
	length   int64      // of the body as the caller says; below zero if it does not say
	body     []byte
	wrong    error // why this is no request at all
	lost     error // why the body is not whole
}

var (
	errMalformed = fault.New(fault.Invalid, "malformed_request", "This is not a request as HTTP/1.1 has it: check the request line, the headers and how the length of the body is told.")
	errHeaders   = fault.New(fault.Invalid, "headers_too_large", "The request line and the headers are larger than %d bytes together. Send less.", maxHeaderBytes)
	errSlow      = fault.New(fault.Invalid, "request_timeout", "The request did not arrive in time. Send it again.")
)

// aim reads the target of a request: a path, or a whole URL, of which the host does
// not matter.
func (a *asked) aim(target string) {
	for i := range len(target) {
		if target[i] <= ' ' || target[i] == 0x7f {
			a.wrong = errMalformed
			return
		}
	}
	if !strings.HasPrefix(target, "/") && target != "*" {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			a.wrong = errMalformed.Because(err)
			return
		}
		target = u.RequestURI()
	}
	a.rawPath, a.rawQuery, _ = strings.Cut(target, "?")
	a.path = a.rawPath
	if strings.IndexByte(a.path, '%') < 0 {
		return
	}
	var err error
	if a.path, err = url.PathUnescape(a.rawPath); err != nil {
		a.wrong = errMalformed.Because(err)
	}
}

// headerReader reads the lines of headers into a map, with one piece of memory for
// all texts of a request. It is used again for the next one.
type headerReader struct {
	text   []byte
	values []string
	header http.Header
}

// read fills the map from raw headers, names in canonical form, and gives the target
// as text. It reports whether all is as it should be, and is stricter than who cut the
// headers off: a name with anything but the letters of a name, a value that goes on in
// the next line, and more than one way to tell the length of a body or the host are
// refused.
func (r *headerReader) read(rawTarget, raw []byte, hostNeeded bool) (target string, sound bool) {
	if r.header == nil {
		r.header = http.Header{}
	}
	clear(r.header)
	r.text, r.values = append(append(r.text[:0], raw...), rawTarget...), r.values[:0]
	named := canonicalNames(r.text[:len(raw)])
	text := string(r.text)
	text, target = text[:len(raw)], text[len(raw):]
	if !named {
		return target, false
	}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		if line == "" || line == "\r" {
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		r.add(name, strings.Trim(value, " \t\r"))
	}
	hosts := len(r.header["Host"])
	return target, hosts <= 1 && (hosts == 1 || !hostNeeded) &&
		(len(r.header["Transfer-Encoding"]) == 0 || len(r.header["Content-Length"]) == 0)
}

func (r *headerReader) add(name, value string) {
	if seen := r.header[name]; seen != nil {
		r.header[name] = append(seen[:len(seen):len(seen)], value)
		return
	}
	r.values = append(r.values, value)
	n := len(r.values)
	r.header[name] = r.values[n-1 : n : n]
}

// canonicalNames turns every name in lines of headers into its canonical form, and
// reports whether all of them are names.
func canonicalNames(lines []byte) bool {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n')
		if end < 0 {
			end = len(lines) - 1
		}
		line := lines[:end+1]
		lines = lines[end+1:]
		if line[0] == '\n' || len(line) == 2 && line[0] == '\r' {
			continue
		}
		if !canonical(line) {
			return false
		}
	}
	return true
}

// canonical turns the name that a line begins with into its canonical form: large
// letters at its beginning and after a dash.
func canonical(line []byte) bool {
	large := true
	for i, c := range line {
		if c == ':' {
			return i > 0
		}
		if c >= 0x80 || !nameLetters[c] {
			return false
		}
		switch {
		case large && 'a' <= c && c <= 'z':
			line[i] = c - 'a' + 'A'
		case !large && 'A' <= c && c <= 'Z':
			line[i] = c - 'A' + 'a'
		}
		large = c == '-'
	}
	return false
}

// nameLetters are those of a token (RFC 9110, section 5.6.2).
var nameLetters = func() (all [128]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		all[c] = true
	}
	return all
}()
