// Package feed hands the durable log of changes to live listeners.
//
// It guarantees that a listener gets every entry it wants after the point where
// it began, in order and without gaps, or is closed: a listener that falls behind
// is never waited for and never fed with holes. The log itself is the truth; a
// listener that was closed reads on from its last number. It must never write.
package feed
