package main

import (
	"os"
	"os/exec"
	"runtime"
)

// Servers and load have a processor each where there are two: neither is measured
// with the other's waiting in it.
const (
	serverCore = "0"
	loadCore   = "1"
)

var pinned = runtime.NumCPU() > 1 && os.Getenv("NOPIN") == "" && func() bool { _, err := exec.LookPath("taskset"); return err == nil }()

func onServerCore(c *exec.Cmd) *exec.Cmd { return onCore(serverCore, c) }
func onLoadCore(c *exec.Cmd) *exec.Cmd   { return onCore(loadCore, c) }

// onCore has a command run on one processor only.
func onCore(core string, c *exec.Cmd) *exec.Cmd {
	if !pinned || c.Err != nil {
		return c
	}
	path, err := exec.LookPath("taskset")
	if err != nil {
		return c
	}
	c.Args = append([]string{"taskset", "-c", core, c.Path}, c.Args[1:]...)
	c.Path = path
	return c
}
