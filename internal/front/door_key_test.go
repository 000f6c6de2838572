package front_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

// The ways to write the name of a parameter.
var spellings = []struct {
	name  string
	write func(string) string
}{
	{"plain", url.QueryEscape},
	{"upper", func(s string) string { return url.QueryEscape(strings.ToUpper(s)) }},
	{"lower", func(s string) string { return url.QueryEscape(strings.ToLower(s)) }},
	{"escaped", escaped},
	{"escaped twice", func(s string) string { return strings.ReplaceAll(escaped(s), "%", "%25") }},
	{"half escaped", func(s string) string { return escaped(s[:1]) + url.QueryEscape(s[1:]) }},
}

func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02x", s[i])
	}
	return b.String()
}

// keyNames are what people call a key in a query.
var keyNames = []string{
	"X-Integrator-Key", "x_integrator_key", "integratorKey", "integrator.key", "X-API-Key", "apiKey", "api_key", "api[key]", "key", "key[]", "access_key", "token", "X Integrator Key",
}

func TestKeysInTheQuery(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		c := r.company(t, office.Patch{})
		var cases []doorCase
		add := func(name string, req request) {
			cases = append(cases, doorCase{name: name, req: req, status: 401, code: "key_in_query", header: noAllowance})
		}
		for _, n := range keyNames {
			for _, s := range spellings {
				add("A01 "+s.name+" "+n, request{Path: "/v2/chains?" + s.write(n) + "=" + c.Server.Text})
			}
			add("A01 without a value "+n, request{Path: "/v2/chains?" + url.QueryEscape(n)})
			add("A01 behind another parameter "+n, request{Path: "/v2/tokens?limit=1&" + url.QueryEscape(n) + "=x"})
			add("A01 beside a good header "+n, request{Path: "/v2/integrator/me?" + url.QueryEscape(n) + "=x", Header: c.Server.header()})
			add("A02 behind a semicolon "+n, request{Path: "/v2/chains?a=1;" + url.QueryEscape(n) + "=s"})
			add("A02 behind a broken escape "+n, request{Path: "/v2/chains?a=%zz&" + url.QueryEscape(n) + "=s"})
		}
		for name, query := range map[string]string{
			"under any name": "foo=" + c.Server.Text, "a public one": "foo=" + c.Public.Text, "as a name": c.Server.Text, "escaped": "foo=" + escaped(c.Server.Text),
			"escaped twice": "foo=" + strings.ReplaceAll(escaped(c.Server.Text), "%", "%25"), "inside a text": "foo=before" + c.Server.Text + "after",
			"behind a semicolon": "a=1;foo=" + c.Server.Text, "behind a broken escape": "foo=%zz" + c.Server.Text, "as a cursor": "cursor=" + c.Server.Text,
		} {
			add("A03 a key "+name, request{Path: "/v2/tokens?" + query})
		}
		upgrade := map[string][]string{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-WebSocket-Version": {"13"}, "Sec-WebSocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}}
		add("A03 in the URL of an upgrade", request{Path: "/v2/status?foo=" + c.Server.Text, Header: upgrade})
		broken := []byte(c.Server.Text)
		broken[len(broken)-1] ^= 1
		cases = append(cases,
			doorCase{name: "A03 what only looks like a key is a parameter", req: request{Path: "/v2/chains?foo=" + string(broken)}, status: 400, code: "unknown_parameter"},
			doorCase{name: "A01 a name that only ends like a key", req: request{Path: "/v2/chains?monkey=1"}, status: 400, code: "unknown_parameter"},
			doorCase{
				name:   "A01 a parameter of the row that only begins like a key",
				req:    request{Path: "/v2/integrator/orders?keyId=" + string(c.Server.ID), Header: c.Server.header()},
				status: 200, header: map[string]string{"Access-Control-Allow-Origin": ""},
			})
		cases = append(cases, r.everywhere("A04 named", func(_ *api.Operation, req request) (doorCase, bool) {
			return doorCase{req: req.asking("apiKey=" + c.Server.Text).with(c.Server.header()), status: 401, code: "key_in_query", header: noAllowance}, true
		})...)
		cases = append(cases, r.everywhere("A04 under any name", func(_ *api.Operation, req request) (doorCase, bool) {
			return doorCase{req: req.asking("x=" + c.Public.Text), status: 401, code: "key_in_query", header: noAllowance}, true
		})...)
		t.Run("cases", func(t *testing.T) { r.table(t, cases) })
		t.Run("A03 the operator is told whose key it was", func(t *testing.T) {
			wants(t, r, access.Notice{Sight: access.KeyInURL, Key: c.Server.ID, Integrator: c.ID})
		})
		t.Run("A05 the log has no key", func(t *testing.T) {
			if err := r.log.leaked(); err != nil {
				t.Error(err)
			}
		})
	})
}

