//go:build !race && !long

package store

// quotaRounds is how many subjects are raced for.
const quotaRounds = 250
