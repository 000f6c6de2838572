// Package world is the simulation: seeded worlds of users who pay right, under,
// over, twice, late and in the wrong asset, on chains, nodes and workers that fail
// in every way we know, and then a calm phase in which every order must come to an
// end.
//
// It guarantees that one seed gives one history, told by its trace hash: one
// goroutine drives a world, all chance comes from the seed, and time is virtual.
// What it reports is audited against the simulated chains themselves. No product
// code may import it.
package world