func wants(t *testing.T, r *rig, n access.Notice) {
	t.Helper()
	for _, seen := range r.seen() {
		if seen == n {
			return
		}
	}
	t.Errorf("the operator was not told of %+v", n)
}

// unknownKey has the form of a key and was never issued.
func unknownKey(t *testing.T, kind integrator.Kind) key {
	t.Helper()
	text, err := integrator.Mint(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key{Text: text.Reveal()}
}

func TestKeysInHeaders(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		c := r.company(t, office.Patch{Limits: unlimited})
		other := r.company(t, office.Patch{Limits: unlimited})
		bad := map[string]map[string][]string{
			"A07 two different keys":      {"X-Integrator-Key": {c.Server.Text}, "X-API-Key": {other.Server.Text}},
			"A08 one key twice":           {"X-Integrator-Key": {c.Server.Text, c.Server.Text}},
			"A08 two in one header":       {"X-Integrator-Key": {c.Server.Text, other.Server.Text}},
			"A08 the alias twice":         {"X-API-Key": {c.Server.Text, c.Server.Text}},
			"A09 an empty key":            {"X-Integrator-Key": {""}},
			"A09 an empty alias":          {"X-API-Key": {""}},
			"A13 an unknown server key":   unknownKey(t, integrator.Server).header(),
			"A13 an unknown public key":   unknownKey(t, integrator.Public).header(),
			"A12 a wrong checksum":        {"X-Integrator-Key": {c.Server.Text[:len(c.Server.Text)-1] + "!"}},
			"A12 the other kind's prefix": {"X-Integrator-Key": {"pk" + c.Server.Text[2:]}},
		}
		var cases []doorCase
		for name, header := range bad {
			cases = append(cases, r.everywhere(name, func(o *api.Operation, req request) (doorCase, bool) {
				return keyless(o, doorCase{req: req.with(header), status: 401, code: "invalid_key", header: noAllowance}), true
			})...)
		}
		cases = append(cases, oddKeys(c, other)...)
		cases = append(cases, r.everywhere("A19 no key", func(o *api.Operation, req request) (doorCase, bool) {
			return doorCase{req: req, status: 401, code: "key_required", header: noAllowance}, o.Hidden
		})...)
		cases = append(cases, r.everywhere("A20 a public key that forwards", func(o *api.Operation, req request) (doorCase, bool) {
			code := "forwarding_not_allowed"
			if o.Hidden {
				code = "server_key_required"
			}
			return keyless(o, doorCase{req: req.with(forUser(c.Public, "198.51.100.1")), status: 403, code: code, header: noAllowance}), true
		})...)
		r.table(t, cases)
	})
}

// keyless is the case on a row that looks at no key, and so refuses none.
func keyless(o *api.Operation, c doorCase) doorCase {
	if o.Key == api.NoKey {
		c.status, c.code = 200, ""
	}
	return c
}

var unlimited = office.Limits{Requests: new(int64), Quotes: new(int64), Creates: new(int64), OpenOrders: new(int64)}

