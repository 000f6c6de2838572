//go:build !race

package dev

// kills is how often a service is killed.
const kills = 12

// failpointsInTurn has the families take the failpoints by turns.
const failpointsInTurn = true
