package signer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ferry/internal/chain"
	"ferry/internal/secret"
	"ferry/internal/signer"
	"ferry/internal/testseed"
)

// spot is a path that is short enough for a socket.
func spot(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "s.sock")
}

// served runs a server until the test ends.
func served(t *testing.T, path string, k signer.Keys, tune func(*signer.Server), log io.Writer) *signer.Client {
	t.Helper()
	l, err := signer.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	s := signer.NewServer(k, nets, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if tune != nil {
		tune(s)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, l) }()
	c := signer.NewClient(path)
	t.Cleanup(func() {
		c.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestSocketSigns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := spot(t)
	c := served(t, path, r.signer, nil, io.Discard)
	for _, good := range goods {
		p := good(r)
		want := r.sign(p)
		got, err := c.Sign(t.Context(), p)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %v", p.Chain, err)
		}
		a, err := c.Address(t.Context(), p.Chain, depositKey(5))
		if err != nil || a != r.address(p.Chain, depositKey(5)) {
			t.Fatalf("address %v, %v", a, err)
		}
	}
	hot, err := c.Health(t.Context())
	if err != nil || len(hot) != len(nets) || hot[ether] != r.address(ether, hotKey()).Text() {
		t.Fatalf("health %v, %v", hot, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
	// A refusal is told apart from everything else.
	p := evmGood(r)
	r.book.halt(ether, "look first")
	_, err = c.Sign(t.Context(), p)
	var no *signer.Refusal
	if !errors.As(err, &no) || no.Reason != signer.Halted || errors.Is(err, signer.ErrUnreachable) || !strings.Contains(no.Text, "look first") {
		t.Fatalf("got %v", err)
	}
	if _, err := c.Address(t.Context(), ether, chain.Key{Account: "cold"}); !errors.Is(err, signer.ErrUnknownKey) {
		t.Fatalf("got %v", err)
	}
	if _, err := c.Address(t.Context(), "eip155:9", hotKey()); !errors.Is(err, signer.ErrUnknownKey) {
		t.Fatalf("got %v", err)
	}
}

func TestSocketManyAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := evmGood(r)
	c := served(t, spot(t), r.signer, nil, io.Discard)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for i := range uint32(5) {
				if _, err := c.Sign(t.Context(), p); err != nil {
					t.Error(err)
				}
				if _, err := c.Address(t.Context(), cluster, depositKey(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestSocketStrangers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := evmGood(r)
	var asked atomic.Uint32
	var log lines
	c := served(t, spot(t), r.signer, func(s *signer.Server) {
		s.Only(func(uid uint32) bool { asked.Store(uid); return false })
	}, &log)
	if _, err := c.Sign(t.Context(), p); !errors.Is(err, signer.ErrUnreachable) || errors.Is(err, signer.ErrRefused) {
		t.Fatalf("a stranger got %v", err)
	}
	if asked.Load() != uint32(os.Getuid()) {
		t.Fatalf("the kernel named user %d", asked.Load())
	}
	if !strings.Contains(log.String(), "a stranger asked") {
		t.Fatalf("nothing was said: %s", log.String())
	}
}

// lines is a log that several goroutines may write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestSocketPlaces(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := spot(t)
	c := signer.NewClient(path)
	if _, err := c.Sign(t.Context(), evmGood(r)); !errors.Is(err, signer.ErrUnreachable) || errors.Is(err, signer.ErrRefused) {
		t.Fatalf("nobody listens: %v", err)
	}
	// A socket that a dead process left behind.
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	served(t, path, r.signer, nil, io.Discard)
	if _, err := c.Health(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := signer.Listen(path); err == nil {
		t.Fatal("a second signer took the place of the first")
	}
	plain := filepath.Join(filepath.Dir(path), "plain")
	if err := os.WriteFile(plain, []byte("keep me"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := signer.Listen(plain); err == nil {
		t.Fatal("a file was taken for a socket")
	}
	if _, err := signer.Listen(filepath.Join(filepath.Dir(path), "no", "where")); err == nil {
		t.Fatal("a socket in no folder")
	}
}

// TestSocketAnswersThatAreNone: whatever a broken signer says, nothing is known.
func TestSocketAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"nothing":       func(http.ResponseWriter, *http.Request) {},
		"not JSON":      func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"no signature":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"text":"ok"}`) },
		"other code":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503); fmt.Fprint(w, `{"raw":"AAAA"}`) },
		"empty refusal": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403); fmt.Fprint(w, `{}`) },
		"without an end": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"text":"%s`, strings.Repeat("x", 5<<20))
		},
		"hangs up": func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				err = c.Close()
			}
			if err != nil {
				t.Error(err)
			}
		},
		"says nothing": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := spot(t)
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
			ended := make(chan error, 1)
			go func() { ended <- srv.Serve(l) }()
			t.Cleanup(func() {
				if err := srv.Close(); err != nil {
					t.Error(err)
				}
				<-ended
			})
			r := newRig(t)
			p := evmGood(r)
			c := signer.NewClient(path)
			defer c.Close()
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
			if name == "says nothing" {
				ctx, stop = context.WithTimeout(t.Context(), 50*time.Millisecond)
			}
			defer stop()
			if raw, err := c.Sign(ctx, p); raw != nil || !errors.Is(err, signer.ErrUnreachable) || errors.Is(err, signer.ErrRefused) {
				t.Errorf("sign: %x, %v", raw, err)
			}
			if a, err := c.Address(ctx, ether, hotKey()); !a.IsZero() || !errors.Is(err, signer.ErrUnreachable) {
				t.Errorf("address: %v, %v", a, err)
			}
		})
	}
}

