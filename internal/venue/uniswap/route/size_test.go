//go:build !race

package route_test

// small and large are how many random questions are asked.
const (
	small = 150
	large = 150
)
