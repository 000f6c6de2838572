package wire

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/fault"
)

// Bounds of a body.
const (
	MaxBody  = 64 << 10 // bytes
	MaxDepth = 32       // objects and lists inside one another
)

var (
	errTooLarge = fault.New(fault.Invalid, "payload_too_large", "The body is larger than %d bytes. Send less.", MaxBody)
	errEmpty    = fault.New(fault.Invalid, "malformed_json", "The body is empty. Send one JSON object.")
	errNoObject = fault.New(fault.Invalid, "malformed_json", "The body is not a JSON object. Send one object, such as {}.")
	errTrailing = fault.New(fault.Invalid, "malformed_json", "Something follows the JSON object. Send one object and nothing after it.")
	errDepth    = fault.New(fault.Invalid, "malformed_json", "The body nests deeper than %d levels. Send it flatter.", MaxDepth)
)

// Decode reads one JSON object into a pointer to a wire struct, strictly, or says
// everything that is wrong with it at once. What it points to is changed only if
// the whole body is accepted.
func Decode(body []byte, into any) error {
	target := reflect.ValueOf(into).Elem()
	shape, err := ShapeOf(target.Type())
	if err != nil {
		return err
	}
	if fresh := reflect.New(target.Type()).Elem(); quick(body, shape, fresh) {
		target.Set(fresh)
		return nil
	}
	return decodeWhole(body, shape, target)
}

// decodeWhole is Decode of any body.
func decodeWhole(body []byte, shape *Shape, target reflect.Value) error {
	switch {
	case len(body) > MaxBody:
		return errTooLarge
	case len(bytes.TrimSpace(body)) == 0:
		return errEmpty
	}
	d := decoder{dec: jsontext.NewDecoder(bytes.NewBuffer(body))}
	if d.dec.PeekKind() != '{' {
		if _, err := d.dec.ReadValue(); err != nil {
			return malformed(err)
		}
		return errNoObject
	}
	fresh := reflect.New(target.Type()).Elem()
	if err := d.object(shape, fresh); err != nil {
		return malformed(err)
	}
	switch _, err := d.dec.ReadToken(); {
	case err == nil:
		return errTrailing
	case !errors.Is(err, io.EOF):
		return malformed(err)
	}
	if len(d.problems) > 0 {
		return refuse(d.problems)
	}
	target.Set(fresh)
	return nil
}

// decoder walks the tokens of one body. The errors of its methods are those of the
// text itself; whatever is wrong with a value is kept as a problem, and the walk
// goes on.
type decoder struct {
	dec      *jsontext.Decoder
	path     []string
	problems []finding
}

// complain keeps a problem of the value the walk stands at.
func (d *decoder) complain(code, message string) { d.keep(code, message, "") }

func (d *decoder) keep(code, message, useInstead string) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, finding{Problem{Pointer: pointer(d.path), Code: code, Message: message}, useInstead})
	}
}

// at runs f one step further down.
func (d *decoder) at(name string, f func() error) error {
	d.path = append(d.path, name)
	err := f()
	d.path = d.path[:len(d.path)-1]
	return err
}

// enter reads the opening of an object or list.
func (d *decoder) enter() error {
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	if d.dec.StackDepth() > MaxDepth {
		return errDepth
	}
	return nil
}

// leave reads its end.
func (d *decoder) leave() error {
	_, err := d.dec.ReadToken()
	return err
}

// inside reports whether the object or list goes on; a broken text goes on too, so
// that the next read says what is wrong.
func (d *decoder) inside() bool {
	k := d.dec.PeekKind()
	return k != '}' && k != ']'
}

// skip passes over a value of any form, which must still be sound.
func (d *decoder) skip() error {
	if k := d.dec.PeekKind(); k != '{' && k != '[' {
		_, err := d.dec.ReadToken()
		return err
	}
	bottom := d.dec.StackDepth()
	for {
		if _, err := d.dec.ReadToken(); err != nil {
			return err
		}
		switch depth := d.dec.StackDepth(); {
		case depth > MaxDepth:
			return errDepth
		case depth == bottom:
			return nil
		}
	}
}

