package front_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// wireRow is bytes on a connection and the statuses that come back, until the
// connection ends or says nothing more.
type wireRow struct {
	name, text string
	statuses   []int
	ends       bool // the server closes the connection after that
}

// wireRows are requests that no client library would send. Where a proxy before us might
// have read other lengths than we do, nothing that follows is read as a request.
func wireRows() []wireRow {
	const (
		get  = "GET /v2/health HTTP/1.1\r\nHost: ferry\r\n\r\n"
		last = "GET /v2/health HTTP/1.1\r\nHost: ferry\r\nConnection: close\r\n\r\n"
	)
	post := func(headers, body string) string {
		return "POST /v2/quotes HTTP/1.1\r\nHost: ferry\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
	}
	chunked := func(body string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body) }
	sized := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n", len(body)) }
	good := ethQuote("")
	return []wireRow{
		{"A62 chunked", post("Transfer-Encoding: chunked\r\n", chunked(good)) + last, []int{200, 200}, true},
		{"A62 both lengths, and a second request", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", chunked(good)) + last, []int{400}, true},
		{"A62 a smuggled request in what follows", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+"GET /v2/integrator/me HTTP/1.1\r\nHost: ferry\r\nConnection: close\r\n\r\n"), []int{400}, true},
		{"A62 differing lengths", post("Content-Length: 4\r\nContent-Length: 5\r\n", "{}{}"), []int{400}, true},
		{"A62 the same length twice", post(sized(good)+sized(good), good) + last, []int{400}, true},
		{"A62 xchunked", post("Transfer-Encoding: xchunked\r\n", chunked(good)), []int{400}, true},
		{"A62 chunked twice", post("Transfer-Encoding: chunked, chunked\r\n", chunked(good)), []int{400}, true},
		{"A62 two codings", post("Transfer-Encoding: gzip, chunked\r\n", chunked(good)), []int{400}, true},
		{"A62 bare line feeds", strings.ReplaceAll(last, "\r\n", "\n"), []int{408}, true},
		{"A62 a blank before the colon", post("Content-Length : 2\r\n", "{}"), []int{400}, true},
		{"A62 a length below zero", post("Content-Length: -1\r\n", "{}"), []int{400}, true},
		{"A62 a length with a plus", post("Content-Length: +2\r\n", "{}"), []int{400}, true},
		{"A62 a length in hexadecimal", post("Content-Length: 0x2\r\n", "{}"), []int{400}, true},
		{"A62 a length list", post("Content-Length: 2, 2\r\n", "{}"), []int{400}, true},
		{"A62 a chunk that is no number", post("Transfer-Encoding: chunked\r\n", "zz\r\n{}\r\n0\r\n\r\n"), []int{400}, true},
		{"A62 a chunk longer than any", post("Transfer-Encoding: chunked\r\n", "ffffffffffffffffff\r\n{}"), []int{400}, true},
		{"A62 chunks over 64 KiB", post("Transfer-Encoding: chunked\r\n", chunked(good+strings.Repeat(" ", 64<<10))), []int{413}, true},
		{"A62 no Host", "GET /v2/health HTTP/1.1\r\n\r\n", []int{400}, true},
		{"A62 two Hosts", "GET /v2/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", []int{400}, true},
		{"A62 a header without a name", "GET /v2/health HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", []int{400}, true},
		{"A62 NUL in a header", "GET /v2/health HTTP/1.1\r\nHost: a\r\nX-Session-ID: a\x00b\r\n\r\n", []int{400}, true},
		{"A62 no version", "GET /v2/health\r\n\r\n", []int{400}, true},
		{"A62 another version", "GET /v2/health HTTP/3.7\r\nHost: a\r\n\r\n", []int{400}, true},
		{"A62 version 1.0", "GET /v2/health HTTP/1.0\r\n\r\n", []int{200}, true},
		{"A62 a control character in the path", "GET /v2/\x7fhealth HTTP/1.1\r\nHost: a\r\n\r\n", []int{400}, true},
		{"A62 a broken escape in the path", "GET /v2/orders/%zz HTTP/1.1\r\nHost: a\r\n\r\n", []int{400}, true},
		{"A62 the whole URL", "GET http://elsewhere/v2/health HTTP/1.1\r\nHost: ferry\r\nConnection: close\r\n\r\n", []int{200}, true},
		{"A62 OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: ferry\r\nConnection: close\r\n\r\n", []int{404}, true},
		{"A62 HTTP/2 without its being agreed", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{400}, true},
		{"A62 pipelined", get + get + last, []int{200, 200, 200}, true},
		{"A62 pipelined after a refusal", post(sized("{"), "{") + last, []int{400, 200}, true},
		{"A62 pipelined with bodies", post(sized(good), good) + post(sized("{}"), "{}") + last, []int{200, 400, 200}, true},
		{"A62 a GET with a body, and another", "GET /v2/health HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}" + last, []int{200, 200}, true},
		{"A59 too long, and what follows is not read", post("Content-Length: 65537\r\n", strings.Repeat(" ", 100)), []int{413}, true},
		{"A59 far too long", post("Content-Length: 9223372036854775807\r\n", "{}"), []int{413}, true},
		{"A59 nobody is asked to send it", post("Content-Length: 70000\r\nExpect: 100-continue\r\n", ""), []int{413}, true},
		{"A60 gzip, and what follows is not read", post("Content-Length: 500\r\nContent-Encoding: gzip\r\n", "\x1f\x8b"), []int{415}, true},
		{"A61 a header over 16 KiB", "GET /v2/health HTTP/1.1\r\nHost: a\r\nX-Much: " + strings.Repeat("a", 32<<10) + "\r\n\r\n", []int{431}, true},
		{"A61 many headers", "GET /v2/health HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X-Many: 1\r\n", 4000) + "\r\n", []int{431}, true},
		{"A61 a header below 16 KiB", "GET /v2/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Much: " + strings.Repeat("a", 12<<10) + "\r\n\r\n", []int{200}, true},
		{"A61 a path over 16 KiB", "GET /v2/orders/" + strings.Repeat("a", 32<<10) + " HTTP/1.1\r\nHost: a\r\n\r\n", []int{431}, true},
	}
}

