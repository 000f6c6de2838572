package live_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ferry/internal/api/contract"
	"ferry/internal/api/contract/contracttest"
	"ferry/internal/api/live"
	"ferry/internal/api/wire"
)

// built is the document of the table that the server speaks by.
func built(t *testing.T) (contract.Live, *contract.Document) {
	t.Helper()
	said := live.New(live.Config{}, live.Ports{}).Contract()
	doc, err := contract.BuildLive(contract.Info{Title: "Ferry live", Description: "About it.", Version: "2.0.0", Server: "https://ferry.example/at/"}, &said)
	if err != nil {
		t.Fatal(err)
	}
	return said, doc
}

type reference struct {
	Ref string `json:"$ref"`
}

// asyncAPI is as much of a document as the tests look at.
type asyncAPI struct {
	AsyncAPI string `json:"asyncapi"`
	Info     struct {
		Description string
		License     struct{ Name string }
		Tags        []reference
	}
	Servers  map[string]struct{ Host, Protocol, Pathname string }
	Channels map[string]struct {
		Address  string
		Messages map[string]reference
		Bindings struct {
			WS struct {
				Method  string
				Headers struct{ Properties map[string]any }
				Query   struct{ AdditionalProperties *bool }
			} `json:"ws"`
		}
		SubProtocol string                  `json:"x-sub-protocol"`
		Follow      []struct{ Name string } `json:"x-channels"`
		Closes      []struct{ Code int }    `json:"x-close-codes"`
	}
	Operations map[string]struct {
		Action   string
		Messages []reference
		Reply    *struct {
			Messages []reference
		}
		Security []any
	}
	Components struct {
		Schemas  map[string]map[string]any
		Messages map[string]struct {
			Payload       reference
			CorrelationID *struct{ Location string }
			Tags          []reference
		}
	}
}