// oddKeys are keys in forms that a header may have.
func oddKeys(c, other company) []doorCase {
	me := func(name string, header map[string][]string, status int, code string) doorCase {
		return doorCase{name: name, req: request{Path: "/v2/integrator/me", Header: header}, status: status, code: code}
	}
	k := c.Server.Text
	return []doorCase{
		me("A06 both headers, equal", map[string][]string{"X-Integrator-Key": {k}, "X-API-Key": {k}}, 200, ""),
		me("A06 the alias alone", map[string][]string{"X-API-Key": {k}}, 200, ""),
		me("A06 names in any case", map[string][]string{"x-integrator-KEY": {k}}, 200, ""),
		me("A07 a good key and an empty alias", map[string][]string{"X-Integrator-Key": {k}, "X-API-Key": {""}}, 401, "invalid_key"),
		me("A07 an empty key and a good alias", map[string][]string{"X-Integrator-Key": {""}, "X-API-Key": {k}}, 401, "invalid_key"),
		me("A07 a server key and a public alias", map[string][]string{"X-Integrator-Key": {k}, "X-API-Key": {c.Public.Text}}, 401, "invalid_key"),
		me("A08 two keys in one line", map[string][]string{"X-Integrator-Key": {k + "," + other.Server.Text}}, 401, "invalid_key"),
		me("A08 the same name in two cases", map[string][]string{"X-Integrator-Key": {k}, "x-integrator-key": {k}}, 401, "invalid_key"),
		me("A10 underscores are no key", map[string][]string{"X_Integrator_Key": {k}}, 401, "key_required"),
		me("A10 underscores beside a key", map[string][]string{"X_Integrator_Key": {other.Server.Text}, "X-Integrator-Key": {k}}, 200, ""),
		me("A10 Authorization is no key", map[string][]string{"Authorization": {"Bearer " + k}}, 401, "key_required"),
		me("A10 a cookie is no key", map[string][]string{"Cookie": {"X-Integrator-Key=" + k}}, 401, "key_required"),
		me("A11 blanks around it", map[string][]string{"X-Integrator-Key": {" \t" + k + "\t "}}, 200, ""),
		me("A11 a blank inside", map[string][]string{"X-Integrator-Key": {k[:20] + " " + k[20:]}}, 401, "invalid_key"),
		me("A11 letters of another script", map[string][]string{"X-Integrator-Key": {"ключ"}}, 401, "invalid_key"),
		me("A11 bytes that are no text", map[string][]string{"X-Integrator-Key": {"\xff\xfe"}}, 401, "invalid_key"),
		me("A11 a NUL", map[string][]string{"X-Integrator-Key": {k + "\x00"}}, 400, "malformed_request"),
		me("A11 a key of 16 KiB", map[string][]string{"X-Integrator-Key": {strings.Repeat("k", 16<<10)}}, 401, "invalid_key"),
		me("A11 a key of 64 KiB", map[string][]string{"X-Integrator-Key": {strings.Repeat("k", 64<<10)}}, 431, "headers_too_large"),
		me("A12 a letter more", map[string][]string{"X-Integrator-Key": {k + "A"}}, 401, "invalid_key"),
		me("A12 a letter less", map[string][]string{"X-Integrator-Key": {k[:len(k)-1]}}, 401, "invalid_key"),
		me("A12 another prefix", map[string][]string{"X-Integrator-Key": {"zz" + k[2:]}}, 401, "invalid_key"),
		me("A12 an upper-case prefix", map[string][]string{"X-Integrator-Key": {"SK" + k[2:]}}, 401, "invalid_key"),
		me("A12 its hint", map[string][]string{"X-Integrator-Key": {c.Server.Hint}}, 401, "invalid_key"),
		me("A12 its id", map[string][]string{"X-Integrator-Key": {string(c.Server.ID)}}, 401, "invalid_key"),
	}
}

