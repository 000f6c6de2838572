package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"ferry/internal/api/contract"
	"ferry/internal/api/wire"
)

// Bounds of a connection: slow callers are dropped, not waited for.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
	lineBytes         = 4 << 10 // of the request line, beside its headers
	maxConnections    = 128 << 10
	// stopTimeout is how long requests may take to end once the door closes.
	stopTimeout = 20 * time.Second
)

// Serve answers on a listener until the context ends, then lets the requests that
// run come to their end.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	e := &engine{door: d, running: running}
	s := e.server()
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(patient{l, d.cfg.Log}) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve the API: %w", err)
	case <-ctx.Done():
	}
	stopping, give := context.WithTimeout(running, stopTimeout)
	defer give()
	if err := s.ShutdownWithContext(stopping); err != nil {
		return fmt.Errorf("requests still ran %s after the API was told to stop: %w", stopTimeout, err)
	}
	return nil
}

// engine reads requests off connections and writes answers to them.
type engine struct {
	door    *Door
	running context.Context // ends when nobody waits for requests any more
}

func (e *engine) server() *fasthttp.Server {
	return &fasthttp.Server{
		Handler:            e.handle,
		ErrorHandler:       e.unread,
		HeaderReceived:     received,
		ReadTimeout:        readHeaderTimeout, // received makes it longer for a body
		WriteTimeout:       writeTimeout,
		IdleTimeout:        idleTimeout,
		ReadBufferSize:     maxHeaderBytes + lineBytes,
		MaxRequestBodySize: wire.MaxBody,
		Concurrency:        maxConnections,
		Logger:             connectionLog{e.door.cfg.Log},

		KeepHijackedConns:            true, // whoever took one closes it
		CloseOnShutdown:              true,
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		SecureErrorLogMessage:        true,
	}
}

// received says how a body is to be read once the headers are there. One that will
// be refused for its length or its kind is not waited for, nor is it asked for.
func received(h *fasthttp.RequestHeader) (how fasthttp.RequestConfig) {
	length := h.ContentLength()
	if length == 0 || length == -2 { // which is none
		return how
	}
	how.ReadTimeout = readTimeout
	if length <= wire.MaxBody && string(h.ContentType()) == jsonMedia && len(h.Peek("Content-Encoding")) == 0 {
		return how
	}
	var types, codings []string
	for _, v := range h.PeekAll("Content-Type") {
		types = append(types, string(v))
	}
	for _, v := range h.PeekAll("Content-Encoding") {
		codings = append(codings, string(v))
	}
	unwanted := length > 0 && contract.Takes(string(h.Method())) && !plainJSON(types, codings)
	if unwanted {
		how.MaxRequestBodySize = 1
	}
	if unwanted || length > wire.MaxBody {
		h.Del("Expect")
	}
	return how
}

// exchange is one request and its answer.
type exchange struct {
	ctx     *fasthttp.RequestCtx
	asked   asked
	headers headerReader
	call    Call
}

var exchanges = sync.Pool{New: func() any { return &exchange{} }}

func (e *engine) handle(ctx *fasthttp.RequestCtx) {
	x := exchanges.Get().(*exchange)
	x.read(e.running, ctx)
	x.asked.body = ctx.PostBody()
	e.answer(x)
}

// unread answers what could not be read to its end. The connection is closed after
// that, and what still comes on it is let run out, so that the answer arrives.
func (e *engine) unread(ctx *fasthttp.RequestCtx, err error) {
	x := exchanges.Get().(*exchange)
	x.read(e.running, ctx)
	small := (*fasthttp.ErrSmallBuffer)(nil)
	a := &x.asked
	switch {
	case errors.As(err, &small):
		a.wrong = errHeaders
	case errors.Is(err, os.ErrDeadlineExceeded):
		a.wrong = errSlow
	case errors.Is(err, fasthttp.ErrBodyTooLarge) && a.length > 0: // else the head of the request is forgotten
		a.lost = errBodySize
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		a.wrong = errBodySize
	case errors.Is(err, io.ErrUnexpectedEOF):
		a.wrong = errBodyLate
	default:
		a.wrong = errMalformed
	}
	if a.wrong != nil {
		a.path = "" // which was not read, or is not to be relied on
	}
	if c, ok := ctx.Conn().(*caller); ok {
		c.lingers = true
	}
	e.answer(x)
}

