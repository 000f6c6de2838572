//go:build !race && !long

package world

// wildOrders is how many orders the wild worlds of the tests have.
const wildOrders = 2000
