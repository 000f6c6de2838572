package contract

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ferry/internal/api/wire"
)

// View is a live contract as people read it: what the document says, in the order in
// which one wants to know it.
type View struct {
	Info
	*Live
	URL    string // of the socket
	Groups []ViewGroup
	Types  []ViewType
}

// ViewGroup are the messages of a channel; without a name, those of the connection.
type ViewGroup struct {
	Channel
	Messages []ViewMessage
	Also     []string // messages that are shown with another channel
}

// ViewMessage is a message with what is in it.
type ViewMessage struct {
	Message
	Fields  []ViewField
	Example string
}

// ViewType is an object that several messages may have in them.
type ViewType struct {
	Name   string
	Fields []ViewField
}

// ViewField is one member of an object.
type ViewField struct {
	Name, Doc string
	Required  bool
	Type      string // in words, before the name of an object
	Link      string // that object, if it has one
	Values    []string
}

// ViewLive is what a page about the live socket shows.
func ViewLive(info Info, live *Live) (*View, error) {
	v := &View{Info: info, Live: live, URL: socketURL(info.Server, live.Path)}
	seen := map[reflect.Type]bool{}
	for _, c := range append([]Channel{{}}, live.Channels...) {
		group := ViewGroup{Channel: c}
		for _, m := range live.Messages {
			if m.Channel != c.Name {
				if m.of(c.Name) {
					group.Also = append(group.Also, m.Name)
				}
				continue
			}
			shape, err := wire.ShapeOf(reflect.TypeOf(m.Payload))
			if err != nil {
				return nil, fmt.Errorf("page of the message %s: %w", m.Name, err)
			}
			text, err := exampleText(m.Payload)
			if err != nil {
				return nil, fmt.Errorf("page of the message %s: %w", m.Name, err)
			}
			group.Messages = append(group.Messages, ViewMessage{Message: m, Fields: fieldsOf(shape), Example: text})
			v.collect(shape, seen)
		}
		v.Groups = append(v.Groups, group)
	}
	return v, nil
}

// collect adds the objects below a message, each once and before those within it.
func (v *View) collect(shape *wire.Shape, seen map[reflect.Type]bool) {
	for _, f := range shape.Fields {
		below := f.Shape
		for below.Elem != nil {
			below = below.Elem
		}
		if below.Kind != wire.Object || seen[below.Type] {
			continue
		}
		seen[below.Type] = true
		if len(below.Fields) > 0 {
			v.Types = append(v.Types, ViewType{Name: below.Type.Name(), Fields: fieldsOf(below)})
		}
		v.collect(below, seen)
	}
}

func fieldsOf(shape *wire.Shape) []ViewField {
	all := make([]ViewField, 0, len(shape.Fields))
	for _, f := range shape.Fields {
		field := ViewField{Name: f.Name, Doc: f.Doc, Required: f.Required, Values: f.Rules.Enum}
		field.Type, field.Link = typeOf(f.Shape)
		if f.Nullable {
			field.Type = "null or " + field.Type
		}
		if f.Rules.Minimum != "" {
			field.Type += ", at least " + f.Rules.Minimum
		}
		if f.Rules.Maximum != "" {
			field.Type += ", at most " + f.Rules.Maximum
		}
		all = append(all, field)
	}
	return all
}

// typeOf is what a value is, in words, and the object that it leads to.
func typeOf(shape *wire.Shape) (text, link string) {
	switch shape.Kind {
	case wire.Text:
		return "text", ""
	case wire.Whole:
		return "whole number", ""
	case wire.Flag:
		return "true or false", ""
	case wire.Own:
		of := reflect.New(shape.Type).Interface().(wire.Scalar).Describe()
		switch {
		case of["format"] == "date-time":
			return "time", ""
		case of["type"] == "number":
			return "number", ""
		}
		return "number as text", ""
	case wire.List:
		text, link = typeOf(shape.Elem)
		return "list of " + text, link
	case wire.Map:
		text, link = typeOf(shape.Elem)
		return "names, each with " + text, link
	case wire.Object:
		if len(shape.Fields) == 0 {
			return "empty object", ""
		}
		return "", shape.Type.Name()
	}
	return "anything", ""
}

func exampleText(zero any) (string, error) {
	whole, err := Example(zero)
	if err != nil {
		return "", err
	}
	text, err := wire.Bytes(whole)
	if err != nil {
		return "", err
	}
	value := jsontext.Value(text)
	err = value.Indent(jsontext.WithIndent("  "))
	return string(value), err
}

// socketURL is where clients connect to.
func socketURL(server, path string) string {
	at := liveServer(server)
	host, prefix := at["host"].(string), ""
	if p, ok := at["pathname"].(string); ok {
		prefix = p
	}
	host = strings.ReplaceAll(host, "{host}", "localhost")
	return at["protocol"].(string) + "://" + host + prefix + path
}

// Anchor is the name of a message on the page.
func (m ViewMessage) Anchor() string { return "message-" + m.Name }

// Lines is how long an example is.
func (m ViewMessage) Lines() int { return strings.Count(m.Example, "\n") + 1 }

// Short is whether an example is shown without being asked for.
func (m ViewMessage) Short() bool { const few = 14; return m.Lines() <= few }

// Number is a limit for people.
func (l Limit) Number() string {
	text := strconv.Itoa(l.Value)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
