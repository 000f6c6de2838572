package front_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ferry/internal/api"
	"ferry/internal/api/contract/contracttest"
)

// request is what is sent, byte for byte: nothing is escaped, sorted out or joined.
type request struct {
	Method string // GET if empty
	Path   string // with the query
	Header map[string][]string
	Body   string // application/json unless Header says otherwise
	From   string // the address it comes from; one that nobody used before if empty
	Direct bool   // it comes from this machine itself, and no proxy says otherwise
}

// answer is what came back.
type answer struct {
	Status int
	Code   string // of a refusal
	Header http.Header
	Body   []byte
}

// do sends a request over a connection of its own. Whatever comes back is held to the
// contract and to what every answer promises.
func (r *rig) do(t testing.TB, req request) answer {
	t.Helper()
	if req.Method == "" {
		req.Method = http.MethodGet
	}
	a := r.send(t, req.Method, r.text(req))
	r.checks.hold(t, req, a)
	return a
}

// text is the request on the wire.
func (r *rig) text(req request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", req.Method, req.Path, r.host)
	if !req.Direct && !req.has("X-Forwarded-For") {
		if req.From == "" {
			req.From = r.peer()
		}
		b.WriteString("X-Forwarded-For: " + req.From + "\r\n")
	}
	if req.Body != "" {
		if !req.has("Content-Type") {
			b.WriteString("Content-Type: application/json\r\n")
		}
		if !req.has("Content-Length") {
			b.WriteString("Content-Length: " + strconv.Itoa(len(req.Body)) + "\r\n")
		}
	} else if req.Method == http.MethodPost {
		b.WriteString("Content-Length: 0\r\n")
	}
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		for _, value := range req.Header[name] {
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	return b.String() + "\r\n" + req.Body
}

func (req *request) has(header string) bool {
	for name := range req.Header {
		if strings.EqualFold(name, header) {
			return true
		}
	}
	return false
}

// dial opens a connection that ends with the test.
func (r *rig) dial(t testing.TB) net.Conn {
	t.Helper()
	const patience = 30 * time.Second
	conn, err := net.DialTimeout("tcp", r.host, patience)
	if err != nil {
		t.Fatalf("the service does not answer: %v\n%s", err, r.log.trouble())
	}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// send writes text and reads one answer.
func (r *rig) send(t testing.TB, method, text string) answer {
	t.Helper()
	conn := r.dial(t)
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return receive(t, method, conn)
}

// receive reads one answer.
func receive(t testing.TB, method string, conn io.Reader) answer {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	a := answer{Status: resp.StatusCode, Header: resp.Header}
	if a.Body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatalf("half an answer: %v", err)
	}
	a.Code = a.problem().Code
	return a
}

// problem is the body of a refusal.
type problem struct {
	Type, Code, RequestID string
	Status                int
	RetryAfterSeconds     *int
	Details               struct {
		Resource  string
		Exhausted []struct {
			Resource          string
			Limit             int64
			RetryAfterSeconds int
		}
	}
}

func (a answer) problem() (p problem) {
	if a.Header.Get("Content-Type") == "application/problem+json" {
		_ = json.Unmarshal(a.Body, &p) // what is no problem has no code
	}
	return p
}

// decode reads a good answer.
func (a answer) decode(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal(a.Body, into); err != nil {
		t.Fatalf("%v: %d %s", err, a.Status, a.Body)
	}
}

// want fails the test if the answer is another.
func (a answer) want(t testing.TB, status int, code string) {
	t.Helper()
	if a.Status != status || a.Code != code {
		t.Fatalf("answered %d %q, want %d %q: %s", a.Status, a.Code, status, code, a.Body)
	}
}

// checks hold answers to the contracts.
type checks struct {
	mu             sync.Mutex // the validator is asked by one at a time
	public, hidden *contracttest.Checker
	live           *contracttest.LiveChecker
	rows           []api.Operation
}

var read = struct {
	sync.Mutex
	by map[string]*checks // the digests of the contracts
}{by: map[string]*checks{}}

// checksOf reads the same contracts once for all services that have them: reading one
// takes longer than most tests.
func checksOf(d *api.Door) (c *checks, err error) {
	read.Lock()
	defer read.Unlock()
	hash := d.Contract().Hash + d.Hidden().Hash
	if read.by[hash] != nil {
		return read.by[hash], nil
	}
	var s stopper
	defer func() {
		if recover() != nil && s.err == nil {
			s.err = fmt.Errorf("the contracts cannot be read")
		}
		err = s.err
	}()
	c = &checks{rows: d.Rows()}
	c.public, c.hidden = contracttest.New(&s, d.Contract().JSON), contracttest.New(&s, d.Hidden().JSON)
	c.live = contracttest.NewLive(&s, d.Live().JSON) // limits differ between services, messages do not
	read.by[hash] = c
	return c, nil
}

// stopper is a test for what is read before there is one.
type stopper struct {
	testing.TB
	err error
}

func (s *stopper) Helper() {}

func (s *stopper) Fatalf(format string, args ...any) {
	s.err = fmt.Errorf(format, args...)
	panic(s.err)
}

// row is the operation that a request reaches; nil if there is none.
func (c *checks) row(method, path string) *api.Operation {
	raw, _, _ := strings.Cut(path, "?")
	path, err := url.PathUnescape(raw)
	if err != nil {
		return nil
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for i := range c.rows {
		if o := &c.rows[i]; o.Method == method && fits(o.Path, path) {
			return o
		}
	}
	return nil
}

func fits(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if got[i] != want[i] && (got[i] == "" || !strings.HasPrefix(want[i], "{")) {
			return false
		}
	}
	return true
}

var requestID = regexp.MustCompile(`^req_[0-9A-HJKMNP-TV-Z]{26}$`)

// hold fails the test if an answer breaks what every answer promises.
func (c *checks) hold(t testing.TB, req request, a answer) {
	t.Helper()
	if a.Header.Get("X-Request-Id") == "" && (a.Status == 400 || a.Status == 431) {
		return // net/http could not read the request, and nobody else has seen it
	}
	say := func(what string, args ...any) {
		t.Helper()
		t.Errorf("%s %s: %s: %d %s", req.Method, req.Path, fmt.Sprintf(what, args...), a.Status, a.Body)
	}
	if !requestID.MatchString(a.Header.Get("X-Request-Id")) || a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Cache-Control") == "" {
		say("its headers are not those of every answer: %v", a.Header)
	}
	if ip := literal(string(a.Body)); ip != "" {
		say("it holds the address %s", ip)
	}
	for name, values := range a.Header {
		if ip := literal(strings.Join(values, " ")); ip != "" && name != "Date" {
			say("its header %s holds the address %s", name, ip)
		}
	}
	row := c.row(req.Method, req.Path)
	if open := a.Header.Get("Access-Control-Allow-Origin"); row != nil && (open == "*") == row.Hidden || a.Header.Get("Access-Control-Allow-Credentials") != "" {
		say("other origins may read it: %q", open)
	}
	if a.Status >= 400 && req.Method != http.MethodHead {
		refusal(say, a)
	}
	if row != nil && strings.HasPrefix(row.Path, "/v2/") && req.Method != http.MethodHead {
		c.contract(t, row, req, a)
	}
}

