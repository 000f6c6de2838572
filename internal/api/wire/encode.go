package wire

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json"
)

// Encode writes a wire value as JSON; maps are sorted, so equal values are equal bytes.
func Encode(w io.Writer, v any) error {
	a, ok := v.(appender)
	if !ok {
		return json.MarshalWrite(w, v, json.Deterministic(true))
	}
	var room []byte
	if b, ok := w.(*bytes.Buffer); ok {
		room = b.AvailableBuffer() // what is written into it needs no memory of its own
	}
	text, err := a.appendJSON(room)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// Bytes is the JSON of a wire value.
func Bytes(v any) ([]byte, error) {
	if a, ok := v.(appender); ok {
		return a.appendJSON(nil)
	}
	return json.Marshal(v, json.Deterministic(true))
}
