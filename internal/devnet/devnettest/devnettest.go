// Package devnettest gives tests the local chains: one program for each test binary,
// built once from the source tree.
package devnettest

import (
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"ferry/internal/devnet"
)

var start = sync.OnceValues(func() (*devnet.Host, error) {
	root, err := devnet.Root(".")
	if err != nil {
		return nil, err
	}
	// Each source tree has its own.
	into := filepath.Join(os.TempDir(), fmt.Sprintf("ferry-devnet-%08x", crc32.ChecksumIEEE([]byte(root))))
	if err := os.MkdirAll(into, 0o700); err != nil {
		return nil, err
	}
	// Test binaries run side by side; they build one after another.
	lock, err := os.OpenFile(filepath.Join(into, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, err
	}
	program, err := devnet.Build(context.Background(), root, into, nil)
	if err != nil {
		return nil, err
	}
	return devnet.Start(context.Background(), program, "", os.Stderr)
})

// Host is the program that this test binary's chains run in. It ends with the binary.
func Host(t testing.TB) *devnet.Host {
	t.Helper()
	h, err := start()
	if err != nil {
		t.Fatal(err)
	}
	return h
}
