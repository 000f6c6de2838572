package devnet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
)

// Host is the program in which the nodes run.
type Host struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	control string
	ended   chan struct{}
}

// Start starts the program with its chains under a folder; what it says of its
// troubles goes to log. It ends when Close is called or this process ends, however
// that happens.
func Start(ctx context.Context, program, data string, log io.Writer) (*Host, error) {
	h := &Host{cmd: exec.Command(program, "-data", data), ended: make(chan struct{})}
	h.cmd.Stderr = log
	var err error
	if h.stdin, err = h.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the local chains: %w", err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = h.cmd.Wait()
		close(h.ended)
	}()
	var hello struct {
		Control string `json:"control"`
	}
	if err == nil {
		err = json.Unmarshal(line, &hello)
	}
	if err != nil || hello.Control == "" {
		return nil, errors.Join(errors.New("the local chains did not say where they are"), err, h.Close())
	}
	h.control = hello.Control
	return h, ctx.Err()
}

// Attach talks to a program that somebody else started, and that Close leaves running.
func Attach(control string) *Host { return &Host{control: control, ended: make(chan struct{})} }

// Control is where the program is moved; Attach takes it.
func (h *Host) Control() string { return h.control }

// Close ends the program and waits for it.
func (h *Host) Close() error {
	if h.cmd == nil {
		return nil
	}
	err := h.stdin.Close()
	<-h.ended
	return err
}

// Ended is closed when the program has ended, by itself or not.
func (h *Host) Ended() <-chan struct{} { return h.ended }

// Chain is a chain that runs.
type Chain struct {
	host *Host
	name string
	RPC  string // where its JSON-RPC answers
}

// Open starts a chain of a kind. One that is durable is kept in the folder and goes
// on where it stopped.
func (h *Host) Open(ctx context.Context, name, kind string, durable bool, spec any) (*Chain, error) {
	var out struct {
		RPC string `json:"rpc"`
	}
	in := map[string]any{"kind": kind, "durable": durable, "spec": spec}
	if err := h.post(ctx, "/chains/"+name, in, &out); err != nil {
		return nil, fmt.Errorf("chain %s: %w", name, err)
	}
	return &Chain{host: h, name: name, RPC: out.RPC}, nil
}

// Do moves a lever of a chain.
func (c *Chain) Do(ctx context.Context, op string, in, out any) error {
	if err := c.host.post(ctx, "/chains/"+c.name+"/"+op, in, out); err != nil {
		return fmt.Errorf("%s of chain %s: %w", op, c.name, err)
	}
	return nil
}

// Close stops a chain.
func (c *Chain) Close(ctx context.Context) error {
	return c.host.send(ctx, http.MethodDelete, "/chains/"+c.name, nil, nil)
}

func (h *Host) post(ctx context.Context, path string, in, out any) error {
	return h.send(ctx, http.MethodPost, path, in, out)
}

func (h *Host) send(ctx context.Context, method, path string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, h.control+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("the local chains do not answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(said)))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(said, out)
}
