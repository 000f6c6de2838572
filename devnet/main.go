// Command devnet runs real chain nodes for development and tests: it is built and
// started by `ferry dev` and by tests, and is not part of the service.
//
// It prints one line of JSON with the address of its control door, opens chains as
// it is asked to, and ends when its standard input does, so that it never outlives
// whoever started it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	data := flag.String("data", "", "folder of the chains; each has its own below it")
	flag.Parse()
	if err := run(*data); err != nil {
		fmt.Fprintln(os.Stderr, "devnet:", err)
		os.Exit(1)
	}
}

func run(data string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := newHost(data)
	defer h.close()
	srv := &http.Server{Handler: h.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = srv.Close()
	}()
	hello := map[string]string{"control": "http://" + ln.Addr().String()}
	if err := json.NewEncoder(os.Stdout).Encode(hello); err != nil {
		return err
	}
	if err := srv.Serve(ln); err != http.ErrServerClosed {
		return err
	}
	return nil
}
