package api_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"ferry/internal/api"
	"ferry/internal/api/wire"
)

const soundThing = `{"name":"one","amount":"100"}`

func TestARowIsServed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.do("POST", "/v2/things", soundThing)
	if got.StatusCode != 201 || !strings.Contains(string(got.body), `"thingId":"thi_1","name":"one","amount":"100","parent":null,"madeAt":"`) {
		t.Errorf("got %d %s", got.StatusCode, got.body)
	}
	if got.Header.Get("Content-Type") != "application/json" || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("RateLimit") == "" {
		t.Errorf("got %v", got.Header)
	}
	if r.purse.count(api.Requests|api.Creates) != 1 {
		t.Errorf("spent %v", r.purse.spent)
	}
	if remote, _ := r.gate.seen.Load("remote"); remote.(netip.Addr) != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("the remote address is %v", remote)
	}
}

// Which check answers when several would: the first, in this order.
func TestChecksAnswerInTheirOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	long := strings.Repeat("x", wire.MaxBody+1)
	bad := `{"bogus":1}`
	cases := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code                     string
	}{
		{"path before all", "POST", "/v2/nothing?apiKey=x", long, nil, 404, "route_not_found"},
		{"method before the body", "PUT", "/v2/things?apiKey=x", long, nil, 405, "method_not_allowed"},
		{"size before the type", "POST", "/v2/things?apiKey=x", long, []string{"Content-Type: text/plain"}, 413, "payload_too_large"},
		{"type before the key", "POST", "/v2/things?apiKey=x", bad, []string{"Content-Type: text/plain"}, 415, "unsupported_media_type"},
		{"encoding before the key", "POST", "/v2/things?apiKey=x", bad, []string{"Content-Encoding: gzip"}, 415, "unsupported_media_type"},
		{"key in the query before the session in it", "POST", "/v2/things?apiKey=x&sessionId=y", bad, nil, 401, "key_in_query"},
		{"key before the query", "POST", "/v2/things?bogus=1", bad, []string{"X-Integrator-Key: wrong"}, 401, "invalid_key"},
		{"session before unknown parameters", "POST", "/v2/things?bogus=1&sessionId=y", bad, nil, 400, "secret_in_url"},
		{"query before the body", "POST", "/v2/things?bogus=1", bad, nil, 400, "unknown_parameter"},
		{"body", "POST", "/v2/things", bad, nil, 400, "unknown_field"},
		{"session in the URL says nothing of the order", "GET", "/v2/things/none?sessionId=good", "", nil, 400, "secret_in_url"},
		{"no key", "GET", "/v2/integrator/stuff?bogus=1", "", nil, 401, "key_required"},
		{"public key", "GET", "/v2/integrator/stuff?bogus=1", "", []string{"X-Integrator-Key: " + publicKey}, 403, "server_key_required"},
	}
	for _, c := range cases {
		got := r.do(c.method, c.path, c.body, c.headers...)
		if got.StatusCode != c.status || got.code() != c.code {
			t.Errorf("%s: got %d %s", c.name, got.StatusCode, got.body)
		}
	}
}

func TestLimitsAnswerBeforeQueryAndBodyAndAreSpentByRefusals(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.do("POST", "/v2/things?bogus=1", "")
	r.do("POST", "/v2/things", "{broken")
	if r.purse.count(api.Requests|api.Creates) != 2 {
		t.Errorf("refused creations spent %v", r.purse.spent)
	}
	r.purse.empty = true
	got := r.do("POST", "/v2/things?bogus=1", "{broken")
	if got.StatusCode != 429 || got.code() != "rate_limited" || got.Header.Get("Retry-After") != "12" ||
		got.Header.Get("X-RateLimit-Resource") != "ip_requests" || *got.refusal().RetryAfterSeconds != 12 || !got.refusal().Retryable {
		t.Errorf("got %d %v %s", got.StatusCode, got.Header, got.body)
	}
	if got.Header.Get("RateLimit-Policy") == "" {
		t.Error("a refusal does not say which limits there are")
	}
	if got := r.do("GET", "/v2/health", ""); got.StatusCode != 200 || string(got.body) != `{"status":"ok"}` || got.Header.Get("RateLimit") != "" {
		t.Errorf("health is limited: %d %s", got.StatusCode, got.body)
	}
}

func TestCeilingAnswers503AndHealthStillAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(p *api.Ports) { p.Ceiling = full{} })
	if got := r.do("GET", "/v2/version", ""); got.StatusCode != 503 || got.code() != "service_unavailable" || got.Header.Get("Retry-After") != "1" {
		t.Errorf("got %d %s", got.StatusCode, got.body)
	}
	if got := r.do("GET", "/v2/health", ""); got.StatusCode != 200 {
		t.Errorf("health: got %d", got.StatusCode)
	}
}

