package main

import (
	"context"
	_ "embed" // the peer's code
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

//go:embed peer/socketio.js
var socketioCode string

// How many hear: those of P8, P10 and the paced part of P9, and those of a burst, which
// is so many events at once.
const (
	manyHear  = 10_000
	burstHear = 1_000
	burst     = 100
)

// Goals of sockets (P8, P9, P10).
const (
	idleSocketGoal    = 8.0 // KB for an idle connection
	idleBesideGoal    = 0.6
	pacedGoal         = 1.3
	burstGoal         = 0.4
	socketioGoal      = 0.5
	lateGoal          = 1.25
	lateSocketioGoal  = 0.6
	lateNATSGoal      = 0.6
	memoryRounds      = 5
	settleConnections = 100 // that are there before, so that what there is once is not counted
)

// teller starts a server that tells events.
func teller(ctx context.Context, kind string, r *report) (*server, error) {
	switch kind {
	case socketioKind:
		return startNode(ctx, npmPeer{name: kind, code: socketioCode}, "", true, r)
	case natsKind:
		return startNATS(ctx, r)
	}
	return ourServer(ctx, kind)
}

func startNATS(ctx context.Context, r *report) (*server, error) {
	path := filepath.Join(cacheDir(), "bin", "nats-server")
	if !executable(path) {
		return nil, fmt.Errorf("nats-server %w", errAbsent)
	}
	r.version("nats-server", strings.TrimPrefix(versionOf(exec.CommandContext(ctx, path, "--version")), "nats-server: v"))
	at, err := freeAddress()
	if err != nil {
		return nil, err
	}
	conf := filepath.Join(cacheDir(), "nats.conf")
	if err := os.WriteFile(conf, []byte("listen: \""+at+"\"\nping_interval: \"1h\"\nlogtime: false\nlog_file: \"/dev/null\"\n"), 0o600); err != nil {
		return nil, err
	}
	return peerServer(ctx, natsKind, at, pinned(ctx, path, "-c", conf))
}

// fan is one comparison: what is measured of a crowd beside that of another server.
type fan struct {
	bench, name, unit string
	beside            string
	many              int
	order             task
	atMost            float64
	side              func(*crowd, task) side
	figure            float64 // of a microsecond, in the unit
}

func (o options) fans(ctx context.Context, all []fan) error {
	for _, f := range all {
		f.order.Length = o.length / slicesOfRound
		err := o.fan(ctx, f)
		if errors.Is(err, errAbsent) {
			o.report.skip("%s: %s: %v", f.bench, f.name, err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (o options) fan(ctx context.Context, f fan) (err error) {
	var sides [2]side
	for i, kind := range []string{socketKind, f.beside} {
		s, err1 := teller(ctx, kind, o.report)
		if err1 != nil {
			return err1
		}
		defer func() { err = errors.Join(err, s.stop()) }()
		c, err1 := gather(ctx, s, f.many)
		if err1 != nil {
			return err1
		}
		defer func() { err = errors.Join(err, c.leave()) }()
		if _, err := c.ask(task{Events: f.order.Events}); err != nil { // the first is slower
			return err
		}
		sides[i] = f.side(c, f.order)
	}
	d, err := interleave(f.bench+": "+f.name, o.rounds, cost, sides)
	if err != nil {
		return err
	}
	for i := range d.ours {
		d.ours[i], d.floor[i] = d.ours[i]*f.figure, d.floor[i]*f.figure
	}
	o.report.add(result{Bench: f.bench, Name: f.name, Unit: f.unit, AtMost: f.atMost}.judged(d))
	return nil
}

// runFanout measures P9: what the server's CPU does for each who hears an event.
func runFanout(ctx context.Context, o options) error {
	f := fan{bench: "fanout", unit: "µs CPU", side: (*crowd).spent, figure: 1}
	paced, hurry := f, f
	paced.many, paced.order.Events = manyHear, 1
	hurry.many, hurry.order.Events = burstHear, burst
	of := func(f fan, name, beside string, atMost float64) fan {
		f.name, f.beside, f.atMost = name, beside, atMost
		return f
	}
	return o.fans(ctx, []fan{
		of(paced, "an event to 10,000, beside one write for each", writesKind, pacedGoal),
		of(paced, "the same beside socket.io", socketioKind, socketioGoal),
		of(hurry, "100 events at once to 1,000, beside one write for each", writesKind, burstGoal),
		of(hurry, "the same beside socket.io", socketioKind, socketioGoal),
	})
}

// runFanoutLate measures P10: how long the last of those who hear wait. That nothing is
// lost the crowd sees to: it waits for every byte.
func runFanoutLate(ctx context.Context, o options) error {
	f := fan{bench: "fanout-p99", unit: "ms", side: (*crowd).late, figure: 1e-3, many: manyHear, order: task{Events: 1}}
	of := func(name, beside string, atMost float64) fan {
		f.name, f.beside, f.atMost = name, beside, atMost
		return f
	}
	return o.fans(ctx, []fan{
		of("the last percent of 10,000, beside one write for each", writesKind, lateGoal),
		of("the same beside socket.io", socketioKind, lateSocketioGoal),
		of("the same beside NATS", natsKind, lateNATSGoal),
	})
}

// runSocketsMemory measures P8: what an idle connection that hears holds of the
// server's memory.
func runSocketsMemory(ctx context.Context, o options) error {
	d, alone := duel{}, false
	for round := 0; len(d.ours) < memoryRounds; round++ {
		start := readCPU()
		var kilo [2]float64
		for turn := range 2 {
			who := (round + turn) % 2
			if who == 1 && alone {
				continue
			}
			var err error
			kilo[who], err = o.idle(ctx, []string{socketKind, socketioKind}[who])
			if who == 1 && errors.Is(err, errAbsent) {
				o.report.skip("sockets-memory: beside socket.io: %v", err)
				alone = true
			} else if err != nil {
				return err
			}
		}
		progress("sockets-memory: round %d of %d: %.2f and %.2f KB", round+1, memoryRounds, kilo[0], kilo[1])
		d.ours, d.floor, d.steal = append(d.ours, kilo[0]), append(d.floor, kilo[1]), max(d.steal, readCPU().since(start))
	}
	o.report.add(result{Bench: "sockets-memory", Name: "resident for each of 10,000 idle", Unit: "KB", Ours: median(d.ours), Rounds: memoryRounds}.within(idleSocketGoal))
	if !alone {
		o.report.add(result{Bench: "sockets-memory", Name: "the same beside socket.io", Unit: "KB", AtMost: idleBesideGoal}.judged(d))
	}
	return nil
}

// idle is how many kilobytes a fresh server holds for each connection.
func (o options) idle(ctx context.Context, kind string) (each float64, err error) {
	s, err := teller(ctx, kind, o.report)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	var kilo [2]float64
	for i, many := range []int{settleConnections, manyHear} {
		c, err1 := gather(ctx, s, many)
		if err1 != nil {
			return 0, err1
		}
		defer func() { err = errors.Join(err, c.leave()) }()
		if kilo[i], err = s.resident(ctx); err != nil {
			return 0, err
		}
	}
	return (kilo[1] - kilo[0]) / manyHear, nil
}

// resident is what memory the server has after it tidied up, in kilobytes.
func (s *server) resident(ctx context.Context) (float64, error) {
	path := settlePath
	if s.name == socketioKind {
		path = "/settle"
	}
	for range 2 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+path, nil)
		if err != nil {
			return 0, err
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		if err := a.Body.Close(); err != nil || a.StatusCode != http.StatusNoContent {
			return 0, fmt.Errorf("%s answers %s to being told to tidy up: %w", s.name, a.Status, err)
		}
	}
	status := fmt.Sprintf("/proc/%d/status", s.parts[0].Process.Pid)
	return strconv.ParseFloat(strings.TrimSuffix(field(status, "VmRSS"), " kB"), 64)
}