func TestConnectionsAreReadAsHTTPSaysAndStayInStep(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, engine string) {
		r := shared(t, engine)
		for _, row := range wireRows() {
			t.Run(row.name, func(t *testing.T) {
				t.Parallel()
				conn := r.dial(t)
				defer conn.Close()
				go func() { _, _ = io.WriteString(conn, row.text) }() // the other side may hang up before it has all
				got, err := statuses(conn, len(row.statuses)+1)
				if fmt.Sprint(got) != fmt.Sprint(row.statuses) {
					t.Errorf("answered %v, want %v", got, row.statuses)
				}
				if row.ends && errors.Is(err, os.ErrDeadlineExceeded) {
					t.Error("the connection stays open")
				}
			})
		}
	})
}

// statuses reads answers until there are no more.
func statuses(conn net.Conn, most int) (all []int, err error) {
	r := bufio.NewReader(conn)
	for len(all) < most {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return all, err
		}
		all = append(all, resp.StatusCode)
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return all, err
		}
	}
	return all, nil
}

func TestSlowCallersAreDropped(t *testing.T) {
	t.Parallel()
	r := shared(t, overSQLite)
	for _, row := range []struct {
		name, text string
		want       []int
		least      time.Duration
	}{
		{"A61 a header that does not end", "GET /v2/health HTTP/1.1\r\nHost: a\r\nX-Slow: ", []int{408}, 4 * time.Second},
		{"A61 nothing at all", "", []int{408}, 4 * time.Second},
		{"A61 a body that does not end", "POST /v2/quotes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", []int{408}, 12 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			conn := r.dial(t) // which is patient for longer than the server is
			defer conn.Close()
			begun := time.Now()
			if _, err := io.WriteString(conn, row.text); err != nil {
				t.Fatal(err)
			}
			got, err := statuses(conn, 2)
			if fmt.Sprint(got) != fmt.Sprint(row.want) || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("answered %v and %v", got, err)
			}
			if took := time.Since(begun); took < row.least {
				t.Errorf("dropped after %s already", took)
			}
		})
	}
	t.Run("A61 a body that is cut off", func(t *testing.T) {
		t.Parallel()
		conn := r.dial(t)
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /v2/quotes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if got, _ := statuses(conn, 2); fmt.Sprint(got) != "[400]" {
			t.Errorf("answered %v", got)
		}
	})
}

