package solana

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

//go:embed script.js
var script string

// process is the one program in which all our networks run: the second costs a
// twentieth of a second.
type process struct {
	mu    sync.Mutex
	stdin io.WriteCloser
	lines *bufio.Reader
	cmd   *exec.Cmd
	asked int
}

var shared process

// ask fulfils a wish; it starts the program if there is none.
func (p *process) ask(ctx context.Context, wish map[string]any) (rpc string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		if err := p.start(ctx); err != nil {
			return "", err
		}
	}
	p.asked++
	wish["id"] = p.asked
	text, err := json.Marshal(wish)
	if err != nil {
		return "", err
	}
	var said struct {
		ID         int
		RPC, Error string
	}
	if _, err = p.stdin.Write(append(text, '\n')); err == nil {
		var line []byte
		if line, err = p.lines.ReadBytes('\n'); err == nil {
			err = json.Unmarshal(line, &said)
		}
	}
	switch {
	case err != nil:
		p.end()
		return "", fmt.Errorf("%w: its program ended: %w", ErrNone, err)
	case said.ID != p.asked:
		p.end()
		return "", fmt.Errorf("%w: its program answered something else", ErrNone)
	case said.Error != "":
		return "", errors.New(said.Error)
	}
	return said.RPC, nil
}

func (p *process) start(ctx context.Context) error {
	dir, err := fetch(ctx)
	if err != nil {
		return err
	}
	cmd := exec.Command("node", "-e", script, dir) // it outlives who asked first
	cmd.Stderr = os.Stderr
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	p.cmd, p.lines = cmd, bufio.NewReader(out)
	return nil
}

func (p *process) end() {
	_ = p.stdin.Close()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	p.cmd = nil
}
