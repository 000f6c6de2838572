//go:build race

package limit_test

// The sweeps try less under the race detector; all of it runs without.
const (
	tries     = 200_000
	histories = 1_000
	flood     = 200_000
)
