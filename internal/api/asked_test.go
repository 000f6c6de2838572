package api_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ferry/internal/api"
)

func TestHeadersAreReadStrictly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, raw string
		want      http.Header // nil if refused
	}{
		{"plain", "Host: a\r\nX-End-User-IP: 1.2.3.4\r\n\r\n", http.Header{"Host": {"a"}, "X-End-User-Ip": {"1.2.3.4"}}},
		{"any case", "hOST: a\r\nx-API-key:k\r\n\r\n", http.Header{"Host": {"a"}, "X-Api-Key": {"k"}}},
		{"blanks around a value", "Host: a\r\nX-A: \t b c \t\r\n\r\n", http.Header{"Host": {"a"}, "X-A": {"b c"}}},
		{"twice", "Host: a\r\nX-A: 1\r\nX-B: 2\r\nx-a: 3\r\n\r\n", http.Header{"Host": {"a"}, "X-A": {"1", "3"}, "X-B": {"2"}}},
		{"an empty value", "Host: a\r\nX-A:\r\n\r\n", http.Header{"Host": {"a"}, "X-A": {""}}},
		{"a colon in a value", "Host: a:80\r\n\r\n", http.Header{"Host": {"a:80"}}},
		{"no host", "X-A: 1\r\n\r\n", nil},
		{"two hosts", "Host: a\r\nHost: a\r\n\r\n", nil},
		{"both lengths", "Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", nil},
		{"a line that goes on", "Host: a\r\nX-A: 1\r\n 2\r\n\r\n", nil},
		{"a first line that goes on", " a\r\nHost: a\r\n\r\n", nil},
		{"a blank before the colon", "Host: a\r\nX-A : 1\r\n\r\n", nil},
		{"a blank in a name", "Host: a\r\nX A: 1\r\n\r\n", nil},
		{"no name", "Host: a\r\n: 1\r\n\r\n", nil},
		{"no colon", "Host: a\r\nX-A\r\n\r\n", nil},
		{"a letter that names do not have", "Host: a\r\nX-Ä: 1\r\n\r\n", nil},
	} {
		got, target, ok := api.ReadHeaders([]byte("/path?q"), []byte(c.raw))
		if target != "/path?q" {
			t.Errorf("%s: the target is %q", c.name, target)
		}
		if ok != (c.want != nil) || ok && !cmp.Equal(got, c.want) {
			t.Errorf("%s: got %v %v, want %v", c.name, ok, got, c.want)
		}
	}
}

// FuzzHeaders holds our reading of headers to net/http's: what we take, it takes, and
// reads the same in it.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{
		"Host: a\r\n\r\n", "Host: a\r\nX-API-Key: k\r\nx-api-key: l\r\n\r\n", "Host: a\r\nX: \t1 \r\n\r\n", "Host: a\r\nX: 1\r\n 2\r\n\r\n",
		"Host: a\r\nContent-Length: 5\r\n\r\n", "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n", "Host: a\nX: 1\n\n", ":\r\n\r\n", "Host:a\r\n\r\nX: 1\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		// What cuts the headers off gives them to the first empty line, and no control
		// character but the tab is in them.
		end := strings.Index(raw, "\r\n\r\n")
		if end < 0 || strings.Contains(raw[:end], "\n\n") || strings.Contains(raw[:end], "\n\r\n") || strings.HasPrefix(raw, "\n") || strings.HasPrefix(raw, "\r\n") {
			return
		}
		raw = raw[:end+4]
		for _, c := range []byte(raw) {
			if c < ' ' && c != '\t' && c != '\r' && c != '\n' || c == 0x7f {
				return
			}
		}
		if strings.Count(raw, "\r") != strings.Count(raw, "\r\n") {
			return
		}
		got, _, ok := api.ReadHeaders(nil, []byte(raw))
		if !ok {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader("POST / HTTP/1.1\r\n" + raw)))
		if err != nil {
			// It also judges how the length of a body is told, which is not done here.
			if len(got["Content-Length"])+len(got["Transfer-Encoding"])+len(got["Trailer"]) > 0 {
				return
			}
			t.Fatalf("net/http refuses %q: %v", raw, err)
		}
		want := r.Header.Clone()
		for _, name := range []string{"Host", "Content-Length", "Transfer-Encoding", "Trailer", "Pragma", "Cache-Control"} { // which it moves elsewhere, or adds to
			delete(want, name)
			delete(got, name)
		}
		if !cmp.Equal(got, want) {
			t.Errorf("%q is %v, net/http has %v", raw, got, want)
		}
	})
}

// short is a listener that has no files left for a while.
type short struct {
	net.Listener
	left int
}

func (s *short) Accept() (net.Conn, error) {
	if s.left > 0 {
		s.left--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return s.Listener.Accept()
}

func TestADoorWithoutFilesLeftWaitsForSome(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.serve(&short{l, 3})
	if got := r.do("GET", "/v2/health", ""); got.StatusCode != 200 {
		t.Errorf("got %d", got.StatusCode)
	}
	if n := strings.Count(r.logs.String(), "too many open files"); n != 3 {
		t.Errorf("the log says it %d times", n)
	}
}