func read(t *testing.T, doc *contract.Document) (a asyncAPI) {
	t.Helper()
	if err := json.Unmarshal(doc.JSON, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestEveryMessageIsInTheContract(t *testing.T) {
	t.Parallel()
	said, doc := built(t)
	a := read(t, doc)
	socket := a.Channels["socket"]
	if len(a.Components.Messages) != len(said.Messages) || len(socket.Messages) != len(said.Messages) || len(a.Operations) != len(said.Messages) {
		t.Errorf("%d messages, of which the document has %d, the channel %d, and the operations %d", len(said.Messages), len(a.Components.Messages), len(socket.Messages), len(a.Operations))
	}
	for _, m := range said.Messages {
		written := a.Components.Messages[m.Name]
		schema := a.Components.Schemas[strings.TrimPrefix(written.Payload.Ref, "#/components/schemas/")]
		if schema["type"] != "object" || len(schema["properties"].(map[string]any)) == 0 {
			t.Fatalf("%s has no schema", m.Name)
		}
		if closed := schema["additionalProperties"] == false; closed != m.FromClient {
			t.Errorf("%s: closed is %t", m.Name, closed)
		}
		if socket.Messages[m.Name].Ref != "#/components/messages/"+m.Name {
			t.Errorf("%s is not said on the channel", m.Name)
		}
		var tags []reference
		for _, c := range append([]string{m.Channel}, m.Also...) {
			if c != "" {
				tags = append(tags, reference{"#/components/tags/" + c})
			}
		}
		if !slices.Equal(written.Tags, tags) {
			t.Errorf("%s: its tags are %v", m.Name, written.Tags)
		}
		action, name := "send", "send"+strings.ToUpper(m.Name[:1])+m.Name[1:]
		if m.FromClient {
			action, name = "receive", "receive"+strings.ToUpper(m.Name[:1])+m.Name[1:]
			if written.CorrelationID == nil || written.CorrelationID.Location != "$message.payload#/id" {
				t.Errorf("%s: what ties its answer to it is %v", m.Name, written.CorrelationID)
			}
		}
		op := a.Operations[name]
		if op.Action != action || len(op.Messages) != 1 || op.Messages[0].Ref != "#/channels/socket/messages/"+m.Name {
			t.Errorf("%s: its operation is %+v", m.Name, op)
		}
		if (op.Reply != nil) != (len(m.Replies) > 0) || op.Reply != nil && len(op.Reply.Messages) != len(m.Replies) {
			t.Errorf("%s: its answers are %+v", m.Name, op.Reply)
		}
		keyed := m.FromClient && slices.ContainsFunc(said.Channels, func(c contract.Channel) bool { return c.Name == m.Channel && c.ServerKey })
		if keyed != (len(op.Security) > 0) {
			t.Errorf("%s: its security is %v", m.Name, op.Security)
		}
	}
}

// The channels of the table are those that the server knows, and each has a message with
// which it is followed and one that it tells.
func TestEveryChannelIsInTheContract(t *testing.T) {
	t.Parallel()
	said, _ := built(t)
	var names []string
	for _, c := range said.Channels {
		names = append(names, c.Name)
		for _, fromClient := range []bool{true, false} {
			if !slices.ContainsFunc(said.Messages, func(m contract.Message) bool { return m.Channel == c.Name && m.FromClient == fromClient }) {
				t.Errorf("%s has no message with which it is followed, or tells none", c.Name)
			}
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, live.Followed()) {
		t.Errorf("the table has %v and the server %v", names, live.Followed())
	}
}

// Examples are what their schema allows and, of a client's, what the server reads.
func TestExamplesOfMessagesAreAllowed(t *testing.T) {
	t.Parallel()
	said, doc := built(t)
	check := contracttest.NewLive(t, doc.JSON)
	for _, m := range said.Messages {
		examples := check.Examples(m.Name)
		if len(examples) == 0 {
			t.Errorf("%s has no example", m.Name)
		}
		for _, e := range examples {
			if err := check.Allows(m.Name, e); err != nil {
				t.Errorf("%s: %s: %v", m.Name, e, err)
			}
			if !m.FromClient {
				continue
			}
			into := reflect.New(reflect.TypeOf(m.Payload))
			if err := wire.Decode(e, into.Interface()); err != nil {
				t.Errorf("%s: the server refuses %s: %v", m.Name, e, err)
			}
			more := append(slices.Clone(bytes.TrimSuffix(e, []byte("}"))), []byte(`,"surprise":1}`)...)
			if check.Allows(m.Name, more) == nil || wire.Decode(more, reflect.New(reflect.TypeOf(m.Payload)).Interface()) == nil {
				t.Errorf("%s: an unknown field is taken", m.Name)
			}
		}
	}
}

func TestTheLiveContractSaysWhatTheTableSays(t *testing.T) {
	t.Parallel()
	said, doc := built(t)
	a := read(t, doc)
	socket := a.Channels["socket"]
	if a.AsyncAPI != "3.0.0" || a.Info.License.Name != "Apache 2.0" || socket.Address != "/v2/ws" || socket.SubProtocol != "swap.v2.json" {
		t.Errorf("the head of the document is wrong: %+v", a.Info)
	}
	if s := a.Servers["service"]; s.Host != "ferry.example" || s.Protocol != "wss" || s.Pathname != "/at" {
		t.Errorf("the server is %+v", s)
	}
	ws := socket.Bindings.WS
	if ws.Method != "GET" || ws.Headers.Properties["X-Integrator-Key"] == nil || ws.Headers.Properties["X-End-User-IP"] == nil ||
		ws.Query.AdditionalProperties == nil || *ws.Query.AdditionalProperties {
		t.Errorf("the upgrade is %+v", ws)
	}
	for i, c := range said.Channels {
		if socket.Follow[i].Name != c.Name || a.Info.Tags[i].Ref != "#/components/tags/"+c.Name || !strings.Contains(a.Info.Description, "| `"+c.Name+"` |") {
			t.Errorf("%s is not described", c.Name)
		}
	}
	for i, c := range said.Closes {
		if socket.Closes[i].Code != c.Code || !strings.Contains(a.Info.Description, c.What) {
			t.Errorf("the end with %d is not described", c.Code)
		}
	}
	codes := a.Components.Schemas["LiveError"]["properties"].(map[string]any)["code"].(map[string]any)["enum"].([]any)
	for _, want := range append([]string{"order_not_found", "rate_limited"}, wire.SocketCodes...) {
		if !slices.Contains(codes, any(want)) {
			t.Errorf("%s is not listed", want)
		}
	}
	if len(codes) != len(wire.Codes())+len(wire.SocketCodes) {
		t.Errorf("%d codes are listed", len(codes))
	}
	// A67: what is only for server keys over HTTP stays out of what everybody may read.
	if bytes.Contains(doc.JSON, []byte("/v2/integrator")) {
		t.Error("a hidden route is in what everybody may read")
	}
}

func TestTablesThatContradictThemselvesAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*contract.Live){
		"a name that is there twice":     func(l *contract.Live) { l.Messages = append(l.Messages, l.Messages[0]) },
		"no name":                        func(l *contract.Live) { l.Messages[0].Name = "" },
		"no payload":                     func(l *contract.Live) { l.Messages[0].Payload = nil },
		"a payload that is no wire":      func(l *contract.Live) { l.Messages[0].Payload = struct{ A float64 }{} },
		"a further channel nobody knows": func(l *contract.Live) { l.Messages[3].Also = []string{"none"} },
		"a channel nobody knows":         func(l *contract.Live) { l.Messages[0].Channel = "none" },
		"an answer nobody knows":         func(l *contract.Live) { l.Messages[0].Replies = []string{"none"} },
		"an answer of a client":          func(l *contract.Live) { l.Messages[0].Replies = []string{"ping"} },
		"an answer to what was told":     func(l *contract.Live) { l.Messages[len(l.Messages)-1].Replies = []string{"pong"} },
	} {
		said := live.New(live.Config{}, live.Ports{}).Contract()
		change(&said)
		if _, err := contract.BuildLive(contract.Info{}, &said); err == nil {
			t.Errorf("%s: the table was taken", name)
		}
	}
}

// Where a service does not know its own name, the reader fills it in.
func TestServersOfTheLiveContract(t *testing.T) {
	t.Parallel()
	for at, want := range map[string][2]string{
		"": {"{host}", "wss"}, "/": {"{host}", "wss"}, "https://a.example": {"a.example", "wss"}, "http://127.0.0.1:8080": {"127.0.0.1:8080", "ws"},
	} {
		doc, err := contract.BuildLive(contract.Info{Server: at}, &contract.Live{})
		if err != nil {
			t.Fatal(err)
		}
		if s := read(t, doc).Servers["service"]; s.Host != want[0] || s.Protocol != want[1] {
			t.Errorf("%q: got %+v", at, s)
		}
	}
}

// What tests hold the server to refuses what the table does not have.
func TestWhatIsToldIsHeldToTheContract(t *testing.T) {
	t.Parallel()
	_, doc := built(t)
	check := contracttest.NewLive(t, doc.JSON)
	event, depth := string(check.Examples("orderEvent")[0]), string(check.Examples("confirmationsEvent")[0])
	for _, c := range []struct {
		channel, text string
		want          bool
	}{
		{"order", event, true},
		{"session", event, true}, // it tells the same
		{"status", event, false},
		{"order", depth, true},
		{"session", depth, true},
		{"integrator_orders", depth, false}, // it has its log, and nothing else
		{"order", strings.Replace(depth, `"seq":null`, `"seq":"8"`, 1), false},
		{"order", strings.Replace(event, `"seq":8`, `"seq":null`, 1), false},
		{"", event, false},
		{"order", strings.Replace(event, `"seq":8`, `"seq":"8"`, 1), false},
		{"order", strings.Replace(event, `"order.status_changed"`, `"order.vanished"`, 1), false},
		{"order", strings.Replace(event, `"type":`, `"more":1,"type":`, 1), true},
		{"order", `{"type":"pong","replyTo":"9","serverTime":"2026-01-01T00:00:00.000Z"}`, true},
		{"", `{"type":"pong","replyTo":"9","serverTime":"yesterday"}`, false},
		{"", `{"type":"error","replyTo":null,"code":"unknown_channel","message":"x","retryAfterSeconds":null}`, true},
		{"", `{"type":"error","replyTo":null,"code":"no_such","message":"x","retryAfterSeconds":null}`, false},
		{"", `{"type":"surprise"}`, false},
	} {
		if err := check.Told(c.channel, []byte(c.text)); (err == nil) != c.want {
			t.Errorf("%s %s: %v", c.channel, c.text, err)
		}
	}
}
