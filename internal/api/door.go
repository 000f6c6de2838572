package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
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
	// Down reports whether an error is that what the service keeps its state in does
	// not answer: the caller is told to come again. Nil is never.
	Down func(error) bool
	// Live is what is said on the live socket, for its contract.
	Live contract.Live
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
	live    *contract.Document
	panics  atomic.Uint64
	// livePage is the live contract for people.
	livePage *Raw
}

// New makes a door of the rows that every door has and the ones it is given.
func New(cfg Config, ports Ports, rows []Operation) (*Door, error) {
	if cfg.Log == nil || cfg.Now == nil || ports.Admitter == nil || ports.Limiter == nil {
		return nil, errors.New("api: a door needs a log, a clock, an admitter and a limiter")
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

// Live is the document of the live socket.
func (d *Door) Live() *contract.Document { return d.live }

// writer takes an answer.
type writer interface {
	// send sends the answer, once. The body is not kept, unless it lasts: then it never
	// changes.
	send(status int, header *Fields, body []byte, lasts bool)
	// switches reports whether the connection can be given away, and handOver does it
	// after sending the head of the answer, instead of send.
	switches() bool
	handOver(head []byte, take func(net.Conn, []byte)) error
}

// serve answers one request with a call that is empty.
func (d *Door) serve(c *Call, a *asked, w writer) {
	c.Now, c.ID, c.writer, c.asked = d.cfg.Now(), requestID(), w, a
	c.out.all = c.usual[:0]
	c.log = line{began: c.Now}
	c.common()
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
	a := c.asked
	c.route, c.values = d.matcher.find(a.path)
	d.crossOrigin(c)
	if a.wrong != nil {
		return nil, c.hangUp(a.wrong)
	}
	if c.route == nil {
		return nil, errNoRoute
	}
	if a.method == http.MethodOptions {
		return d.options(c), nil
	}
	if c.op = c.route.byMethod[a.method]; c.op == nil {
		c.SetHeader("Allow", c.route.allow)
		return nil, errNoMethod
	}
	if d.ports.Ceiling != nil && c.op.Spends != 0 {
		if err := d.ports.Ceiling.Enter(); err != nil {
			return nil, err
		}
		defer d.ports.Ceiling.Leave()
	}
	body, err := c.takeBody()
	if err != nil {
		return nil, err
	}
	if err := d.admit(c); err != nil {
		return nil, err
	}
	if c.query, err = readQuery(a.rawQuery, c.op); err != nil {
		return nil, err
	}
	if c.body, err = decode(c.op, body); err != nil {
		return nil, err
	}
	if err := c.choose(); err != nil {
		return nil, err
	}
	return c.op.Do(c)
}

// admit says who asks and takes what the row spends, before anything that the
// request says is looked at.
func (d *Door) admit(c *Call) error {
	shown := Credentials{RawQuery: c.asked.rawQuery, Header: c.asked.header, Remote: c.asked.remote, Need: c.op.Key}
	who, err := d.ports.Admitter.Admit(&shown, c.Now)
	if err != nil {
		return err
	}
	c.Who = who
	c.log.admitted = true
	if c.op.Spends == 0 {
		return nil
	}
	return d.ports.Limiter.Take(&c.Who, c.op.Spends, c.Now, &c.out)
}
