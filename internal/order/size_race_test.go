//go:build race

package order

// sequences is fewer under the race detector; all of them run without it.
const sequences = 300
