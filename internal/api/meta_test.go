package api_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"ferry/internal/api/contract/contracttest"
	"ferry/internal/api/wire"
)

// doc is a contract as JSON.
func doc(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// at follows names down a document.
func at(t *testing.T, v any, path ...string) any {
	t.Helper()
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok || m[name] == nil {
			t.Fatalf("the document has no %v", path)
		}
		v = m[name]
	}
	return v
}

// walk visits every value below v.
func walk(v any, path string, visit func(path string, m map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(path, v)
		for name, below := range v {
			walk(below, path+"/"+name, visit)
		}
	case []any:
		for _, below := range v {
			walk(below, path+"/*", visit)
		}
	}
}

func TestTheContractIsServedAsItIsBuilt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.do("GET", "/v2/docs", "")
	if !bytes.Equal(got.body, r.door.Contract().JSON) || got.Header.Get("Content-Type") != "application/json" {
		t.Error("what is served is not what was built")
	}
	var v wire.Version
	if err := json.Unmarshal(r.do("GET", "/v2/version", "").body, &v); err != nil {
		t.Fatal(err)
	}
	if live := r.do("GET", "/v2/asyncapi", ""); !bytes.Equal(live.body, r.door.Live().JSON) || live.Header.Get("ETag") != `"`+v.Contracts.AsyncAPI+`"` || v.Contracts.AsyncAPI != r.door.Live().Hash {
		t.Errorf("the contract of the live socket is not what was built: %v", live.Header)
	}
	if v.Contracts.OpenAPI != r.door.Contract().Hash || v.Version != "1.2.3" || v.Revision != "abc" || len(v.RetiredFields) != len(wire.Retired()) {
		t.Errorf("got %+v", v)
	}
	var c wire.Catalogue
	if err := json.Unmarshal(r.do("GET", "/v2/errors", "").body, &c); err != nil || !reflect.DeepEqual(c.Errors, wire.Codes()) || len(c.FailureCodes) != 19 {
		t.Errorf("got %v, %v", c, err)
	}
}

// The specification keeps reporting out of the public contract: no path, no schema,
// no word of it.
func TestHiddenRowsLeakNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, body := range [][]byte{r.door.Contract().JSON, r.do("GET", "/v2/errors", "").body, r.do("GET", "/docs", "").body, r.door.Live().JSON, r.do("GET", "/docs/live", "").body} {
		for _, word := range []string{"/v2/integrator", "hushHush", "secretStuff", "getSecretStuff", "getIntegratorDocs", "Whisper"} {
			if bytes.Contains(body, []byte(word)) {
				t.Errorf("%s is in what everybody may read", word)
			}
		}
	}
	hidden := r.do("GET", "/v2/integrator/docs", "", "X-Integrator-Key: "+serverKey)
	contracttest.New(t, hidden.body)
	for _, word := range []string{"/v2/integrator/stuff", "hushHush", "/v2/integrator/docs"} {
		if !bytes.Contains(hidden.body, []byte(word)) {
			t.Errorf("%s is not in the contract for server keys", word)
		}
	}
	if bytes.Contains(hidden.body, []byte(`"/v2/things"`)) {
		t.Error("the contract for server keys has public rows")
	}
}

