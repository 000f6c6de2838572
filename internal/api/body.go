package api

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"ferry/internal/api/contract"
	"ferry/internal/api/wire"
	"ferry/internal/fault"
)

var (
	errBodySize = fault.New(fault.Invalid, "payload_too_large", "The body is larger than %d bytes. Send less.", wire.MaxBody)
	errBodyType = fault.New(fault.Invalid, "unsupported_media_type",
		"The body must be application/json in UTF-8, without Content-Encoding. Send the header Content-Type: application/json.")
	errBodyLate = fault.New(fault.Invalid, "malformed_json", "The body did not arrive whole. Send it again.")
)

// bodies are buffers for what is read; decoding copies what it keeps.
var bodies = sync.Pool{New: func() any { b := make([]byte, wire.MaxBody+1); return &b }}

// readBody takes a body in, bounded, before anybody looks at what it says. The
// connection of one that is too long is closed: the rest of it is not worth reading.
func readBody(c *Call, buffer []byte) ([]byte, error) {
	r := c.request
	if r.ContentLength > wire.MaxBody {
		return nil, c.hangUp(errBodySize)
	}
	if !contract.Takes(c.op.Method) || r.ContentLength == 0 {
		return nil, nil
	}
	if !jsonBody(r.Header) {
		return nil, c.hangUp(errBodyType)
	}
	n, err := 0, error(nil)
	for err == nil && n < len(buffer) {
		var m int
		m, err = r.Body.Read(buffer[n:])
		n += m
	}
	switch {
	case n > wire.MaxBody:
		return nil, c.hangUp(errBodySize)
	case !errors.Is(err, io.EOF):
		return nil, c.hangUp(errBodyLate.Because(err))
	}
	return buffer[:n], nil
}

// hangUp makes this answer the connection's last and reads no more from it: net/http
// would otherwise wait for the rest of a short body.
func (c *Call) hangUp(err error) error {
	c.SetHeader("Connection", "close")
	if late := http.NewResponseController(c.writer).SetReadDeadline(c.Now); late != nil && !errors.Is(late, http.ErrNotSupported) {
		return errors.Join(err, late)
	}
	return err
}

// jsonBody reports whether the headers announce plain JSON.
func jsonBody(h http.Header) bool {
	for _, coding := range h["Content-Encoding"] {
		if !strings.EqualFold(coding, "identity") {
			return false
		}
	}
	types := h["Content-Type"]
	if len(types) != 1 {
		return false
	}
	if types[0] == jsonMedia {
		return true
	}
	media, params, err := mime.ParseMediaType(types[0])
	if err != nil || media != jsonMedia {
		return false
	}
	for name, value := range params {
		if name != "charset" || !strings.EqualFold(value, "utf-8") {
			return false
		}
	}
	return true
}

// decode turns a body into the row's wire value.
func decode(o *Operation, body []byte) (any, error) {
	if o.In == nil {
		if len(body) == 0 {
			return nil, nil
		}
		return nil, wire.Decode(body, &struct{}{})
	}
	into := reflect.New(reflect.TypeOf(o.In)).Interface()
	if err := wire.Decode(body, into); err != nil {
		return nil, err
	}
	return into, nil
}
