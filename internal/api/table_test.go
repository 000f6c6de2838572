package api_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ferry/internal/api"
	"ferry/internal/api/wire"
)

// place fills the values of a template in.
func place(o api.Operation) string {
	return strings.NewReplacer("{thingId}", "thi_1", "{how}", "none").Replace(o.Path)
}

// What the table promises of every row holds on the wire.
func TestEveryRowKeepsThePromisesOfTheDoor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	known := map[string]map[string]bool{}
	for _, o := range r.door.Rows() {
		if known[o.Path] == nil {
			known[o.Path] = map[string]bool{"OPTIONS": true}
		}
		known[o.Path][o.Method] = true
		if o.Method == "GET" {
			known[o.Path]["HEAD"] = true
		}
	}
	for _, o := range r.door.Rows() {
		path := place(o)
		key := "X-Integrator-Key: " + serverKey
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"} {
			if known[o.Path][method] {
				continue
			}
			got := r.do(method, path, "", key)
			if got.StatusCode != 405 || got.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s: got %d", method, path, got.StatusCode)
			}
			for m := range known[o.Path] {
				if !strings.Contains(", "+got.Header.Get("Allow")+",", ", "+m+",") {
					t.Errorf("%s: Allow is %q and lacks %s", path, got.Header.Get("Allow"), m)
				}
			}
		}
		if got := r.do(o.Method, path+"?noSuchThing=1", "", key); got.code() != "unknown_parameter" {
			t.Errorf("%s %s: an unknown parameter gives %d %s", o.Method, path, got.StatusCode, got.body)
		}
		if got := r.do(o.Method, path+"?apiKey=x", "", key); got.code() != "key_in_query" {
			t.Errorf("%s %s: a key in the query gives %d %s", o.Method, path, got.StatusCode, got.body)
		}
		if got := r.do(o.Method, path, "", "X-Integrator-Key: wrong"); o.Key != api.NoKey && got.code() != "invalid_key" {
			t.Errorf("%s %s: a wrong key gives %d %s", o.Method, path, got.StatusCode, got.body)
		}
		crossOrigin(t, r, o)
		if o.Method == "GET" {
			headOf(t, r, path, key)
		}
	}
}

// A68: browsers may read what is public, without credentials, and nothing else.
func crossOrigin(t *testing.T, r *rig, o api.Operation) {
	t.Helper()
	hidden := strings.HasPrefix(o.Path, "/v2/integrator/")
	for _, got := range []reply{
		r.do(o.Method, place(o), "", "Origin: https://app.example"),
		r.do("OPTIONS", place(o), "", "Origin: https://app.example", "Access-Control-Request-Method: "+o.Method),
	} {
		origin := got.Header.Get("Access-Control-Allow-Origin")
		if hidden && (origin != "" || got.Header.Get("Access-Control-Allow-Methods") != "") || !hidden && origin != "*" {
			t.Errorf("%s %s: Access-Control-Allow-Origin is %q", o.Method, o.Path, origin)
		}
		if got.Request.Method == "OPTIONS" && (got.StatusCode != 204 || got.Header.Get("Allow") == "" ||
			!hidden && !strings.Contains(got.Header.Get("Access-Control-Allow-Headers"), "X-Session-ID")) {
			t.Errorf("OPTIONS %s: got %d %v", o.Path, got.StatusCode, got.Header)
		}
	}
}

func headOf(t *testing.T, r *rig, path, key string) {
	t.Helper()
	get, head := r.do("GET", path, "", key), r.do("HEAD", path, "", key)
	if head.StatusCode != get.StatusCode || len(head.body) != 0 || head.ContentLength != int64(len(get.body)) {
		t.Errorf("HEAD %s: got %d and %d bytes, GET %d and %d", path, head.StatusCode, head.ContentLength, get.StatusCode, len(get.body))
	}
}

