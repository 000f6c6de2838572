// Package kyber exchanges assets of one chain through KyberSwap's aggregator: somebody
// outside who finds a way through many exchanges, and writes the call that takes it.
//
// It prices by the aggregator's public API and says, again and again, what a running
// step needs next: to approve, to swap, to wait, done. A way goes stale within seconds,
// so the call is asked for anew when its step runs, for the amount at hand.
//
// It guarantees: nothing that the aggregator says is believed. A call is asked to be sent
// only after it was read: it must be the one method of the router that is configured, run
// by an executor that is configured, take exactly the step's amount of the step's asset,
// pay nobody a fee, and be refused on chain unless at least the step's least comes to our
// own address. What really moved is read from the final receipt. Where the aggregator is
// silent, slow, confused or lies, nothing is sent, and what a step was given is still
// here. The approvals that it asks for are bounded: the router's owner can let contracts
// call in the router's name, so it is never allowed all of a token.
//
// Its simple mode and its generic swaps are not used: the first takes from us by a list
// inside data that only its executor reads, and the second is the door of that owner.
//
// It must never sign, send, or know keys, nonces or orders, and never hand a user's data
// to the aggregator: it learns a pair, an amount and our own hot address. The market and
// the settler wake it; it has no loop of its own.
package kyber
