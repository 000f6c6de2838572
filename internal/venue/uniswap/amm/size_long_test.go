//go:build !race && long

package amm_test

// sweep is how many random cases a sweep compares.
const sweep = 100_000