func TestTablesThatCannotBeServedAreRefused(t *testing.T) {
	t.Parallel()
	sound := func() api.Operation {
		return api.Operation{
			ID: "getX", Method: "GET", Path: "/v2/x", Summary: "x", Tag: "orders", Key: api.OptionalKey, Spends: api.Requests,
			Do: func(*api.Call) (any, error) { return nil, nil },
		}
	}
	make := func(rows ...api.Operation) error {
		_, err := api.New(api.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, api.Ports{Admitter: &gate{}, Limiter: &purse{}}, rows)
		return err
	}
	if err := make(sound()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*api.Operation){
		"no id":                       func(o *api.Operation) { o.ID = "" },
		"an id of the door's own":     func(o *api.Operation) { o.ID = "getHealth" },
		"a path of the door's own":    func(o *api.Operation) { o.Path = "/v2/health" },
		"no method":                   func(o *api.Operation) { o.Method = "HEAD" },
		"a trailing slash":            func(o *api.Operation) { o.Path = "/v2/x/" },
		"nothing to do":               func(o *api.Operation) { o.Do = nil },
		"a body on GET":               func(o *api.Operation) { o.In = thingAsk{} },
		"no summary":                  func(o *api.Operation) { o.Summary = "" },
		"a tag nobody knows":          func(o *api.Operation) { o.Tag = "Orders" },
		"a form that is JSON":         func(o *api.Operation) { o.Out, o.Forms = thing{}, []api.Form{{Media: "application/json"}} },
		"a form without an answer":    func(o *api.Operation) { o.Forms = []api.Form{{Media: "text/csv"}} },
		"hidden and public":           func(o *api.Operation) { o.Hidden = true },
		"integrator and not hidden":   func(o *api.Operation) { o.Path = "/v2/integrator/x" },
		"hidden without a server key": func(o *api.Operation) { o.Path, o.Hidden = "/v2/integrator/x", true },
		"cached and private":          func(o *api.Operation) { o.Cache, o.Proof = time.Minute, api.ReadProof },
		"a key that spends nothing":   func(o *api.Operation) { o.Spends = 0 },
		"a quote that is no request":  func(o *api.Operation) { o.Spends = api.Quotes },
		"a code nobody knows":         func(o *api.Operation) { o.Codes = []string{"no_such"} },
		"an answer that is no wire":   func(o *api.Operation) { o.Out = struct{ A float64 }{} },
		"too many values":             func(o *api.Operation) { o.Path = "/v2/{a}/{b}/{c}/{d}/{e}" },
		"a parameter given twice": func(o *api.Operation) {
			o.Query = []api.Param{{Name: "a", Kind: api.TextParam}, {Name: "a", Kind: api.TextParam}}
		},
		"a parameter without a kind":   func(o *api.Operation) { o.Query = []api.Param{{Name: "a"}} },
		"a parameter that is a proof":  func(o *api.Operation) { o.Query = []api.Param{{Name: "verify", Kind: api.TextParam}} },
		"a parameter that is a secret": func(o *api.Operation) { o.Query = []api.Param{{Name: "sessionId", Kind: api.TextParam}} },
	} {
		o := sound()
		change(&o)
		if err := make(o); err == nil {
			t.Errorf("%s: the table was taken", name)
		}
	}
	if _, err := api.New(api.Config{}, api.Ports{}, nil); err == nil {
		t.Error("a door without rooms behind it was made")
	}
}