// contract holds an answer to the published document of its row.
func (c *checks) contract(t testing.TB, row *api.Operation, req request, a answer) {
	t.Helper()
	path, _, _ := strings.Cut(req.Path, "?")
	path, _ = url.PathUnescape(path)
	asked, err := http.NewRequest(req.Method, (&url.URL{Scheme: "http", Host: "ferry.example", Path: path}).String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	checker := c.public
	if row.Hidden {
		checker = c.hidden
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	checker.Check(t, asked, &http.Response{StatusCode: a.Status, Header: a.Header, ProtoMajor: 1, ProtoMinor: 1}, a.Body)
}

// refusal holds a failure to what all of them promise.
func refusal(say func(string, ...any), a answer) {
	p := a.problem()
	if p.Code == "" || p.Status != a.Status || p.Type != "/v2/errors#"+p.Code {
		say("it is no problem document")
	}
	if p.Code != "order_not_found" && p.RequestID != a.Header.Get("X-Request-Id") {
		say("its requestId is not that of its header")
	}
	after := a.Header.Get("Retry-After")
	if p.RetryAfterSeconds != nil && strconv.Itoa(*p.RetryAfterSeconds) != after || p.RetryAfterSeconds == nil && after != "" {
		say("Retry-After is %q and its body says otherwise", after)
	}
	resource := a.Header.Get("X-Ratelimit-Resource")
	if (a.Status == 429) != (resource != "") || resource != p.Details.Resource {
		say("X-RateLimit-Resource is %q", resource)
	}
	if n, err := strconv.Atoi(after); a.Status == 429 && (err != nil || n < 1 || n > 60) {
		say("Retry-After is %q", after)
	}
	challenge := a.Header.Get("Www-Authenticate")
	if (a.Status == 401) != (challenge == `IntegratorKey realm="ferry", header="X-Integrator-Key"`) {
		say("WWW-Authenticate is %q", challenge)
	}
	if a.Header.Get("Cache-Control") != "no-store" {
		say("a failure may be kept: %q", a.Header.Get("Cache-Control"))
	}
}