// TestSocketQuestionsThatAreNone: a server outlives whatever it is sent.
func TestSocketQuestionsThatAreNone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	path := spot(t)
	c := served(t, path, r.signer, nil, io.Discard)
	raw := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }}}
	defer raw.CloseIdleConnections()
	for name, body := range map[string]string{
		"nothing": "", "not JSON": "paper", "a list": "[]", "unknown field": `{"chain":"x","sudo":true}`, "two": `{}{}`,
		"too long": `{"unsigned":"` + strings.Repeat("A", 5<<20) + `"}`, "wrong type": `{"keys":{"account":"hot"}}`, "big index": `{"keys":[{"index":4294967296}]}`,
	} {
		res, err := raw.Post("http://signer/sign", "application/json", strings.NewReader(body))
		if err != nil {
			if name == "too long" { // the server may hang up before it has read all
				continue
			}
			t.Fatalf("%s: %v", name, err)
		}
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	huge := evmGood(r)
	huge.Unsigned = make([]byte, 4<<20)
	if _, err := c.Sign(t.Context(), huge); err == nil {
		t.Error("a paper without measure was signed")
	}
	if _, err := c.Sign(t.Context(), evmGood(r)); err != nil {
		t.Errorf("it no longer signs: %v", err)
	}
}

// TestCanary: no secret in logs, errors or printed values.
func TestCanary(t *testing.T) {
	t.Parallel()
	path, seed := written(t, quick)
	ring, err := signer.NewRing(seed.Bytes(), nets)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	s, err := signer.New(ring, r.policy, r.book, r.book)
	if err != nil {
		t.Fatal(err)
	}
	r.ring = ring
	var log lines
	c := served(t, spot(t), s, nil, &log)
	var said []any
	say := func(x ...any) { said = append(said, x...) }
	rng := testseed.Rand(t)
	for _, good := range goods {
		p := good(r)
		raw, err := c.Sign(t.Context(), p)
		say(err)
		for range 50 {
			_, err := c.Sign(t.Context(), mutate(rng, p))
			say(err)
		}
		_, err = ring.Sign(t.Context(), chain.Paper{Chain: p.Chain, Unsigned: raw, Keys: []chain.Key{depositKey(1)}})
		say(err)
	}
	_, err = signer.ReadSeed(path, secret.New("wrong"+pass))
	say(err, seed, &seed, seed.Mnemonic(), ring, *ring, s, c, struct{ S signer.Seed }{seed}, []signer.Seed{seed}, map[string]*signer.Ring{"x": ring})
	_, err = signer.ParseMnemonic(secret.New(seed.Mnemonic().Reveal() + " zoo"))
	say(err)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("all", "seed", seed, "ring", ring, "signer", s)
	var all strings.Builder
	all.WriteString(log.String())
	for _, x := range said {
		fmt.Fprintf(&all, "%v %+v %#v %s\n", x, x, x, x)
	}
	words := strings.Fields(seed.Mnemonic().Reveal())
	secrets := []string{pass, fmt.Sprintf("%x", seed.Bytes())[:32], strings.Join(words[:3], " "), "xprv"}
	for _, x := range secrets {
		if strings.Contains(all.String(), x) {
			t.Errorf("a secret was said")
		}
	}
	if !strings.Contains(all.String(), "refused") {
		t.Error("nothing was refused: the test shows nothing")
	}
}
