package main

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"

	"ferry/internal/access"
	"ferry/internal/api"
	"ferry/internal/api/socket"
)

// The servers that tell everybody of events.
const (
	socketKind   = "socket"    // our door and our sockets
	writesKind   = "writes"    // one write for each connection, and nothing else
	socketioKind = "socket.io" // npm's
	natsKind     = "nats"      // Go's
)

// Paths of a server that tells: where who wants to hear connects, where it is told to
// publish as many events as n says, and where it is told to tidy its memory.
const (
	hearPath   = "/v2/ws"
	tellPath   = "/v2/tell"
	settlePath = "/v2/settle"
)

// An event as it is told: what differs between those who hear it, and the rest.
var (
	eventHead = []byte(`{"type":"event","subscriptionId":"s1",`)
	eventBody = []byte(`"seq":8,"event":"order.status_changed","data":` + string(sameAnswer) + `}`)
)

// firstWords are what a connection to our server hears first: before it, the connection is
// answered and may not be among those who hear.
const firstWords = `{"type":"welcome"}`

// hall is everybody who hears the events of our server.
type hall struct {
	mu    sync.Mutex
	conns []*socket.Conn // the head of its events is what each has with it
}

func (h *hall) Opened(c *socket.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.Data = append([]byte(nil), eventHead...)
	h.conns = append(h.conns, c)
	c.Send(socket.Text([]byte(firstWords)))
}

func (h *hall) Message(*socket.Conn, []byte) {}

func (h *hall) Farewell(*socket.Conn, int) []socket.Message { return nil }

func (h *hall) Closed(*socket.Conn, int) {} // the crowd stays until the end

func (h *hall) tell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		c.Send(socket.Message{Head: c.Data.([]byte), Body: eventBody})
	}
}

// everybody is let in and has no limits.
type everybody struct{}

func (everybody) Admit(c *api.Credentials, _ time.Time) (access.Principal, error) {
	return access.Principal{Peer: c.Remote, Client: c.Remote}, nil
}

func (everybody) Take(*access.Principal, api.Spend, time.Time, *api.Fields) error { return nil }

// serveSocket is a door with sockets behind it.
func serveSocket(ctx context.Context, ready func(card) error) error {
	h := &hall{}
	sockets := socket.New(socket.Config{PingEvery: time.Hour, IdleAfter: 3 * time.Hour}, h)
	rows := []api.Operation{
		{
			ID: "openSocket", Method: http.MethodGet, Path: hearPath, Tag: "live", Summary: "Hear events",
			Key: api.NoKey, Spends: api.Requests, Status: http.StatusSwitchingProtocols,
			Do: func(c *api.Call) (any, error) {
				if err := socket.Upgrade(c.Headers, c.SetHeader); err != nil {
					return nil, err
				}
				return &api.Switch{Take: func(conn net.Conn, early []byte) { sockets.Accept(conn, early, nil) }}, nil
			},
		},
		{
			ID: "tell", Method: http.MethodGet, Path: tellPath, Tag: "live", Summary: "Publish", Status: http.StatusNoContent,
			Key: api.NoKey, Spends: api.Requests, Query: []api.Param{{Name: "n", Kind: api.WholeParam, Min: 1, Max: plenty}},
			Do: func(c *api.Call) (any, error) {
				for range c.Whole("n", 1) {
					h.tell()
				}
				return nil, nil
			},
		},
		{
			ID: "settle", Method: http.MethodGet, Path: settlePath, Tag: "live", Summary: "Tidy", Status: http.StatusNoContent,
			Do: func(*api.Call) (any, error) { debug.FreeOSMemory(); return nil, nil },
		},
	}
	door, err := api.New(api.Config{Log: slog.New(slog.DiscardHandler), Now: time.Now}, api.Ports{Admitter: everybody{}, Limiter: everybody{}}, rows)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := ready(card{Address: l.Addr().String()}); err != nil {
		return err
	}
	err = door.Serve(ctx, l)
	now, cancel := context.WithCancel(context.Background())
	cancel() // those who hear are the bench, which does not mind
	_ = sockets.Close(now, socket.Restart, "")
	return err
}

// serveWrites is the floor: what all must do, a write for each who hears, from one
// goroutine and without a look at what they say.
func serveWrites(ctx context.Context, ready func(card) error) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() {
		<-ctx.Done()
		_ = l.Close()
	}()
	if err := ready(card{Address: l.Addr().String()}); err != nil {
		return err
	}
	event := ws.MustCompileFrame(ws.NewTextFrame(append(append([]byte(nil), eventHead...), eventBody...)))
	var all []net.Conn
	for {
		conn, err := l.Accept()
		if err != nil {
			return ignoreEnded(ctx, err)
		}
		read := bufio.NewReader(conn)
		r, err := http.ReadRequest(read)
		if err != nil {
			return err
		}
		if r.URL.Path == hearPath {
			all = append(all, conn)
			if _, err := conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\n\r\n")); err != nil {
				return err
			}
			continue
		}
		for ; err == nil; r, err = http.ReadRequest(read) { // whoever tells comes last, and alone
			n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.RawQuery, "n="))
			for range n {
				for _, c := range all {
					if _, err := c.Write(event); err != nil {
						return err
					}
				}
			}
			if _, err := conn.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n")); err != nil {
				return err
			}
		}
	}
}

func ignoreEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
