//go:build race

package send_test

// sweepStride spreads the stops under the race detector, which is ten times
// slower; the same sweep runs whole without it.
const sweepStride = 7
