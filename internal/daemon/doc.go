// Package daemon builds the rooms from the bottom up and drives their loops.
//
// It guarantees that a configuration in which a forgotten value would mean "trust
// all" is refused before anything starts, that every loop ends when its context
// does, and that trouble in one chain does not stop the others. Step is one pass
// of everything in a fixed order, for tests and simulations; Run is the same with
// a loop for each room.
package daemon
