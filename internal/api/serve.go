package api

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
)

// Bounds of a connection: slow callers are dropped, not waited for.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
	maxStreams        = 100
	// stopTimeout is how long requests may take to end once the door closes.
	stopTimeout = 20 * time.Second
)

// Serve answers on a listener until the context ends, then lets the requests that
// run come to their end.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	s := Server(d, d.cfg.Log)
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve the API: %w", err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := s.Shutdown(stopping); err != nil {
		return fmt.Errorf("requests still ran %s after the API was told to stop: %w", stopTimeout, errors.Join(err, s.Close()))
	}
	return nil
}

// Server is one with the bounds of the door, for any handler: what they cost is not
// the door's own.
func Server(h http.Handler, to *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:          log.New(connectionLog{to}, "", 0),
		// OPTIONS * would otherwise be answered without us.
		DisableGeneralOptionsHandler: true,
	}
}

// connectionLog passes on what net/http says of connections without the addresses
// in it, which are of end users.
type connectionLog struct{ log *slog.Logger }

func (c connectionLog) Write(text []byte) (int, error) {
	what, _, _ := strings.Cut(string(text), " from ")
	if strings.Contains(what, " serving ") || !strings.HasPrefix(what, "http: ") {
		what = "http: trouble with a connection"
	}
	c.log.Warn("the HTTP server had trouble", "what", strings.TrimSpace(what))
	return len(text), nil
}
