//go:build !race

package dev

// kills is how often a service is killed.
const kills = 12
