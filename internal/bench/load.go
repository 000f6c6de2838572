package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// load asks one server the same thing over and over, on connections that stay open.
// It speaks as little HTTP as it can: what it costs is taken from the machine that
// the server runs on.
type load struct {
	want  int // status
	conns []*loadConn
	size  int // of the last body
}

type loadConn struct {
	net.Conn
	in      *bufio.Reader
	request []byte
	vary    [][]byte        // parts of the request that are different each time
	took    []time.Duration // of each request of the slice
}

// varies stands for digits that are different in each request. They are neither zero
// nor letters, so that they may be anywhere in an address of any chain.
const varies = "########"

// other gives the request its next digits.
func (c *loadConn) other() {
	for _, part := range c.vary {
		for i := range part {
			part[i] = '1' + byte(rand.N(9))
		}
	}
}

// newLoad opens connections to a server.
func newLoad(address string, callers int, want int, request []byte) (*load, error) {
	l := &load{want: want}
	for range callers {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		one := &loadConn{Conn: c, in: bufio.NewReaderSize(c, 8<<10), request: bytes.Clone(request)}
		for rest := one.request; ; {
			i := bytes.Index(rest, []byte(varies))
			if i < 0 {
				break
			}
			one.vary = append(one.vary, rest[i:i+len(varies)])
			rest = rest[i+len(varies):]
		}
		l.conns = append(l.conns, one)
	}
	return l, nil
}

func (l *load) close() error {
	var errs []error
	for _, c := range l.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// slice asks on every connection at once for a while.
func (l *load) slice(length time.Duration) (int, time.Duration, error) {
	var done atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, len(l.conns))
	start := time.Now()
	for i, c := range l.conns {
		c.took = c.took[:0]
		wg.Go(func() {
			for at := time.Now(); at.Sub(start) < length; {
				if errs[i] = l.once(c, i == 0); errs[i] != nil {
					return
				}
				next := time.Now()
				c.took = append(c.took, next.Sub(at))
				at = next
				done.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	for _, err := range errs {
		if err != nil {
			return int(done.Load()), took, err // they mostly say the same
		}
	}
	return int(done.Load()), took, nil
}

// middle is the median of all requests of the last slice.
func (l *load) middle() (time.Duration, error) {
	var all []time.Duration
	for _, c := range l.conns {
		all = append(all, c.took...)
	}
	return medianTime(all)
}

// once asks and reads the answer to its end.
func (l *load) once(c *loadConn, notes bool) error {
	c.other()
	if _, err := c.Write(c.request); err != nil {
		return err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if len(line) < 12 {
		return fmt.Errorf("the server said %q", line)
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return fmt.Errorf("the server said %q", line)
	}
	size := -1
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, ok := bytes.Cut(line, []byte(": ")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if size, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if status != l.want {
		body, _ := io.ReadAll(io.LimitReader(c.in, int64(max(size, 0))))
		return fmt.Errorf("want status %d, got %d: %s", l.want, status, body)
	}
	if size < 0 {
		return errors.New("the answer has no Content-Length")
	}
	if notes {
		l.size = size
	}
	_, err = c.in.Discard(size)
	return err
}

// answers waits until a server answers a request as it should.
func answers(ctx context.Context, address string, want int, request []byte) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	t := time.NewTicker(20 * time.Millisecond)
	defer t.Stop()
	for {
		l, err := newLoad(address, 1, want, request)
		if err == nil {
			err = errors.Join(l.once(l.conns[0], true), l.close())
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-t.C:
		}
	}
}

// requestTo writes a request as it goes over the wire.
func requestTo(method, path, key string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: bench\r\n", method, path)
	if key != "" {
		fmt.Fprintf(&b, "X-Integrator-Key: %s\r\n", key)
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
