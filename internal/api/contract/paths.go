package contract

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ferry/internal/api/wire"
)

// operation is one operation as the document has it.
func (s *schemas) operation(o *Operation) (obj, error) {
	m := obj{
		"operationId": o.ID, "summary": o.Summary, "tags": []string{o.Tag},
		"security": security(o), "parameters": parameters(o),
	}
	if o.Description != "" {
		m["description"] = o.Description
	}
	if o.In != nil {
		schema, err := s.of(o.In, request)
		if err != nil {
			return nil, err
		}
		example, err := Example(o.In)
		if err != nil {
			return nil, err
		}
		m["requestBody"] = obj{
			"required": true,
			"content":  obj{"application/json": obj{"schema": schema, "example": example}},
		}
	}
	responses, err := s.responses(o)
	if err != nil {
		return nil, err
	}
	m["responses"] = responses
	return m, nil
}

// security lists the ways in: each entry is one way, and an empty one is no key at all.
func security(o *Operation) []any {
	var keys []obj
	switch o.Key {
	case NoKey:
		keys = []obj{{}}
	case OptionalKey:
		keys = []obj{{}, {"integratorKey": []string{}}}
	case ServerKey:
		keys = []obj{{"integratorKey": []string{}}}
	}
	ways := []any{}
	for _, k := range keys {
		if o.Proof != ActProof {
			ways = append(ways, k)
		}
		if o.Proof != NoProof {
			with := obj{"session": []string{}}
			for name, v := range k {
				with[name] = v
			}
			ways = append(ways, with)
		}
	}
	return ways
}

func parameters(o *Operation) []any {
	all := []any{}
	for _, name := range PathParams(o.Path) {
		all = append(all, obj{
			"name": name, "in": "path", "required": true,
			"schema": obj{"type": "string", "minLength": 1},
		})
	}
	for _, p := range o.Query {
		all = append(all, obj{
			"name": p.Name, "in": "query", "required": p.Required, "description": p.Doc,
			"schema": paramSchema(p),
		})
	}
	if o.Proof == ReadProof {
		all = append(all, obj{
			"name": "verify", "in": "query", "required": false,
			"description": "The order's destination address, which lets one read it without the session. It serves only when no X-Session-ID is sent, and never for actions.",
			"schema":      obj{"type": "string", "minLength": 1},
		})
	}
	if o.Idempotent {
		all = append(all, obj{
			"name": "Idempotency-Key", "in": "header", "required": false,
			"description": "Makes a repeated creation give the first answer again, for 24 hours. At least 32 characters without a server key.",
			"schema":      obj{"type": "string", "minLength": 1, "maxLength": 255},
		})
	}
	return all
}

func paramSchema(p Param) obj {
	m := obj{"type": string(p.Kind)}
	if len(p.Enum) > 0 {
		m["enum"] = p.Enum
	}
	if p.Kind == WholeParam && (p.Min != 0 || p.Max != 0) {
		m["minimum"], m["maximum"] = p.Min, p.Max
	}
	if p.Kind == TextParam && len(p.Enum) == 0 {
		m["minLength"], m["maxLength"] = 1, p.Limit()
	}
	if p.Example != "" {
		var example any = p.Example
		if n, err := strconv.Atoi(p.Example); err == nil && p.Kind == WholeParam {
			example = n
		}
		if p.Kind == FlagParam {
			example = p.Example == "true"
		}
		m["examples"] = []any{example}
	}
	return m
}

func (s *schemas) responses(o *Operation) (obj, error) {
	all := obj{}
	good := obj{"description": http.StatusText(o.Status), "headers": goodHeaders(o)}
	media := o.Produces
	if media == "" {
		media = "application/json"
	}
	if o.Out != nil {
		schema, err := s.of(o.Out, answer)
		if err != nil {
			return nil, err
		}
		example, err := Example(o.Out)
		if err != nil {
			return nil, err
		}
		content := obj{media: obj{"schema": schema, "example": example}}
		for _, f := range o.Forms {
			content[f.Media] = obj{"schema": obj{"type": "string", "description": f.Doc}, "example": f.Example}
		}
		good["content"] = content
	} else if o.Status != http.StatusNoContent && o.Status != http.StatusSwitchingProtocols {
		good["content"] = obj{media: obj{"schema": obj{"type": "object"}}}
	}
	all[strconv.Itoa(o.Status)] = good
	if o.Cache > 0 {
		all["304"] = obj{"description": "What If-None-Match names is still current.", "headers": goodHeaders(o)}
	}
	byStatus := map[int][]wire.Code{}
	for _, name := range o.AllCodes() {
		c, ok := wire.CodeOf(name)
		if !ok {
			return nil, fmt.Errorf("code %q is not in the catalogue", name)
		}
		byStatus[c.Status] = append(byStatus[c.Status], c)
	}
	for status, codes := range byStatus {
		all[strconv.Itoa(status)] = refusals(status, codes)
	}
	return all, nil
}

// CodesKey is where an answer lists the codes that may be in it.
const CodesKey = "x-codes"

func ref(header string) obj { return obj{"$ref": "#/components/headers/" + header} }

func goodHeaders(o *Operation) obj {
	m := obj{"X-Request-ID": ref("RequestID")}
	if o.Limited {
		m["RateLimit"], m["RateLimit-Policy"] = ref("RateLimit"), ref("RateLimitPolicy")
	}
	if o.Cache > 0 {
		m["ETag"] = ref("ETag")
	}
	if slices.ContainsFunc(o.Query, func(p Param) bool { return p.Name == "cursor" }) {
		m["Link"] = ref("Link")
	}
	if o.Idempotent {
		m["Idempotency-Replayed"] = ref("Replayed")
	}
	if o.Status == http.StatusCreated {
		m["Location"] = ref("Location")
	}
	return m
}

// refusals is the answer with one status and the codes that may be in it. They are in
// an extension and not in the schema: generated clients get one type for every
// refusal, where they would otherwise get one for every status of every operation.
func refusals(status int, codes []wire.Code) obj {
	sort.Slice(codes, func(i, j int) bool { return codes[i].Code < codes[j].Code })
	names, examples := []string{}, obj{}
	var words strings.Builder
	for _, c := range codes {
		names = append(names, c.Code)
		fmt.Fprintf(&words, "- `%s`: %s\n", c.Code, c.Description)
		examples[c.Code] = obj{"value": exampleRefusal(c)}
	}
	m := obj{"X-Request-ID": ref("RequestID")}
	if status == http.StatusTooManyRequests {
		m["Retry-After"], m["X-RateLimit-Resource"] = ref("RetryAfter"), ref("RateLimitResource")
	}
	if status == http.StatusServiceUnavailable {
		m["Retry-After"] = ref("RetryAfter")
	}
	return obj{
		"description": http.StatusText(status) + "\n\n" + words.String(),
		"headers":     m,
		CodesKey:      names,
		"content": obj{"application/problem+json": obj{
			"schema":   obj{"$ref": "#/components/schemas/Refusal"},
			"examples": examples,
		}},
	}
}

func exampleRefusal(c wire.Code) obj {
	m := obj{
		"type": "/v2/errors#" + c.Code, "title": c.Title, "status": c.Status, "code": c.Code,
		"detail": c.Description, "retryable": c.Retryable,
	}
	if c.Code == "order_not_found" {
		m["detail"] = wire.OrderNotFoundDetail
		return m
	}
	m["actor"], m["requestId"] = c.Actor, "req_0123456789ABCDEFGHJKMNPQRS"
	return m
}