func TestTheContractHasEveryRowAndIsSane(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := doc(t, r.door.Contract().JSON)
	if at(t, d, "openapi") != "3.1.0" || at(t, d, "info", "license", "identifier") != "Apache-2.0" || at(t, d, "servers").([]any)[0].(map[string]any)["url"] != "https://ferry.example" {
		t.Error("the head of the document is wrong")
	}
	count := 0
	for _, o := range r.door.Rows() {
		if o.Hidden || !strings.HasPrefix(o.Path, "/v2/") {
			continue
		}
		count++
		op := at(t, d, "paths", o.Path, strings.ToLower(o.Method)).(map[string]any)
		if op["operationId"] != o.ID || op["summary"] == "" || len(op["tags"].([]any)) != 1 || len(op["security"].([]any)) == 0 {
			t.Errorf("%s: got %v", o.ID, op)
		}
		if (op["requestBody"] != nil) != (o.In != nil) {
			t.Errorf("%s: its body is not said", o.ID)
		}
	}
	written := 0
	for _, item := range at(t, d, "paths").(map[string]any) {
		written += len(item.(map[string]any))
	}
	if written != count {
		t.Errorf("%d operations are written and %d are public", written, count)
	}
	var codes []string
	for _, c := range at(t, d, "components", "schemas", "Refusal", "properties", "code", "enum").([]any) {
		codes = append(codes, c.(string))
	}
	if len(codes) != len(wire.Codes()) {
		t.Errorf("%d codes of %d are listed", len(codes), len(wire.Codes()))
	}
	names := at(t, d, "components", "securitySchemes").(map[string]any)
	if at(t, names, "integratorKey", "name") != "X-Integrator-Key" || at(t, names, "session", "name") != "X-Session-ID" {
		t.Errorf("got %v", names)
	}
}

// Requests are closed, answers may grow, and every reference leads somewhere.
func TestOnlyRequestsAreClosed(t *testing.T) {
	t.Parallel()
	d := doc(t, newRig(t).door.Contract().JSON)
	refs := 0
	walk(d, "", func(path string, m map[string]any) {
		if ref, ok := m["$ref"].(string); ok {
			refs++
			at(t, d, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
	})
	if refs < 10 {
		t.Errorf("only %d references were followed", refs)
	}
	closed := 0
	for name, schema := range at(t, d, "components", "schemas").(map[string]any) {
		m := schema.(map[string]any)
		if m["type"] != "object" {
			t.Errorf("%s is no object", name)
		}
		is := m["additionalProperties"] == false
		if is != strings.HasSuffix(name, "Request") {
			t.Errorf("%s: additionalProperties is %v", name, m["additionalProperties"])
		}
		if is {
			closed++
		}
	}
	if closed == 0 {
		t.Error("no request was looked at")
	}
}

// The examples of the contract are what the contract allows.
func TestExamplesAreAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := doc(t, r.door.Contract().JSON)
	tried := 0
	try := func(method, path string, status int, media string, example any) {
		body, err := wire.Bytes(example)
		if err != nil {
			t.Fatal(err)
		}
		tried++
		u := &url.URL{Path: strings.NewReplacer("{", "", "}", "").Replace(path)}
		resp := &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {media}, "X-Request-Id": {"req_1"}}}
		r.check.Check(t, &http.Request{Method: method, URL: u, Header: http.Header{}}, resp, body)
	}
	for path, item := range at(t, d, "paths").(map[string]any) {
		for method, op := range item.(map[string]any) {
			for status, resp := range at(t, op, "responses").(map[string]any) {
				content, _ := resp.(map[string]any)["content"].(map[string]any)
				for media, c := range content {
					m := c.(map[string]any)
					if m["example"] != nil {
						try(strings.ToUpper(method), path, number(t, status), media, m["example"])
					}
					examples, _ := m["examples"].(map[string]any)
					for _, e := range examples {
						try(strings.ToUpper(method), path, number(t, status), media, at(t, e, "value"))
					}
				}
			}
		}
	}
	if tried < 50 {
		t.Errorf("only %d examples were tried", tried)
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n := 0
	for _, c := range text {
		n = n*10 + int(c-'0')
	}
	return n
}

