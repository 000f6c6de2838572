// Package devtest runs a whole service on simulated chains for tests of other rooms.
package devtest

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"ferry/internal/dev"
)

// Running is a service that answers, until the test ends.
func Running(t testing.TB) *dev.Dev {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	d, err := dev.New(ctx, dev.Options{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", Operator: "127.0.0.1:0", Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- d.Run(ctx, func() { close(ready) }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return d
}
