// Package settle is the only mover of orders. It takes facts, lets the order
// machine decide, has the decision written whole, and carries out what the
// decision wished.
//
// It guarantees that an order moves only by Tell, that every effect of a decision
// is carried out at least once and harmlessly more than once, that nothing is
// wished above the caps or on a halted chain, and that no order is silently stuck.
// It never talks to a chain but to ask what a transfer would cost. It is woken by
// the daemon's loop.
package settle
