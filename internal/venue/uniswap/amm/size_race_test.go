//go:build race

package amm_test

// sweep is how many random cases a sweep compares; the race detector makes an EVM slow.
const sweep = 400
