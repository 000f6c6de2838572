package live

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/api/wire"
	"ferry/internal/fault"
)

// envelope is what says which message it is and to what its answer belongs.
type envelope struct{ kind, id, channel string }

var errNoMessage = fault.New(fault.Invalid, "malformed_json", "This is no message: send one JSON object with type and id.")

// peek reads the envelope of a message. The message itself is read as strictly as a
// body once it is known what it should be.
func peek(text []byte) (e envelope, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if d.PeekKind() != '{' {
		return e, errNoMessage
	}
	if _, err := d.ReadToken(); err != nil {
		return e, errNoMessage.Because(err)
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return envelope{}, errNoMessage.Because(err)
		}
		var to *string
		switch name.String() {
		case "type":
			to = &e.kind
		case "id":
			to = &e.id
		case "channel":
			to = &e.channel
		}
		if to == nil || d.PeekKind() != '"' {
			if err := d.SkipValue(); err != nil {
				return envelope{}, errNoMessage.Because(err)
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil {
			return envelope{}, errNoMessage.Because(err)
		}
		*to = value.String()
	}
	if _, err := d.ReadToken(); err != nil {
		return envelope{}, errNoMessage.Because(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return envelope{}, errNoMessage
	}
	if len(e.id) > maxID {
		e.id = ""
	}
	if e.kind == "" {
		return e, errNoMessage
	}
	return e, nil
}

// maxID is how long an id may be that is repeated.
const maxID = 64

// problemsOf are the fields that a refusal names.
func problemsOf(f *fault.Error) []wire.Problem {
	if all, ok := f.Detail[wire.ProblemsKey].([]wire.Problem); ok {
		return all
	}
	for _, key := range []string{"pointer", "field"} {
		if name, ok := f.Detail[key].(string); ok {
			if key == "field" {
				name = "/" + name
			}
			return []wire.Problem{{Pointer: "/params" + name, Code: f.Code, Message: f.Text}}
		}
	}
	return nil
}
