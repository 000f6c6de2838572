//go:build race

package dev

// kills is fewer under the race detector; all of them run without it.
const kills = 3