// What the contract says of a request is what the door does with it.
func TestContractAndDoorAgreeOnRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for body, want := range map[string]bool{
		soundThing: true, `{"name":"x","amount":"0","integratorFeePercent":5}`: true, `{"name":"x","amount":"0","integratorFeePercent":0.0001}`: true,
		`{"name":"x"}`: false, `{"name":"x","amount":1}`: false, `{"name":"x","amount":"01"}`: false, `{"name":"","amount":"1"}`: false,
		`{"name":"` + strings.Repeat("é", 20) + `","amount":"1"}`: true, `{"name":"` + strings.Repeat("é", 21) + `","amount":"1"}`: false,
		`{"name":"x","amount":"1","bogus":1}`: false, `{"name":null,"amount":"1"}`: false, `{"name":"x","amount":"1","integratorFeePercent":null}`: false,
		`{"name":"x","amount":"1","integratorFeePercent":5.0001}`: false, `{"name":"x","amount":"1","integratorFeePercent":-1}`: false,
		`[]`: false, `"x"`: false, `{"name":{},"amount":"1"}`: false,
	} {
		req, err := http.NewRequest("POST", r.url+"/v2/things", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if ok, why := r.check.Allows(req); ok != want {
			t.Errorf("%s: the contract says %t%s", body, ok, why)
		}
		if got := r.do("POST", "/v2/things", body); (got.StatusCode == 201) != want {
			t.Errorf("%s: the door says %d %s", body, got.StatusCode, got.body)
		}
	}
}

func TestThePageAsksNobodyElse(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := r.do("GET", "/docs", "")
	policy := page.Header.Get("Content-Security-Policy")
	if page.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "connect-src 'self'") ||
		strings.Contains(policy, "unsafe-eval") || strings.Contains(policy, "http") || bytes.Contains(page.body, []byte("//")) {
		t.Errorf("got %v %s", page.Header, page.body)
	}
	if !bytes.Contains(page.body, []byte(`href="docs/live"`)) {
		t.Error("the page does not lead to that of the live socket")
	}
	zipped := r.do("GET", "/docs/reference.js", "", "Accept-Encoding: br, gzip;q=0.5")
	if zipped.Header.Get("Content-Encoding") != "gzip" || zipped.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("got %v", zipped.Header)
	}
	z, err := gzip.NewReader(bytes.NewReader(zipped.body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	for _, accepted := range []string{"identity", "gzip;q=0"} {
		if plain := r.do("GET", "/docs/reference.js", "", "Accept-Encoding: "+accepted); !bytes.Equal(plain.body, text) || plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: got %d bytes of %d, %v", accepted, len(plain.body), len(text), plain.Header)
		}
	}
	if !bytes.Contains(text, []byte("createApiReference")) || !bytes.Contains(r.do("GET", "/docs/start.js", "").body, []byte("createApiReference")) {
		t.Error("the page does not begin")
	}
}

// The reference of the live socket says what its table says, without a script.
func TestThePageOfTheLiveSocket(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := r.do("GET", "/docs/live", "")
	policy := page.Header.Get("Content-Security-Policy")
	if page.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(policy, "default-src 'none'") ||
		strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("got %v", page.Header)
	}
	for _, want := range []string{
		`href="../docs"`, `href="../v2/asyncapi"`, "wss://ferry.example/v2/ws", "thing.v1", `id="channel-things"`, `id="message-followThing"`, `id="message-thingTold"`,
		`href="#message-thingTold"`, `id="type-thingPart"`, `href="#type-thingPart"`, "Anybody.", "4008", "Read faster.", "16,384", "&lt;b&gt;",
	} {
		if !bytes.Contains(page.body, []byte(want)) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if bytes.Contains(page.body, []byte("<b>")) {
		t.Error("the page takes words of the table for its own")
	}
	for path, media := range map[string]string{"/docs/live.css": "text/css; charset=utf-8", "/docs/live.js": "text/javascript; charset=utf-8"} {
		if got := r.do("GET", path, ""); got.StatusCode != 200 || got.Header.Get("Content-Type") != media || len(got.body) == 0 {
			t.Errorf("%s: got %d %v", path, got.StatusCode, got.Header)
		}
		if name := strings.TrimPrefix(path, "/docs/"); !bytes.Contains(page.body, []byte(`"`+name+`"`)) {
			t.Errorf("the page does not use %s", name)
		}
	}
}
