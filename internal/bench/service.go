package main

import (
	"bufio"
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
	"time"

	"ferry/internal/api"
	"ferry/internal/dev"
	"ferry/internal/front"
	"ferry/internal/integrator"
	"ferry/internal/office"
)

// service is a server in a process of its own, which ends when we do.
type service struct {
	greeting
	cmd   *exec.Cmd
	leash io.Closer
}

// greeting is what a server says of itself once it answers.
type greeting struct {
	Address    string // host:port
	Key        string // of a server
	Integrator string
}

// startOver starts this program again as a server of some kind over a database, on the
// processor of servers.
func startOver(ctx context.Context, kind, address string, args ...string) (*service, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args = append([]string{"-serve", kind, "-database", address}, args...)
	s := &service{cmd: onServerCore(exec.CommandContext(ctx, self, args...))}
	s.cmd.Stderr = os.Stderr
	if s.leash, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &s.greeting)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server %s said %q: %w", kind, line, err), s.stop())
	}
	return s, nil
}

// admits waits until the service knows the key it made.
func (s *service) admits(ctx context.Context) error {
	return answers(ctx, s.Address, http.StatusOK, requestTo(http.MethodGet, admissionPath, s.Key, nil))
}

func (s *service) stop() error {
	return errors.Join(s.leash.Close(), s.cmd.Wait())
}

// runServer is what the other process does: it serves until its standard input ends.
func runServer(ctx context.Context, kind, address string) (err error) {
	end, err := profiled(os.Getenv("FERRY_BENCH_PROFILE_" + strings.ToUpper(kind)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	ready := func(c greeting) error { return json.NewEncoder(os.Stdout).Encode(c) }
	switch kind {
	case "ferry":
		return serveFerry(ctx, address, ready)
	case "insert":
		return serveInsert(ctx, address, ready)
	}
	return fmt.Errorf("there is no server %q", kind)
}

// serveFerry runs the whole service on simulated chains. Its integrator has no
// limits: what is measured is how fast orders are made, not how they are refused.
func serveFerry(ctx context.Context, address string, ready func(greeting) error) (err error) {
	dir, err := os.MkdirTemp("", "ferry-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	front.Roomy()
	d, err := dev.New(ctx, dev.Options{
		Dir: dir, Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "bench", Database: address,
		// As a service logs: every request, as text, to where a service's log goes.
		Log:    slog.New(slog.NewTextHandler(io.Discard, nil)),
		Change: func(c *front.Config) { c.Rows = append(c.Rows, admissionOnly()) },
	})
	if err != nil {
		return err
	}
	if err := unlimited(ctx, d); err != nil {
		return err
	}
	for _, a := range bought {
		if err := d.DB.Fund(ctx, a, fortune, time.Now().UTC()); err != nil {
			return err
		}
	}
	var told error
	err = d.Run(ctx, func() {
		told = ready(greeting{Address: strings.TrimPrefix(d.Card.API, "http://"), Key: d.Card.ServerKey, Integrator: d.Card.IntegratorID})
	})
	return errors.Join(err, told)
}

// unlimited takes the limits off the demo integrator and off its keys.
func unlimited(ctx context.Context, d *dev.Dev) error {
	const by = "bench"
	var none int64
	id := integrator.ID(d.Card.IntegratorID)
	if _, err := d.Front.Office.SetLimits(ctx, id, office.Limits{Requests: &none, Quotes: &none, Creates: &none, OpenOrders: &none}, by); err != nil {
		return err
	}
	_, key, err := d.Front.Office.IssueKey(ctx, id, office.NewKey{Kind: integrator.Server, Label: by, Requests: &none}, by)
	if err != nil {
		return err
	}
	d.Card.ServerKey = key.Reveal()
	return nil
}

// admissionPath is where admissionOnly is.
const admissionPath = "/v2/integrator/bench"

// admissionBytes is how many bytes admissionOnly answers where nobody says.
const admissionBytes = 1024

// admissionOnly is a row that does nothing but be admitted. It answers as many bytes
// as it is asked for.
func admissionOnly() api.Operation {
	return api.Operation{
		ID: "benchAdmission", Method: http.MethodGet, Path: admissionPath, Tag: "integrator", Summary: "Admission only", Hidden: true,
		Key: api.ServerKey, Spends: api.Requests,
		Query: []api.Param{{Name: "bytes", Kind: api.WholeParam, Doc: "How many bytes to answer.", Example: "1024"}},
		Do: func(c *api.Call) (any, error) {
			n := min(max(c.Whole("bytes", admissionBytes), 0), int64(len(filler)))
			return &api.Raw{Type: "application/json", Body: filler[:n]}, nil
		},
	}
}

var filler = []byte(`"` + strings.Repeat("x", 1<<16) + `"`)
