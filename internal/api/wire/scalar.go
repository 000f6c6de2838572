package wire

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/fault"
	"ferry/internal/money"
)

// Amount is a number of smallest units; it travels as a string of digits.
type Amount struct{ money.Amount }

// amountPattern is the form of an amount, as published.
const amountPattern = `^(0|[1-9][0-9]{0,77})$`

var errAmount = fault.New(fault.Invalid, "invalid_amount",
	"must be a string of digits in the asset's smallest unit, such as \"100000000\", without sign, point, exponent or leading zeros, at most 256 bits")

// ReadJSON implements Scalar.
func (a *Amount) ReadJSON(kind byte, text string) error {
	if kind != '"' {
		return errAmount
	}
	v, err := money.Parse(text)
	if err != nil {
		return errAmount
	}
	a.Amount = v
	return nil
}

// Describe implements Scalar.
func (a *Amount) Describe() map[string]any {
	return map[string]any{"type": "string", "pattern": amountPattern}
}

// Percent is a share in percent points; it travels as a JSON number with at most
// four decimals and is read from its text.
type Percent money.Percent

var errPercent = fault.New(fault.Invalid, "invalid_field",
	"must be a JSON number of percent points, not below 0 and with at most four decimals, such as 0.5")

// ReadJSON implements Scalar.
func (p *Percent) ReadJSON(kind byte, text string) error {
	if kind != '0' {
		return errPercent
	}
	v, err := money.ParsePercent(text)
	if err != nil {
		return errPercent
	}
	*p = Percent(v)
	return nil
}

// Describe implements Scalar.
func (p *Percent) Describe() map[string]any {
	return map[string]any{"type": "number", "minimum": jsontext.Value("0"), "multipleOf": jsontext.Value("0.0001")}
}

// MarshalJSONTo writes the number as money shows it, so that it is read back equal.
func (p Percent) MarshalJSONTo(enc *jsontext.Encoder) error {
	return enc.WriteValue(jsontext.Value(money.Percent(p).String()))
}

// USD is an amount of dollars; it travels as a decimal string.
type USD money.USD

var errUSD = fault.New(fault.Invalid, "invalid_field", "must be a decimal string of dollars with at most six decimals, such as \"97.10\"")

// ReadJSON implements Scalar.
func (u *USD) ReadJSON(kind byte, text string) error {
	v, err := money.ParseUSD(text)
	if kind != '"' || err != nil {
		return errUSD
	}
	*u = USD(v)
	return nil
}

// Describe implements Scalar.
func (u *USD) Describe() map[string]any {
	return map[string]any{"type": "string", "pattern": `^-?(0|[1-9][0-9]*)(\.[0-9]{1,6})?$`}
}

// MarshalText shows the dollars.
func (u USD) MarshalText() ([]byte, error) { return []byte(money.USD(u).String()), nil }

// Time is a moment; it travels as RFC 3339 in UTC with milliseconds.
type Time struct{ time.Time }

// timeForm is how a moment is written.
const timeForm = "2006-01-02T15:04:05.000Z"

var errTime = fault.New(fault.Invalid, "invalid_field", "must be a time in UTC such as \"2026-01-31T12:00:00.000Z\"")

// ReadJSON implements Scalar.
func (t *Time) ReadJSON(kind byte, text string) error {
	v, err := time.Parse(time.RFC3339, text)
	if kind != '"' || err != nil || text[len(text)-1] != 'Z' || v.Nanosecond()%int(time.Millisecond) != 0 {
		return errTime
	}
	t.Time = v.UTC()
	return nil
}

// Describe implements Scalar.
func (t *Time) Describe() map[string]any {
	return map[string]any{"type": "string", "format": "date-time"}
}

// MarshalText shows the moment.
func (t Time) MarshalText() ([]byte, error) { return appendTime(nil, t.Time), nil }

// MarshalJSON keeps the embedded time from writing itself with nanoseconds.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(make([]byte, 0, len(timeForm)+2), `"`+timeForm+`"`), nil
}

// IsZero makes omitzero leave out a moment that is none.
func (t Time) IsZero() bool { return t.Time.IsZero() }
