package solana

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// version is the one that was tried.
const version = "1.5.0"

// oldestNode is the oldest Node.js that can load the package.
const oldestNode = 18

// platforms are the packages that hold Surfpool for a machine.
var platforms = map[string]string{
	"linux/amd64": "@solana/surfpool-linux-x64-gnu",
	"linux/arm64": "@solana/surfpool-linux-arm64-gnu",

	"darwin/amd64": "@solana/surfpool-darwin-x64",
	"darwin/arm64": "@solana/surfpool-darwin-arm64",
}

// ErrNone: Surfpool cannot be had on this machine. A simulated chain can stand in.
var ErrNone = errors.New("the local Solana node, Surfpool, cannot be had")

// fetch finds the package, or has npm install it into the user's cache, and says in
// which folder it is.
func fetch(ctx context.Context) (string, error) {
	name, ok := platforms[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("%w: there is no package for %s/%s", ErrNone, runtime.GOOS, runtime.GOARCH)
	}
	if err := nodeIsNew(ctx); err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	into := filepath.Join(cache, "ferry", "surfpool-"+version)
	if err := os.MkdirAll(into, 0o700); err != nil {
		return "", fmt.Errorf("%w: %w", ErrNone, err)
	}
	lock, err := os.OpenFile(filepath.Join(into, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNone, err)
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // others may want it too
		return "", fmt.Errorf("%w: %w", ErrNone, err)
	}
	dir := filepath.Join(into, "node_modules", filepath.FromSlash(name))
	if installed(dir) {
		return dir, nil
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "npm", "install", "--prefix", into, "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", name+"@"+version)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w: npm could not install %s@%s: %w: %s", ErrNone, name, version, err, strings.TrimSpace(said.String()))
	}
	if !installed(dir) {
		return "", fmt.Errorf("%w: npm installed something else than %s@%s", ErrNone, name, version)
	}
	return dir, nil
}

func installed(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return false
	}
	var p struct{ Version, Main string }
	if json.Unmarshal(text, &p) != nil || p.Version != version || p.Main == "" {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, p.Main))
	return err == nil
}

func nodeIsNew(ctx context.Context) error {
	said, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return fmt.Errorf("%w: it needs Node.js %d or newer: %w", ErrNone, oldestNode, err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(said)), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < oldestNode {
		return fmt.Errorf("%w: it needs Node.js %d or newer, and this is %s", ErrNone, oldestNode, strings.TrimSpace(string(said)))
	}
	return nil
}
