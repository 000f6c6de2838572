package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	jsonx "github.com/go-json-experiment/json"

	"ferry/internal/api"
	"ferry/internal/api/wire"
	"ferry/internal/daemon"
	"ferry/internal/dev"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

// The servers of our own.
const (
	bareKind   = "bare"   // a handler of net/http that answers the same bytes, in a server that waits for ever
	authKind   = "auth"   // one that says yes to whoever asks, for nginx's auth_request
	bytesKind  = "bytes"  // one that takes a quote's request as it comes and answers the same bytes of a quote
	codecKind  = "codec"  // one that reads a quote's request and writes a quote
	doorKind   = "door"   // the whole service, which logs no requests
	loggedKind = "logged" // the whole service with its line for each request
	pooledKind = "pooled" // the whole service with many pools
)

// benchPath is where the answer of the bench is.
const benchPath = "/v2/bench"

// seldom is how often a daemon without orders looks for some.
const seldom = 10 * time.Second

// plenty is a limit that nobody reaches.
const plenty = 1_000_000_000

// sameAnswer is the JSON of about 1 KB that all servers answer.
var sameAnswer = []byte(`{"items":[` + strings.Repeat(`{"id":"ord_01J0000000000000000000000","status":"completed","amount":"100000000","terminal":true},`, 10) + `{"id":"last"}]}`)

// serve is what the other process does, until whoever started it is gone.
func serve(ctx context.Context, kind string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the process that holds the other end
		cancel()
	}()
	// To see what a server does: FERRY_BENCH_PROFILE_DOOR=/tmp/door.prof make bench.
	end, err := profiled(os.Getenv("FERRY_BENCH_PROFILE_" + strings.ToUpper(kind)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	switch kind {
	case bareKind:
		return serveHandler(ctx, bareAnswer)
	case authKind:
		return serveHandler(ctx, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	case bytesKind:
		return serveHandler(ctx, quoteBytes)
	case codecKind:
		return serveHandler(ctx, codec)
	case socketKind:
		return errors.Join(raiseFiles(), serveSocket(ctx, present))
	case writesKind:
		return errors.Join(raiseFiles(), serveWrites(ctx, present))
	case doorKind, loggedKind, pooledKind:
		return serveDoor(ctx, kind)
	}
	return fmt.Errorf("there is no server %q", kind)
}

// present says where a server is to whoever started it.
func present(c card) error { return json.NewEncoder(os.Stdout).Encode(c) }

func serveHandler(ctx context.Context, h http.HandlerFunc) error {
	return serveOn(ctx, &http.Server{Handler: h})
}

func serveOn(ctx context.Context, s *http.Server) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		_ = s.Close() // nobody waits for an answer any more
	}()
	if err := present(card{Address: l.Addr().String()}); err != nil {
		return err
	}
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func bareAnswer(w http.ResponseWriter, _ *http.Request) { answerJSON(w, sameAnswer) }

func answerJSON(w http.ResponseWriter, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// sameQuote is the JSON of a quote.
var sameQuote = func() []byte {
	body, err := jsonx.Marshal(&exampleQuote)
	if err != nil {
		panic(err) // a constant
	}
	return body
}()

// quoteBytes is bareAnswer for a quote: what is asked is taken in, and nobody looks at it.
func quoteBytes(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answerJSON(w, sameQuote)
}

// codec is the floor of a quote: the same body is read and the same kind of answer
// written, by the library that the door uses, and nothing else is done.
func codec(w http.ResponseWriter, r *http.Request) {
	var asked wire.QuoteRequest
	if err := jsonx.UnmarshalRead(r.Body, &asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := jsonx.Marshal(&exampleQuote)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answerJSON(w, body)
}

// serveDoor is the whole service over simulated chains, with one more row.
func serveDoor(ctx context.Context, kind string) (err error) {
	dir, err := os.MkdirTemp("", "ferry-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if kind == loggedKind {
		f, err := os.Create(filepath.Join(dir, "log"))
		if err != nil {
			return err
		}
		log = slog.New(slog.NewJSONHandler(f, nil))
	}
	row := api.Operation{
		ID: "bench", Method: http.MethodGet, Path: benchPath, Tag: "service", Summary: "The answer of the bench",
		Key: api.OptionalKey, Spends: api.Requests | api.Quotes | api.Creates, // all six limits
		Do: func(*api.Call) (any, error) { return &api.Raw{Type: "application/json", Body: sameAnswer}, nil },
	}
	front.Roomy() // as ferry serve and ferry dev do
	o := dev.Options{
		Dir: dir, Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "bench", Log: log,
		Change: func(c *front.Config) {
			c.Rows = []api.Operation{row}
			// There are no orders, and what looks for them is not what is measured.
			c.Pace = daemon.Pace{Watch: seldom, Settle: seldom, Send: seldom, Feed: seldom}
		},
	}
	if kind == pooledKind {
		if err := addPools(ctx, &o); err != nil {
			return err
		}
	}
	d, err := dev.New(ctx, o)
	if err != nil {
		return err
	}
	key, err := welcome(ctx, d)
	if err != nil {
		return err
	}
	return d.Run(ctx, func() {
		if err := json.NewEncoder(os.Stdout).Encode(card{Address: strings.TrimPrefix(d.Card.API, "http://"), Key: key}); err != nil {
			progress("door: %v", err)
		}
	})
}

// welcome gives the demo integrator limits that nobody reaches, forwarding from this
// machine, and a server key.
func welcome(ctx context.Context, d *dev.Dev) (string, error) {
	most, yes := int64(plenty), true
	id := integrator.ID(d.Card.IntegratorID)
	_, err := d.Front.Office.Change(ctx, id, office.Patch{
		Limits: office.Limits{Requests: &most, Quotes: &most, Creates: &most},
		Forwarding: office.Forwarding{
			Enabled: &yes, Approve: []string{"127.0.0.1"}, Limits: office.ClientLimits{Requests: &most, Creates: &most},
		},
	}, "bench")
	if err != nil {
		return "", err
	}
	_, key, err := d.Front.Office.IssueKey(ctx, id, office.NewKey{Kind: integrator.Server, Label: "bench", Requests: &most}, "bench")
	return key.Reveal(), err
}
