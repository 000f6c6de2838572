//go:build !race && long

package house

// Every cut of every story is made.
const storyStride, poolStride = 1, 1
