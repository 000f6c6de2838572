//go:build race

package route_test

// Fewer under the race detector; all of them without it.
const (
	small = 30
	large = 30
)
