package api

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"ferry/internal/api/contract"
	"ferry/internal/fault"
)

// Config is what a door is told.
type Config struct {
	// Version and Revision are of the build, for GET /v2/version.
	Version, Revision string
	// Server is where the door is reached from outside, for the contracts; empty is /.
	Server string
	// QuoteKey verifies the signatures of quotes, for GET /v2/version.
	QuoteKey string
	// Log gets one line per request and the causes of trouble.
	Log *slog.Logger
	// Now is the clock; it must have a monotonic reading.
	Now func() time.Time
	// Random is where request ids come from; the system's if nil.
	Random io.Reader
}

// Ports are the rooms behind the door.
type Ports struct {
	Admitter Admitter
	Limiter  Limiter
	Ceiling  Ceiling // nil is none
}

// Door serves the table.
type Door struct {
	cfg     Config
	ports   Ports
	rows    []Operation
	matcher *matcher
	public  *contract.Document
	hidden  *contract.Document
	panics  atomic.Uint64
}

// New makes a door of the rows that every door has and the ones it is given.
func New(cfg Config, ports Ports, rows []Operation) (*Door, error) {
	if cfg.Log == nil || cfg.Now == nil || ports.Admitter == nil || ports.Limiter == nil {
		return nil, errors.New("api: a door needs a log, a clock, an admitter and a limiter")
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	d := &Door{cfg: cfg, ports: ports}
	d.rows = append(d.ownRows(), rows...)
	if err := check(d.rows); err != nil {
		return nil, fmt.Errorf("the table of the API: %w", err)
	}
	if err := d.describe(); err != nil {
		return nil, err
	}
	d.matcher = newMatcher(d.rows)
	return d, nil
}

// Panics is how often a row panicked since the start.
func (d *Door) Panics() uint64 { return d.panics.Load() }

// Rows are the operations the door serves, for tests that walk over all of them.
func (d *Door) Rows() []Operation { return append([]Operation(nil), d.rows...) }

// Contract is the published document, Hidden the one for server keys.
func (d *Door) Contract() *contract.Document { return d.public }

// Hidden is the document of the rows that are not published.
func (d *Door) Hidden() *contract.Document { return d.hidden }

// ServeHTTP serves one request.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &Call{Now: d.cfg.Now(), ID: d.requestID(), writer: w, request: r}
	c.log = line{began: c.Now}
	d.common(c)
	defer d.recovered(c)
	v, err := d.handle(c)
	if err == nil {
		err = d.answer(c, v)
	}
	if err != nil {
		d.refuse(c, err)
	}
	d.written(c)
}

var (
	errNoRoute  = fault.New(fault.NotFound, "route_not_found", "There is no such path. See /v2/docs for those there are; paths are taken as they are, without trailing or doubled slashes.")
	errNoMethod = fault.New(fault.Invalid, "method_not_allowed", "The path does not know this method. The header Allow lists those it knows.")
)

// handle runs the checks in their one order, then the row. The first that fails
// answers.
func (d *Door) handle(c *Call) (any, error) {
	r := c.request
	c.route, c.values = d.matcher.find(r.URL.Path)
	d.crossOrigin(c)
	if c.route == nil {
		return nil, errNoRoute
	}
	if r.Method == http.MethodOptions {
		return d.options(c), nil
	}
	if c.op = c.route.byMethod[r.Method]; c.op == nil {
		c.SetHeader("Allow", c.route.allow)
		return nil, errNoMethod
	}
	if d.ports.Ceiling != nil && c.op.Spends != 0 {
		if err := d.ports.Ceiling.Enter(); err != nil {
			return nil, err
		}
		defer d.ports.Ceiling.Leave()
	}
	var body []byte
	if r.ContentLength != 0 {
		buffer := bodies.Get().(*[]byte)
		defer bodies.Put(buffer)
		var err error
		if body, err = readBody(c, *buffer); err != nil {
			return nil, err
		}
	}
	if err := d.admit(c); err != nil {
		return nil, err
	}
	var err error
	if c.query, err = readQuery(r.URL.RawQuery, c.op); err != nil {
		return nil, err
	}
	if c.body, err = decode(c.op, body); err != nil {
		return nil, err
	}
	return c.op.Do(c)
}

// admit says who asks and takes what the row spends, before anything that the
// request says is looked at.
func (d *Door) admit(c *Call) error {
	shown := Credentials{RawQuery: c.request.URL.RawQuery, Header: c.request.Header, Need: c.op.Key}
	if at, err := netip.ParseAddrPort(c.request.RemoteAddr); err == nil {
		shown.Remote = at.Addr()
	}
	who, err := d.ports.Admitter.Admit(&shown, c.Now)
	if err != nil {
		return err
	}
	c.Who = who
	c.log.admitted = true
	if c.op.Spends == 0 {
		return nil
	}
	return d.ports.Limiter.Take(&c.Who, c.op.Spends, c.Now, c.writer.Header())
}
