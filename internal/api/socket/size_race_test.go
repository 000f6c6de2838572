//go:build race

package socket_test

const (
	talks   = 15
	garbage = 200
)
