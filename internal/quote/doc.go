// Package quote holds what was promised: the pair, the amounts, the tolerance,
// the route and the integrator's fee, and the arithmetic over them.
//
// Every rounding is in favour of solvency: what we pay is rounded down, what
// must be reserved is rounded up. It reads no clock and does no I/O.
package quote
