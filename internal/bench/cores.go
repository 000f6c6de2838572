package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

// Servers, with their database, and load have a processor each where there are two:
// neither is measured with the other's waiting in it.
const (
	serverCore = 0
	loadCore   = 1
)

// apart starts a PostgreSQL on the processor of servers, and has everything that f
// does itself run on that of load. Processors are everybody's again when it ends.
func apart(f func(*place) error) (err error) {
	if err := moveTo(serverCore); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, moveTo(anyCore)) }()
	p, err := postgresPlace()
	if err != nil {
		return err
	}
	err = moveTo(loadCore)
	if err == nil {
		err = f(p)
	}
	return errors.Join(err, p.clear())
}

// onServerCore has a command run on the processor of servers.
func onServerCore(c *exec.Cmd) *exec.Cmd {
	path, err := exec.LookPath("taskset")
	if err != nil || c.Err != nil || runtime.NumCPU() < 2 {
		return c
	}
	c.Args = append([]string{"taskset", "-c", strconv.Itoa(serverCore), c.Path}, c.Args[1:]...)
	c.Path = path
	return c
}

// anyCore is every processor.
const anyCore = -1

// moveTo moves every thread of this process to a processor; those to come, and the
// processes it starts, inherit that.
func moveTo(core int) error {
	if runtime.NumCPU() < 2 {
		return nil
	}
	mask := ^uint64(0)
	if core != anyCore {
		mask = 1 << core
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(id), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
		if errno != 0 && errno != syscall.ESRCH { // a thread that has ended
			return fmt.Errorf("move to processor %d: %w", core, errno)
		}
	}
	return nil
}
