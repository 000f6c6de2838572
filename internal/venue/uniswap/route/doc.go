// Package route finds the best way through many pools of one chain: at most three hops,
// split over at most four ways that share no pool, by what is given or by what is wanted.
//
// Ways are screened with machine numbers, of which only the order counts; the ways that
// are chosen are priced exactly, and only exact amounts leave the room. A Graph is of one
// moment, never changes, and can be asked by many at once. It knows no chain, no clock
// and no address, and must never answer with an amount that was not priced exactly.
package route
