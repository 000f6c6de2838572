package devnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrNoSource: there is no source tree from which the nodes can be built.
var ErrNoSource = errors.New("the source tree of Ferry is not here; start from its folder, so that the local chains can be built")

// Root is the folder of the source tree at or above a folder.
func Root(from string) (string, error) {
	dir, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module ferry\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", ErrNoSource
		}
		dir = up
	}
}

// Build builds the nodes' program from the source tree and says where it is. What was
// built before is only built again where something changed. built hears now and then how
// many packages were compiled so far; nil is nobody.
func Build(ctx context.Context, root, into string, built func(packages int)) (string, error) {
	into, err := filepath.Abs(into) // the compiler works in another folder
	if err == nil {
		err = os.MkdirAll(into, 0o700)
	}
	if err != nil {
		return "", err
	}
	path := filepath.Join(into, "devnet")
	said := &compiling{built: built}
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-o", path, ".")
	cmd.Dir = filepath.Join(root, "devnet")
	// A workspace of whoever builds must not choose other versions.
	cmd.Env = append(cmd.Environ(), "GOWORK=off", "GOFLAGS=")
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build the local chains: %w\n%s", err, strings.TrimSpace(said.rest.String()))
	}
	return path, nil
}

// compiling counts the packages that the compiler names, and keeps what else it says.
type compiling struct {
	built func(packages int)
	line  []byte
	rest  bytes.Buffer
	n     int
	told  time.Time
}

// tellEvery is how often somebody who waits hears of the build.
const tellEvery = 5 * time.Second

func (c *compiling) Write(p []byte) (int, error) {
	for _, b := range p {
		if c.line = append(c.line, b); b != '\n' {
			continue
		}
		text := string(c.line)
		c.line = c.line[:0]
		if strings.ContainsAny(strings.TrimSpace(text), " :") { // no name of a package
			c.rest.WriteString(text)
			continue
		}
		c.n++
		if c.built != nil && time.Since(c.told) > tellEvery {
			c.told = time.Now()
			c.built(c.n)
		}
	}
	return len(p), nil
}