func (e *engine) answer(x *exchange) {
	e.door.serve(&x.call, &x.asked, x)
	x.ctx, x.asked, x.call = nil, asked{}, Call{}
	exchanges.Put(x)
}

// read takes over what was read of a request.
func (x *exchange) read(running context.Context, ctx *fasthttp.RequestCtx) {
	h := &ctx.Request.Header
	x.ctx = ctx
	x.asked = asked{ctx: running, method: methodOf(h.Method()), length: int64(h.ContentLength()), remote: remote(ctx)}
	if x.asked.length == -2 { // which is none
		x.asked.length = 0
	}
	version := string(h.Protocol())
	target, sound := x.headers.read(h.RequestURI(), h.RawHeaders(), version == "HTTP/1.1")
	x.asked.aim(target)
	if !sound || version != "HTTP/1.1" && version != "HTTP/1.0" {
		x.asked.wrong = errMalformed
	}
	x.asked.header = x.headers.header
}

// methodOf is a method; those that there are need no memory.
func methodOf(text []byte) string {
	switch string(text) {
	case http.MethodGet:
		return http.MethodGet
	case http.MethodPost:
		return http.MethodPost
	}
	return string(text)
}

func remote(ctx *fasthttp.RequestCtx) netip.Addr {
	if a, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		return a.AddrPort().Addr()
	}
	return netip.Addr{}
}

// send implements writer.
func (x *exchange) send(status int, header *Fields, body []byte, lasts bool) {
	r := &x.ctx.Response
	r.SetStatusCode(status)
	for i := range header.all {
		r.Header.Add(header.all[i].name, header.all[i].value)
	}
	switch {
	case lasts:
		r.SetBodyRaw(body)
	case len(body) > 0:
		r.SetBody(body)
	}
}

// switches implements writer.
func (x *exchange) switches() bool { return x.ctx.Request.Header.IsHTTP11() }

// handOver implements writer.
func (x *exchange) handOver(head []byte, take func(net.Conn, []byte)) error {
	x.ctx.HijackSetNoResponse(true)
	x.ctx.Hijack(func(read net.Conn) {
		conn := read.(interface{ UnsafeConn() net.Conn }).UnsafeConn()
		handOver(conn, head, func() []byte { return buffered(read) }, take)
	})
	return nil
}

// patient lets connections end so that the other side gets what was sent to it last.
type patient struct {
	net.Listener
	log *slog.Logger
}

// Accept implements net.Listener. That there are no files left is no reason to end:
// there will be, as soon as somebody hangs up.
func (p patient) Accept() (net.Conn, error) {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		c, err := p.Listener.Accept()
		if err == nil {
			return &caller{Conn: c}, nil
		}
		if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) && !errors.Is(err, syscall.ECONNABORTED) {
			return nil, err
		}
		p.log.Warn("a connection could not be taken, will be tried again", "error", err)
		time.Sleep(wait)
	}
}

// caller is a connection.
type caller struct {
	net.Conn
	lingers bool // it is closed while the other side still sends
}

// How long and how much is read from a connection that is being closed.
const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 256 << 10
)

// Close implements net.Conn. If it were closed with something unread, the other side
// would be told of a reset and might never see the answer.
func (c *caller) Close() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.lingers {
		if half.CloseWrite() == nil && c.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
			_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes)
		}
	}
	return c.Conn.Close()
}

// connectionLog hears of trouble with connections. What is said of a single one is not
// kept: it has an address in it, which is an end user's. That no more connections can
// be taken is for the operator.
type connectionLog struct{ log *slog.Logger }

// Printf implements fasthttp.Logger.
func (c connectionLog) Printf(format string, args ...any) {
	if strings.Contains(format, "accepting") || strings.Contains(format, "Server.Concurrency") {
		c.log.Warn("the HTTP server had trouble", "what", fmt.Sprintf(format, args...))
		return
	}
	c.log.Debug("there was trouble with a connection")
}
