package wire

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ferry/internal/fault"
	"ferry/internal/money"
)

// jsonValue is a text, a number or a truth value, with the text of it.
type jsonValue struct {
	kind byte
	text string
}

// single takes a value that has no parts.
func (d *decoder) single(shape *Shape, rules *Rules, into reflect.Value, v jsonValue) {
	switch {
	case v.kind == '"' && strings.ContainsRune(v.text, 0):
		d.complain(orInvalid(rules.Code), "must not contain the character NUL")
	case shape.Kind == Text && v.kind == '"':
		if complaint := plain(v.text, rules); complaint != "" {
			d.complain(orInvalid(rules.Code), complaint)
			return
		}
		into.SetString(v.text)
	case shape.Kind == Whole && v.kind == '0':
		n, err := strconv.ParseInt(v.text, 10, 64)
		if err != nil || v.text == "-0" {
			d.complain(orInvalid(rules.Code), "must be "+shape.wanted())
			return
		}
		d.bounded(n, rules, func(bound string) (int64, error) { return strconv.ParseInt(bound, 10, 64) })
		into.SetInt(n)
	case shape.Kind == Flag && (v.kind == 't' || v.kind == 'f'):
		into.SetBool(v.kind == 't')
	case shape.Kind == Own:
		d.own(rules, into, v)
	default:
		d.complain(orInvalid(rules.Code), "must be "+shape.wanted())
	}
}

func (d *decoder) own(rules *Rules, into reflect.Value, v jsonValue) {
	if err := into.Addr().Interface().(Scalar).ReadJSON(v.kind, v.text); err != nil {
		code, message := "invalid_field", "has the wrong form"
		var f *fault.Error
		if errors.As(err, &f) {
			code, message = f.Code, f.Text
		}
		if rules.Code != "" {
			code = rules.Code
		}
		d.complain(code, message)
		return
	}
	if p, ok := into.Interface().(Percent); ok {
		d.bounded(int64(p), rules, func(bound string) (int64, error) {
			n, err := money.ParsePercent(bound)
			return int64(n), err
		})
	}
}

// bounded complains of a number outside its bounds. Bounds that cannot be read are
// a mistake in a tag, which the check of the table finds first.
func (d *decoder) bounded(n int64, rules *Rules, parse func(string) (int64, error)) {
	if rules.Minimum != "" {
		if low, err := parse(rules.Minimum); err != nil || n < low {
			d.complain(orInvalid(rules.Code), "must be at least "+rules.Minimum)
		}
	}
	if rules.Maximum != "" {
		if high, err := parse(rules.Maximum); err != nil || n > high {
			code := rules.Over
			if code == "" {
				code = orInvalid(rules.Code)
			}
			d.complain(code, "must be at most "+rules.Maximum)
		}
	}
}

// plain says what is wrong with a text, or nothing.
func plain(text string, rules *Rules) string {
	n := utf8.RuneCountInString(text)
	switch {
	case strings.ContainsRune(text, 0):
		return "must not contain the character NUL"
	case n == 0 && rules.MinLength > 0:
		return "must not be empty; leave the field out instead"
	case n < rules.MinLength:
		return "must have at least " + itoa(rules.MinLength) + " characters"
	case rules.MaxLength > 0 && n > rules.MaxLength:
		return "must have at most " + itoa(rules.MaxLength) + " characters"
	case rules.Enum != nil && !slices.Contains(rules.Enum, text):
		return "must be one of " + strings.Join(rules.Enum, ", ")
	case rules.Pattern != nil && !rules.Pattern.MatchString(text):
		return "must match " + rules.Pattern.String()
	}
	return ""
}

// wanted names what a shape takes, for people.
func (s *Shape) wanted() string {
	switch s.Kind {
	case Text:
		return "a string"
	case Whole:
		return "a whole number without point or exponent"
	case Flag:
		return "true or false"
	case List:
		return "a list"
	case Own:
		if t, ok := reflect.New(s.Type).Interface().(Scalar).Describe()["type"].(string); ok {
			return "a " + t
		}
	}
	return "an object"
}

func orInvalid(code string) string {
	if code == "" {
		return "invalid_field"
	}
	return code
}

func itoa(n int) string { return strconv.Itoa(n) }
