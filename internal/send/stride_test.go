//go:build !race && !long

package send_test

// sweepStride is how far the stops are apart; each run has others.
const sweepStride = 3
