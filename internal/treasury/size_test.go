//go:build !race

package treasury_test

// histories is how many are made.
const histories = 40
