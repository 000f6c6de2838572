package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// crowd is a process with many connections to one server, which has it publish events
// and waits until everybody has heard them. It is one of its own because the files that
// a process may have open would not do for two crowds.
type crowd struct {
	*server
	many int
	cmd  *exec.Cmd
	in   io.Closer
	say  *json.Encoder
	hear *json.Decoder
}

// task is what a crowd is told: to publish so many events at once and wait until all
// have them, again and again for so long.
type task struct {
	Events int
	Length time.Duration
}

// heard is what came of it: how many events there were, and how long the last percent
// of those who hear waited for the first event of each time, and all for all of them.
type heard struct {
	Events int
	Late   []time.Duration // the 99th of a hundred
	Failed string
}

// gather connects a crowd to a server.
func gather(ctx context.Context, s *server, many int) (*crowd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &crowd{server: s, many: many}
	c.cmd = exec.CommandContext(ctx, "taskset", "-c", strconv.Itoa(loadCore), self, "-crowd", s.name+","+s.address+","+strconv.Itoa(many))
	c.cmd.Stderr = os.Stderr
	in, err1 := c.cmd.StdinPipe()
	out, err2 := c.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, c.cmd.Start()); err != nil {
		return nil, err
	}
	c.in, c.say, c.hear = in, json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	var first heard
	if err := c.hear.Decode(&first); err != nil || first.Failed != "" {
		return nil, errors.Join(fmt.Errorf("%d connections to %s: %s", many, s.name, first.Failed), err, c.leave())
	}
	return c, nil
}

// ask has the crowd publish and hear.
func (c *crowd) ask(o task) (heard, error) {
	var h heard
	if err := c.say.Encode(o); err != nil {
		return h, err
	}
	if err := c.hear.Decode(&h); err != nil {
		return h, fmt.Errorf("the crowd of %s: %w", c.name, err)
	}
	if h.Failed != "" {
		return h, fmt.Errorf("the crowd of %s: %s", c.name, h.Failed)
	}
	return h, nil
}

func (c *crowd) leave() error {
	return errors.Join(c.in.Close(), c.cmd.Wait()) // it ends when nobody tells it anything
}

// spent is a side that says what the server used for a slice.
func (c *crowd) spent(o task) side {
	return func(int, int) (int, time.Duration, error) {
		before, err := c.used()
		if err != nil {
			return 0, 0, err
		}
		h, err := c.ask(o)
		if err != nil {
			return 0, 0, err
		}
		after, err := c.used()
		return h.Events * c.many, after - before, err
	}
}

// late is a side that says how long the last percent waited for an event.
func (c *crowd) late(o task) side {
	return func(int, int) (int, time.Duration, error) {
		h, err := c.ask(o)
		if err != nil {
			return 0, 0, err
		}
		all := time.Duration(0)
		for _, d := range h.Late {
			all += d
		}
		return len(h.Late), all, nil
	}
}

// runCrowd is what the process of a crowd does, until nobody tells it anything more.
func runCrowd(what string) error {
	parts := strings.Split(what, ",")
	if len(parts) != 3 {
		return fmt.Errorf("%q is no crowd", what)
	}
	many, err := strconv.Atoi(parts[2])
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	c, err := connectAll(parts[0], parts[1], many)
	if err != nil {
		return errors.Join(err, out.Encode(heard{Failed: err.Error()}))
	}
	defer c.close()
	if err := out.Encode(heard{}); err != nil {
		return err
	}
	in := json.NewDecoder(os.Stdin)
	for {
		var o task
		if err := in.Decode(&o); err != nil {
			return nil // whoever tells is gone
		}
		h, err := c.obey(o)
		if err != nil {
			h.Failed = err.Error()
		}
		if err := out.Encode(h); err != nil {
			return err
		}
	}
}
