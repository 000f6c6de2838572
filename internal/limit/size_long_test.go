//go:build !race && long

package limit_test

// How much the sweeps try.
const (
	tries     = 1_000_000
	histories = 10_000
	flood     = 1_000_000
)
