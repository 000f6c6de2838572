package post_test

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"golang.org/x/net/dns/dnsmessage"

	"ferry/internal/hooks"
	"ferry/internal/hooks/post"
	"ferry/internal/secret"
)

const one, two = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// names is a resolver that answers with what the test says.
func names(t *testing.T, answer func(name string) []netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			found := answer(strings.TrimSuffix(q.Name.String(), "."))
			if found == nil {
				m.RCode = dnsmessage.RCodeNameError
			}
			for _, a := range found {
				h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 0}
				switch {
				case a.Is4() && q.Type == dnsmessage.TypeA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
				case a.Is6() && q.Type == dnsmessage.TypeAAAA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
				}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from) // who asked may be gone
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func send(t *testing.T, p *post.Poster, url string) (int, hooks.Trouble) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return p.Post(ctx, hooks.Message{URL: url, ID: "evt_1", At: time.Now(), Body: []byte(`{"seq":1}`), Secrets: []secret.Text{secret.New(one), secret.New(two)}})
}

// A name is looked at when it is dialled: whatever it leads to, nothing inside is reached.
func TestNamesThatLeadInsideLeadNowhere(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	inside := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(inside.Close)
	_, port, _ := net.SplitHostPort(inside.Listener.Addr().String())
	var asked atomic.Int64
	leads := map[string][]string{
		"loopback.example.com": {"127.0.0.1"}, "mapped.example.com": {"::ffff:127.0.0.1"}, "six.example.com": {"::1"}, "zero.example.com": {"0.0.0.0"},
		"none.example.com": {"::"}, "private.example.com": {"10.0.0.1"}, "metadata.example.com": {"169.254.169.254"}, "cgnat.example.com": {"100.64.0.1"},
		"ula.example.com": {"fd00::1"}, "nat64.example.com": {"64:ff9b::7f00:1"}, "sixtofour.example.com": {"2002:7f00:1::1"}, "mixed.example.com": {"10.0.0.1", "127.0.0.1"},
	}
	resolver := names(t, func(name string) (all []netip.Addr) {
		if name == "rebinding.example.com" {
			// Another each time it is asked for. That it is looked at once, where it is dialled,
			// is the point: there is no check before that a second answer could get around.
			if asked.Add(1) <= 2 {
				return []netip.Addr{netip.MustParseAddr("203.0.113.1")}
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
		}
		for _, text := range leads[name] {
			all = append(all, netip.MustParseAddr(text))
		}
		return all
	})
	roots := x509.NewCertPool()
	roots.AddCert(inside.Certificate())
	p := post.New(post.Config{Agent: "ferry/test", Resolver: resolver, Roots: roots})
	t.Cleanup(p.Close)
	for name := range leads {
		if status, trouble := send(t, p, "https://"+name+":"+port+"/"); status != 0 || trouble != hooks.Forbidden {
			t.Errorf("%s: %d %q", name, status, trouble)
		}
	}
	for range 3 {
		if status, trouble := send(t, p, "https://rebinding.example.com:"+port+"/"); status != 0 || trouble != hooks.Forbidden {
			t.Errorf("rebinding: %d %q", status, trouble)
		}
	}
	for _, literal := range []string{"127.0.0.1", "[::1]", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1", "192.168.1.1", "[fd00::1]", "[fe80::1]"} {
		if status, trouble := send(t, p, "https://"+literal+":"+port+"/"); status != 0 || trouble != hooks.Forbidden {
			t.Errorf("%s: %d %q", literal, status, trouble)
		}
	}
	if _, trouble := send(t, p, "https://nowhere.example.com:"+port+"/"); trouble != hooks.NoName {
		t.Errorf("a name that is none: %q", trouble)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests came through", n)
	}
}

// receiver answers as the path says.
func receiver(t *testing.T, got chan<- *http.Request, bodies chan<- []byte) *httptest.Server {
	t.Helper()
	var elsewhere atomic.Int64
	t.Cleanup(func() {
		if n := elsewhere.Load(); n > 0 {
			t.Errorf("%d redirects were followed", n)
		}
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ok":
			body, _ := io.ReadAll(r.Body)
			got <- r
			bodies <- body
		case "/redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "/elsewhere":
			elsewhere.Add(1)
		case "/hang":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		case "/slow":
			<-r.Context().Done()
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		case "/headers":
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		case "/500":
			w.WriteHeader(500)
		case "/gone":
			w.WriteHeader(410)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestWhatIsPostedAndWhatComesOfIt(t *testing.T) {
	t.Parallel()
	got, bodies := make(chan *http.Request, 1), make(chan []byte, 1)
	s := receiver(t, got, bodies)
	p := post.New(post.Config{Agent: "ferry/test", Loopback: true})
	t.Cleanup(p.Close)
	if status, trouble := send(t, p, s.URL+"/ok"); status != 200 || trouble != "" {
		t.Fatalf("%d %q", status, trouble)
	}
	r, body := <-got, <-bodies
	for _, text := range []string{one, two} {
		w, err := standardwebhooks.NewWebhook(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Verify(body, r.Header); err != nil {
			t.Errorf("a secret does not verify: %v", err)
		}
		if err := w.Verify(append(body, ' '), r.Header); err == nil {
			t.Error("another body verifies")
		}
	}
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Webhook-Id") != "evt_1" || r.Header.Get("User-Agent") != "ferry/test" {
		t.Errorf("%s %v", r.Method, r.Header)
	}
	for path, want := range map[string]struct {
		status  int
		trouble hooks.Trouble
	}{
		"/redirect": {307, hooks.BadStatus}, "/hang": {0, hooks.NoAnswer}, "/endless": {200, ""}, "/headers": {0, hooks.NoAnswer},
		"/500": {500, hooks.BadStatus}, "/gone": {410, hooks.BadStatus},
	} {
		if status, trouble := send(t, p, s.URL+path); status != want.status || trouble != want.trouble {
			t.Errorf("%s: %d %q", path, status, trouble)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if status, trouble := p.Post(ctx, hooks.Message{URL: s.URL + "/slow", ID: "evt_1", At: time.Now()}); status != 0 || trouble != hooks.TimedOut {
		t.Errorf("slow: %d %q", status, trouble)
	}
	if status, trouble := send(t, p, strings.Replace(s.URL, "http:", "https:", 1)+"/ok"); status != 0 || trouble != hooks.BadTLS && trouble != hooks.NoAnswer {
		t.Errorf("no TLS: %d %q", status, trouble)
	}
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	if status, trouble := send(t, p, untrusted.URL); status != 0 || trouble != hooks.BadTLS {
		t.Errorf("an unknown certificate: %d %q", status, trouble)
	}
}

func TestNoProxyOfTheEnvironmentIsUsed(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a proxy was asked") }))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("HTTP_PROXY", proxy.URL)
	p := post.New(post.Config{})
	t.Cleanup(p.Close)
	if _, trouble := send(t, p, "https://10.1.2.3:8443/"); trouble != hooks.Forbidden {
		t.Errorf("%q", trouble)
	}
}
