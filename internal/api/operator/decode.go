package operator

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/fault"
)

// maxBody is how long a request may be.
const maxBody = 64 << 10

// read reads the body of a request into an object of known fields.
func read(w http.ResponseWriter, r *http.Request, into any) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", "The body must be JSON; send Content-Type: application/json.")
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return refuse(http.StatusRequestEntityTooLarge, "payload_too_large", "The body is longer than %d bytes; send less.", maxBody)
		}
		return fault.New(fault.Invalid, "malformed_json", "The body did not arrive whole; send it again.").Because(err)
	}
	if err := noNull(text); err != nil {
		return err
	}
	return badBody(json.Unmarshal(text, into, json.RejectUnknownMembers(true)))
}

// noNull refuses null where it could be taken for a value: only the address of a
// family can be taken away.
func noNull(text []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil // the end, or what badBody will say better
		}
		if at := dec.StackPointer(); tok.Kind() == 'n' && at.Parent() != "/payoutAddresses" {
			return badAt(at, "is null; leave it out, or give a value")
		}
	}
}

// badBody says what is wrong with a body, and never what was in it.
func badBody(err error) error {
	if err == nil {
		return nil
	}
	semantic, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return fault.New(fault.Invalid, "malformed_json", "The body is not one JSON object with each name once; correct it.").Because(err)
	case errors.Is(semantic.Err, json.ErrUnknownName):
		field := fieldOf(semantic.JSONPointer)
		return fault.New(fault.Invalid, "unknown_field", "%s: there is no such field; leave it out.", field).With("field", field)
	}
	return badAt(semantic.JSONPointer, "is of the wrong type; look up what it must be")
}

func badAt(at jsontext.Pointer, why string) error {
	field := fieldOf(at)
	return fault.New(fault.Invalid, "invalid_field", "%s: %s.", field, why).With("field", field)
}

// fieldOf is a pointer as faults name fields, kept short.
func fieldOf(at jsontext.Pointer) string {
	field := strings.ReplaceAll(strings.TrimPrefix(string(at), "/"), "/", ".")
	switch {
	case field == "":
		return "body"
	case len(field) > 100:
		return strings.ToValidUTF8(field[:100], "") + "…"
	}
	return field
}

// query are the parameters of a request, each of which is known and given once.
func query(r *http.Request, names ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.Invalid, "unknown_parameter", "The query can not be read; write name=value, joined by &.").Because(err)
	}
	for name, given := range values {
		if !slices.Contains(names, name) {
			return nil, fault.New(fault.Invalid, "unknown_parameter", "There is no such parameter; there are: %s.", strings.Join(append(names, "no others"), ", "))
		}
		if len(given) != 1 {
			return nil, fault.New(fault.Invalid, "invalid_field", "%s: is given twice; give it once.", name).With("field", name)
		}
	}
	return values, nil
}

// number is a parameter that is a whole number, or what is usual.
func number(values url.Values, name string, usual int64) (int64, error) {
	if !values.Has(name) {
		return usual, nil
	}
	n, err := strconv.ParseInt(values.Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0, fault.New(fault.Invalid, "invalid_field", "%s: must be a whole number from 0.", name).With("field", name)
	}
	return n, nil
}
