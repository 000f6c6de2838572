package api_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ferry/internal/api"
	"ferry/internal/api/socket"
)

// echoRow takes a connection over and says back what comes, until it ends.
func echoRow() api.Operation {
	return api.Operation{
		ID: "openEcho", Method: "GET", Path: "/v2/echo", Tag: "live", Summary: "Say it back",
		Key: api.OptionalKey, Spends: api.Requests, Status: 101, Codes: []string{"upgrade_required"},
		Do: func(c *api.Call) (any, error) {
			if err := socket.Upgrade(c.Headers, c.SetHeader); err != nil {
				return nil, err
			}
			return &api.Switch{Take: func(conn net.Conn, early []byte) {
				_, raw := conn.(*net.TCPConn)
				go func() {
					defer conn.Close()
					fmt.Fprintf(conn, "raw=%t ", raw)
					_, _ = conn.Write(early)
					_, _ = io.Copy(conn, conn)
				}()
			}}, nil
		},
	}
}

// echoRig is a door with that row, in each of the two servers.
func echoRig(t *testing.T) (*rig, map[string]string) {
	t.Helper()
	r := &rig{T: t, gate: &gate{}, purse: &purse{spent: map[api.Spend]int{}}, logs: &syncBuffer{}}
	var err error
	r.door, err = api.New(api.Config{Now: time.Now, Log: slog.New(slog.NewJSONHandler(r.logs, nil))},
		api.Ports{Admitter: r.gate, Limiter: r.purse}, []api.Operation{echoRow()})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.serve(l)
	plain := httptest.NewServer(r.door)
	t.Cleanup(plain.Close)
	return r, map[string]string{"own": l.Addr().String(), "plain": plain.Listener.Addr().String()}
}

// said sends bytes and gives the answer and what follows it.
func said(t *testing.T, addr, text string) (*http.Response, *bufio.Reader, net.Conn) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	read := bufio.NewReader(conn)
	method, _, _ := strings.Cut(text, " ")
	resp, err := http.ReadResponse(read, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	return resp, read, conn
}

const (
	goodKey   = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	handshake = "Host: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Protocol: other, swap.v2.json\r\n" + goodKey
)

func TestAConnectionIsTakenOverWithEverythingThatWasSentOnIt(t *testing.T) {
	t.Parallel()
	r, servers := echoRig(t)
	for name, addr := range servers {
		for _, early := range []string{"", "early ", strings.Repeat("e", 10_000) + " "} {
			resp, read, conn := said(t, addr, "GET /v2/echo HTTP/1.1\r\n"+handshake+"\r\n"+early)
			for header, want := range map[string]string{
				"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
				"Sec-WebSocket-Protocol": "swap.v2.json", "Sec-WebSocket-Extensions": "", "Content-Length": "",
			} {
				if got := resp.Header.Get(header); got != want {
					t.Errorf("%s: %s is %q, want %q", name, header, got, want)
				}
			}
			if resp.StatusCode != 101 || resp.Header.Get("X-Request-ID") == "" || resp.Header.Get("RateLimit") == "" {
				t.Errorf("%s: %d %v", name, resp.StatusCode, resp.Header)
			}
			want := "raw=true " + early + "late"
			got := make([]byte, len(want))
			if _, err := io.WriteString(conn, "late"); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(read, got); err != nil || string(got) != want {
				t.Errorf("%s: came back %q, %v", name, got, err)
			}
		}
	}
	if n := r.purse.count(api.Requests); n != 6 {
		t.Errorf("%d requests were spent, want 6", n)
	}
	for _, want := range []string{`"route":"/v2/echo"`, `"status":101`} {
		if n := strings.Count(r.logs.String(), want); n != 6 {
			t.Errorf("the log says %s %d times", want, n)
		}
	}
}

