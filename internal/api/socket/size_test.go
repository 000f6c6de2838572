//go:build !race

package socket_test

// How much the sweeps do.
const (
	talks   = 60
	garbage = 2000
)
