//go:build race

package house

// sweepStride spreads the cuts under the race detector, which is ten times slower;
// the same sweep runs whole without it.
const sweepStride = 101
