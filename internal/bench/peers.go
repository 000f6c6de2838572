package main

import (
	"context"
	_ "embed" // the peers' settings
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

var (
	//go:embed peer/nginx.conf
	nginxConf string
	//go:embed peer/fastify.js
	fastifyCode string
	//go:embed peer/express.js
	expressCode string
)

// errAbsent: a peer is not installed.
var errAbsent = errors.New("is not installed; scripts/bench-setup says why")

// program finds an installed program; Debian keeps servers where not everybody looks.
func program(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	if path := "/usr/sbin/" + name; executable(path) {
		return path, nil
	}
	return "", fmt.Errorf("%s %w", name, errAbsent)
}

func executable(path string) bool {
	s, err := os.Stat(path)
	return err == nil && s.Mode()&0o111 != 0
}

// cacheDir is where scripts/bench-setup puts what comes from npm.
func cacheDir() string {
	if dir := os.Getenv("FERRY_BENCH_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ferry-bench")
}

// nginx is nginx twice in one process: with limits, and with a question to another
// server before each request. Its backend and who it asks are bare servers of ours.
type nginx struct {
	limited, asking *server
	dir             string
}

func startNginx(ctx context.Context, key string, r *report) (n *nginx, err error) {
	path, err := program("nginx")
	if err != nil {
		return nil, err
	}
	r.version("nginx", versionOf(exec.CommandContext(ctx, path, "-v")))
	backend, err := ourServer(ctx, bareKind)
	if err != nil {
		return nil, err
	}
	auth, err := ourServer(ctx, authKind)
	if err != nil {
		return nil, errors.Join(err, backend.stop())
	}
	n = &nginx{}
	fail := func(err error) (*nginx, error) {
		return nil, errors.Join(err, backend.stop(), auth.stop(), os.RemoveAll(n.dir))
	}
	if n.dir, err = os.MkdirTemp("", "ferry-bench-"); err != nil {
		return fail(err)
	}
	at, err1 := freeAddress()
	asking, err2 := freeAddress()
	if err := errors.Join(err1, err2); err != nil {
		return fail(err)
	}
	conf := strings.NewReplacer("DIR", n.dir, "KEY", key, "BACKEND", backend.address, "AUTH", auth.address, "LIMITED", at, "ASKING", asking).Replace(nginxConf)
	file := filepath.Join(n.dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		return fail(err)
	}
	if n.limited, err = peerServer(ctx, "nginx", at, pinned(ctx, path, "-p", n.dir, "-c", file, "-e", "stderr"), backend); err != nil {
		return fail(err)
	}
	n.asking = &server{name: "nginx auth_request", address: asking, parts: append(n.limited.parts[:len(n.limited.parts):len(n.limited.parts)], auth.parts...)}
	return n, nil
}

func (n *nginx) stop() error { return errors.Join(n.asking.stop(), os.RemoveAll(n.dir)) }

// npmPeer is a server of npm's.
type npmPeer struct {
	name, code string
	proxy      string // the package with which it stands before a backend
}

// startNode runs a server of npm's, alone or before a backend, which is a bare server of
// ours and counts as its own.
func startNode(ctx context.Context, p npmPeer, key string, alone bool, r *report) (*server, error) {
	name := p.name
	path, err := program("node")
	if err != nil {
		return nil, err
	}
	modules := filepath.Join(cacheDir(), "node_modules")
	about, err := os.ReadFile(filepath.Join(modules, name, "package.json"))
	if err != nil {
		return nil, fmt.Errorf("%s %w", name, errAbsent)
	}
	if _, err := os.Stat(filepath.Join(modules, p.proxy)); err != nil && !alone {
		return nil, fmt.Errorf("%s %w", p.proxy, errAbsent)
	}
	r.version("node", versionOf(exec.CommandContext(ctx, path, "--version")))
	r.version(name, fieldBetween(string(about), `"version": "`, `"`))
	at, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := []string{"-e", p.code, "--", at[strings.LastIndexByte(at, ':')+1:], key, string(sameAnswer)}
	var beside []*server
	behind := "" // nothing
	if !alone {
		backend, err := ourServer(ctx, bareKind)
		if err != nil {
			return nil, err
		}
		beside, behind = []*server{backend}, backend.address
	}
	c := pinned(ctx, path, append(args, behind)...)
	c.Dir, c.Env = cacheDir(), append(os.Environ(), "NODE_ENV=production", "NODE_PATH="+modules)
	return peerServer(ctx, name, at, c, beside...)
}

// versionOf is what a program says its version is, without its name.
func versionOf(c *exec.Cmd) string {
	out, err := c.CombinedOutput()
	if err != nil {
		return "of unknown version"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimPrefix(strings.TrimPrefix(line, "nginx version: nginx/"), "v")
}
