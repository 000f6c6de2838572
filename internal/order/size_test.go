//go:build !race && !long

package order

// sequences is how many random sequences are tried.
const sequences = 5_000
