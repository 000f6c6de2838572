//go:build !race && long

package send_test

// sweepStride is 1: the worker is stopped before every call.
const sweepStride = 1
