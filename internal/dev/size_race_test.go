//go:build race

package dev

// kills is fewer under the race detector; all of them run without it.
const kills = 3

// failpointsInTurn has the families take the failpoints by turns: all of them run without
// the race detector.
const failpointsInTurn = true
