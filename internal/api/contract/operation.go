package contract

import (
	"strings"
	"time"
)

// Need says which key an operation wants.
type Need uint8

// The needs.
const (
	// NoKey: a key is not looked at; one in the URL is refused all the same.
	NoKey Need = iota
	// OptionalKey: works without; a key that is shown is checked and counts.
	OptionalKey
	// ServerKey: nothing without a server key.
	ServerKey
)

// Proof says what an operation wants to see before it touches one order.
type Proof uint8

// The proofs.
const (
	NoProof   Proof = iota
	ReadProof       // the session, or the destination address as verify
	ActProof        // the session only
)

// ParamKind is the type of a query parameter.
type ParamKind string

// The kinds.
const (
	TextParam  ParamKind = "string"
	WholeParam ParamKind = "integer"
	FlagParam  ParamKind = "boolean"
)

// Param is a query parameter that an operation knows.
type Param struct {
	Name     string
	Kind     ParamKind
	Doc      string
	Example  string
	Required bool
	Enum     []string
	// Min and Max bound whole numbers; both zero is no bound.
	Min, Max int64
	// MaxLength bounds texts; zero is 256.
	MaxLength int
}

// Limit is how long a text parameter may be.
func (p Param) Limit() int {
	if p.MaxLength > 0 {
		return p.MaxLength
	}
	return 256
}

// Form is a further media type that an answer comes in.
type Form struct {
	Media   string // without parameters
	Doc     string
	Example string
}

// Operation is one row of the table, as far as the contract says it.
type Operation struct {
	ID, Method, Path          string
	Summary, Description, Tag string
	Key                       Need
	Proof                     Proof
	Limited                   bool // spends an allowance, so 429 is an answer
	Idempotent                bool // takes Idempotency-Key
	In, Out                   any
	Produces                  string // media type of the answer; empty is application/json
	Forms                     []Form // further media types, chosen by Accept
	Query                     []Param
	Codes                     []string
	Status                    int
	Cache                     time.Duration
}

// PathParams are the names in braces of a path.
func PathParams(path string) []string {
	var names []string
	for part := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// Takes reports whether the method carries a body.
func Takes(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

// AllCodes are the codes of an operation: its own and those that the door itself
// answers for it.
func (o *Operation) AllCodes() []string {
	codes := []string{"internal_error", "service_unavailable", "key_in_query", "secret_in_url", "unknown_parameter", "invalid_request", "payload_too_large", "malformed_request", "request_timeout", "headers_too_large"}
	if len(o.Query) > 0 || o.Proof != NoProof {
		codes = append(codes, "invalid_field")
	}
	if o.Key != NoKey {
		codes = append(codes, "invalid_key", "key_revoked", "integration_suspended",
			"forwarding_not_allowed", "invalid_end_user_ip", "too_many_access_failures")
	}
	if o.Key == ServerKey {
		codes = append(codes, "key_required", "server_key_required")
	}
	if o.Limited {
		codes = append(codes, "rate_limited")
	}
	if o.Proof != NoProof {
		codes = append(codes, "order_not_found")
	}
	if o.Idempotent {
		codes = append(codes, "invalid_idempotency_key", "idempotency_conflict", "idempotency_in_progress")
	}
	if len(o.Forms) > 0 {
		codes = append(codes, "not_acceptable")
	}
	if Takes(o.Method) {
		codes = append(codes, "malformed_json", "unknown_field", "unsupported_media_type")
	}
	if o.In != nil {
		codes = append(codes, "missing_field", "invalid_field", "retired_field")
	}
	seen := map[string]bool{}
	var all []string
	for _, c := range append(codes, o.Codes...) {
		if !seen[c] {
			seen[c] = true
			all = append(all, c)
		}
	}
	return all
}
