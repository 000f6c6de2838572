//go:build !race && !long

package limit_test

// How much the sweeps try.
const (
	tries     = 300_000
	histories = 3_000
	flood     = 300_000
)
