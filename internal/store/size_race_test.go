//go:build race

package store

// quotaRounds is fewer under the race detector; all of them run without it.
const quotaRounds = 30
