//go:build race

package treasury_test

// histories are fewer under the race detector, which is ten times slower.
const histories = 6
