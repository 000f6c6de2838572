//go:build race

package kyber_test

// sweep is how many answers are bent.
const sweep = 500
