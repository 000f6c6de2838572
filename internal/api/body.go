package api

import (
	"mime"
	"reflect"
	"strings"

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

// takeBody gives the body where the row takes one, or why it cannot be had. It comes
// before anybody looks at what the body says.
func (c *Call) takeBody() ([]byte, error) {
	a := c.asked
	switch {
	case a.length > wire.MaxBody:
		return nil, c.hangUp(errBodySize)
	case a.length == 0, !contract.Takes(c.op.Method):
		return nil, nil
	case !plainJSON(a.header["Content-Type"], a.header["Content-Encoding"]):
		return nil, c.hangUp(errBodyType)
	case a.lost != nil:
		return nil, c.hangUp(a.lost)
	}
	return a.body, nil
}

// hangUp makes this answer the connection's last.
func (c *Call) hangUp(err error) error {
	c.SetHeader("Connection", "close")
	return err
}

// plainJSON reports whether the headers of a body announce plain JSON.
func plainJSON(types, codings []string) bool {
	for _, coding := range codings {
		if !strings.EqualFold(coding, "identity") {
			return false
		}
	}
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
