package contract

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/api/wire"
)

// obj is a JSON object; it is written with sorted names.
type obj = map[string]any

// side says for whom a schema is: a request object is closed and bounded, an answer
// may grow.
type side bool

const (
	request side = true
	answer  side = false
)

// schemas collects the components of one document.
type schemas struct {
	components obj
	names      map[string]reflect.Type
	// lone is that nothing may stand beside a reference: so it was before JSON Schema
	// 2020-12, which AsyncAPI does not have.
	lone bool
}

func newSchemas() *schemas { return &schemas{components: obj{}, names: map[string]reflect.Type{}} }

// of is the schema of a zero wire value: a reference for structs.
func (s *schemas) of(zero any, on side) (obj, error) {
	t := reflect.TypeOf(zero)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	shape, err := wire.ShapeOf(t)
	if err != nil {
		return nil, err
	}
	return s.schema(shape, wire.Rules{}, on)
}

func (s *schemas) schema(shape *wire.Shape, rules wire.Rules, on side) (obj, error) {
	switch shape.Kind {
	case wire.Text:
		return textSchema(rules, on), nil
	case wire.Whole:
		return bounded(obj{"type": "integer"}, rules), nil
	case wire.Flag:
		return obj{"type": "boolean"}, nil
	case wire.Own:
		return bounded(reflect.New(shape.Type).Interface().(wire.Scalar).Describe(), rules), nil
	case wire.Any:
		return obj{}, nil
	case wire.List:
		items, err := s.schema(shape.Elem, entryRules(shape.Elem, on), on)
		if err != nil {
			return nil, err
		}
		return capped(obj{"type": "array", "items": items}, "maxItems", rules, on), nil
	case wire.Map:
		values, err := s.schema(shape.Elem, entryRules(shape.Elem, on), on)
		if err != nil {
			return nil, err
		}
		m := obj{"type": "object", "additionalProperties": values}
		if on == request {
			m["propertyNames"] = obj{"minLength": 1, "maxLength": wire.ElemLength}
		}
		return capped(m, "maxProperties", rules, on), nil
	default:
		return s.object(shape, on)
	}
}

// entryRules are the bounds of the entries of a list or a map in a request.
func entryRules(elem *wire.Shape, on side) wire.Rules {
	if on == request && elem.Kind == wire.Text {
		return wire.Rules{MaxLength: wire.ElemLength}
	}
	return wire.Rules{}
}

func textSchema(rules wire.Rules, on side) obj {
	m := obj{"type": "string"}
	if len(rules.Enum) > 0 {
		m["enum"] = rules.Enum
		return m
	}
	if rules.Pattern != nil {
		m["pattern"] = rules.Pattern.String()
	}
	if on == request {
		if rules.MinLength > 0 {
			m["minLength"] = rules.MinLength
		}
		if rules.MaxLength > 0 {
			m["maxLength"] = rules.MaxLength
		}
	}
	return m
}

func bounded(m obj, rules wire.Rules) obj {
	if rules.Minimum != "" {
		m["minimum"] = jsontext.Value(rules.Minimum)
	}
	if rules.Maximum != "" {
		m["maximum"] = jsontext.Value(rules.Maximum)
	}
	return m
}

func capped(m obj, name string, rules wire.Rules, on side) obj {
	if on == request && rules.MaxItems > 0 {
		m[name] = rules.MaxItems
	}
	return m
}

// object registers a struct under its name and gives a reference to it.
func (s *schemas) object(shape *wire.Shape, on side) (obj, error) {
	name := shape.Type.Name()
	if on == request && name != "" && !strings.HasSuffix(name, "Request") {
		name += "Request"
	}
	if name == "" {
		return nil, fmt.Errorf("wire type %s has no name to publish it under", shape.Type)
	}
	ref := obj{"$ref": "#/components/schemas/" + name}
	if known, ok := s.names[name]; ok {
		if known != shape.Type {
			return nil, fmt.Errorf("wire types %s and %s would both be published as %s", known, shape.Type, name)
		}
		return ref, nil
	}
	s.names[name] = shape.Type
	properties, required := obj{}, []string{}
	for _, f := range shape.Fields {
		p, err := s.property(f, on)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", name, f.Name, err)
		}
		properties[f.Name] = p
		if f.Required {
			required = append(required, f.Name)
		}
	}
	m := obj{"type": "object", "properties": properties}
	if len(required) > 0 {
		m["required"] = required
	}
	if on == request {
		m["additionalProperties"] = false
	}
	s.components[name] = m
	return ref, nil
}

func (s *schemas) property(f wire.Field, on side) (obj, error) {
	p, err := s.schema(f.Shape, f.Rules, on)
	if err != nil {
		return nil, err
	}
	if f.Nullable {
		p = obj{"anyOf": []any{p, obj{"type": "null"}}}
	}
	if p["$ref"] != nil && s.lone && (f.Doc != "" || f.Example != "") {
		p = obj{"allOf": []any{p}}
	}
	if f.Doc != "" {
		p["description"] = f.Doc
	}
	if f.Example != "" {
		p["examples"] = []any{exampleOf(f)}
	}
	return p, nil
}

// exampleOf is the example of a field as JSON; texts are written without quotes in
// the tag, and the null of one that may be null is none.
func exampleOf(f wire.Field) jsontext.Value {
	if f.Nullable && f.Example == "null" {
		return jsontext.Value("null")
	}
	text := f.Shape.Kind == wire.Text
	if f.Shape.Kind == wire.Own {
		text = reflect.New(f.Shape.Type).Interface().(wire.Scalar).Describe()["type"] == "string"
	}
	if !text {
		return jsontext.Value(f.Example)
	}
	quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(f.Example, ""))
	if err != nil { // cannot be: the text is valid UTF-8
		return jsontext.Value(`""`)
	}
	return quoted
}

// exemplary is a wire type whose fields do not all go together, so that an example
// of each is no example of the whole.
type exemplary interface{ Example() any }

// Example is a whole example of a wire type: its own, or one put together from those
// of its fields, where optional fields without one are left out.
func Example(zero any) (any, error) {
	t := reflect.TypeOf(zero)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	shape, err := wire.ShapeOf(t)
	if err != nil {
		return nil, err
	}
	return example(shape), nil
}

func example(shape *wire.Shape) any {
	switch shape.Kind {
	case wire.Object:
		if own, ok := reflect.Zero(shape.Type).Interface().(exemplary); ok {
			return own.Example()
		}
		m := obj{}
		for _, f := range shape.Fields {
			switch {
			case f.Example != "":
				m[f.Name] = exampleOf(f)
			case f.Nullable:
				m[f.Name] = nil
			case f.Required:
				m[f.Name] = example(f.Shape)
			}
		}
		return m
	case wire.List:
		if shape.Elem.Kind == wire.Object {
			return []any{example(shape.Elem)}
		}
		return []any{}
	case wire.Map, wire.Any:
		return obj{}
	case wire.Whole:
		return 0
	case wire.Flag:
		return false
	}
	return ""
}
