// Package fault holds refusals that a caller may read: a kind, a stable code
// and a sentence that says what to do next.
//
// Anything that is not a fault is internal: it is logged and never shown.
package fault
