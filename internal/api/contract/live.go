package contract

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"ferry/internal/api/wire"
)

// Names of the extensions in which a live contract says for programs what AsyncAPI has
// no words for.
const (
	ChannelsKey = "x-channels"
	ClosesKey   = "x-close-codes"
	LimitsKey   = "x-limits"
	ProtocolKey = "x-sub-protocol"
)

// socketChannel is the name of the one channel that AsyncAPI sees: the connection. What
// clients follow on it are tags of its messages.
const socketChannel = "socket"

// BuildLive writes the AsyncAPI 3.0 document of the live socket. It is said from the
// side of the server: it receives what clients say.
func BuildLive(info Info, live *Live) (*Document, error) {
	if err := live.check(); err != nil {
		return nil, fmt.Errorf("contract of the live socket: %w", err)
	}
	s := newSchemas()
	s.lone = true
	messages, inChannel, operations := obj{}, obj{}, obj{}
	for i := range live.Messages {
		m := &live.Messages[i]
		written, err := s.message(m)
		if err != nil {
			return nil, fmt.Errorf("contract of the message %s: %w", m.Name, err)
		}
		messages[m.Name] = written
		inChannel[m.Name] = obj{"$ref": "#/components/messages/" + m.Name}
		id, written := live.operation(m)
		operations[id] = written
	}
	enumerateLive(s.components)
	doc := obj{
		"asyncapi":           "3.0.0",
		"id":                 "urn:ferry:live:v2",
		"info":               liveInfo(info, live),
		"defaultContentType": "application/json",
		"servers":            obj{"service": liveServer(info.Server)},
		"channels": obj{socketChannel: obj{
			"address": live.Path, "title": "The connection", "summary": "Everything is said on one WebSocket.",
			"description": "What can be followed on it: " + channelNames(live.Channels) + ".",
			"servers":     []any{obj{"$ref": "#/servers/service"}},
			"messages":    inChannel, "bindings": obj{"ws": upgrade(live.Protocol)},
			ProtocolKey: live.Protocol, ChannelsKey: channelsOf(live), ClosesKey: closesOf(live), LimitsKey: limitsOf(live),
		}},
		"operations": operations,
		"components": obj{"schemas": s.components, "messages": messages, "tags": liveTags(live), "securitySchemes": liveSecurity()},
	}
	return finished(doc)
}

// check refuses a table that contradicts itself.
func (l *Live) check() error {
	named := map[string]*Message{}
	for i := range l.Messages {
		m := &l.Messages[i]
		if m.Name == "" || m.Payload == nil || named[m.Name] != nil {
			return fmt.Errorf("the message %q has no name of its own or no payload", m.Name)
		}
		named[m.Name] = m
		for _, c := range m.channels() {
			if l.channel(c) == nil {
				return fmt.Errorf("the message %s is of a channel %q that is not in the table", m.Name, c)
			}
		}
	}
	for _, m := range l.Messages {
		for _, reply := range m.Replies {
			if named[reply] == nil || named[reply].FromClient || !m.FromClient {
				return fmt.Errorf("the message %s cannot be answered with %q", m.Name, reply)
			}
		}
	}
	return nil
}

