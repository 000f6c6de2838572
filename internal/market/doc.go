// Package market says what a swap costs: it asks every venue at once, picks the
// best route, adds the integrator's share, and makes an offer of it.
//
// It guarantees that every rounding is in favour of solvency, that an output which
// is asked for exactly costs the smallest input that buys it, that a fee which does
// not cover its own transfer is not charged, that nothing is priced without a price
// that is good now, and that a venue which was left out is named with the reason.
// An offer has no side effects and is stored nowhere: sealed, it is its own id, and
// only the integrator it was made for can open it, only here and only in time. What
// callers see of it is signed; offers that are signed at the same time share one
// signature, and each still carries all that is needed to verify it by itself.
//
// It never moves, reserves or sends anything, never takes a float, and never uses a
// price or a cost past its age. It is woken by whoever asks.
package market