func TestMatcherPrefersWhatIsWritten(t *testing.T) {
	t.Parallel()
	var rows []api.Operation
	for _, path := range []string{"/v2/a/{x}", "/v2/a/b", "/v2/a/{x}/c", "/v2/a/b/{y}", "/v2/{z}/b/{y}", "/v2/a/{x}/{y}"} {
		rows = append(rows, api.Operation{Method: "GET", Path: path})
	}
	for path, want := range map[string]string{
		"/v2/a/b": "/v2/a/b[]", "/v2/a/q": "/v2/a/{x}[q]", "/v2/a/b/c": "/v2/a/b/{y}[c]", "/v2/a/q/c": "/v2/a/{x}/c[q]",
		"/v2/a/q/r": "/v2/a/{x}/{y}[q r]", "/v2/q/b/r": "/v2/{z}/b/{y}[q r]", "/v2/a//c": "[]", "/v2/a/": "[]", "": "[]", "*": "[]", "v2/a/b": "[]", "/v2/a/..": "/v2/a/{x}[..]",
	} {
		template, values := api.Find(rows, path)
		if got := fmt.Sprintf("%s%v", template, values); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}

func FuzzMatcher(f *testing.F) {
	for _, s := range []string{"/v2/things", "/v2/things/x", "/v2/things/x/stop", "//", "/v2/things//stop", "", "/", "/v2/things/\x00", "/v2/integrator/stuff"} {
		f.Add(s)
	}
	table := rows()
	f.Fuzz(func(t *testing.T, path string) {
		template, values := api.Find(table, path)
		if template == "" {
			return
		}
		// Putting the values back must give the very path: nothing was cleaned away.
		back := template
		for _, v := range values {
			begin, end := strings.Index(back, "{"), strings.Index(back, "}")
			if v == "" || strings.Contains(v, "/") {
				t.Fatalf("%q gives the value %q", path, v)
			}
			if begin < 0 {
				t.Fatalf("%q gives more values than %s has", path, template)
			}
			back = back[:begin] + "\x01" + back[end+1:]
		}
		for _, v := range values {
			back = strings.Replace(back, "\x01", v, 1)
		}
		if back != path && !strings.Contains(path, "\x01") {
			t.Fatalf("%q was matched as %q", path, back)
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"limit=3", "a=1;sessionId=x", "cursor=%zz", "cursor=%73es_", "&&", "limit=3&limit=4", "verify=1", "sort=up&featured=true", "=", "%"} {
		f.Add(s)
	}
	row := rows()[1]
	f.Fuzz(func(t *testing.T, raw string) {
		pairs, err := api.ReadQuery(raw, &row)
		if err != nil {
			return
		}
		// Whatever is accepted is what the standard library reads too, each name once.
		want, err := url.ParseQuery(strings.ReplaceAll(raw, ";", "&"))
		if err != nil {
			t.Fatalf("%q was accepted: %v", raw, err)
		}
		delete(want, "")
		if len(want) != len(pairs) {
			t.Fatalf("%q: got %v, want %v", raw, pairs, want)
		}
		for _, p := range pairs {
			if v := want[p[0]]; len(v) != 1 || v[0] != p[1] || strings.Contains(strings.ToLower(p[0]), "session") {
				t.Fatalf("%q: got %v, want %v", raw, pairs, want)
			}
		}
	})
}

// Every refusal that any room behind the door can speak is in the catalogue, so none
// becomes a 500. What operators are told is not of this door.
func TestEveryFaultOfTheTreeIsInTheCatalogue(t *testing.T) {
	t.Parallel()
	found := 0
	operators := regexp.MustCompile(`internal/(office|api/operator)/`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || operators.MatchString(filepath.ToSlash(path)) {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			code, ok := faultCode(n)
			if !ok {
				return true
			}
			found++
			if _, known := wire.CodeOf(code); !known && !slices.Contains(wire.SocketCodes, code) {
				t.Errorf("%s: the code %q is not in the catalogue of internal/api/wire", path, code)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 10 {
		t.Errorf("only %d faults were found", found)
	}
}

// faultCode is the code of a call fault.New(kind, "code", …).
func faultCode(n ast.Node) (string, bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) < 3 {
		return "", false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "New" {
		return "", false
	}
	if x, ok := sel.X.(*ast.Ident); !ok || x.Name != "fault" {
		return "", false
	}
	lit, ok := call.Args[1].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	code, err := strconv.Unquote(lit.Value)
	return code, err == nil
}

func TestAddressesInWhatTheServerComplainsOfAreNotLogged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	to := api.ConnectionLog(r.door)
	to.Printf("error when serving connection %q<->%q: %v", "127.0.0.1:80", "203.0.113.7:5000", "boom")
	to.Printf("weird %s", "203.0.113.7")
	to.Printf("Temporary error when accepting new connections: %s", "accept tcp: too many open files")
	logs := r.logs.String()
	if strings.Contains(logs, "203.0.113.7") || !strings.Contains(logs, "too many open files") || strings.Count(logs, "\n") != 1 {
		t.Errorf("got %s", logs)
	}
}

func TestCachedAnswersHaveTagsAndAreNotSentTwice(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{"/v2/docs", "/v2/asyncapi", "/v2/errors", "/v2/version", "/v2/things", "/docs", "/docs/live", "/docs/live.css", "/docs/live.js", "/docs/start.js", "/docs/reference.js"} {
		first := r.do("GET", path, "")
		tag := first.Header.Get("ETag")
		if first.StatusCode != 200 || !strings.HasPrefix(tag, `"`) || !strings.HasPrefix(first.Header.Get("Cache-Control"), "public, max-age=") {
			t.Errorf("%s: got %d %v", path, first.StatusCode, first.Header)
		}
		for _, match := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			again := r.do("GET", path, "", "If-None-Match: "+match)
			if again.StatusCode != 304 || len(again.body) != 0 || again.Header.Get("ETag") != tag {
				t.Errorf("%s with %s: got %d and %d bytes", path, match, again.StatusCode, len(again.body))
			}
		}
		if other := r.do("GET", path, "", `If-None-Match: "other"`); other.StatusCode != 200 || !bytes.Equal(other.body, first.body) {
			t.Errorf("%s with another tag: got %d", path, other.StatusCode)
		}
	}
	if got := r.do("GET", "/v2/integrator/docs", "", "X-Integrator-Key: "+serverKey, "If-None-Match: *"); got.StatusCode != http.StatusOK || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a private answer is cached: %d %v", got.StatusCode, got.Header)
	}
}
