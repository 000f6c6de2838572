package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a process, or some, that answer HTTP on the core of servers.
type server struct {
	name    string
	address string
	key     string // of an integrator, where it knows one
	parts   []*exec.Cmd
}

// pinned is a command that runs on the core of servers only.
func pinned(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "taskset", append([]string{"-c", strconv.Itoa(serverCore), name}, args...)...)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 5 * time.Second
	return c
}

// card is what a server of ours says once it answers.
type card struct{ Address, Key string }

// ourServer starts one of our own in a process of this very program.
func ourServer(ctx context.Context, kind string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := pinned(ctx, self, "-serve", kind)
	c.Stderr = os.Stderr
	if _, err := c.StdinPipe(); err != nil { // it ends when this process does
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	s := &server{name: kind, parts: []*exec.Cmd{c}}
	said, err := bufio.NewReader(out).ReadBytes('\n')
	var its card
	if err == nil {
		err = json.Unmarshal(said, &its)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server %s said %q: %w", kind, said, err), s.stop())
	}
	s.address, s.key = its.Address, its.Key
	return s, nil
}

// peerServer starts somebody else's that listens where it is told. What it needs
// beside it, such as a backend, counts as its own.
func peerServer(ctx context.Context, name, address string, c *exec.Cmd, beside ...*server) (*server, error) {
	c.Stderr = os.Stderr
	s := &server{name: name, address: address, parts: []*exec.Cmd{c}}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, b := range beside {
		s.parts = append(s.parts, b.parts...)
	}
	return s, s.answers(ctx)
}

// answers waits until something listens.
func (s *server) answers(ctx context.Context) error {
	const most, each = 20 * time.Second, 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	tick := time.NewTicker(each)
	defer tick.Stop()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", s.address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not listen: %w", s.name, err), s.stop())
		case <-tick.C:
		}
	}
}

func (s *server) stop() error {
	var errs []error
	for _, c := range s.parts {
		if c.ProcessState != nil {
			continue
		}
		if err := c.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
		_ = c.Wait() // it was told to end: how it says so does not matter
	}
	return errors.Join(errs...)
}

// patience is how long a server may take for one answer before that is an error.
const patience = 10 * time.Second

// ticks is how finely the kernel tells what a process used.
const ticks = 10 * time.Millisecond

// used is what the server's processes used so far, user and system.
func (s *server) used() (time.Duration, error) {
	var all time.Duration
	for _, c := range s.parts {
		n, err := usedBy(c.Process.Pid)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.name, err)
		}
		all += n
	}
	return all, nil
}

// usedBy is what a process that runs used so far.
func usedBy(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return parseUsed(string(text))
}

// parseUsed reads user and system time, which are the 14th and 15th field. The second
// is the name in parentheses, which may hold anything.
func parseUsed(stat string) (time.Duration, error) {
	const user, system = 14 - 3, 15 - 3
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= system {
		return 0, fmt.Errorf("no line of a process: %q", stat)
	}
	u, err1 := strconv.ParseInt(fields[user], 10, 64)
	k, err2 := strconv.ParseInt(fields[system], 10, 64)
	return time.Duration(u+k) * ticks, errors.Join(err1, err2)
}

// freeAddress is one on which nothing listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// contender is a server with the load it is given.
type contender struct {
	*server
	load *loader
	done int
	wall time.Duration
}

// meet opens the load of a server, once it answers it well: a key that was just made
// is known a moment later.
func meet(s *server, lines int, requests [][]byte) (*contender, error) {
	var err error
	for until := time.Now().Add(patience); time.Now().Before(until); {
		var first *loader
		if first, err = openLoader(s.name, s.address, 1, requests[:1]); err != nil {
			return nil, err
		}
		_, err = first.apart(50 * time.Millisecond)
		if err = errors.Join(err, first.close()); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	l, err := openLoader(s.name, s.address, lines, requests)
	return &contender{server: s, load: l}, err
}

// work is a side that says what CPU the requests of a slice took.
func (c *contender) work(length time.Duration) side {
	return func(int, int) (int, time.Duration, error) {
		before, err := c.used()
		if err != nil {
			return 0, 0, err
		}
		got, err := c.load.apart(length)
		if err != nil {
			return 0, 0, err
		}
		after, err := c.used()
		c.done, c.wall = c.done+got.done, c.wall+got.took
		return got.done, after - before, err
	}
}

// delay is a side that says how long the one in the middle of a slice took.
func (c *contender) delay(length time.Duration) side {
	return func(int, int) (int, time.Duration, error) {
		got, err := c.load.apart(length)
		return 1, got.middle, err
	}
}

// pace is how many requests it answered in a second.
func (c *contender) pace() float64 { return pace(c.done, c.wall) }

func (c *contender) leave() error { return c.load.close() }
