//go:build !race && !long

package watch_test

// forkTrees is how many fork trees are grown.
const forkTrees = 1_500

// callStride is 1: a watcher is stopped before every call.
const callStride = 1
