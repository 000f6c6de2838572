//go:build !race && !long

package dev

// kills is how often a service is killed.
const kills = 4

// histories is how many of followers there are; FERRY_TEST_HISTORIES asks for more.
const histories = 400
