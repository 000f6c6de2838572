//go:build !race && !long

package house

// A run makes one of so many of a story's cuts, and each run others.
const storyStride, poolStride = 13, 47