func TestWhatIsNoUpgradeIsRefusedAndTheConnectionStays(t *testing.T) {
	t.Parallel()
	_, servers := echoRig(t)
	for _, c := range []struct {
		name, line, headers string
		status              int
		want                map[string]string
	}{
		{"no upgrade", "GET /v2/echo HTTP/1.1", "Host: x\r\n", 426, map[string]string{"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}},
		{"no connection token", "GET /v2/echo HTTP/1.1", strings.Replace(handshake, ", Upgrade", "", 1), 426, nil},
		{"another protocol", "GET /v2/echo HTTP/1.1", strings.Replace(handshake, "WebSocket\r", "h2c\r", 1), 426, nil},
		{"another version", "GET /v2/echo HTTP/1.1", strings.Replace(handshake, ": 13", ": 8", 1), 426, map[string]string{"Sec-WebSocket-Version": "13"}},
		{"HEAD", "HEAD /v2/echo HTTP/1.1", handshake, 426, map[string]string{"Upgrade": "websocket", "Sec-WebSocket-Accept": ""}},
		{"HTTP/1.0", "GET /v2/echo HTTP/1.0", handshake, 426, map[string]string{"Sec-WebSocket-Accept": ""}},
		{"no key", "GET /v2/echo HTTP/1.1", strings.Replace(handshake, goodKey, "", 1), 400, nil},
		{"two keys", "GET /v2/echo HTTP/1.1", handshake + goodKey, 400, nil},
		{"a short key", "GET /v2/echo HTTP/1.1", strings.Replace(handshake, "dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j", 1), 400, nil},
		{"a key in the query", "GET /v2/echo?apiKey=x HTTP/1.1", handshake, 401, map[string]string{"Upgrade": ""}},
		{"an unknown key", "GET /v2/echo HTTP/1.1", handshake + "X-Integrator-Key: what\r\n", 401, nil},
		{"another method", "POST /v2/echo HTTP/1.1", handshake + "Content-Length: 0\r\n", 405, nil},
	} {
		for name, addr := range servers {
			resp, read, conn := said(t, addr, c.line+"\r\n"+c.headers+"\r\n")
			if resp.StatusCode != c.status {
				t.Errorf("%s, %s: status %d, want %d", c.name, name, resp.StatusCode, c.status)
			}
			for header, want := range c.want {
				if got := resp.Header.Get(header); got != want {
					t.Errorf("%s, %s: %s is %q, want %q", c.name, name, header, got, want)
				}
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Errorf("%s, %s: %v", c.name, name, err)
			}
			if strings.HasSuffix(c.line, "1.0") {
				continue // which has one request per connection
			}
			if _, err := io.WriteString(conn, "GET /v2/health HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if resp, err := http.ReadResponse(read, nil); err != nil || resp.StatusCode != 200 {
				t.Errorf("%s, %s: the connection is of no use after it: %v", c.name, name, err)
			}
		}
	}
}

func TestACallerWithoutAllowanceIsNotUpgraded(t *testing.T) {
	t.Parallel()
	r, servers := echoRig(t)
	r.purse.mu.Lock()
	r.purse.empty = true
	r.purse.mu.Unlock()
	for name, addr := range servers {
		resp, _, _ := said(t, addr, "GET /v2/echo HTTP/1.1\r\n"+handshake+"\r\n")
		if resp.StatusCode != 429 || resp.Header.Get("Upgrade") != "" {
			t.Errorf("%s: status %d", name, resp.StatusCode)
		}
	}
}

func TestTheContractOfARowThatSwitchesPromisesNoBody(t *testing.T) {
	t.Parallel()
	r, _ := echoRig(t)
	doc := string(r.door.Contract().JSON)
	_, after, found := strings.Cut(doc, `"101":{`)
	if !found || strings.Contains(after[:strings.Index(after, "}}")], "content") {
		t.Errorf("the contract says of 101: %.200s", after)
	}
}

func TestARowThatSwitchesIsAGetWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*api.Operation){
		"a POST":    func(o *api.Operation) { o.Method = "POST" },
		"a body":    func(o *api.Operation) { o.Out = thing{} },
		"is cached": func(o *api.Operation) { o.Cache = time.Minute },
	} {
		row := echoRow()
		change(&row)
		_, err := api.New(api.Config{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, api.Ports{Admitter: &gate{}, Limiter: &purse{}}, []api.Operation{row})
		if err == nil {
			t.Errorf("a row that switches and has %s is served", name)
		}
	}
}
