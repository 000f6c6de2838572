//go:build !race

package watch_test

// forkTrees is how many fork trees are grown.
const forkTrees = 5_000
