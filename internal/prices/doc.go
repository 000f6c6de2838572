// Package prices says what a whole unit of an asset is worth in dollars, from
// several sources of which none is believed alone unless one is said to be enough.
//
// It guarantees that a price is the median of at least a quorum of sources that are
// fresh and agree, that no price is used past its age, that a price which jumped is
// not used until somebody confirms it or it has held for a time, and that no value
// passes through a float. The address of a source is never in an error or a log: it
// may carry a key.
//
// It never guesses: where there is no good price it says so. It is woken by the
// daemon's loop.
package prices
