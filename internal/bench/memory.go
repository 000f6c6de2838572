package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"ferry/internal/house"
)

// openOrders is how many orders the measured daemon has open.
const openOrders = 100_000

// memory is what a process uses, in bytes.
type memory struct{ Heap, Resident uint64 }

// runMemory measures the daemon with no orders and with many, each in a process
// of its own.
func runMemory(ctx context.Context, o options) error {
	p, err := sqlitePlace()
	if err != nil {
		return err
	}
	none, err1 := p.daemonWith(ctx, 0)
	many, err2 := p.daemonWith(ctx, openOrders)
	if err := errors.Join(err1, err2, p.clear()); err != nil {
		return err
	}
	mega := func(n uint64) float64 { return float64(n) / 1e6 }
	each := func(with, without uint64) float64 { return (float64(with) - float64(without)) / openOrders }
	name := func(what string) string { return fmt.Sprintf("%s with %d orders, beside none", what, openOrders) }
	o.report.add(result{Bench: "memory", Name: name("heap in use"), Unit: "MB", Ours: mega(many.Heap), Floor: mega(none.Heap)})
	o.report.add(result{Bench: "memory", Name: name("resident"), Unit: "MB", Ours: mega(many.Resident), Floor: mega(none.Resident)})
	o.report.add(result{Bench: "memory", Name: "heap in use for each order", Unit: "bytes", Ours: each(many.Heap, none.Heap)})
	o.report.add(result{Bench: "memory", Name: "resident for each order", Unit: "bytes", Ours: each(many.Resident, none.Resident)})
	return nil
}

// daemonWith runs a daemon over a database with n open orders in another process.
func (p *place) daemonWith(ctx context.Context, n int) (m memory, err error) {
	address, err := p.fresh(ctx)
	if err != nil {
		return m, err
	}
	if err := fill(ctx, address, n, time.Now().UTC()); err != nil {
		return m, err
	}
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	child := exec.CommandContext(ctx, self, "-child", address)
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		return m, fmt.Errorf("the daemon with %d orders: %w", n, err)
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return m, fmt.Errorf("the daemon with %d orders said %q: %w", n, out, err)
	}
	progress("memory: with %d orders %d bytes of heap, %d resident", n, m.Heap, m.Resident)
	return m, nil
}

// measureDaemon is what the other process does: it lets a daemon load everything
// it keeps in memory and follow its chains for some blocks.
func measureDaemon(ctx context.Context, address string) (err error) {
	h, err := house.New(ctx, house.Options{URL: address})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	d, err := h.Daemon(ctx, func(house.Crossing) error { return nil })
	if err != nil {
		return err
	}
	now := house.Start.Add(time.Hour)
	for range 10 {
		now = now.Add(time.Minute)
		for _, n := range h.Nets {
			n.Tick(now)
			n.Mine(1)
		}
		if err := d.Step(ctx, func() time.Time { return now }); err != nil {
			return err
		}
	}
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m := memory{Heap: stats.HeapInuse}
	kilo, err := strconv.ParseUint(strings.TrimSuffix(field("/proc/self/status", "VmRSS"), " kB"), 10, 64)
	if err != nil {
		return fmt.Errorf("resident memory: %w", err)
	}
	m.Resident = kilo * 1024
	runtime.KeepAlive(d)
	return json.NewEncoder(os.Stdout).Encode(m)
}
