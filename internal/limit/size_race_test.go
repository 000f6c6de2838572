//go:build race

package limit_test

// The sweeps try less under the race detector; all of it runs without.
const (
	tries     = 100_000
	histories = 500
	flood     = 100_000
)
