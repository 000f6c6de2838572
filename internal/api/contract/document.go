package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"ferry/internal/api/wire"
)

// Info is what a document says of itself.
type Info struct {
	Title, Summary, Description string
	Version                     string // of the contract, not of the build
	Server                      string // where the door is reached; empty is /
	Tags                        []Tag
}

// Tag is a group of operations.
type Tag struct{ Name, Description string }

// Document is a contract as it is served.
type Document struct {
	JSON []byte
	Hash string // sha256: and the hex digest of JSON
}

// Build writes the OpenAPI 3.1 document of the operations it is given.
func Build(info Info, operations []Operation) (*Document, error) {
	s := newSchemas()
	if _, err := s.of(wire.Refusal{}, answer); err != nil {
		return nil, err
	}
	paths, used := obj{}, map[string]bool{}
	for i := range operations {
		o := &operations[i]
		item, _ := paths[o.Path].(obj)
		if item == nil {
			item = obj{}
			paths[o.Path] = item
		}
		written, err := s.operation(o)
		if err != nil {
			return nil, fmt.Errorf("contract of %s: %w", o.ID, err)
		}
		item[strings.ToLower(o.Method)] = written
		used[o.Tag] = true
	}
	enumerate(s.components)
	server := info.Server
	if server == "" {
		server = "/"
	}
	written, err := wire.Bytes(paths)
	if err != nil {
		return nil, fmt.Errorf("write the contract: %w", err)
	}
	named := func(all obj, form string) obj { return usedIn(string(written), all, form) }
	doc := obj{
		"openapi": "3.1.0",
		"info": obj{
			"title": info.Title, "summary": info.Summary, "description": info.Description, "version": info.Version,
			"license": obj{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []any{obj{"url": server}},
		"security": []any{obj{}},
		"tags":     tagsOf(info.Tags, used),
		"paths":    paths,
		"components": obj{
			"schemas": s.components, "headers": named(headers(), `"#/components/headers/%s"`), "securitySchemes": named(securitySchemes(), `"%s":[]`),
		},
	}
	return finished(doc)
}

// finished is a document as it is served.
func finished(doc obj) (*Document, error) {
	text, err := wire.Bytes(doc)
	if err != nil {
		return nil, fmt.Errorf("write the contract: %w", err)
	}
	sum := sha256.Sum256(text)
	return &Document{JSON: text, Hash: "sha256:" + hex.EncodeToString(sum[:])}, nil
}

// enumerate lists every code of the catalogue in the schema of a refusal.
func enumerate(components obj) {
	codes := []string{}
	for _, c := range wire.Codes() {
		codes = append(codes, c.Code)
	}
	slices.Sort(codes)
	refusal := components["Refusal"].(obj)
	refusal["properties"].(obj)["code"].(obj)["enum"] = codes
}

// usedIn are the components that the paths name, in the form in which they do.
func usedIn(paths string, all obj, form string) obj {
	used := obj{}
	for name, c := range all {
		if strings.Contains(paths, fmt.Sprintf(form, name)) {
			used[name] = c
		}
	}
	return used
}

func tagsOf(tags []Tag, used map[string]bool) []any {
	all := []any{}
	for _, t := range tags {
		if used[t.Name] {
			all = append(all, obj{"name": t.Name, "description": t.Description})
		}
	}
	return all
}

func securitySchemes() obj {
	return obj{
		"integratorKey": obj{
			"type": "apiKey", "in": "header", "name": "X-Integrator-Key",
			"description": "An integrator's key. X-API-Key is accepted as an alias. A key in the query string is refused with 401.",
		},
		"session": obj{
			"type": "apiKey", "in": "header", "name": "X-Session-ID",
			"description": "The sessionId that was answered when the order was created. Keep it private and out of URLs.",
		},
	}
}

func headers() obj {
	text := func(doc, example string) obj {
		return obj{"description": doc, "schema": obj{"type": "string"}, "example": example}
	}
	whole := func(doc string, example int) obj {
		return obj{"description": doc, "schema": obj{"type": "integer"}, "example": example}
	}
	return obj{
		"RequestID":         text("The id of this request, to name it to the operator.", "req_0123456789ABCDEFGHJKMNPQRS"),
		"RateLimit":         text("What is left of every limit that applies, and in how many seconds it frees.", `"ip_requests";r=59;t=60`),
		"RateLimitPolicy":   text("Every limit that applies: its size and its window in seconds.", `"ip_requests";q=60;w=60`),
		"RetryAfter":        whole("Seconds to wait before the same request may succeed.", 12),
		"RateLimitResource": text("The limit that is used up.", "ip_requests"),
		"Link":              text("Where the next page is, with rel=\"next\"; there is no such header on the last page.", `</v2/orders?cursor=AXZ1>; rel="next"`),
		"Location":          text("Where what was made is read.", "/v2/orders/ord_0123456789ABCDEFGHJKMNPQRS"),
		"Replayed":          text("true where this repeats the answer to an earlier request of the same Idempotency-Key.", "true"),
		"ETag":              text("A name of this very answer, for If-None-Match.", `"0f1e2d3c4b5a6978"`),
	}
}
