package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// build is the version of the program, and its revision where the build knows it.
func build() (version, revision string) {
	version = "(devel)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, ""
	}
	if info.Main.Version != "" {
		version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return version, revision
}

// Run shows the version, and the revision where the build knows it.
func (*versionCmd) Run(out *output) error {
	version, revision := build()
	if revision != "" {
		revision = " " + revision
	}
	_, err := fmt.Fprintf(out.Out, "ferry %s%s %s %s/%s\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
