package main

import (
	"bufio"
	"errors"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
)

// cpu is what /proc/stat counts: all time of all cores, and what was stolen of it.
type cpu struct{ all, stolen uint64 }

// readCPU reads the counters; where there are none it is zero, and nothing was stolen.
func readCPU() cpu {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpu{}
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return parseCPU(line)
}

// parseCPU reads "cpu user nice system idle iowait irq softirq steal …". Guests
// are counted in user already.
func parseCPU(line string) cpu {
	var c cpu
	for i, field := range strings.Fields(line) {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil || i > 8 {
			continue
		}
		c.all += n
		if i == 8 {
			c.stolen = n
		}
	}
	return c
}

// since is the share of time that was stolen between two readings, in percent.
func (c cpu) since(before cpu) float64 {
	if c.all <= before.all {
		return 0
	}
	return 100 * float64(c.stolen-before.stolen) / float64(c.all-before.all)
}

// loadAverage is how many processes wanted to run in the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}

// field finds the value of a line "name : value" in a file of /proc.
func field(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, found := strings.Cut(lines.Text(), ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// profiled starts a CPU profile if a file is named.
func profiled(path string) (end func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return errors.Join(f.Close(), allocated(path+".allocs"))
	}, nil
}

// allocated writes down what was allocated since the start, and by whom.
func allocated(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
