//go:build race

package send_test

// sweepStride spreads the stops under the race detector, which is ten times
// slower; there are more of them without it.
const sweepStride = 7
