package secret

import (
	"fmt"
	"log/slog"
)

const hidden = "[redacted]"

// Text is a secret text. The pointer keeps fmt and reflection, which ignore the
// methods of unexported fields, from printing it.
type Text struct{ p *string }

// New makes a secret of a text.
func New(s string) Text { return Text{p: &s} }

// Reveal is the text itself, for the one place that needs it.
func (t Text) Reveal() string {
	if t.p == nil {
		return ""
	}
	return *t.p
}

// IsZero reports whether there is none.
func (t Text) IsZero() bool { return t.p == nil || *t.p == "" }

// String, GoString, Format, LogValue and MarshalText all hide it.
func (t Text) String() string { return hidden }

// GoString hides it from %#v.
func (t Text) GoString() string { return hidden }

// Format hides it from every verb.
func (t Text) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// LogValue hides it from slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides it from encoders.
func (t Text) MarshalText() ([]byte, error) { return []byte(hidden), nil }