func TestA18EverySpellingOfAPathMeetsTheSameChecks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for path, status := range map[string]int{
		"/v2/integrator/stuff": 403, "/v2/%69ntegrator/stuff": 403, "/v2/integrator/%73tuff": 403, "/%762/integrator/stuff": 403,
		"//v2/integrator/stuff": 404, "/v2//integrator/stuff": 404, "/v2/integrator/stuff/": 404, "/v2/integrator/./stuff": 404,
		"/v2/x/../integrator/stuff": 404, "/V2/integrator/stuff": 404, "/v2/Integrator/stuff": 404, "/v2/integrator%2Fstuff": 403, "/v2/integrator/stuff%20": 404,
		"/v2/integrator/stuff;x": 404, "/v2/integrator": 404, "/": 404, "/v2": 404, "/v2/": 404, "/v2/integrator/stuff%00": 404,
	} {
		for _, method := range []string{"GET", "HEAD"} {
			got := r.raw(method, path, "X-Integrator-Key: "+publicKey)
			if got.StatusCode != status {
				t.Errorf("%s %s: got %d, want %d", method, path, got.StatusCode, status)
			}
			if got.Header.Get("Location") != "" || got.Header.Get("Access-Control-Allow-Origin") != "" && strings.Contains(path, "integrator") && status == 403 {
				t.Errorf("%s %s: got %v", method, path, got.Header)
			}
			if got.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s: got %s", method, path, got.Header.Get("Content-Type"))
			}
		}
	}
}

// raw sends a path exactly as it is written.
func (r *rig) raw(method, path string, headers ...string) *http.Response {
	r.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n\r\n", method, path, strings.Join(headers, "\r\n"))
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		r.Fatalf("%s %q: %v", method, path, err)
	}
	defer resp.Body.Close()
	return resp
}

func TestBodiesOfTheWrongForm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"plain":            {[]string{"Content-Type: application/json"}, 201},
		"with charset":     {[]string{"Content-Type: application/json; charset=UTF-8"}, 201},
		"upper case":       {[]string{"Content-Type: Application/JSON"}, 201},
		"identity":         {[]string{"Content-Encoding: identity"}, 201},
		"another charset":  {[]string{"Content-Type: application/json; charset=latin1"}, 415},
		"another param":    {[]string{"Content-Type: application/json; v=1"}, 415},
		"form":             {[]string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		"no type":          {[]string{"Content-Type: "}, 415},
		"A60 gzip":         {[]string{"Content-Encoding: gzip"}, 415},
		"A60 br":           {[]string{"Content-Encoding: br"}, 415},
		"A60 two codings":  {[]string{"Content-Encoding: identity", "Content-Encoding: gzip"}, 415},
		"problem json":     {[]string{"Content-Type: application/problem+json"}, 415},
		"type given twice": {[]string{"Content-Type: application/json", "content-type: text/plain"}, 415},
	} {
		if got := r.do("POST", "/v2/things", soundThing, c.headers...); got.StatusCode != c.status {
			t.Errorf("%s: got %d %s", name, got.StatusCode, got.body)
		}
	}
}

func TestA59LongBodiesAreRefusedUnreadAndTheConnectionIsClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, head := range []string{
		"POST /v2/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n\r\n",
		"GET /v2/things HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n",
		"POST /v2/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n10002\r\n" + strings.Repeat(" ", 0x10002),
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, head)
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, _ = b.ReadFrom(resp.Body)
		if resp.StatusCode != 413 || !resp.Close || !strings.Contains(b.String(), "payload_too_large") {
			t.Errorf("%.30q: got %d close=%t %s", head, resp.StatusCode, resp.Close, b.String())
		}
		if _, err := in.ReadByte(); err == nil {
			t.Error("the connection goes on")
		}
		conn.Close()
	}
}

func TestBodyThatEndsEarly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v2/things HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n%s", soundThing)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 400 {
		t.Errorf("got %d", resp.StatusCode)
	}
}

func TestRowsWithoutABodyTakeNoneOrAnEmptyObject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for body, status := range map[string]int{"": 204, "{}": 204, `{"x":1}`: 400, "[]": 400} {
		if got := r.do("POST", "/v2/things/thi_1/stop", body, "X-Session-ID: good"); got.StatusCode != status {
			t.Errorf("%q: got %d %s", body, got.StatusCode, got.body)
		}
	}
	if got := r.do("POST", "/v2/things", ""); got.code() != "malformed_json" {
		t.Errorf("no body where one is needed: got %d %s", got.StatusCode, got.body)
	}
}

