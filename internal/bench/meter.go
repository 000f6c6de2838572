package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which Linux counts the time of processes.
const tick = time.Second / 100

// meter sums what some servers used of the processors, with the processes they
// started and those of them that have ended.
type meter []int

// used is the time of the servers so far, user and system.
func (m meter) used() (time.Duration, error) {
	parents, err := processes()
	if err != nil {
		return 0, err
	}
	var all time.Duration
	for _, root := range m {
		for pid := range parents {
			if pid != root && parents[pid] != root {
				continue
			}
			own, ended, err := timesOf(pid)
			if err != nil {
				continue // it ended just now, and is counted by its parent next time
			}
			all += own
			if pid == root {
				all += ended
			}
		}
	}
	return all, nil
}

// processes are all there are with their parents.
func processes() (map[int]int, error) {
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	all := map[int]int{}
	for _, name := range names {
		pid, err := strconv.Atoi(filepath.Base(name))
		if err != nil {
			continue
		}
		fields, err := statOf(pid)
		if err != nil {
			continue
		}
		all[pid], _ = strconv.Atoi(fields[1])
	}
	return all, nil
}

// statOf are the fields of /proc/…/stat after the name: state, parent and so on.
func statOf(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 15 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fields, nil
}

// timesOf is what a process used, and what its children used that have ended.
func timesOf(pid int) (own, ended time.Duration, err error) {
	fields, err := statOf(pid)
	if err != nil {
		return 0, 0, err
	}
	var n [4]time.Duration
	for i := range n {
		ticks, err := strconv.ParseInt(fields[11+i], 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		n[i] = time.Duration(ticks) * tick
	}
	return n[0] + n[1], n[2] + n[3], nil
}

// postmaster is the process of the PostgreSQL that has a database.
func postmaster(address string) (int, error) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Join(u.Query().Get("host"), "data", "postmaster.pid"))
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}

// billed is a side that also notes what servers used for it, by meter.
type billed struct {
	of   []meter
	done int
	used []time.Duration
}

// bill runs a slice and notes what it cost the servers. What a server does later for
// it, such as writing out pages, is counted to whoever is next.
func (b *billed) bill(run func() (int, time.Duration, error)) (int, time.Duration, error) {
	before, err := b.read()
	if err != nil {
		return 0, 0, err
	}
	done, took, err := run()
	if err != nil {
		return done, took, err
	}
	after, err := b.read()
	if err != nil {
		return done, took, err
	}
	if b.used == nil {
		b.used = make([]time.Duration, len(b.of))
	}
	for i := range after {
		b.used[i] += after[i] - before[i]
	}
	b.done += done
	return done, took, nil
}

func (b *billed) read() ([]time.Duration, error) {
	all := make([]time.Duration, len(b.of))
	for i, m := range b.of {
		used, err := m.used()
		if err != nil {
			return nil, err
		}
		all[i] = used
	}
	return all, nil
}

// each is what one cost by a meter, in microseconds.
func (b *billed) each(i int) float64 { return cost(max(b.done, 1), b.used[i]) }