func TestReportsAreForServerKeys(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		c := r.company(t, office.Patch{})
		var cases []doorCase
		add := func(name, method, path string, status int, code string) {
			cases = append(cases, doorCase{
				name: "A18 " + name + " " + method + " " + path, req: request{Method: method, Path: path, Header: c.Public.header()}, status: status, code: code,
				header: noAllowance,
			})
		}
		for _, m := range []string{http.MethodGet, http.MethodHead} {
			for _, p := range []string{"/v2/integrator/me", "/v2/integrator/orders", "/v2/integrator/docs"} {
				add("plain", m, p, 403, "server_key_required")
				add("with a query", m, p+"?limit=x", 403, "server_key_required")
				add("a letter escaped", m, strings.Replace(p, "integrator", "%69ntegrator", 1), 403, "server_key_required")
				add("all escaped", m, "/"+escaped(p[1:]), 403, "server_key_required")
				add("doubled slash before", m, "/"+p, 404, "route_not_found")
				add("doubled slash inside", m, strings.Replace(p, "/integrator", "//integrator", 1), 404, "route_not_found")
				add("slash behind", m, p+"/", 404, "route_not_found")
				add("dots", m, strings.Replace(p, "/integrator", "/x/../integrator", 1), 404, "route_not_found")
				add("upper case", m, strings.ToUpper(p), 404, "route_not_found")
			}
		}
		for _, m := range []string{"POST", "PUT", "PATCH", "DELETE", "TRACE", "MADEUP"} {
			cases = append(cases, doorCase{
				name: "A18 another method " + m, req: request{Method: m, Path: "/v2/integrator/me", Header: c.Public.header()}, status: 405, code: "method_not_allowed",
				header: map[string]string{"Allow": "GET, HEAD, OPTIONS", "Access-Control-Allow-Origin": ""},
			})
		}
		cases = append(cases, doorCase{
			name: "A18 a browser may not ask", req: request{Method: "OPTIONS", Path: "/v2/integrator/me", Header: map[string][]string{"Origin": {"https://a.example"}, "Access-Control-Request-Method": {"GET"}}},
			status: 204, header: map[string]string{"Allow": "GET, HEAD, OPTIONS", "Access-Control-Allow-Origin": "", "Access-Control-Allow-Methods": ""},
		}, doorCase{
			name: "A22 what is no upgrade is no live connection", req: request{Path: "/v2/ws", Header: c.Server.header()}, status: 426, code: "upgrade_required",
		})
		r.table(t, cases)
	})
}

func TestKeysThatEnd(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		c := r.company(t, office.Patch{Limits: unlimited})
		gone := r.issue(t, c.ID, office.NewKey{Kind: integrator.Server})
		goneToo := r.issue(t, c.ID, office.NewKey{Kind: integrator.Public})
		r.known(t, goneToo)
		for _, k := range []key{gone, goneToo} {
			if _, err := r.Front.Office.RevokeKey(t.Context(), k.ID, operator); err != nil {
				t.Fatal(err)
			}
		}
		r.within(t, "A14 revoked", goneToo, "key_revoked")
		off := r.company(t, office.Patch{Limits: unlimited})
		if _, err := r.Front.Office.Suspend(t.Context(), off.ID, operator); err != nil {
			t.Fatal(err)
		}
		r.within(t, "A17 suspended", off.Public, "integration_suspended")
		var cases []doorCase
		for _, k := range []struct {
			name, code string
			key        key
		}{
			{"A14 a revoked server key", "key_revoked", gone},
			{"A14 a revoked public key", "key_revoked", goneToo},
			{"A17 a suspended server key", "integration_suspended", off.Server},
			{"A17 a suspended public key", "integration_suspended", off.Public},
		} {
			cases = append(cases, r.everywhere(k.name, func(o *api.Operation, req request) (doorCase, bool) {
				return keyless(o, doorCase{req: req.with(k.key.header()), status: 401, code: k.code, header: noAllowance}), true
			})...)
		}
		cases = append(cases,
			doorCase{name: "A14 the other key still opens", req: request{Path: "/v2/integrator/me", Header: c.Server.header()}, status: 200},
			doorCase{name: "A17 others are not suspended", req: request{Path: "/v2/chains", Header: c.Public.header()}, status: 200})
		t.Run("cases", func(t *testing.T) { r.table(t, cases) })
		t.Run("A16 resumed", func(t *testing.T) {
			if _, err := r.Front.Office.Resume(t.Context(), off.ID, operator); err != nil {
				t.Fatal(err)
			}
			r.within(t, "A16 resumed", off.Public, isKnown)
			r.do(t, request{Path: "/v2/integrator/me", Header: off.Server.header()}).want(t, 200, "")
		})
		t.Run("A21 a public key stays one", func(t *testing.T) { convert(t, r, off) })
		t.Run("A16 a new key", func(t *testing.T) {
			k := r.issue(t, off.ID, office.NewKey{Kind: integrator.Server})
			r.within(t, "A16 a new key", k, isKnown)
		})
		t.Run("A13 every refused key is answered alike", func(t *testing.T) { alike(t, r, unknownKey(t, integrator.Server), gone, goneToo) })
	})
}

