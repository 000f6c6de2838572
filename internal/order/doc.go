// Package order is the order machine: states, events, effects, and Apply, which
// says what an event makes of an order.
//
// It guarantees that an order is paid at most once and refunded at most once,
// that it is never refunded while its payout may still land, that a finished
// order never changes state, and that no state moves without its books. Apply
// reads no clock, no store, no chain and no configuration: what it needs is in
// the order or in the event.
package order