func (l *Live) channel(name string) *Channel {
	i := slices.IndexFunc(l.Channels, func(c Channel) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &l.Channels[i]
}

// message is one message as the document has it.
func (s *schemas) message(m *Message) (obj, error) {
	payload, err := s.of(m.Payload, side(m.FromClient))
	if err != nil {
		return nil, err
	}
	example, err := Example(m.Payload)
	if err != nil {
		return nil, err
	}
	written := obj{
		"name": m.Name, "title": m.Title, "summary": m.Summary, "contentType": "application/json", "payload": payload,
		"examples": []any{obj{"name": m.Name, "payload": example}},
	}
	if m.Channel != "" {
		written["tags"] = tags(m)
	}
	if id := correlation(m); id != "" {
		written["correlationId"] = obj{"description": "A message and its answer have it in common.", "location": "$message.payload#/" + id}
	}
	return written, nil
}

// correlation is the field that ties an answer to what it answers.
func correlation(m *Message) string {
	field := "replyTo"
	if m.FromClient {
		field = "id"
	}
	shape, err := wire.ShapeOf(reflect.TypeOf(m.Payload))
	if err != nil || !slices.ContainsFunc(shape.Fields, func(f wire.Field) bool { return f.Name == field }) {
		return ""
	}
	return field
}

// operation is what the server does with a message, and what that is called.
func (l *Live) operation(m *Message) (id string, written obj) {
	where := "#/channels/" + socketChannel
	said := func(names ...string) []any {
		refs := []any{}
		for _, name := range names {
			refs = append(refs, obj{"$ref": where + "/messages/" + name})
		}
		return refs
	}
	written = obj{"action": "send", "title": m.Title, "summary": m.Summary, "channel": obj{"$ref": where}, "messages": said(m.Name)}
	id = "send"
	if m.FromClient {
		written["action"], id = "receive", "receive"
		if len(m.Replies) > 0 {
			written["reply"] = obj{"channel": obj{"$ref": where}, "messages": said(m.Replies...)}
		}
	}
	if c := l.channel(m.Channel); c != nil {
		written["tags"] = tags(m)
		written["description"] = c.Summary + " For: " + c.Access
		if c.ServerKey && m.FromClient {
			written["security"] = []any{scheme("integratorKey"), scheme("integratorKeyInHello")}
		}
	}
	return id + strings.ToUpper(m.Name[:1]) + m.Name[1:], written
}

func tag(channel string) obj { return obj{"$ref": "#/components/tags/" + channel} }

func tags(m *Message) []any {
	all := []any{}
	for _, c := range m.channels() {
		all = append(all, tag(c))
	}
	return all
}

func scheme(name string) obj { return obj{"$ref": "#/components/securitySchemes/" + name} }

func liveSecurity() obj {
	return obj{
		"integratorKey": obj{
			"type": "httpApiKey", "in": "header", "name": "X-Integrator-Key",
			"description": "An integrator's key, sent with the upgrade. X-API-Key is accepted as an alias. A key in the query string is refused with 401 before the upgrade.",
		},
		"integratorKeyInHello": obj{
			"type": "apiKey", "in": "user",
			"description": "An integrator's key, sent as integratorKey of hello, which is then the first message: for clients that cannot set headers, such as browsers.",
		},
	}
}

// liveServer is where the socket is reached.
func liveServer(at string) obj {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return obj{
			"host": "{host}", "protocol": "wss", "description": "The server that this document was read from.",
			"variables": obj{"host": obj{"description": "Its name, with a port where it has one of its own.", "default": "localhost"}},
		}
	}
	server := obj{"host": u.Host, "protocol": "wss", "description": "The service."}
	if u.Scheme == "http" {
		server["protocol"] = "ws"
	}
	if path := strings.TrimSuffix(u.Path, "/"); path != "" {
		server["pathname"] = path
	}
	return server
}

// upgrade is the request with which a connection begins.
func upgrade(protocol string) obj {
	text := func(doc, example string) obj {
		return obj{"type": "string", "description": doc, "examples": []string{example}}
	}
	return obj{
		"method": "GET", "bindingVersion": "0.1.0",
		"query": obj{"type": "object", "properties": obj{}, "additionalProperties": false, "description": "Nothing, and above all no secret."},
		"headers": obj{"type": "object", "properties": obj{
			"Sec-WebSocket-Protocol": text("The sub-protocol that is spoken.", protocol),
			"X-Integrator-Key":       text("An integrator's key. Without one a connection is nobody's in particular.", "sk_live_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA000000"),
			"X-End-User-IP":          text("For whom an approved backend connects: one literal address.", "203.0.113.7"),
		}},
	}
}

// enumerateLive lists every code that a refusal on the socket may carry.
func enumerateLive(components obj) {
	refusal, ok := components["LiveError"].(obj)
	if !ok {
		return
	}
	codes := slices.Clone(wire.SocketCodes)
	for _, c := range wire.Codes() {
		codes = append(codes, c.Code)
	}
	slices.Sort(codes)
	refusal["properties"].(obj)["code"].(obj)["enum"] = codes
}
