package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/limit"
	"ferry/internal/office"
	"ferry/internal/secret"
)

// serviceEnv makes the test binary a service on a database.
const serviceEnv = "FERRY_TEST_SERVICE"

// task is what the service is told, and greeting what it says when it answers.
type (
	task     struct{ Database, Dir string }
	greeting struct {
		API, Key string
		Keys     []string // of two integrations
	}
)

func TestMain(m *testing.M) {
	if text := os.Getenv(serviceEnv); text != "" {
		if err := serve(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if text := os.Getenv(trapEnv); text != "" {
		fmt.Fprintln(os.Stderr, serveTrap(text)) // it ends in its trap, or not in order
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serve is a whole service until its input ends: then whoever started it is done
// with it, or gone.
func serve(text string) error {
	var to task
	if err := json.Unmarshal([]byte(text), &to); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	d, err := New(ctx, Options{
		Dir: to.Dir, Database: to.Database, Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "test",
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Change: func(c *front.Config) {
			c.IP = limit.IPLimits{Window: limit.DefaultIPLimits.Window} // nobody is held back
			c.Live.PerAddress, c.Live.PerKey = -1, -1
			c.Secret = secret.New(strings.Repeat("the same in each life of it. ", 2))
		},
	})
	if err != nil {
		return err
	}
	if err := d.resume(ctx); err != nil {
		return err
	}
	other, err := d.Front.Office.Create(ctx, "Other", "test")
	if err != nil {
		return err
	}
	none := int64(0)
	var keys []string
	for _, id := range []integrator.ID{integrator.ID(d.Card.IntegratorID), other.ID} {
		if _, err := d.Front.Office.SetLimits(ctx, id, office.Limits{Requests: &none, Quotes: &none, Creates: &none, OpenOrders: &none}, "test"); err != nil {
			return err
		}
		_, key, err := d.Front.Office.IssueKey(ctx, id, office.NewKey{Kind: integrator.Server, Label: "load", Requests: &none}, "test")
		if err != nil {
			return err
		}
		keys = append(keys, key.Reveal())
	}
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	return d.Run(ctx, func() {
		if err := json.NewEncoder(os.Stdout).Encode(greeting{d.Card.API, keys[0], keys}); err != nil {
			cancel()
		}
	})
}

// resume takes the chains to where the last service saw them. Blocks are named by
// their number, so as long as nobody pays they are the same blocks.
func (d *Dev) resume(ctx context.Context) error {
	for id, on := range d.Network.grounds {
		net := on.(*simGround).net
		seen, err := d.DB.Track(ctx, id)
		if err != nil {
			return err
		}
		for net.Height() < seen.Cursor.Height {
			net.Mine(1)
		}
	}
	return nil
}

// service is a service in a process of its own.
type service struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.Closer
	stderr strings.Builder
	client http.Client
	api    string
	key    string
	keys   []string
	ended  bool
	once   sync.Once
	dying  atomic.Bool
}

// start starts a service and waits until it answers.
func start(t *testing.T, database string) *service {
	t.Helper()
	text, err := json.Marshal(task{Database: database, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, cmd: exec.Command(os.Args[0])}
	s.client = http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}, Timeout: patience}
	s.cmd.Env, s.cmd.Stderr = append(os.Environ(), serviceEnv+"="+string(text)), &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // where the test failed in between
		if !s.ended {
			s.kill()
			_ = s.cmd.Wait()
		}
	})
	var g greeting
	if err := json.NewDecoder(out).Decode(&g); err != nil {
		s.ended = true
		t.Fatalf("the service did not start: %v", errors.Join(err, s.in.Close(), s.cmd.Wait(), errors.New(s.stderr.String())))
	}
	s.api, s.key, s.keys = g.API, g.Key, g.Keys
	return s
}

// kill ends the process as a power cut would.
func (s *service) kill() {
	s.once.Do(func() {
		s.dying.Store(true)
		if err := s.cmd.Process.Kill(); err != nil {
			s.t.Error(err)
		}
	})
}

// wasKilled waits for the end of the process, which must not be of its own making.
func (s *service) wasKilled() {
	s.t.Helper()
	err := s.cmd.Wait()
	s.ended = true
	s.client.CloseIdleConnections()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		s.t.Fatalf("the service was not killed but ended by itself: %v: %s", err, s.stderr.String())
	}
}

// stop lets the service end in order.
func (s *service) stop() {
	s.t.Helper()
	s.client.CloseIdleConnections()
	err := errors.Join(s.in.Close(), s.cmd.Wait())
	s.ended = true
	if err != nil {
		s.t.Fatalf("the service did not stop in order: %v: %s", err, s.stderr.String())
	}
}

// call makes a request and reads its answer to the end.
func (s *service) call(method, path string, q request, body string) (int, []byte, error) {
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.api+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range map[string]string{
		"X-Integrator-Key": q.key, "X-Session-ID": q.session, "Idempotency-Key": q.repeat,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// create asks for an order.
func (s *service) create(q request) (answer, error) {
	code, text, err := s.call(http.MethodPost, "/v2/orders", q, q.body)
	if err != nil {
		return answer{}, err
	}
	if code != http.StatusCreated {
		return answer{}, fmt.Errorf("answered with %d: %s", code, text)
	}
	a := answer{asked: q}
	if err := json.Unmarshal(text, &a); err != nil {
		return answer{}, err
	}
	if a.OrderID == "" || a.Session == "" || a.Funding.To == "" {
		return answer{}, fmt.Errorf("answered without an order: %s", text)
	}
	return a, nil
}
