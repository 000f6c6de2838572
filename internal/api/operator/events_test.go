package operator_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"ferry/internal/api/operator"
	"ferry/internal/api/wire"
	"ferry/internal/feed"
	"ferry/internal/office"
	"ferry/internal/order"
	"ferry/internal/secret"
	"ferry/internal/store"
)

// endless is a log that has always more, of orders that nobody knows.
type endless struct {
	*store.DB
	asked atomic.Int64
}

func (e *endless) Head(context.Context) (int64, error) { return 1 << 40, nil }

func (e *endless) Since(_ context.Context, seq int64, n int) ([]feed.Entry, error) {
	e.asked.Add(1)
	page := make([]feed.Entry, n)
	for i := range page {
		page[i] = feed.Entry{Seq: seq + int64(i) + 1, Order: order.ID(strings.Repeat("x", 1000)), Now: &order.Order{}}
	}
	return page, nil
}

// streams is a door with streams on a server with bounds of its own.
type streams struct {
	url   string
	token secret.Text
	stop  chan struct{}
	ended chan struct{} // one for each request that was answered to its end
}

func newStreams(t *testing.T, log func(*store.DB) operator.Journal) *streams {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "x.db")})
	if err != nil {
		t.Fatal(err)
	}
	hub, err := feed.NewHub(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	s := &streams{stop: make(chan struct{}), ended: make(chan struct{}, 1000)}
	token, digest, err := operator.MintToken(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s.token = token
	door, err := operator.New(operator.Config{
		Office: office.New(db, codecs{}, time.Now), Operators: []operator.Operator{{Name: "alice", Digest: digest}}, Log: slog.New(slog.DiscardHandler),
		Events: &operator.Events{
			Hub: hub, Journal: log(db), Stop: s.stop, Beat: 20 * time.Millisecond, Patience: 300 * time.Millisecond,
			Show: func(*order.Order, time.Time) wire.Order { return wire.Order{} },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const bound = 200 * time.Millisecond // of requests that end
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		door.ServeHTTP(w, r)
		s.ended <- struct{}{}
	}))
	server.Config.ReadTimeout, server.Config.WriteTimeout = bound, bound
	server.Start()
	s.url = server.URL
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *streams) client(t *testing.T) *operator.Client {
	t.Helper()
	c, err := operator.NewClient(s.url, s.token)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func nobody(db *store.DB) operator.Journal { return db }

func TestAStreamOutlivesTheBoundsOfRequestsAndSaysGoodbye(t *testing.T) {
	t.Parallel()
	s := newStreams(t, nobody)
	var beats int
	var last string
	err := s.client(t).Events(t.Context(), operator.Follow{}, func(line []byte) error {
		var m struct {
			Type  string `json:"type"`
			Seq   *int64 `json:"seq"`
			After int    `json:"reconnectAfterMs"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		last = m.Type
		if m.Type == "heartbeat" {
			if m.Seq == nil || *m.Seq != 0 {
				return fmt.Errorf("%s", line)
			}
			if beats++; beats == 40 { // four times the bound of the server
				close(s.stop)
			}
		}
		if m.Type == "goodbye" && (m.After < 500 || m.After > 2000) {
			return fmt.Errorf("%s", line)
		}
		return nil
	})
	if err != nil || last != "goodbye" || beats < 40 {
		t.Fatalf("%d beats, and then %q: %v", beats, last, err)
	}
}

func TestASlowReaderIsCut(t *testing.T) {
	t.Parallel()
	var log *endless
	s := newStreams(t, func(db *store.DB) operator.Journal {
		log = &endless{DB: db}
		return log
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /admin/v1/events?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", s.token.Reveal())
	select { // nothing is read, and still it ends
	case <-s.ended:
	case <-time.After(time.Minute):
		t.Fatal("a reader that takes nothing is waited for")
	}
	// What it got is the log from its beginning, as far as it came.
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Fatalf("%+v %v", res, err)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	want := int64(0)
	for lines.Scan() {
		var e struct {
			Seq int64 `json:"seq"`
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			break // the last one was cut
		}
		if want++; e.Seq != want {
			t.Fatalf("number %d stands where %d should", e.Seq, want)
		}
	}
	if want == 0 || want > log.asked.Load()*100 {
		t.Fatalf("%d lines of %d pages", want, log.asked.Load())
	}
}

func TestWhatStreamsRefuse(t *testing.T) {
	t.Parallel()
	s := newStreams(t, nobody)
	for query, code := range map[string]string{
		"after=1":                     "unknown_seq",
		"after=-1":                    "invalid_field",
		"after=x":                     "invalid_field",
		"last=1.5":                    "invalid_field",
		"after=0&after=0":             "invalid_field",
		"after=0&last=1":              "invalid_field",
		"order=ord_1&integrator=in_1": "invalid_field",
		"order=ord_1":                 "order_not_found",
		"integrator=int_1":            "integrator_not_found",
		"from=1":                      "unknown_parameter",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/admin/v1/events?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.token.Reveal())
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode < 400 || !strings.Contains(string(text), `"code":"`+code+`"`) {
			t.Errorf("%s: %d %s %v", query, res.StatusCode, text, err)
		}
	}
}

func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	s := newStreams(t, nobody)
	ctx, stop := context.WithCancel(t.Context())
	const most = 64
	begun, ended := make(chan struct{}, most), make(chan error, most)
	full := errors.New("begun")
	for range most {
		go func() {
			first := true
			ended <- s.client(t).Events(ctx, operator.Follow{}, func([]byte) error {
				if first {
					first = false
					begun <- struct{}{}
				}
				return nil
			})
		}()
	}
	for range most {
		select {
		case <-begun:
		case err := <-ended:
			t.Fatal(err)
		}
	}
	one := func() error {
		return s.client(t).Events(t.Context(), operator.Follow{}, func([]byte) error { return full })
	}
	if err := one(); err == nil || !strings.Contains(err.Error(), "too_many_streams") {
		t.Fatalf("one more: %v", err)
	}
	stop()
	for range most {
		<-ended
	}
	for range most + 1 {
		<-s.ended
	}
	if err := one(); !errors.Is(err, full) {
		t.Fatalf("after they left: %v", err)
	}
}

func TestOnlyARunningServiceStreams(t *testing.T) {
	t.Parallel()
	r := newRig(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	r.refused(http.StatusUnprocessableEntity, "service_not_running", "GET", "/events", "")
}
