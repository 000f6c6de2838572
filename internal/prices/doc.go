// Package prices says what a whole unit of an asset is worth in dollars, from
// several sources of which none is believed alone unless one is said to be enough.
//
// Sources are the public books of exchanges, oracles and pools on chains, documents that
// others make, and for development what was written down. Of a book the middle of bid and
// ask counts, unless it is crossed or wide; of an oracle its last round, while that is
// within its heartbeat and the sequencer of its rollup is up; of a pool the mean over a
// window, never the price of a moment, and only while enough is in it. What a source
// counts in a token is turned into dollars by the token's own price, which those decide
// who count in dollars: no token is taken for a dollar.
//
// It guarantees that a price is the median of at least a quorum of sources that are
// fresh and agree, of as many kinds as its symbol asks for, that no price is used past its
// age, that a price which jumped is not used until somebody confirms it or it has held
// for a time, and that no value passes through a float. The address of a source is never
// in an error or a log: it may carry a key.
//
// It never guesses: where there is no good price it says so, with pair_unavailable. It
// must never sign or send anything, and never believe a chain that stands still. It is
// woken by the daemon's loop.
package prices