// TestWhatAnOperatorDidIsInForceAtOnce: the register is asked so rarely by itself that
// a key that is known or refused within seconds was heard of otherwise.
func TestWhatAnOperatorDidIsInForceAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, overSQLite, setup{change: func(c *front.Config) { c.Access.Every, c.Access.Stale = 50*time.Second, 55*time.Second }})
	c := r.company(t, office.Patch{Limits: unlimited})
	for _, step := range []struct {
		name, code string
		do         func() error
	}{
		{"suspended", "integration_suspended", func() error { _, err := r.Front.Office.Suspend(t.Context(), c.ID, operator); return err }},
		{"resumed", isKnown, func() error { _, err := r.Front.Office.Resume(t.Context(), c.ID, operator); return err }},
		{"revoked", "key_revoked", func() error { _, err := r.Front.Office.RevokeKey(t.Context(), c.Public.ID, operator); return err }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		r.within(t, step.name, c.Public, step.code)
	}
}

// soon is within which a change of a key must be in force: the promise is a minute.
const soon = 5 * time.Second

// within waits until a key is answered so, which must be soon.
func (r *rig) within(t *testing.T, what string, k key, code string) {
	t.Helper()
	began := time.Now()
	wait(t, what, func() bool { return r.probe(t, k).Code == code })
	if took := time.Since(began); took > soon {
		t.Errorf("%s took %s, want at most %s", what, took, soon)
	}
}

// alike fails the test if refused keys can be told apart by anything but their code.
func alike(t *testing.T, r *rig, keys ...key) {
	t.Helper()
	var first []string
	for _, k := range keys {
		a := r.do(t, request{Path: "/v2/chains", Header: k.header()})
		var names []string
		for name := range a.Header {
			names = append(names, name)
		}
		got := fmt.Sprint(a.Status, a.Header.Get("WWW-Authenticate"), len(names))
		if first = append(first, got); first[0] != got {
			t.Errorf("one is answered %s, another %s", first[0], got)
		}
	}
}

// convert tries to make a public key a server key, which nothing does: another is
// issued.
func convert(t *testing.T, r *rig, c company) {
	t.Helper()
	for _, ask := range []struct{ method, path string }{
		{"PATCH", "/admin/v1/keys/" + string(c.Public.ID)},
		{"PUT", "/admin/v1/keys/" + string(c.Public.ID)},
		{"PATCH", "/admin/v1/integrators/" + string(c.ID) + "/keys/" + string(c.Public.ID)},
		{"PUT", "/admin/v1/integrators/" + string(c.ID) + "/keys/" + string(c.Public.ID)},
	} {
		req, err := http.NewRequestWithContext(t.Context(), ask.method, r.Card.OperatorAPI+ask.path, strings.NewReader(`{"kind":"server"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+r.Card.OperatorToken)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s %s answers %d", ask.method, ask.path, resp.StatusCode)
		}
	}
	r.settled(t)
	r.do(t, request{Path: "/v2/integrator/me", Header: c.Public.header()}).want(t, 403, "server_key_required")
}
