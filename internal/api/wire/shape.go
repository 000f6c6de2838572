package wire

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Kind says what a value looks like in JSON.
type Kind uint8

// The kinds.
const (
	Text   Kind = iota + 1 // a string
	Whole                  // an integer
	Flag                   // true or false
	Object                 // a struct
	List                   // a slice
	Map                    // a map with free names
	Own                    // a Scalar, which reads and describes itself
	Any                    // anything; in answers only
)

// Shape is what a wire type looks like. The decoder reads bodies by it, and the
// contract is written from it.
type Shape struct {
	Kind   Kind
	Type   reflect.Type
	Fields []Field // of an object, in the order of its struct
	Elem   *Shape  // of a list or a map
	byName map[string]int
	// required has a bit for each field that must be there, by its place in Fields.
	required uint64
}

// Field is one member of an object.
type Field struct {
	Name     string
	Required bool
	Nullable bool // null is a value of its own: a pointer that is always present
	Doc      string
	Example  string
	Rules    Rules
	Shape    *Shape
	index    int
	pointer  bool
}

// Rules are the bounds of a field beyond its type, from the field's tags.
type Rules struct {
	Enum                 []string
	MinLength, MaxLength int // characters of a text
	Pattern              *regexp.Regexp
	Minimum, Maximum     string // numbers, as text
	MaxItems             int    // entries of a list or a map
	Code                 string // of any refused value; invalid_field if empty
	Over                 string // of a value above Maximum; Code if empty
}

// Scalar is a value that reads itself from one JSON text or number and describes
// itself as a JSON Schema.
type Scalar interface {
	// ReadJSON takes a value by its kind ('"' for a text, '0' for a number) and its
	// text without quotes; the refusal says which form is wanted and repeats nothing.
	ReadJSON(kind byte, text string) error
	// Describe is the JSON Schema of the value.
	Describe() map[string]any
}

var (
	shapes     sync.Map // reflect.Type to *Shape
	scalarType = reflect.TypeFor[Scalar]()
)

// maxFields is how many fields an object may have: one bit each while it is read.
const maxFields = 64

// defaultLength bounds texts of requests whose field says nothing.
const defaultLength = 256

// ShapeOf reads the shape off a wire type, or says why it is none.
func ShapeOf(t reflect.Type) (*Shape, error) {
	if s, ok := shapes.Load(t); ok {
		return s.(*Shape), nil
	}
	s, err := shapeOf(t, nil)
	if err != nil {
		return nil, err
	}
	kept, _ := shapes.LoadOrStore(t, s)
	return kept.(*Shape), nil
}

func shapeOf(t reflect.Type, inside []reflect.Type) (*Shape, error) {
	for _, outer := range inside {
		if outer == t {
			return nil, fmt.Errorf("wire type %s holds itself", t)
		}
	}
	if reflect.PointerTo(t).Implements(scalarType) {
		return &Shape{Kind: Own, Type: t}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return &Shape{Kind: Text, Type: t}, nil
	case reflect.Int, reflect.Int64:
		return &Shape{Kind: Whole, Type: t}, nil
	case reflect.Bool:
		return &Shape{Kind: Flag, Type: t}, nil
	case reflect.Interface:
		return &Shape{Kind: Any, Type: t}, nil
	case reflect.Slice, reflect.Map:
		kind := List
		if t.Kind() == reflect.Map {
			kind = Map
			if t.Key().Kind() != reflect.String {
				return nil, fmt.Errorf("wire type %s: names must be strings", t)
			}
		}
		elem, err := shapeOf(t.Elem(), append(inside, t))
		if err != nil {
			return nil, err
		}
		return &Shape{Kind: kind, Type: t, Elem: elem}, nil
	case reflect.Struct:
		return objectOf(t, append(inside, t))
	}
	return nil, fmt.Errorf("wire type %s: a %s has no place in a body", t, t.Kind())
}

func objectOf(t reflect.Type, inside []reflect.Type) (*Shape, error) {
	s := &Shape{Kind: Object, Type: t, byName: map[string]int{}}
	for i := range t.NumField() {
		sf := t.Field(i)
		if !sf.IsExported() || sf.Anonymous {
			return nil, fmt.Errorf("wire type %s: %s must be exported and not embedded", t, sf.Name)
		}
		f, err := fieldOf(sf, inside)
		if err != nil {
			return nil, fmt.Errorf("wire type %s: %w", t, err)
		}
		f.index = i
		if _, twice := s.byName[f.Name]; twice {
			return nil, fmt.Errorf("wire type %s has two fields %s", t, f.Name)
		}
		s.byName[f.Name] = len(s.Fields)
		if f.Required && len(s.Fields) < maxFields {
			s.required |= 1 << len(s.Fields)
		}
		s.Fields = append(s.Fields, f)
	}
	if len(s.Fields) > maxFields {
		return nil, fmt.Errorf("wire type %s has more than %d fields", t, maxFields)
	}
	return s, nil
}

var camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

func fieldOf(sf reflect.StructField, inside []reflect.Type) (Field, error) {
	name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if !camelCase.MatchString(name) {
		return Field{}, fmt.Errorf("field %s: the json name %q is not camelCase", sf.Name, name)
	}
	if options != "" && options != "omitzero" {
		return Field{}, fmt.Errorf("field %s: the option %q is not omitzero", sf.Name, options)
	}
	t, pointer := sf.Type, false
	if t.Kind() == reflect.Pointer {
		t, pointer = t.Elem(), true
	}
	shape, err := shapeOf(t, inside)
	if err != nil {
		return Field{}, fmt.Errorf("field %s: %w", sf.Name, err)
	}
	f := Field{
		Name: name, Required: options == "", Nullable: pointer && options == "", pointer: pointer,
		Doc: sf.Tag.Get("doc"), Example: sf.Tag.Get("example"), Shape: shape,
	}
	f.Rules, err = rulesOf(sf.Tag, shape.Kind)
	if err != nil {
		return Field{}, fmt.Errorf("field %s: %w", sf.Name, err)
	}
	return f, nil
}

func rulesOf(tag reflect.StructTag, kind Kind) (Rules, error) {
	r := Rules{
		Minimum: tag.Get("minimum"), Maximum: tag.Get("maximum"),
		Code: tag.Get("code"), Over: tag.Get("over"),
	}
	if kind == Text {
		r.MinLength, r.MaxLength = 1, defaultLength
	}
	if text := tag.Get("enum"); text != "" {
		r.Enum = strings.Split(text, ",")
	}
	for name, into := range map[string]*int{"minLength": &r.MinLength, "maxLength": &r.MaxLength, "maxItems": &r.MaxItems} {
		text, ok := tag.Lookup(name)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return Rules{}, fmt.Errorf("%s %q is not a number", name, text)
		}
		*into = n
	}
	if text := tag.Get("pattern"); text != "" {
		p, err := regexp.Compile(text)
		if err != nil {
			return Rules{}, fmt.Errorf("pattern: %w", err)
		}
		r.Pattern = p
	}
	for _, code := range []string{r.Code, r.Over} {
		if _, known := CodeOf(code); code != "" && !known {
			return Rules{}, fmt.Errorf("code %q is not in the catalogue", code)
		}
	}
	return r, nil
}
