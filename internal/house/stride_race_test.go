//go:build race

package house

// Fewer cuts under the race detector, which is ten times slower.
const storyStride, poolStride = 707, 2323
