package front_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ferry/internal/testseed"
)

// document is a contract as far as these tests read it.
type document struct {
	OpenAPI string
	Tags    []struct{ Name string }
	Paths   map[string]map[string]struct {
		OperationID string
		Tags        []string
		RequestBody struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]schema }
}

// schema is a JSON Schema as far as requests have one.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Enum                 []string
	Pattern              string
	MinLength, MaxLength int
	Minimum, Maximum     json.Number
	MaxProperties        int
	Required             []string
	Properties           map[string]schema
	Additional           json.RawMessage `json:"additionalProperties"`
}

func parsed(t *testing.T, text []byte) (d document) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheContractsAreTheTable(t *testing.T) {
	t.Parallel()
	r := shared(t, overSQLite)
	public, hidden := parsed(t, r.Front.Door.Contract().JSON), parsed(t, r.Front.Door.Hidden().JSON)
	want := map[bool][]string{}
	for _, row := range r.Front.Door.Rows() {
		if strings.HasPrefix(row.Path, "/v2/") {
			want[row.Hidden] = append(want[row.Hidden], strings.ToLower(row.Method)+" "+row.Path+" "+row.ID)
		}
	}
	for is, d := range map[bool]document{false: public, true: hidden} {
		var got, groups []string
		for _, tag := range d.Tags {
			groups = append(groups, tag.Name)
		}
		for path, item := range d.Paths {
			for method, o := range item {
				got = append(got, method+" "+path+" "+o.OperationID)
				if len(o.Tags) != 1 || !slices.Contains(groups, o.Tags[0]) {
					t.Errorf("A67 %s is in the groups %v, of which there are %v", o.OperationID, o.Tags, groups)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(want[is])
		if !slices.Equal(got, want[is]) {
			t.Errorf("A67 hidden %v: the document has\n%s\nand the door\n%s", is, strings.Join(got, "\n"), strings.Join(want[is], "\n"))
		}
		if d.OpenAPI != "3.1.0" {
			t.Errorf("A67 it is OpenAPI %s", d.OpenAPI)
		}
	}
	if bytes.Contains(r.Front.Door.Contract().JSON, []byte("/v2/integrator")) {
		t.Error("A67 the public contract mentions the routes of integrators")
	}
	for _, path := range []string{"/v2/integrator/me", "/v2/integrator/orders"} {
		if _, there := hidden.Paths[path]; !there {
			t.Errorf("A67 %s is described nowhere", path)
		}
	}
}

// keyLike are texts that a scanner of secrets, or a hurried reader, takes for one.
var keyLike = regexp.MustCompile(`(?:[sp]k_live_|opr_|ses_)[0-9A-Za-z_-]{20,}`)

func TestExamplesHoldNoSecret(t *testing.T) {
	t.Parallel()
	r := shared(t, overSQLite)
	for _, text := range [][]byte{r.Front.Door.Contract().JSON, r.Front.Door.Hidden().JSON} {
		for _, found := range keyLike.FindAllString(string(text), -1) {
			_, body, _ := strings.Cut(strings.TrimPrefix(found, "sk_live"), "_")
			if strings.Trim(body, "A") != "" {
				t.Errorf("A67 an example looks like a secret: %s", found)
			}
		}
		if at := literal(strings.ReplaceAll(string(text), "::", "")); at != "" {
			t.Errorf("A44 an example holds the address %s", at)
		}
	}
}

// together are the fields of which an order needs all, or a quoteId: the one rule of a
// body that its schema does not say.
var together = []string{"fromChainId", "fromToken", "toChainId", "toToken", "amount"}

// formCodes are the refusals of a body that is none.
var formCodes = []string{
	"malformed_json", "unknown_field", "retired_field", "missing_field", "invalid_field", "invalid_request",
	"integrator_fee_too_high", "invalid_amount", "invalid_slippage",
}

func TestTheServerTakesWhatTheContractTakes(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		doc := parsed(t, s.Front.Door.Contract().JSON)
		random := rand.New(rand.NewPCG(testseed.Of(t), 1))
		for _, path := range []string{"/v2/quotes", "/v2/orders"} {
			ref := doc.Paths[path]["post"].RequestBody.Content["application/json"].Schema.Ref
			of, ok := doc.Components.Schemas[ref[strings.LastIndex(ref, "/")+1:]]
			if !ok {
				t.Fatalf("%s has no schema of its body: %q", path, ref)
			}
			const n = 250
			taken := 0
			for range n {
				body := generate(random, of)
				allowed, why := s.allows(t, path, body)
				a := s.do(t, shot{path: path, body: body, header: withKey(s.a.Server.Text)})
				form := a.refusesForm(of)
				if allowed == form {
					t.Fatalf("%s\nthe contract takes it: %v %s\nthe server says %d %s", body, allowed, why, a.status, a.body)
				}
				if allowed {
					taken++
				}
			}
			if taken < n/10 || taken > n*9/10 {
				t.Errorf("%s: of %d bodies %d are taken: that tries one side only", path, n, taken)
			}
		}
	})
}

// refusesForm reports whether an answer says that the body is no request. Problems
// that a room found once the body was one do not count.
func (a reply) refusesForm(of schema) bool {
	p := a.problem()
	if !slices.Contains(formCodes, p.Code) || len(p.Errors) == 0 {
		return p.Code == "malformed_json"
	}
	for _, e := range p.Errors {
		missing := e.Code == "missing_field" && !slices.Contains(of.Required, e.Pointer[1:])
		if slices.Contains(formCodes, e.Code) && !missing {
			return true
		}
	}
	return false
}

// allows asks the contract.
func (s *stage) allows(t *testing.T, path, body string) (bool, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://ferry.example"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	s.checks.mu.Lock()
	defer s.checks.mu.Unlock()
	return s.checks.public.Allows(r)
}

// generate makes a body of a schema, most often with something wrong in it.
func generate(r *rand.Rand, of schema) string {
	var parts []string
	wrong := 0
	if r.IntN(3) > 0 {
		wrong = 1 + r.IntN(2)
	}
	names := []string{}
	for name := range of.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	byQuote := r.IntN(2) == 0
	for _, name := range names {
		needed := slices.Contains(of.Required, name) || slices.Contains(together, name) && !byQuote || name == "quoteId" && byQuote
		if !needed && r.IntN(3) > 0 {
			continue
		}
		value := good(r, of.Properties[name], name)
		if wrong > 0 && r.IntN(4) == 0 {
			wrong--
			if value = bad(r, of.Properties[name]); value == "" {
				continue
			}
		}
		parts = append(parts, fmt.Sprintf("%q:%s", name, value))
	}
	if wrong > 0 && r.IntN(2) == 0 {
		parts = append(parts, fmt.Sprintf("%q:1", pick(r, "colour", "Amount", "toAddres", "to_address", "")))
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return "{" + strings.Join(parts, pick(r, ",", " , ", ",\n")) + "}"
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// good is a value that the schema takes. Amounts stay below 256 bits, which a pattern
// can not say.
func good(r *rand.Rand, s schema, name string) string {
	switch {
	case len(s.Enum) > 0:
		return quoted(pick(r, s.Enum...))
	case s.Pattern != "":
		return quoted(pick(r, "0", "1", "100000000000000000", "9"+strings.Repeat("0", r.IntN(76))))
	case s.Type == "number":
		return pick(r, "0", "1", "0.5", "5.0", "5", "0.0001", "4.9999", "5e-1", "0.05E2", "-0", s.Maximum.String())
	case s.Type == "boolean":
		return pick(r, "true", "false")
	case s.Type == "object":
		var notes []string
		for i := range r.IntN(s.MaxProperties + 1) {
			notes = append(notes, fmt.Sprintf("%q:%s", fmt.Sprint("note", i), quoted(text(r, r.IntN(65)))))
		}
		return "{" + strings.Join(notes, ",") + "}"
	}
	if strings.HasSuffix(name, "ChainId") && r.IntN(2) == 0 {
		return quoted(pick(r, "ethereum", "bitcoin", "solana"))
	}
	return quoted(text(r, pickInt(r, s.MinLength, s.MaxLength, s.MinLength+r.IntN(s.MaxLength-s.MinLength+1))))
}

// bad is a value that it does not take; an empty one is none at all.
func bad(r *rand.Rand, s schema) string {
	wrongs := []string{"null", "[]", "[1]"}
	switch {
	case len(s.Enum) > 0:
		wrongs = append(wrongs, `"both"`, `""`, "1", "{}")
	case s.Pattern != "":
		wrongs = append(wrongs, `""`, `"01"`, `"-1"`, `"1e3"`, `"1.5"`, "1", quoted(strings.Repeat("9", 79)), "{}")
	case s.Type == "number":
		wrongs = append(wrongs, "-1", "10.0001", "5.00001", "1e3", `"1"`, "true", "{}")
	case s.Type == "boolean":
		wrongs = append(wrongs, "0", `"true"`, "{}")
	case s.Type == "object":
		wrongs = append(wrongs, `{"a":1}`, `{"a":null}`, `{"":"x"}`, `{"a":{}}`, `{"a":"1","b":"1","c":"1","d":"1","e":"1","f":"1"}`, quoted("x"), `{"a":`+quoted(text(r, 65))+`}`, "7")
	default:
		wrongs = append(wrongs, "1", "true", "{}", `""`, quoted(text(r, s.MaxLength+1)))
	}
	return pick(r, wrongs...)
}

func pickInt(r *rand.Rand, of ...int) int { return of[r.IntN(len(of))] }

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// text is n characters of several alphabets.
func text(r *rand.Rand, n int) string {
	alphabet := []rune("abcXYZ019-_ .é漢😀")
	out := make([]rune, n)
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(out)
}