// A missing order, a wrong proof and none at all are the same answer.
func TestA69MissingAndForbiddenOrdersAreTheSameBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if got := r.do("GET", "/v2/things/thi_1", "", "X-Session-ID: good"); got.StatusCode != 200 {
		t.Fatalf("got %d %s", got.StatusCode, got.body)
	}
	want := `{"type":"/v2/errors#order_not_found","title":"Order not found","status":404,"code":"order_not_found","detail":"No such order, or no access to it.","retryable":false}`
	var first reply
	for i, c := range []struct{ method, path, header string }{
		{"GET", "/v2/things/thi_1", "X-Session-ID: wrong"},
		{"GET", "/v2/things/none", "X-Session-ID: good"},
		{"GET", "/v2/things/thi_1", "X-Other: none"},
		{"GET", "/v2/things/%00%ff", "X-Session-ID: good"},
		{"GET", "/v2/things/thi_1?verify=a&verify=b", "X-Other: none"},
		{"GET", "/v2/things/thi_1?verify=", "X-Other: none"},
		{"POST", "/v2/things/thi_1/stop?verify=a", "X-Other: none"},
	} {
		got := r.do(c.method, c.path, "", c.header)
		if string(got.body) != want || got.StatusCode != 404 {
			t.Errorf("%v: got %d %s", c, got.StatusCode, got.body)
		}
		got.Header.Del("X-Request-ID")
		got.Header.Del("Date")
		if i == 0 {
			first = got
		} else if fmt.Sprint(first.Header) != fmt.Sprint(got.Header) {
			t.Errorf("%v: headers differ: %v and %v", c, first.Header, got.Header)
		}
	}
}

func TestQueriesAreStrict(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	session := "ses_" + strings.Repeat("A", 43)
	for query, code := range map[string]string{
		"":                                   "",
		"limit=3&cursor=x&featured=true":     "",
		"&&limit=3&":                         "",
		"cursor=a%20b+c":                     "",
		"sort=up":                            "",
		"limit=3;cursor=x":                   "",
		"bogus=1":                            "unknown_parameter",
		"Limit=3":                            "unknown_parameter",
		"limit=3&x=1&y=2":                    "unknown_parameter",
		"limit=x&y=2":                        "unknown_parameter",
		"cursor=x;bogus=1":                   "unknown_parameter",
		"verify=x":                           "unknown_parameter",
		"limit=3&limit=3":                    "invalid_field",
		"limit=0":                            "invalid_field",
		"limit=201":                          "invalid_field",
		"limit=03":                           "invalid_field",
		"limit=%2B3":                         "invalid_field",
		"limit=":                             "invalid_field",
		"limit":                              "invalid_field",
		"featured=yes":                       "invalid_field",
		"sort=sideways":                      "invalid_field",
		"cursor=":                            "invalid_field",
		"cursor=%zz":                         "invalid_field",
		"cursor=%00":                         "invalid_field",
		"cursor=%ff":                         "invalid_field",
		"cursor=" + strings.Repeat("x", 257): "invalid_field",
		"sessionId=x":                        "secret_in_url",
		"session_id=x":                       "secret_in_url",
		"SESSION-ID=x":                       "secret_in_url",
		"X-Session-ID=x":                     "secret_in_url",
		"%73essionId=x":                      "secret_in_url",
		"%73ession%49d%zz=x":                 "unknown_parameter",
		"sessionId%5B%5D=x":                  "secret_in_url",
		"limit=3;sessionId=x":                "secret_in_url",
		"cursor=" + session:                  "secret_in_url",
		"cursor=x" + session + "y":           "secret_in_url",
		"cursor=%zz" + session:               "secret_in_url",
		session:                              "secret_in_url",
	} {
		if query == "%73ession%49d%zz=x" {
			code = "invalid_field" // it cannot be decoded, so it names nothing
		}
		resp := r.raw("GET", "/v2/things?"+query)
		got := r.rawCode(t, query)
		if want := 200; code == "" && resp.StatusCode != want {
			t.Errorf("%q: got %d %s", query, resp.StatusCode, got)
		}
		if got != code {
			t.Errorf("%q: got %s, want %s", query, got, code)
		}
	}
	got := r.do("GET", "/v2/things?x=1&limit=0&y=2", "")
	if n := len(got.refusal().Errors); n != 3 || got.refusal().Errors[0].Pointer != "?x" {
		t.Errorf("not every problem is named: %s", got.body)
	}
	if strings.Contains(r.logs.String(), "AAAAAAAA") {
		t.Error("a session is in the log")
	}
}

