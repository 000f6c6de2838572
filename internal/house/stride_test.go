//go:build !race

package house

// sweepStride is 1: every crossing is cut.
const sweepStride = 1
