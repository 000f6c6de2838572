//go:build race

package dev

// kills is fewer under the race detector; all of them run without it.
const kills = 1

// histories is how many of followers there are; FERRY_TEST_HISTORIES asks for more.
const histories = 40
