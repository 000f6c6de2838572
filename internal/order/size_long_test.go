//go:build !race && long

package order

// sequences is how many random sequences are tried.
const sequences = 20_000
