package contracttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// LiveChecker holds messages of the live socket to its document. It may be used by
// several at once.
type LiveChecker struct {
	schemas  map[string]*jsonschema.Schema // by message
	examples map[string][]json.RawMessage
	types    map[string]string   // what the type of a message always is
	events   map[string][]string // what events it may be; none is any
	own      []string            // what the server says that is of no channel
	tells    map[string][]string
}

// liveDocument is an AsyncAPI document as far as it is looked at.
type liveDocument struct {
	Channels map[string]struct {
		Follow []struct {
			Name  string
			Tells []string
		} `json:"x-channels"`
	}
	Operations map[string]struct {
		Action   string
		Messages []struct {
			Ref string `json:"$ref"`
		}
	}
	Components struct {
		Messages map[string]struct {
			Payload struct {
				Ref string `json:"$ref"`
			}
			Examples []struct{ Payload json.RawMessage }
		}
		Schemas map[string]struct {
			Properties struct{ Type, Event struct{ Enum []string } }
		}
	}
}

// NewLive reads an AsyncAPI document, whose schemas must be sound.
func NewLive(t testing.TB, document []byte) *LiveChecker {
	t.Helper()
	var doc liveDocument
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err == nil {
		err = json.Unmarshal(document, &doc)
	}
	const at = "asyncapi.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7) // what AsyncAPI 3.0 builds on
	c.AssertFormat()
	if err == nil {
		err = c.AddResource(at, whole)
	}
	if err != nil {
		t.Fatalf("the live contract cannot be read: %v", err)
	}
	l := &LiveChecker{schemas: map[string]*jsonschema.Schema{}, examples: map[string][]json.RawMessage{}, types: map[string]string{}, events: map[string][]string{}, tells: map[string][]string{}}
	for name, m := range doc.Components.Messages {
		if l.schemas[name], err = c.Compile(at + "#/components/messages/" + name + "/payload"); err != nil {
			t.Fatalf("the schema of %s: %v", name, err)
		}
		for _, e := range m.Examples {
			l.examples[name] = append(l.examples[name], e.Payload)
		}
		fields := doc.Components.Schemas[last(m.Payload.Ref)].Properties
		if always := fields.Type.Enum; len(always) == 1 {
			l.types[name] = always[0]
		}
		l.events[name] = fields.Event.Enum
	}
	l.sort(&doc)
	return l
}

// sort says which messages the server tells where.
func (l *LiveChecker) sort(doc *liveDocument) {
	of := map[string]bool{}
	for _, socket := range doc.Channels {
		for _, c := range socket.Follow {
			l.tells[c.Name] = c.Tells
			for _, name := range c.Tells {
				of[name] = true
			}
		}
	}
	for _, o := range doc.Operations {
		if name := last(o.Messages[0].Ref); o.Action == "send" && !of[name] {
			l.own = append(l.own, name)
		}
	}
}

func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// Messages are the names of all messages.
func (l *LiveChecker) Messages() []string { return slices.Sorted(maps.Keys(l.schemas)) }

// Examples are those of a message.
func (l *LiveChecker) Examples(message string) []json.RawMessage { return l.examples[message] }

// Allows says why a text is no such message, if it is none.
func (l *LiveChecker) Allows(message string, text []byte) error {
	schema := l.schemas[message]
	if schema == nil {
		return fmt.Errorf("the live contract has no message %s", message)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// Told says why the server may not tell this of a channel, or with an empty one of none
// in particular, if it may not.
func (l *LiveChecker) Told(channel string, text []byte) error {
	var said struct{ Type, Event string }
	if err := json.Unmarshal(text, &said); err != nil {
		return err
	}
	why := fmt.Errorf("the live contract has no %q for the channel %q", said.Type, channel)
	for _, name := range append(slices.Clone(l.tells[channel]), l.own...) {
		if l.types[name] != said.Type {
			continue
		}
		if events := l.events[name]; len(events) > 0 && !slices.Contains(events, said.Event) {
			why = fmt.Errorf("the live contract has no event %q for the channel %q", said.Event, channel)
			continue // another message of the channel may have it
		}
		return l.Allows(name, text)
	}
	return why
}