func (d *decoder) object(shape *Shape, into reflect.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	var seen, retiredFor uint64
	for d.inside() {
		token, err := d.dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		i, known := shape.byName[name]
		if !known {
			if successor, ok := shape.byName[retired[name]]; ok {
				retiredFor |= 1 << successor
			}
			err = d.at(name, func() error { return d.stranger(shape, name) })
		} else {
			seen |= 1 << i
			f := &shape.Fields[i]
			err = d.at(name, func() error { return d.field(f, into.Field(f.index)) })
		}
		if err != nil {
			return err
		}
	}
	for i := range shape.Fields {
		if f := &shape.Fields[i]; f.Required && (seen|retiredFor)&(1<<i) == 0 {
			_ = d.at(f.Name, func() error { d.complain("missing_field", "is required"); return nil })
		}
	}
	return d.leave()
}

// stranger complains of a name that is no field.
func (d *decoder) stranger(shape *Shape, name string) error {
	if successor, ok := retired[name]; ok {
		if _, here := shape.byName[successor]; here {
			d.keep("retired_field", "is no longer accepted; use "+successor+" instead", successor)
			return d.skip()
		}
	}
	for _, f := range shape.Fields {
		if strings.EqualFold(f.Name, strings.ReplaceAll(name, "_", "")) {
			d.complain("unknown_field", "is not a field; did you mean "+f.Name+"?")
			return d.skip()
		}
	}
	d.complain("unknown_field", "is not a field of this object")
	return d.skip()
}

func (d *decoder) field(f *Field, into reflect.Value) error {
	if d.dec.PeekKind() == 'n' {
		if !f.Nullable {
			d.complain(orInvalid(f.Rules.Code), "must not be null; leave the field out instead")
		}
		return d.skip()
	}
	if f.pointer {
		into.Set(reflect.New(f.Shape.Type))
		into = into.Elem()
	}
	return d.value(f.Shape, &f.Rules, into)
}

func (d *decoder) value(shape *Shape, rules *Rules, into reflect.Value) error {
	kind := d.dec.PeekKind()
	switch {
	case shape.Kind == Object && kind == '{':
		return d.object(shape, into)
	case shape.Kind == List && kind == '[':
		return d.list(shape, rules, into)
	case shape.Kind == Map && kind == '{':
		return d.mapping(shape, rules, into)
	case kind == '"' || kind == '0' || kind == 't' || kind == 'f':
		token, err := d.dec.ReadToken()
		if err != nil {
			return err
		}
		d.single(shape, rules, into, jsonValue{byte(kind), token.String()})
		return nil
	}
	d.complain(orInvalid(rules.Code), "must be "+shape.wanted())
	return d.skip()
}

func (d *decoder) list(shape *Shape, rules *Rules, into reflect.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	items := reflect.MakeSlice(shape.Type, 0, 0)
	n := 0
	for ; d.inside(); n++ {
		item := reflect.New(shape.Elem.Type).Elem()
		if err := d.at(itoa(n), func() error { return d.value(shape.Elem, elemRules(shape.Elem), item) }); err != nil {
			return err
		}
		items = reflect.Append(items, item)
	}
	d.count(n, rules)
	into.Set(items)
	return d.leave()
}

func (d *decoder) mapping(shape *Shape, rules *Rules, into reflect.Value) error {
	if err := d.enter(); err != nil {
		return err
	}
	entries := reflect.MakeMap(shape.Type)
	n := 0
	for ; d.inside(); n++ {
		token, err := d.dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		err = d.at(name, func() error {
			if complaint := plain(name, &Rules{MinLength: 1, MaxLength: elemRules(shape.Elem).MaxLength}); complaint != "" {
				d.complain("invalid_field", "has a name that "+complaint)
			}
			item := reflect.New(shape.Elem.Type).Elem()
			if err := d.value(shape.Elem, elemRules(shape.Elem), item); err != nil {
				return err
			}
			entries.SetMapIndex(reflect.ValueOf(name).Convert(shape.Type.Key()), item)
			return nil
		})
		if err != nil {
			return err
		}
	}
	d.count(n, rules)
	into.Set(entries)
	return d.leave()
}

// elemRules are the bounds of the entries of a list or a map.
func elemRules(elem *Shape) *Rules {
	if elem.Kind == Text {
		return &textEntry
	}
	return &noRules
}

var (
	textEntry = Rules{MaxLength: ElemLength}
	noRules   Rules
)

// ElemLength is how long a text inside a list or a map, or a map's name, may be.
const ElemLength = 64

func (d *decoder) count(n int, rules *Rules) {
	if rules.MaxItems > 0 && n > rules.MaxItems {
		d.complain(orInvalid(rules.Code), "must have at most "+itoa(rules.MaxItems)+" entries")
	}
}
