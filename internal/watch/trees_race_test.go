//go:build race

package watch_test

// forkTrees is smaller under the race detector, which is ten times slower; the
// same sweep runs whole without it.
const forkTrees = 300

// callStride spreads the stops for the same reason.
const callStride = 5
