//go:build !race && !long

package amm_test

// sweep is how many random cases a sweep compares: each run has others.
const sweep = 3_000
