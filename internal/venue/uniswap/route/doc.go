// Package route finds the best way through many pools of one chain: at most three hops,
// split over at most four ways that share no pool, by what is given or by what is wanted.
//
// Ways are screened with machine numbers, of which only the order counts; the ways that
// are chosen are priced exactly, and only exact amounts leave the room. What is found is
// never below a greedy split in parts of five percent. A Graph is of one moment and can be
// asked by many at once; it remembers the best rates of pairs that it was asked for, which
// changes no answer: an amount is settled by them only where it is certain that no other
// way and no split is worth more. It knows no chain, no clock and no address, and must
// never answer with an amount that was not priced exactly.
package route