func TestMethodsAndOrigins(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, s *stage) {
		var rows []tried
		add := func(name, method, path string, status int, code string, header map[string]string, sent ...string) {
			rows = append(rows, tried{name: name, q: shot{method: method, path: path, header: sent}, status: status, code: code, header: header})
		}
		const reads, both, acts = "GET, HEAD, OPTIONS", "GET, HEAD, OPTIONS, POST", "OPTIONS, POST"
		origin := []string{"Origin", "https://wallet.example"}
		ask := append([]string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-session-id"}, origin...)
		for _, c := range []struct{ method, path, allow string }{
			{"POST", "/v2/health", reads},
			{"PUT", "/v2/orders", both},
			{"DELETE", "/v2/orders", both},
			{"PATCH", "/v2/quotes", acts},
			{"GET", "/v2/quotes", acts},
			{"HEAD", "/v2/quotes", acts},
			{"TRACE", "/v2/health", reads},
			{"BREW", "/v2/health", reads},
			{"get", "/v2/health", reads},
			{"DELETE", "/v2/orders/ord_0123456789ABCDEFGHJKMNPQRS", reads},
			{"GET", "/v2/orders/ord_0123456789ABCDEFGHJKMNPQRS/cancel", acts},
			{"POST", "/v2/integrator/me", reads},
			{"DELETE", "/v2/integrator/orders", reads},
		} {
			code := "method_not_allowed"
			if c.method == "HEAD" {
				code = ""
			}
			add("A62 "+c.method+" "+c.path, c.method, c.path, 405, code, map[string]string{"Allow": c.allow})
		}
		for _, path := range []string{"/v2/health", "/v2/chains", "/v2/errors", "/v2/docs", "/v2/version"} {
			add("A62 HEAD "+path, "HEAD", path, 200, "", nil)
		}
		for path, allow := range map[string]string{"/v2/orders": both, "/v2/quotes": acts, "/v2/orders/x/refund": acts} {
			add("A68 OPTIONS "+path, "OPTIONS", path, 204, "", map[string]string{"Allow": allow, "Access-Control-Allow-Methods": ""}, origin...)
			add("A68 preflight "+path, "OPTIONS", path, 204, "", map[string]string{
				"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": allow, "Access-Control-Allow-Credentials": "", "Access-Control-Max-Age": "600",
				"Access-Control-Allow-Headers": "Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Integrator-Key, X-Session-ID",
			}, ask...)
		}
		closed := map[string]string{"Access-Control-Allow-Origin": "", "Access-Control-Expose-Headers": "", "Access-Control-Allow-Methods": "", "Access-Control-Allow-Headers": ""}
		for _, path := range []string{"/v2/integrator/me", "/v2/integrator/orders", "/v2/integrator/docs"} {
			add("A68 preflight "+path, "OPTIONS", path, 204, "", closed, ask...)
			add("A68 GET "+path, "GET", path, 200, "", closed, append(withKey(s.a.Server.Text), origin...)...)
			add("A68 GET "+path+" without a key", "GET", path, 401, "key_required", closed, origin...)
			add("A68 PUT "+path, "PUT", path, 405, "method_not_allowed", closed, origin...)
		}
		add("A68 nothing below /v2/integrator", "GET", "/v2/integrator/nothing", 404, "route_not_found", closed, origin...)
		open := map[string]string{"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": ""}
		add("A68 GET chains", "GET", "/v2/chains", 200, "", open, origin...)
		add("A68 GET an order", "GET", "/v2/orders/x", 404, "order_not_found", open, origin...)
		add("A68 GET nothing", "GET", "/v2/nothing", 404, "route_not_found", open, origin...)
		add("A68 origin null", "GET", "/v2/chains", 200, "", open, "Origin", "null")
		t.Run("rows", func(t *testing.T) { s.try(t, rows) })
	})
}