func (r *rig) rawCode(t *testing.T, query string) string {
	t.Helper()
	u, err := url.Parse(r.url + "/v2/things")
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = query
	resp, err := client.Do(&http.Request{Method: "GET", URL: u})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	_, _ = b.ReadFrom(resp.Body)
	if strings.Contains(b.String(), "AAAAAAAA") {
		t.Errorf("%q: the answer repeats it: %s", query, b.String())
	}
	return reply{resp, b.Bytes()}.code()
}

func TestPagesAreLinked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.do("GET", "/v2/things?limit=2&cursor=a%26b", "")
	if got.Header.Get("Link") != `</v2/things?cursor=next&limit=2>; rel="next"` || !strings.Contains(string(got.body), `"thingId":"xx","name":"a&b"`) {
		t.Errorf("got %s %s", got.Header.Get("Link"), got.body)
	}
}

func TestTroubleIsAnsweredAndNotShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for how, want := range map[string]struct {
		status int
		code   string
	}{
		"panic": {500, "internal_error"}, "inside": {500, "internal_error"}, "unknown": {500, "internal_error"}, "unclassified": {500, "internal_error"},
		"expired": {409, "quote_expired"}, "paused": {503, "chain_paused"}, "detail": {409, "quote_expired"},
	} {
		got := r.do("POST", "/v2/breaks/"+how, "")
		p := got.refusal()
		if got.StatusCode != want.status || p.Code != want.code || p.Status != want.status || p.RequestID != got.Header.Get("X-Request-ID") || p.Type != "/v2/errors#"+want.code {
			t.Errorf("%s: got %d %s", how, got.StatusCode, got.body)
		}
		if strings.Contains(string(got.body), "canary") {
			t.Errorf("%s: it is shown: %s", how, got.body)
		}
	}
	p := r.do("POST", "/v2/breaks/expired", "").refusal()
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/quoteId" || p.Details["quote"] == nil || len(p.Details) != 1 || p.Actor != "caller" {
		t.Errorf("got %+v", p)
	}
	if got := r.do("POST", "/v2/breaks/paused", ""); got.Header.Get("Retry-After") != "1" {
		t.Errorf("got Retry-After %q", got.Header.Get("Retry-After"))
	}
	if r.door.Panics() != 1 {
		t.Errorf("%d panics were counted", r.door.Panics())
	}
	for _, want := range []string{"canary-of-a-panic", "rig_test.go", "canary@db", "no_such_code"} {
		if !strings.Contains(r.logs.String(), want) {
			t.Errorf("the log does not have %s", want)
		}
	}
}

func TestTheLogSaysWhatWasAskedAndNothingThatWasSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const canary = "canary-88aa"
	r.do("GET", "/v2/things/"+canary+"?verify="+canary, "", "X-Session-ID: "+canary, "User-Agent: "+canary, "X-Integrator-Key: "+serverKey)
	r.do("POST", "/v2/things?x="+canary, `{"name":"`+canary+`"}`, "Idempotency-Key: "+canary)
	r.do("POST", "/v2/things", `{"`+canary+`":"`+canary+`"}`)
	r.do("GET", "/"+canary, "")
	r.do("CANARY-88AA", "/v2/health", "")
	logs := r.logs.String()
	if strings.Contains(strings.ToLower(logs), canary) || strings.Contains(logs, serverKey) || strings.Contains(logs, "127.0.0.1") {
		t.Errorf("something that was said is in the log:\n%s", logs)
	}
	first, _, _ := strings.Cut(logs, "\n")
	for _, want := range []string{
		`"msg":"request"`, `"route":"/v2/things/{thingId}"`, `"method":"GET"`, `"status":404`, `"code":"order_not_found"`,
		`"integrator":"int_1"`, `"key":"key_1"`, `"requestId":"req_`, `"took":`,
	} {
		if !strings.Contains(first, want) {
			t.Errorf("%s is not in %s", want, first)
		}
	}
	if n := strings.Count(logs, `"msg":"request"`); n != 5 {
		t.Errorf("%d lines for 5 requests", n)
	}
}

func TestHeadersThatAreTooLongAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if got := r.raw("GET", "/v2/health", "X-Long: "+strings.Repeat("x", 32<<10)); got.StatusCode != 431 {
		t.Errorf("got %d", got.StatusCode)
	}
}
