package contracttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// LiveChecker holds messages of the live socket to its document.
type LiveChecker struct {
	schemas  map[string]*jsonschema.Schema // by message
	examples map[string][]json.RawMessage
}

// NewLive reads an AsyncAPI document, whose schemas must be sound.
func NewLive(t testing.TB, document []byte) *LiveChecker {
	t.Helper()
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("the live contract cannot be read: %v", err)
	}
	var doc struct {
		Components struct {
			Messages map[string]struct {
				Examples []struct {
					Payload json.RawMessage `json:"payload"`
				} `json:"examples"`
			} `json:"messages"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatalf("the live contract cannot be read: %v", err)
	}
	const at = "asyncapi.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7) // what AsyncAPI 3.0 builds on
	c.AssertFormat()
	if err := c.AddResource(at, whole); err != nil {
		t.Fatalf("the live contract cannot be read: %v", err)
	}
	l := &LiveChecker{schemas: map[string]*jsonschema.Schema{}, examples: map[string][]json.RawMessage{}}
	for name, m := range doc.Components.Messages {
		if l.schemas[name], err = c.Compile(at + "#/components/messages/" + name + "/payload"); err != nil {
			t.Fatalf("the schema of %s: %v", name, err)
		}
		for _, e := range m.Examples {
			l.examples[name] = append(l.examples[name], e.Payload)
		}
	}
	return l
}

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
