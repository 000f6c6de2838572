package wire

import (
	"io"

	"github.com/go-json-experiment/json"
)

// Encode writes a wire value as JSON; maps are sorted, so equal values are equal bytes.
func Encode(w io.Writer, v any) error { return json.MarshalWrite(w, v, json.Deterministic(true)) }

// Bytes is the JSON of a wire value.
func Bytes(v any) ([]byte, error) { return json.Marshal(v, json.Deterministic(true)) }
