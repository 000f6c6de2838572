package tail

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"ferry/internal/api/socket"
	"ferry/internal/api/wire"
	"ferry/internal/secret"
)

// Socket follows an order or an integration over the live socket.
type Socket struct {
	base *url.URL
	Key  secret.Text // of an integrator; it is sent with the upgrade
	// Order is the one that is followed; empty follows the orders of the key's integration.
	Order string
	// Session or Verify prove that the order may be seen.
	Session secret.Text
	Verify  string
}

// NewSocket names the API of a service. Secrets travel only to the loopback address or
// over TLS.
func NewSocket(base string) (*Socket, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("the URL of the service is not one; write such as https://swap.example.com")
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("a secret would travel to %s where others can read it; use https", u.Hostname())
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return &Socket{base: u}, nil
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && a.IsLoopback())
}

// Of a connection.
const (
	dialWithin = 15 * time.Second
	sayWithin  = 10 * time.Second
	firstWords = 30 * time.Second // how long may be silence before the service says how often it speaks
	maxMessage = 4 << 20
)

// Hear implements Source.
func (s *Socket) Hear(ctx context.Context, from From, tell func(Item) error) error {
	conn, early, err := s.dial(ctx)
	if err != nil {
		return err
	}
	leave := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		leave()
		_ = conn.Close()
	}()
	h := &hearing{socket: s, conn: conn, from: from, tell: tell, silence: firstWords}
	h.reader = wsutil.Reader{
		Source: early, State: ws.StateClientSide, CheckUTF8: true, MaxFrameSize: maxMessage,
		OnIntermediate: wsutil.ControlFrameHandler(conn, ws.StateClientSide),
	}
	if err := h.say(wire.Hello{Type: "hello", ID: "hello"}); err != nil {
		return err
	}
	if err := h.subscribe(from.After); err != nil {
		return err
	}
	return h.hear()
}

// dial opens a connection. A service that refuses says why.
func (s *Socket) dial(ctx context.Context) (net.Conn, io.Reader, error) {
	u := *s.base
	u.Scheme, u.Path = map[string]string{"http": "ws", "https": "wss"}[u.Scheme], u.Path+"/v2/ws"
	var said error
	d := ws.Dialer{
		Timeout: dialWithin, Protocols: []string{socket.Protocol},
		OnStatusError: func(status int, _ []byte, r io.Reader) { said = upgradeRefused(status, r) },
	}
	header := http.Header{"User-Agent": {"ferry-tail"}}
	if key := s.Key.Reveal(); key != "" {
		header.Set("X-Integrator-Key", key)
	}
	d.Header = ws.HandshakeHeaderHTTP(header)
	conn, early, _, err := d.Dial(ctx, u.String())
	if said != nil {
		return nil, nil, said
	}
	if err != nil {
		return nil, nil, fmt.Errorf("connect to %s: %w; check --url and that the service runs", s.base.Host, err)
	}
	if early == nil {
		return conn, conn, nil
	}
	return conn, io.MultiReader(early, conn), nil // what came with the answer is read first
}

// upgradeRefused reads why a connection was refused.
func upgradeRefused(status int, r io.Reader) error {
	var p struct {
		Code       string `json:"code"`
		Detail     string `json:"detail"`
		RetryAfter *int   `json:"retryAfterSeconds"`
	}
	if res, err := http.ReadResponse(bufio.NewReader(r), nil); err == nil {
		const most = 64 << 10
		if text, err := io.ReadAll(io.LimitReader(res.Body, most)); err == nil {
			_ = json.Unmarshal(text, &p) // what is no refusal of ours has no code
		}
		_ = res.Body.Close()
	}
	switch {
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		l := &laterError{why: fmt.Errorf("the service answered with status %d %s", status, p.Code)}
		if p.RetryAfter != nil {
			l.wait = time.Duration(*p.RetryAfter) * time.Second
		}
		return l
	case p.Code == "":
		return &Refusal{Text: "the service answered with status " + strconv.Itoa(status) + ", which is not of this API; check --url"}
	}
	return refused(p.Code, p.Detail, p.RetryAfter)
}

// hearing is one connection.
type hearing struct {
	socket  *Socket
	conn    net.Conn
	reader  wsutil.Reader
	from    From
	tell    func(Item) error
	silence time.Duration

	asked int    // how many subscriptions were asked for
	id    string // of the one that counts
	head  int64  // the newest number when it was accepted
}

func (h *hearing) say(v any) error {
	text, err := wire.Bytes(v)
	if err != nil {
		return err
	}
	if err := h.conn.SetWriteDeadline(time.Now().Add(sayWithin)); err != nil {
		return err
	}
	if err := wsutil.WriteClientText(h.conn, text); err != nil {
		return fmt.Errorf("tell the service: %w", err)
	}
	return nil
}

// subscribe asks for what comes after a number, or for how everything is. Of an order
// the event with that number is asked for, too: it is not shown again, but says whether
// the order is at its end already.
func (h *hearing) subscribe(after *int64) error {
	h.asked++
	id := strconv.Itoa(h.asked)
	var from *int
	if after != nil {
		n := int(*after)
		if h.socket.Order != "" {
			n = max(0, n-1)
		}
		from = &n
	}
	if h.socket.Order == "" {
		return h.say(wire.SubscribeIntegratorOrders{Type: "subscribe", ID: id, Channel: "integrator_orders", After: from})
	}
	return h.say(wire.SubscribeOrder{
		Type: "subscribe", ID: id, Channel: "order", After: from,
		Params: wire.OrderParams{OrderID: h.socket.Order, SessionID: h.socket.Session.Reveal(), Verify: h.socket.Verify},
	})
}

// hear takes messages until the connection ends.
func (h *hearing) hear() error {
	for {
		text, err := h.read()
		if err != nil {
			return err
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("the service said what is no message: %w", err)
		}
		if err := h.heard(&m, text); err != nil {
			return err
		}
	}
}

// read waits for a message. A service that is silent for too long is taken for gone.
func (h *hearing) read() ([]byte, error) {
	for {
		if err := h.conn.SetDeadline(time.Now().Add(h.silence)); err != nil {
			return nil, fmt.Errorf("the connection ended: %w", err)
		}
		head, err := h.reader.NextFrame()
		if err == nil && head.OpCode.IsControl() {
			err = h.reader.OnIntermediate(head, &h.reader)
			if err == nil {
				continue
			}
		}
		var closed wsutil.ClosedError
		if errors.As(err, &closed) {
			return nil, fmt.Errorf("the service closed the connection (%d %s)", closed.Code, closed.Reason)
		}
		if err != nil {
			return nil, fmt.Errorf("the connection ended: %w", err)
		}
		text, err := io.ReadAll(io.LimitReader(&h.reader, maxMessage+1))
		if err != nil {
			return nil, fmt.Errorf("the connection ended within a message: %w", err)
		}
		if len(text) > maxMessage {
			return nil, fmt.Errorf("the service sent a message of more than %d bytes", maxMessage)
		}
		return text, nil
	}
}
