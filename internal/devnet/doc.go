// Package devnet builds, starts and moves real chain nodes on this machine, for
// `ferry dev` and for tests.
//
// The nodes themselves stand in the nested module devnet/, so that the service never
// links one; this package knows only how to start that program and how to talk to
// its control door. It guarantees that the program ends with whoever started it. It
// must never be reached by a service that moves money of any worth.
package devnet
