package operator_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"ferry/internal/api/operator"
	"ferry/internal/chain"
	"ferry/internal/office"
	"ferry/internal/secret"
	"ferry/internal/store"
	"ferry/internal/store/pgtest"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC)

// codecs take every address that begins with the name of its family.
type codecs struct{}

func (codecs) Parse(f chain.Family, text string) (chain.Address, error) {
	if !strings.HasPrefix(strings.ToLower(text), string(f)+":") {
		return chain.Address{}, errors.New("no address")
	}
	return chain.CanonicalAddress(f, strings.ToLower(text)), nil
}

// sink is a log that can be looked at.
type sink struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// rig is a door on a real server over a real database.
type rig struct {
	*testing.T
	db     *store.DB
	server *httptest.Server
	token  secret.Text // alice's
	log    *sink
}

func newRig(t *testing.T, url string) *rig {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, db: db, log: &sink{}}
	alice, aliceDigest, err := operator.MintToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r.token = alice
	_, bobDigest, err := operator.MintToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r.server = r.serve(operator.Operator{Name: "bob", Digest: bobDigest}, operator.Operator{Name: "alice", Digest: aliceDigest})
	t.Cleanup(func() {
		if err := db.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Error(err)
		}
	})
	return r
}

// serve opens a door for some people.
func (r *rig) serve(operators ...operator.Operator) *httptest.Server {
	r.Helper()
	door, err := operator.New(operator.Config{
		Office: office.New(r.db, codecs{}, func() time.Time { return start }).With(heap{}).WithPrices(&shelf{}), Operators: operators,
		Log: slog.New(slog.NewTextHandler(r.log, nil)),
	})
	if err != nil {
		r.Fatal(err)
	}
	server := httptest.NewServer(door)
	r.Cleanup(server.Close)
	return server
}

// onBoth runs a test on both engines.
func onBoth(t *testing.T, test func(r *rig)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(newRig(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db")))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(newRig(t, pgtest.URL(t)))
	})
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// send sends a request as alice; headers come in pairs and win.
func (r *rig) send(method, path, body string, headers ...string) answer {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.server.URL+"/admin/v1"+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token.Reveal())
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Del(headers[i])
		for value := range strings.SplitSeq(headers[i+1], "|") {
			if value != "" {
				req.Header.Add(headers[i], value)
			}
		}
	}
	res, err := r.server.Client().Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.Fatal(err)
	}
	a := answer{status: res.StatusCode, header: res.Header, text: string(text)}
	if err := json.Unmarshal(text, &a.body); err != nil {
		r.Fatalf("%s %s: %d %q: %v", method, path, a.status, text, err)
	}
	return a
}

// do sends a request that must succeed.
func (r *rig) do(method, path, body string) answer {
	r.Helper()
	a := r.send(method, path, body)
	if a.status >= 300 || a.header.Get("Content-Type") != "application/json" {
		r.Fatalf("%s %s %s: %d %s", method, path, body, a.status, a.text)
	}
	return a
}

func (r *rig) create(name string) (id string) {
	r.Helper()
	return r.do("POST", "/integrators", `{"name":"`+name+`"}`).body["integratorId"].(string)
}

// refused sends a request that must be refused with a status and a code.
func (r *rig) refused(status int, code, method, path, body string, headers ...string) answer {
	r.Helper()
	a := r.send(method, path, body, headers...)
	if a.status != status || a.body["code"] != code || a.body["status"] != float64(status) || a.header.Get("Content-Type") != "application/problem+json" {
		r.Fatalf("%s %s %s: got %d %s, want %d %s", method, path, body, a.status, a.text, status, code)
	}
	if a.body["requestId"] != a.header.Get("X-Request-ID") || a.body["type"] != "/admin/v1/errors#"+code || a.body["detail"] == "" || a.body["title"] == "" {
		r.Fatalf("the problem is not whole: %s", a.text)
	}
	return a
}
