//go:build race

package world

// wildOrders is fewer under the race detector; the whole number runs without it.
const wildOrders = 300
